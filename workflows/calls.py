"""`Handle`: what one workflow run's handles on memories of every kind share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from ..notebook import MemoryRefusal, ToolDefinition

from .journal import Journal, Unavailable
from .mutations import CallT, Mutations, ResultT, Wire
from .results import Snapshot, ToolResult
from .runs import RunIdentity, ScopeState


@dataclass(frozen=True, kw_only=True)
class NotebookState:
    """What a handle carries through continue-as-new: its counters, never its tokens.

    Only needed with an `operation_scope`; otherwise the next run has an identity of its own.
    """

    counts: Mapping[str, int] = field(default_factory=dict)


class Offer(Protocol):
    """What a memory's configuration says of it to an agent."""

    @property
    def id(self) -> str:
        """See `Handle.id`."""

    @property
    def instructions(self) -> str:
        """See `Handle.instructions`."""

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """See `Handle.tools`."""


class Handle(ABC, Generic[CallT, ResultT]):
    """One run's handle on one memory. Its state is rebuilt by replay.

    A model's response begins with `load_snapshot()`, or is named by `request=`: within one response
    a tool call id names one operation.
    """

    def __init__(
        self,
        *,
        offer: Offer,
        run: RunIdentity,
        state: ScopeState,
        wire: Wire[CallT, ResultT],
        journal: Journal,
    ) -> None:
        self._offer = offer
        self._run = run
        self._state = state
        self._journal = journal
        self._mutations = Mutations(wire=wire, run=run, state=state, journal=journal)

    @property
    def id(self) -> str:
        """The memory's id among several of one agent."""
        return self._offer.id

    @property
    def instructions(self) -> str:
        """Trusted guidance, for the model's instructions; `''` when there is none."""
        return self._offer.instructions

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The memory tools, provider-neutral."""
        return self._offer.tools

    @property
    def state(self) -> NotebookState:
        """The counters, to carry through continue-as-new."""
        return NotebookState(counts=dict(self._state.counter(self._run.key)))

    def resume(self, state: NotebookState) -> None:
        """Go on from the counters of the run before."""
        self._state.resume(self._run.key, state.counts)

    @abstractmethod
    async def load_snapshot(self) -> Snapshot:
        """Begin a model request: return what is shown in it of the memory at this moment."""

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object] | str,
        *,
        tool_call_id: str | None = None,
        request: str | None = None,
    ) -> ToolResult:
        """Carry out one tool call of the model.

        Calls of one response may be awaited together: mutations of one scope apply in the order of
        the calls, and a look-up sees those that were called before it.

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
                arguments; `InvalidMemoryRequest`, `MemoryPermissionDenied`, `MemoryNotFound`.
        """
        try:
            call = self._parse(name, arguments)
            if not call.changes:
                return await self._after_mutations(call)
            # Nothing was awaited yet: the number and the place in the order are the call's.
            numbered = self._mutations.number(call, tool_call_id=tool_call_id, request=request)
        except MemoryRefusal as refusal:
            return ToolResult.of_refusal(refusal)
        return self._told(await self._mutations.apply(numbered))

    async def _after_mutations(self, call: CallT) -> ToolResult:
        async with self._state.order:  # earlier mutations are done, and what is undecided is not
            certain = await self._mutations.settle_earlier()
        try:
            if certain:
                return await self._look_up(call)
        except Unavailable:
            pass
        return ToolResult.refused(
            "unavailable", "The memory did not answer in time; try again later."
        )

    @abstractmethod
    def _parse(self, name: str, arguments: Mapping[str, object] | str) -> CallT:
        """Return the call by the rules; raise `MemoryRefusal`."""

    @abstractmethod
    async def _look_up(self, call: CallT) -> ToolResult:
        """Carry out a call that changes nothing; raise `Unavailable` while the store is down."""

    @abstractmethod
    def _told(self, result: ResultT) -> ToolResult:
        """Return what the model is told of a mutation."""
