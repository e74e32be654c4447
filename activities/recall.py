"""Lists of entries and searches in them: nothing here changes anything."""

from __future__ import annotations

from ..notebook import (
    CursorRecord,
    EntryFilter,
    EntryListRequest,
    EntryListResponse,
    EntryRecord,
    EntrySearchRequest,
    EntrySearchResponse,
    MemoryRefusal,
    check_entry_query,
    check_limit,
    show_found,
    show_listed,
)
from ..stores import Entry, EntryCursor
from .gate import EntryVisit


async def list_entries(visit: EntryVisit[EntryListRequest]) -> EntryListResponse:
    """Return paths and descriptions of one actor's entries, as many as there is room for."""
    request = visit.request
    limit = check_limit("max_listed_entries", request.max_listed_entries)
    max_chars = check_limit("max_entry_result_chars", request.max_entry_result_chars)
    after = EntryCursor(**request.after.model_dump()) if request.after else None
    try:
        where = EntryFilter(path_prefix=request.path_prefix, session=request.session)
        with visit.store_call("list"):
            page = await visit.store.list_entries(
                visit.scope.store,
                visit.scope.actor,
                limit=limit,
                where=where,
                after=after,
                content=False,
            )
    except MemoryRefusal as refusal:
        visit.observation.note(outcome="refused")
        return EntryListResponse(status="refused", code=refusal.code, message=str(refusal))
    shown = show_listed([_record(entry) for entry in page.entries], max_chars=max_chars)
    more = page.next is not None or len(shown) < len(page.entries)
    visit.observation.note(outcome="ok", entries=len(shown), truncated=more)
    last = CursorRecord(path=shown[-1].path, session=shown[-1].session) if more and shown else None
    return EntryListResponse(status="ok", entries=shown, next=last)


async def search_entries(visit: EntryVisit[EntrySearchRequest]) -> EntrySearchResponse:
    """Return the entries of one actor that answer a query, as much of them as there is room for."""
    request = visit.request
    limit = check_limit("max_entry_results", request.max_entry_results)
    max_chars = check_limit("max_entry_result_chars", request.max_entry_result_chars)
    try:
        query = check_entry_query(request.query)
        where = EntryFilter(path_prefix=request.path_prefix, session=request.session)
        with visit.store_call("search"):
            matches = await visit.store.search(
                visit.scope.store, visit.scope.actor, query, limit=limit, where=where
            )
    except MemoryRefusal as refusal:
        visit.observation.note(outcome="refused")
        return EntrySearchResponse(status="refused", code=refusal.code, message=str(refusal))
    found = [_record(match.entry, score=match.score) for match in matches]
    shown = show_found(found, query, max_chars=max_chars)
    truncated = len(shown) < len(found) or any(entry.truncated for entry in shown)
    visit.observation.note(outcome="ok", matches=len(shown), truncated=truncated)
    return EntrySearchResponse(status="ok", entries=shown, truncated=truncated)


def _record(entry: Entry, *, score: float | None = None) -> EntryRecord:
    return EntryRecord(
        path=entry.key.path,
        session=entry.key.session,
        description=entry.description,
        content=entry.content,
        version=entry.version,
        score=score,
    )
