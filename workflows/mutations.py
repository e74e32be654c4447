"""Mutations of one scope or partition: their identity, their order, and their certain end."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Generic, Protocol, TypeVar

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from ..notebook import (
        MAX_RECORD_BYTES,
        CallRecord,
        MemoryOperationConflictError,
        MemoryRefusal,
        OperationRecord,
        Record,
        ResultRecord,
        SettleResponse,
        encoded_size,
        fingerprint,
    )

from .errors import application_error
from .journal import Journal, Outcome
from .runs import RunIdentity, ScopeState

_MAX_ABANDONED = 100
"""Identical calls that earlier branches of the workflow gave up, before this one gives up too."""

_UNAVAILABLE = MemoryRefusal(
    "unavailable",
    "The memory did not answer in time. Nothing was changed by this call; try again later.",
)
_UNDECIDED = MemoryRefusal(
    "undecided",
    "The memory did not answer in time, and it is not known whether this change was made; read "
    "the memory before you repeat it.",
)


class Call(Protocol):
    """A call of a tool, by the rules."""

    @property
    def tool(self) -> str:
        """The tool's name, without a prefix."""

    @property
    def changes(self) -> bool:
        """Whether the tool changes anything."""


CallT = TypeVar("CallT", bound=Call)
ResultT = TypeVar("ResultT", bound=ResultRecord)


class Wire(ABC, Generic[CallT, ResultT]):
    """How one kind of memory writes its mutations as records, and reads the answers."""

    settle: ClassVar[str]
    """The activity that settles them."""

    @abstractmethod
    def activity(self, call: CallT) -> str:
        """Return the activity that carries out a call."""

    @abstractmethod
    def arguments(self, call: CallT) -> Mapping[str, str]:
        """Return all that says which mutation it is: what its fingerprint covers."""

    @abstractmethod
    def request(self, call: CallT, record: CallRecord, deadline: datetime) -> Record:
        """Return the activity's request."""

    @abstractmethod
    def result(self, raw: object) -> ResultT:
        """Validate the activity's answer; raise `ApplicationError` when it does not fit."""

    @abstractmethod
    def refused(self, refusal: MemoryRefusal) -> ResultT:
        """Return the result of a call that was not carried out."""

    @abstractmethod
    def settling(self, operation: OperationRecord, deadline: datetime) -> Record:
        """Return the request that settles an operation."""

    @abstractmethod
    def settled(self, call: CallT, receipt: SettleResponse) -> ResultT:
        """Return the result that a receipt stands for."""


@dataclass(slots=True)
class NumberedCall(Generic[CallT]):
    """A mutation on its way: the n-th call of its run with these arguments.

    Attributes:
        call: The call.
        fingerprint: Of its arguments.
        n: Its number.
        sent: Whether an activity was scheduled under the number.
        waiting: How many times it is awaited right now: an id that comes twice is one call.
    """

    call: CallT
    fingerprint: str
    n: int
    sent: bool = False
    waiting: int = 0

    def mark_sent(self) -> None:
        """Note that an activity is scheduled under the number."""
        self.sent = True


