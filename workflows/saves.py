"""How what is saved and forgotten among entries travels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from ..notebook import (
        FORGET_ENTRY,
        FORGET_TOOL,
        SAVE_ENTRY,
        SAVE_TOOL,
        SETTLE_ENTRY,
        CallRecord,
        EntryCall,
        EntryEditRecord,
        EntryMutationRequest,
        EntryMutationResponse,
        EntryResult,
        EntrySettleRequest,
        MemoryRefusal,
        OperationRecord,
        Partition,
        SettleResponse,
        entry_status,
    )

from .errors import received
from .mutations import Wire

_ACTIVITIES = {SAVE_TOOL: SAVE_ENTRY, FORGET_TOOL: FORGET_ENTRY}


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryWire(Wire[EntryCall, EntryResult]):
    """The records of one partition's mutations; see `Wire`.

    Attributes:
        partition: Whose entries.
        session: The conversation that what is saved belongs to.
    """

    settle = SETTLE_ENTRY

    partition: Partition
    session: str | None

    def activity(self, call: EntryCall) -> str:
        """See `Wire.activity`."""
        return _ACTIVITIES[call.tool]

    def arguments(self, call: EntryCall) -> Mapping[str, str]:
        """See `Wire.arguments`."""
        return self._edit(call, CallRecord()).arguments()

    def request(
        self, call: EntryCall, record: CallRecord, deadline: datetime
    ) -> EntryMutationRequest:
        """See `Wire.request`."""
        return EntryMutationRequest(
            store=self.partition.store,
            actor=self.partition.actor,
            edits=(self._edit(call, record),),
            deadline=deadline,
        )

    def _edit(self, call: EntryCall, record: CallRecord) -> EntryEditRecord:
        session = self.session if call.tool == SAVE_TOOL else None
        return EntryEditRecord(**call.arguments, session=session, call=record)

    def result(self, raw: object) -> EntryResult:
        """See `Wire.result`."""
        return received(EntryMutationResponse, raw).results[0]

    def refused(self, refusal: MemoryRefusal) -> EntryResult:
        """See `Wire.refused`."""
        return EntryResult.refused(refusal)

    def settling(self, operation: OperationRecord, deadline: datetime) -> EntrySettleRequest:
        """See `Wire.settling`."""
        return EntrySettleRequest(
            store=self.partition.store,
            actor=self.partition.actor,
            operation=operation,
            deadline=deadline,
        )

    def settled(self, call: EntryCall, receipt: SettleResponse) -> EntryResult:
        """See `Wire.settled`."""
        return EntryResult(
            status=entry_status(call.tool, existed=receipt.existed),
            path=call.path,
            version=receipt.version,
            replayed=True,
        )
