"""`EntryMemory`: a long-term memory of entries, with store and actor fixed by trusted code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from ..notebook import (
        LIST_ENTRIES,
        LIST_TOOL,
        SEARCH_ENTRIES,
        EntryCall,
        EntryLimits,
        EntryListRequest,
        EntryListResponse,
        EntryResult,
        EntrySearchRequest,
        EntrySearchResponse,
        Partition,
        ToolDefinition,
        check_actor,
        check_session,
        check_store_id,
        entry_tool_definitions,
        parse_entry_call,
        render_entry_guidance,
    )

from .calls import Handle, NotebookState
from .errors import failing_the_workflow, received
from .journal import Journal
from .options import Resolver, Timeouts, check_names, resolve
from .results import Snapshot, ToolResult
from .runs import RunIdentity, RunState, current_run, run_identity
from .saves import EntryWire

_DEFAULT = EntryLimits()


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryMemory:
    """One memory of entries of an agent: configuration only, safe to share.

    The model gets `search_memory`, `save_memory`, `list_memories` and `forget_memory`, and never
    sees or chooses whose memory it is.

    Attributes:
        store: The memory store's id, or a function of the workflow's input.
        actor: Whose memory, from a verified identity, or a function as above. Always given: an
            empty one is refused, since a shared default would show one user another's memory.
        session: The conversation, or a function as above. What is saved belongs to it, and lists
            and searches see nothing else; `None` for a memory across conversations. Forgetting
            removes a path in every session.
        id: Names this memory among several of one agent.
        heading: Stands on the guidance as `## {heading}`.
        tool_prefix: Prefix of the tools' names, `{tool_prefix}_save_memory`. A notebook has a
            `search_memory` too: beside one, one of them needs one.
        guidance: Text on how to use the memory; `None` is the default text, `''` is none.
        max_entry_results: Matches of one search, 1 to 100.
        max_listed_entries: Entries of one list, 1 to 400.
        max_entry_result_chars: Paths, descriptions and contents of one search, or of one list,
            together, in characters.
        task_queue: Queue of a separate fleet of memory workers; `None` for the agent's own worker.
        operation_scope: As `Memory.operation_scope`; carry `Entries.state` along.
        timeouts: See `Timeouts`.

    Raises:
        InvalidMemoryRequest: A field is malformed. Inside a workflow: `ApplicationError` of that
            type.
    """

    store: str | Resolver = ""
    actor: str | Resolver = ""
    session: str | Callable[[Any], str | None] | None = None
    id: str = "entries"
    heading: str = ""
    tool_prefix: str = ""
    guidance: str | None = None
    max_entry_results: int = _DEFAULT.max_entry_results
    max_listed_entries: int = _DEFAULT.max_listed_entries
    max_entry_result_chars: int = _DEFAULT.max_entry_result_chars
    task_queue: str | None = None
    operation_scope: str | None = None
    timeouts: Timeouts = field(default_factory=Timeouts)

    def __post_init__(self) -> None:
        with failing_the_workflow():
            self._check()

    def _check(self) -> None:
        check_names(id=self.id, task_queue=self.task_queue, operation_scope=self.operation_scope)
        _ = self.tools, self.limits, self.instructions
        if not callable(self.store):
            check_store_id(self.store)
        if not callable(self.actor):
            check_actor(self.actor)
        if not callable(self.session):
            check_session(self.session)

    @property
    def limits(self) -> EntryLimits:
        """The bounds, checked."""
        return EntryLimits(**{each.name: getattr(self, each.name) for each in fields(EntryLimits)})

    @property
    def instructions(self) -> str:
        """The trusted guidance, for the model's instructions."""
        return render_entry_guidance(
            self.guidance, heading=self.heading, tool_prefix=self.tool_prefix
        )

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The memory tools, provider-neutral."""
        return entry_tool_definitions(self.tool_prefix)

    def open(self, context: Any = None, *, state: NotebookState | None = None) -> Entries:
        """Open this run's handle; only inside a workflow.

        Args:
            context: What the resolvers are called with: the workflow's input.
            state: Counters of the run before, when they were carried through continue-as-new.

        Raises:
            ApplicationError: Store, actor or session is missing or malformed, or a resolver failed.
        """
        with failing_the_workflow():
            partition = Partition(
                store=resolve("store", self.store, context),
                actor=resolve("actor", self.actor, context),
            )
            session = check_session(resolve("session", self.session, context))
        entries = Entries(
            memory=self,
            partition=partition,
            session=session,
            run=run_identity(self.operation_scope),
            shared=current_run(),
        )
        if state is not None:
            entries.resume(state)
        return entries


class Entries(Handle[EntryCall, EntryResult]):
    """One run's handle on one actor's entries; `EntryMemory.open` makes it.

    Nothing is shown in a model's request: the model lists and searches. A response still begins
    with `begin_response()` (or `load_snapshot()`, as a notebook's does), or is named by `request=`:
    within one response a tool call id names one operation, and providers repeat ids.
    """

    def __init__(
        self,
        *,
        memory: EntryMemory,
        partition: Partition,
        session: str | None,
        run: RunIdentity,
        shared: RunState,
    ) -> None:
        self._memory = memory
        self._partition = partition
        self._session = session
        super().__init__(
            offer=memory,
            run=run,
            state=shared.scope(partition.key),
            wire=EntryWire(partition=partition, session=session),
            journal=Journal(
                task_queue=memory.task_queue, timeouts=memory.timeouts, room=shared.room
            ),
        )

    @property
    def partition(self) -> Partition:
        """Whose entries these are; not for the model."""
        return self._partition

    @property
    def key(self) -> str:
        """Stands for the partition among the memories of an agent."""
        return self._partition.key

    def begin_response(self) -> None:
        """Begin a model request: tool call ids of the response before mean nothing from here on."""
        self._mutations.begin_response()

    async def load_snapshot(self) -> Snapshot:
        """Begin a model request; the snapshot is always empty, and costs no event."""
        self.begin_response()
        return Snapshot()

    def _parse(self, name: str, arguments: Mapping[str, object] | str) -> EntryCall:
        return parse_entry_call(name, arguments, prefix=self._memory.tool_prefix)

    def _told(self, result: EntryResult) -> ToolResult:
        return ToolResult.of_entry(result)

    async def _look_up(self, call: EntryCall) -> ToolResult:
        return await (self._list() if call.tool == LIST_TOOL else self._search(call))

    async def _list(self) -> ToolResult:
        request = EntryListRequest(
            store=self._partition.store,
            actor=self._partition.actor,
            session=self._session,
            max_listed_entries=self._memory.max_listed_entries,
            max_entry_result_chars=self._memory.max_entry_result_chars,
        )
        raw = await self._journal.lookup(LIST_ENTRIES, request)
        return ToolResult.of_list(received(EntryListResponse, raw))

    async def _search(self, call: EntryCall) -> ToolResult:
        request = EntrySearchRequest(
            store=self._partition.store,
            actor=self._partition.actor,
            query=call.query,
            session=self._session,
            max_entry_results=self._memory.max_entry_results,
            max_entry_result_chars=self._memory.max_entry_result_chars,
        )
        raw = await self._journal.lookup(SEARCH_ENTRIES, request)
        return ToolResult.of_found(received(EntrySearchResponse, raw))