@dataclass(kw_only=True, slots=True)
class Mutations(Generic[CallT, ResultT]):
    """The mutations of one handle."""

    wire: Wire[CallT, ResultT]
    run: RunIdentity
    state: ScopeState
    journal: Journal
    _named: dict[tuple[str | None, str], NumberedCall[CallT]] = field(default_factory=dict)

    def begin_response(self) -> None:
        """Forget the tool call ids of the response before: providers repeat them."""
        self._named = {key: call for key, call in self._named.items() if key[0] is not None}

    def number(
        self, call: CallT, *, tool_call_id: str | None, request: str | None
    ) -> NumberedCall[CallT]:
        """Give the call its identity; never waits, so that the order of calls decides.

        Raises:
            MemoryRefusal: Its record would be too large to send.
            ApplicationError: The id was used in this response with other arguments.
        """
        print_ = fingerprint(call.tool, self.wire.arguments(call))
        known = self._named.get((request, tool_call_id)) if tool_call_id else None
        if known is not None:
            if known.fingerprint != print_:
                raise application_error(MemoryOperationConflictError())
            return known
        self._refuse_oversize(call)
        numbered = NumberedCall(call, print_, self.state.next_n(self.run.key, print_))
        if tool_call_id:
            self._named[request, tool_call_id] = numbered
        return numbered

    def _refuse_oversize(self, call: CallT) -> None:
        record = self.wire.request(call, self.run.call(1), workflow.now())
        if encoded_size(record.wire()) > MAX_RECORD_BYTES:
            raise MemoryRefusal(
                "oversize", "The text is too long to be sent. Split it into several smaller files."
            )

    async def apply(self, numbered: NumberedCall[CallT]) -> ResultT:
        """Apply the call once all calls before it have ended.

        An operation that an earlier branch of the workflow gave up (before a reset) can never be
        applied under its number, so the call takes the next one. Every later branch walks the
        same numbers and ends at the same operation. That needs every number to end in a receipt,
        of an application or of an abandonment: one that was never sent is given back.
        """
        numbered.waiting += 1
        try:
            async with self.state.order:
                if await self.settle_earlier():
                    return await self._walk(numbered)
            return self.wire.refused(_UNAVAILABLE)
        finally:
            numbered.waiting -= 1
            if not numbered.sent and not numbered.waiting:
                self._forget(numbered)

    def _forget(self, numbered: NumberedCall[CallT]) -> None:
        self.state.give_back(self.run.key, numbered.fingerprint, numbered.n)
        self._named = {key: call for key, call in self._named.items() if call is not numbered}

    async def _walk(self, numbered: NumberedCall[CallT]) -> ResultT:
        for _ in range(_MAX_ABANDONED):
            result = await self._attempt(numbered)
            if result.status != "abandoned":
                return result
            numbered.n = self.state.next_n(self.run.key, numbered.fingerprint)
            numbered.sent = False
        return self.wire.refused(_UNAVAILABLE)

    async def settle_earlier(self) -> bool:
        """Settle what is undecided; return whether all of it is. The order must be held."""
        while self.state.unsettled:
            record = self.state.unsettled[0]
            receipt, cancelled = await self.journal.settle(self.wire.settle, record)
            if receipt is not None:
                self.state.unsettled.pop(0)
            if cancelled:
                raise asyncio.CancelledError
            if receipt is None:
                return False
        return True

    async def _attempt(self, numbered: NumberedCall[CallT]) -> ResultT:
        deadline = workflow.now() + self.journal.timeouts.mutation
        request = self.wire.request(numbered.call, self.run.call(numbered.n), deadline)
        outcome = await self.journal.mutate(
            self.wire.activity(numbered.call), request, scheduled=numbered.mark_sent
        )
        if outcome.result is None:
            return await self._settle(numbered, deadline, outcome)
        if outcome.cancelled:
            raise asyncio.CancelledError
        return self.wire.result(outcome.result)

    async def _settle(
        self, numbered: NumberedCall[CallT], deadline: datetime, outcome: Outcome
    ) -> ResultT:
        operation = OperationRecord(
            tool=numbered.call.tool,
            fingerprint=numbered.fingerprint,
            call=self.run.call(numbered.n),
        )
        record = self.wire.settling(operation, deadline)
        receipt, cancelled = await self.journal.settle(self.wire.settle, record)
        if receipt is None:
            self.state.unsettled.append(record)
        if cancelled or outcome.cancelled:
            raise asyncio.CancelledError
        if receipt is None:
            return self.wire.refused(_UNDECIDED)
        if receipt.abandoned:
            return self.wire.refused(_UNAVAILABLE)
        return self.wire.settled(numbered.call, receipt)
