"""`Notebook`: one workflow run's handle on one memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from ..notebook import (
        CHARS_PER_TOKEN,
        LOAD_SNAPSHOT,
        MAX_BYTES_PER_CHAR,
        READ,
        SEARCH,
        MemoryRefusal,
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
        ToolDefinition,
        parse_tool_call,
        tool_definitions,
    )

from .errors import application_error, received
from .journal import Journal, Unavailable
from .mutations import Mutations
from .results import Snapshot, ToolResult
from .runs import RunState

if TYPE_CHECKING:
    from .memory import Memory


@dataclass(frozen=True, kw_only=True)
class NotebookState:
    """What a handle carries through continue-as-new: its counters, never its tokens.

    Only needed with `Memory.operation_scope`; otherwise the next run has an identity of its own.
    """

    counts: Mapping[str, int] = field(default_factory=dict)


class Notebook:
    """One run's handle; `Memory.open` makes it.

    Its state is rebuilt by replay. A model's response begins with `load_snapshot()`, or is named by
    `request=`: within one response a tool call id names one operation.
    """

    def __init__(self, *, memory: Memory, scope: Scope, run: str, shared: RunState) -> None:
        self._memory = memory
        self._scope = scope
        self._record = ScopeRecord.of(scope)
        self._run = run
        self._state = shared.scope(scope.key)
        self._journal = Journal(memory=memory, room=shared.room)
        self._mutations = Mutations(
            memory=memory,
            scope=self._record,
            run=run,
            state=self._state,
            journal=self._journal,
        )
        self._snapshot: Snapshot | None = None

    @property
    def id(self) -> str:
        """The memory's id among several of one agent."""
        return self._memory.id

    @property
    def scope(self) -> Scope:
        """Whose notebook this is; not for the model."""
        return self._scope

    @property
    def instructions(self) -> str:
        """Trusted guidance, for the model's instructions; `''` when there is none."""
        return self._memory.instructions

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The memory tools, provider-neutral."""
        return tool_definitions(self._memory.prefix)

    @property
    def state(self) -> NotebookState:
        """The counters, to carry through continue-as-new."""
        return NotebookState(counts=dict(self._state.counter(self._run)))

    def resume(self, state: NotebookState) -> None:
        """Go on from the counters of the run before."""
        self._state.resume(self._run, state.counts)

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
        except Unavailable:
            if self._memory.injection_errors == "ignore":
                return Snapshot(skipped=True)
            raise application_error(MemoryStoreUnavailable()) from None
        # "Unchanged" stands for the token that was sent, whatever was loaded meanwhile.
        if response.unchanged and held is not None:
            return held
        self._snapshot = Snapshot(text=response.text or "", token=response.token)
        return self._snapshot

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

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object] | str,
        *,
        tool_call_id: str | None = None,
        request: str | None = None,
    ) -> ToolResult:
        """Carry out one tool call of the model.

        Calls of one response may be awaited together: writes and deletes of one scope apply in the
        order of the calls, and a read or search sees those that were called before it.

        Args:
            name: The tool's name, with its prefix.
            arguments: JSON text or a mapping, as the model gave them.
            tool_call_id: The provider's id of the call. The same id with the same arguments in one
                response is the same operation.
            request: Names the response that the call belongs to, where `load_snapshot` does not
                begin it.

        Returns:
            The result; the model's mistakes, and a store that is down, are results with
            `is_error`.

        Raises:
            ApplicationError: `MemoryOperationConflictError` when the id was used with other
                arguments; `InvalidMemoryRequest`, `MemoryPermissionDenied`.
        """
        try:
            call = parse_tool_call(name, arguments, prefix=self._memory.prefix)
            if not call.changes:
                return await self._look_up(call)
            # Nothing was awaited yet: the number and the place in the order are the call's.
            numbered = self._mutations.number(call, tool_call_id=tool_call_id, request=request)
        except MemoryRefusal as refusal:
            return ToolResult.of_refusal(refusal)
        return ToolResult.of_edit(await self._mutations.apply(numbered))

    async def _look_up(self, call: ToolCall) -> ToolResult:
        async with self._state.order:
            pass  # earlier mutations are done
        try:
            if call.tool == "read_memory":
                return await self._read(call)
            return await self._search(call)
        except Unavailable:
            return ToolResult.refused(
                "unavailable", "The memory did not answer in time; try again later."
            )

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
