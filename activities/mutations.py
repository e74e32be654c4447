"""Writes, deletes and settling.

Exactly once
------------
An activity may run any number of times: Temporal retries it when the worker dies before the
completion is heard, when a time-out passes while it still runs, and when a completion is lost. So:

* Every mutation carries an operation. The store applies it and writes its receipt in one step; a
  later arrival finds the receipt and answers with it.
* A crash before that step leaves nothing; after it, the receipt. There is no between.
* Two attempts at once meet at the receipt's key: one waits for the other, then finds its receipt,
  or goes on if the other was rolled back.
* An attempt that comes after the deadline is refused by the store, under the row's lock.
* A refusal (a passage that is not there, say) leaves no receipt, so an earlier attempt that still
  runs could apply what the workflow was told is refused. Hence a refusal of a later attempt
  first settles the operation: either the earlier attempt has landed, and its receipt is the answer,
  or it never will.
"""

from __future__ import annotations

from datetime import datetime

from temporalio import activity

from ..notebook import (
    CallRecord,
    EditRecord,
    EditResult,
    MemoryOperationAbandonedError,
    MemoryRefusal,
    MutationRequest,
    MutationResponse,
    Scope,
    SettleRequest,
    SettleResponse,
    ToolCall,
    check_limit,
    edit_status,
    fingerprint,
    operation_id,
    parse_tool_call,
)
from ..stores import MemoryMutation, MemoryOperation, apply_edit, settle_operation
from .gate import Visit

_TOOLS = {"write": "write_memory", "delete": "delete_memory"}


async def mutate(visit: Visit[MutationRequest], *, op: str) -> MutationResponse:
    """Apply the record's edits in order; `op` is what an edit does that does not say."""
    check_limit("max_memory_size", visit.request.max_memory_size)
    results = [await _apply(visit, edit, _TOOLS[edit.op or op]) for edit in visit.request.edits]
    visit.observation.note(
        edits=len(results),
        outcome=results[-1].status,
        replayed=any(result.replayed for result in results),
    )
    return MutationResponse(results=tuple(results))


async def _apply(visit: Visit[MutationRequest], edit: EditRecord, tool: str) -> EditResult:
    try:
        call = parse_tool_call(tool, edit.arguments())
    except MemoryRefusal as refusal:
        return EditResult.refused(refusal)
    operation = operation_of(visit.scope, tool, fingerprint(tool, edit.arguments()), edit.call)
    try:
        with visit.store_call("edit"):
            mutation = await apply_edit(
                visit.store,
                visit.scope.path(call.file),
                call.edit,
                max_chars=visit.request.max_memory_size,
                operation=operation,
                deadline=_deadline(visit.request.deadline),
            )
    except MemoryOperationAbandonedError:
        return EditResult(status="abandoned", file=call.file, replayed=True)
    except MemoryRefusal as refusal:
        return await _refuse(visit, call, operation, refusal)
    return _result(call, mutation)


async def _refuse(
    visit: Visit[MutationRequest],
    call: ToolCall,
    operation: MemoryOperation,
    refusal: MemoryRefusal,
) -> EditResult:
    """Answer with the refusal, once no earlier attempt can prove it wrong."""
    if activity.info().attempt > 1:
        deadline = _deadline(visit.request.deadline)
        with visit.store_call("settle"):
            receipt = await settle_operation(visit.store, operation, deadline=deadline)
        if not receipt.abandoned:
            return _result(call, receipt)
    return EditResult.refused(refusal)


def _result(call: ToolCall, mutation: MemoryMutation) -> EditResult:
    return EditResult(
        status=edit_status(call.tool, call.arguments, existed=mutation.existed),
        file=call.file,
        version=mutation.version,
        replayed=mutation.replayed,
    )


async def settle(visit: Visit[SettleRequest]) -> SettleResponse:
    """Close the case of an operation whose outcome the workflow does not know."""
    named = visit.request.operation
    operation = operation_of(visit.scope, named.tool, named.fingerprint, named.call)
    with visit.store_call("settle"):
        receipt = await settle_operation(visit.store, operation, deadline=visit.request.deadline)
    visit.observation.note(outcome="abandoned" if receipt.abandoned else "applied")
    return SettleResponse(
        abandoned=receipt.abandoned, version=receipt.version, existed=receipt.existed
    )


def operation_of(scope: Scope, tool: str, fingerprint: str, call: CallRecord) -> MemoryOperation:
    """Return the operation of a call made by the workflow that this activity belongs to."""
    info = activity.info()
    run = call.run or info.workflow_run_id
    tool_call_id = call.tool_call_id
    if call.n is None and tool_call_id is None:
        # A caller that names nothing gets the activity itself as the call: right for retries, a
        # second operation after a reset.
        tool_call_id = f"activity:{info.activity_id}"
    return MemoryOperation(
        id=operation_id(
            temporal_namespace=info.namespace,
            workflow_id=info.workflow_id or "",
            run=run or "",
            scope=scope.key,
            tool=tool,
            fingerprint=fingerprint,
            n=call.n,
            tool_call_id=tool_call_id,
        ),
        fingerprint=fingerprint,
        workflow_id=info.workflow_id or "",
        run_id=info.workflow_run_id or "",
    )


def _deadline(given: datetime | None) -> datetime | None:
    """Return the deadline of this activity: what the workflow gave, or its own time-out."""
    info = activity.info()
    if given is not None or info.schedule_to_close_timeout is None:
        return given
    return info.scheduled_time + info.schedule_to_close_timeout
