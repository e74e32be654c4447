"""Snapshots, reads and searches: nothing here changes anything."""

from __future__ import annotations

from ..notebook import (
    MAX_RECORD_BYTES,
    MatchRecord,
    MemoryRefusal,
    ReadRequest,
    ReadResponse,
    SearchRequest,
    SearchResponse,
    SnapshotOptions,
    SnapshotRequest,
    SnapshotResponse,
    check_limit,
    cut_to_encoded,
    parse_tool_call,
    render_snapshot,
    snapshot_bounds,
    snapshot_token,
)
from ..stores import search_notebook, view_notebook
from .gate import NotebookVisit

_RESPONSE_OVERHEAD_BYTES = 4096
"""Room for the fields of a response beside its text."""


async def load_snapshot(visit: NotebookVisit[SnapshotRequest]) -> SnapshotResponse:
    """Render the scope's bounded text, or say that the caller holds it already."""
    request = visit.request
    options = SnapshotOptions(
        heading=request.heading,
        guidance_chars=request.guidance_chars,
        max_tokens=request.max_tokens,
        max_lines=request.max_lines,
        tool_prefix=request.tool_prefix,
    )
    tail_chars, max_names = snapshot_bounds(options)
    with visit.store_call("view"):
        view = await view_notebook(
            visit.store, visit.scope.prefix, tail_chars=tail_chars, max_names=max_names
        )
    token = snapshot_token(view, options)
    if token == request.token:
        visit.observation.note(outcome="unchanged")
        return SnapshotResponse(unchanged=True)
    text = render_snapshot(view, options)
    visit.observation.note(outcome="ok", chars=len(text), files=len(view.names))
    return SnapshotResponse(token=token, text=text)


async def read(visit: NotebookVisit[ReadRequest]) -> ReadResponse:
    """Read one file, cut to what the caller may have and to what a record may hold."""
    request = visit.request
    try:
        call = parse_tool_call("read_memory", {"file": request.file})
    except MemoryRefusal as refusal:
        visit.observation.note(outcome="refused")
        return ReadResponse(status="refused", code=refusal.code, message=str(refusal))
    with visit.store_call("read"):
        found = await visit.store.read(
            visit.scope.path(call.file),
            max_chars=check_limit("max_memory_size", request.max_memory_size),
        )
    if found is None:
        visit.observation.note(outcome="not_found")
        return ReadResponse(
            status="refused",
            code="not_found",
            message=f"There is no memory file named {call.file!r}; search memory to find one.",
        )
    content = cut_to_encoded(found.content, MAX_RECORD_BYTES - _RESPONSE_OVERHEAD_BYTES)
    truncated = found.truncated or len(content) < len(found.content)
    visit.observation.note(outcome="ok", chars=len(content), truncated=truncated)
    return ReadResponse(
        status="ok", file=call.file, content=content, version=found.version, truncated=truncated
    )


async def search(visit: NotebookVisit[SearchRequest]) -> SearchResponse:
    """Search the scope's files."""
    request = visit.request
    try:
        call = parse_tool_call("search_memory", {"query": request.query})
    except MemoryRefusal as refusal:
        visit.observation.note(outcome="refused")
        return SearchResponse(status="refused", code=refusal.code, message=str(refusal))
    with visit.store_call("search"):
        found = await search_notebook(
            visit.store,
            visit.scope.prefix,
            call.query,
            limit=check_limit("max_search_results", request.max_search_results),
            max_files=check_limit("max_search_files", request.max_search_files),
            max_chars=check_limit("max_search_result_chars", request.max_search_result_chars),
            max_file_chars=check_limit("max_memory_size", request.max_memory_size),
        )
    visit.observation.note(
        outcome="ok",
        matches=len(found.matches),
        scanned=found.scanned,
        truncated=found.truncated,
    )
    matches = tuple(
        MatchRecord(
            file=match.path.removeprefix(visit.scope.prefix),
            snippet=match.snippet,
            score=match.score,
        )
        for match in found.matches
    )
    return SearchResponse(
        status="ok", matches=matches, scanned=found.scanned, truncated=found.truncated
    )
