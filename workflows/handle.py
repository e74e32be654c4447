"""`Notebook`: one workflow run's handle on one memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from ..notebook import (
        CHARS_PER_TOKEN,
        LOAD_SNAPSHOT,
        MAX_BYTES_PER_CHAR,
        READ,
        SEARCH,
        EditResult,
        MemoryStoreUnavailable,
        ReadRequest,
        ReadResponse,
        Scope,
        ScopeRecord,
        SearchRequest,
        SearchResponse,
        SnapshotRequest,
        SnapshotResponse,
        ToolCall,
        parse_tool_call,
    )

from .calls import Handle
from .edits import NotebookWire
from .errors import application_error, received
from .journal import Journal, Unavailable
from .results import Snapshot, ToolResult
from .runs import RunIdentity, RunState

if TYPE_CHECKING:
    from .memory import Memory


_OUTAGES = {None, "MemoryConflictError", "MemorySchemaMismatch", "MemoryStoreUnavailable"}
"""Types of failures that `injection_errors` is about; `None` is no answer at all."""


class Notebook(Handle[ToolCall, EditResult]):
    """One run's handle on a notebook; `Memory.open` makes it.

    Its state is rebuilt by replay. A model's response begins with `load_snapshot()`, or is named by
    `request=`: within one response a tool call id names one operation.
    """

    def __init__(self, *, memory: Memory, scope: Scope, run: RunIdentity, shared: RunState) -> None:
        self._memory = memory
        self._scope = scope
        self._record = ScopeRecord.of(scope)
        self._snapshot: Snapshot | None = None
        super().__init__(
            offer=memory,
            run=run,
            state=shared.scope(scope.key),
            wire=NotebookWire(scope=self._record, max_memory_size=memory.max_memory_size),
            journal=Journal(
                task_queue=memory.task_queue, timeouts=memory.timeouts, room=shared.room
            ),
        )

    @property
    def scope(self) -> Scope:
        """Whose notebook this is; not for the model."""
        return self._scope

    @property
    def key(self) -> str:
        """Stands for the scope among the memories of an agent."""
        return self._scope.key

    # -- snapshots ---------------------------------------------------------------------------

    async def load_snapshot(self) -> Snapshot:
        """Begin a model request: return the scope's text at this moment.

        Raises:
            ApplicationError: The store is down and `injection_errors` is `raise`, or the request is
                malformed or not permitted.
        """
        self._mutations.begin_response()
        if not self._memory.inject_memory:
            return Snapshot()
        if self._memory.refresh == "run" and self._snapshot is not None:
            return self._snapshot
        held = self._snapshot
        try:
            response = await self._load(held.token if held else None)
        except Unavailable as error:
            return self._skip(error)
        # "Unchanged" stands for the token that was sent, whatever was loaded meanwhile.
        if response.unchanged and held is not None:
            return held
        self._snapshot = Snapshot(text=response.text or "", token=response.token)
        return self._snapshot

    def _skip(self, error: Unavailable) -> Snapshot:
        """Go without the snapshot while the store is down; any other failure propagates."""
        if error.type not in _OUTAGES:
            raise ApplicationError(
                "the memory snapshot failed", type=error.type, non_retryable=True
            ) from None
        if self._memory.injection_errors == "raise":
            raise application_error(MemoryStoreUnavailable()) from None
        workflow.logger.warning("a memory snapshot is skipped: %s", error.type or "no answer")
        return Snapshot(skipped=True)

    async def _load(self, token: str | None) -> SnapshotResponse:
        options = self._memory.snapshot_options()
        request = SnapshotRequest(
            scope=self._record,
            heading=options.heading,
            guidance_chars=options.guidance_chars,
            max_tokens=options.max_tokens,
            max_lines=options.max_lines,
            tool_prefix=options.tool_prefix,
            token=token,
        )
        max_bytes = options.max_tokens * CHARS_PER_TOKEN * MAX_BYTES_PER_CHAR
        raw = await self._journal.snapshot(LOAD_SNAPSHOT, request, max_bytes=max_bytes)
        return received(SnapshotResponse, raw)

    # -- tool calls --------------------------------------------------------------------------

    def _parse(self, name: str, arguments: Mapping[str, object] | str) -> ToolCall:
        return parse_tool_call(name, arguments, prefix=self._memory.tool_prefix)

    def _told(self, result: EditResult) -> ToolResult:
        return ToolResult.of_edit(result)

    async def _look_up(self, call: ToolCall) -> ToolResult:
        return await (self._read(call) if call.tool == "read_memory" else self._search(call))

    async def _read(self, call: ToolCall) -> ToolResult:
        request = ReadRequest(
            scope=self._record,
            file=call.file,
            max_memory_size=self._memory.max_memory_size,
        )
        return ToolResult.of_read(received(ReadResponse, await self._journal.lookup(READ, request)))

    async def _search(self, call: ToolCall) -> ToolResult:
        memory = self._memory
        request = SearchRequest(
            scope=self._record,
            query=call.query,
            max_search_results=memory.max_search_results,
            max_search_result_chars=memory.max_search_result_chars,
            max_search_files=memory.max_search_files,
            max_memory_size=memory.max_memory_size,
        )
        raw = await self._journal.lookup(SEARCH, request)
        return ToolResult.of_search(received(SearchResponse, raw))
