"""Writes and deletes of one scope: their identity, their order, and their certain end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from ..notebook import (
        DELETE,
        MAX_RECORD_BYTES,
        WRITE,
        CallRecord,
        EditRecord,
        EditResult,
        MemoryOperationConflictError,
        MemoryRefusal,
        MutationRequest,
        MutationResponse,
        OperationRecord,
        ScopeRecord,
        SettleRequest,
        ToolCall,
        edit_status,
        encoded_size,
        fingerprint,
    )

from .errors import application_error, received
from .journal import Journal, Outcome
from .runs import ScopeState

if TYPE_CHECKING:
    from .memory import Memory

_ACTIVITIES = {"write_memory": WRITE, "delete_memory": DELETE}

_MAX_ABANDONED = 16
"""Identical calls that earlier branches of the workflow gave up, before this one gives up too."""

_UNAVAILABLE = MemoryRefusal(
    "unavailable",
    "The memory did not answer in time. Nothing was changed by this call; try again later.",
)
_UNDECIDED = MemoryRefusal(
    "unavailable",
    "The memory did not answer in time, and it is not known whether this change was made; read "
    "the memory before you repeat it.",
)


@dataclass(slots=True)
class NumberedCall:
    """A mutation on its way: the n-th call of its run with these arguments."""

    call: ToolCall
    fingerprint: str
    n: int


@dataclass(kw_only=True, slots=True)
class Mutations:
    """The mutations of one handle."""

    memory: Memory
    scope: ScopeRecord
    run: str
    state: ScopeState
    journal: Journal
    _named: dict[tuple[str | None, str], NumberedCall] = field(default_factory=dict)

    def begin_response(self) -> None:
        """Forget the tool call ids of the response before: providers repeat them."""
        self._named = {key: call for key, call in self._named.items() if key[0] is not None}

    def number(
        self, call: ToolCall, *, tool_call_id: str | None, request: str | None
    ) -> NumberedCall:
        """Give the call its identity; never waits, so that the order of calls decides.

        Raises:
            MemoryRefusal: Its record would be too large to send.
            ApplicationError: The id was used in this response with other arguments.
        """
        print_ = fingerprint(call.tool, call.arguments)
        known = self._named.get((request, tool_call_id)) if tool_call_id else None
        if known is not None:
            if known.fingerprint != print_:
                raise application_error(MemoryOperationConflictError())
            return known
        self._refuse_oversize(call, print_)
        numbered = NumberedCall(call, print_, self.state.next_n(self.run, print_))
        if tool_call_id:
            self._named[request, tool_call_id] = numbered
        return numbered

    def _refuse_oversize(self, call: ToolCall, print_: str) -> None:
        record = self._request(NumberedCall(call, print_, 1), workflow.now())
        if encoded_size(record.wire()) > MAX_RECORD_BYTES:
            raise MemoryRefusal(
                "oversize", "The text is too long to be sent. Split it into several smaller files."
            )

    async def apply(self, numbered: NumberedCall) -> EditResult:
        """Apply the call once all calls before it have ended.

        An operation that an earlier branch of the workflow gave up (before a reset) can never be
        applied under its number, so the call takes the next one. Every later branch walks the
        same numbers and ends at the same operation.
        """
        async with self.state.order:
            if not await self._settle_earlier():
                return EditResult.refused(_UNAVAILABLE)
            for _ in range(_MAX_ABANDONED):
                result = await self._attempt(numbered)
                if result.status != "abandoned":
                    return result
                numbered.n = self.state.next_n(self.run, numbered.fingerprint)
            return EditResult.refused(_UNAVAILABLE)

    async def _settle_earlier(self) -> bool:
        """Settle what is undecided in this scope; return whether all of it is."""
        while self.state.unsettled:
            receipt, cancelled = await self.journal.settle(self.state.unsettled[0])
            if receipt is not None:
                self.state.unsettled.pop(0)
            if cancelled:
                raise asyncio.CancelledError
            if receipt is None:
                return False
        return True

    async def _attempt(self, numbered: NumberedCall) -> EditResult:
        deadline = workflow.now() + self.memory.timeouts.mutation
        request = self._request(numbered, deadline)
        outcome = await self.journal.mutate(_ACTIVITIES[numbered.call.tool], request)
        if outcome.cancelled and outcome.known:
            raise asyncio.CancelledError
        if outcome.result is not None:
            return received(MutationResponse, outcome.result).results[0]
        if outcome.known:
            return EditResult.refused(_UNAVAILABLE)
        return await self._settle(numbered, deadline, outcome)

    async def _settle(
        self, numbered: NumberedCall, deadline: datetime, outcome: Outcome
    ) -> EditResult:
        operation = OperationRecord(
            tool=numbered.call.tool,
            fingerprint=numbered.fingerprint,
            call=CallRecord(run=self.run, n=numbered.n),
        )
        record = SettleRequest(scope=self.scope, operation=operation, deadline=deadline)
        receipt, cancelled = await self.journal.settle(record)
        if receipt is None:
            self.state.unsettled.append(record)
        if cancelled or outcome.cancelled:
            raise asyncio.CancelledError
        if receipt is None:
            return EditResult.refused(_UNDECIDED)
        if receipt.abandoned:
            return EditResult.refused(_UNAVAILABLE)
        call = numbered.call
        return EditResult(
            status=edit_status(call.tool, call.arguments, existed=receipt.existed),
            file=call.file,
            version=receipt.version,
            replayed=True,
        )

    def _request(self, numbered: NumberedCall, deadline: datetime) -> MutationRequest:
        edit = EditRecord(**numbered.call.arguments, call=CallRecord(run=self.run, n=numbered.n))
        return MutationRequest(
            scope=self.scope,
            edits=(edit,),
            max_memory_size=self.memory.max_memory_size,
            deadline=deadline,
        )
