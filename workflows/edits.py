"""How a notebook's writes and deletes travel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from ..notebook import (
        DELETE,
        SETTLE,
        WRITE,
        CallRecord,
        EditRecord,
        EditResult,
        MemoryRefusal,
        MutationRequest,
        MutationResponse,
        OperationRecord,
        ScopeRecord,
        SettleRequest,
        SettleResponse,
        ToolCall,
        edit_status,
    )

from .errors import received
from .mutations import Wire

_ACTIVITIES = {"write_memory": WRITE, "delete_memory": DELETE}


@dataclass(frozen=True, kw_only=True, slots=True)
class NotebookWire(Wire[ToolCall, EditResult]):
    """The records of one scope's mutations; see `Wire`."""

    settle = SETTLE

    scope: ScopeRecord
    max_memory_size: int

    def activity(self, call: ToolCall) -> str:
        """See `Wire.activity`."""
        return _ACTIVITIES[call.tool]

    def arguments(self, call: ToolCall) -> Mapping[str, str]:
        """See `Wire.arguments`."""
        return call.arguments

    def request(self, call: ToolCall, record: CallRecord, deadline: datetime) -> MutationRequest:
        """See `Wire.request`."""
        return MutationRequest(
            scope=self.scope,
            edits=(EditRecord(**call.arguments, call=record),),
            max_memory_size=self.max_memory_size,
            deadline=deadline,
        )

    def result(self, raw: object) -> EditResult:
        """See `Wire.result`."""
        return received(MutationResponse, raw).results[0]

    def refused(self, refusal: MemoryRefusal) -> EditResult:
        """See `Wire.refused`."""
        return EditResult.refused(refusal)

    def settling(self, operation: OperationRecord, deadline: datetime) -> SettleRequest:
        """See `Wire.settling`."""
        return SettleRequest(scope=self.scope, operation=operation, deadline=deadline)

    def settled(self, call: ToolCall, receipt: SettleResponse) -> EditResult:
        """See `Wire.settled`."""
        return EditResult(
            status=edit_status(call.tool, call.arguments, existed=receipt.existed),
            file=call.file,
            version=receipt.version,
            replayed=True,
        )
