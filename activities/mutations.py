"""Writes, deletes and settling of notebooks; see `operations.py` for what makes them certain."""

from __future__ import annotations

from ..notebook import (
    EditRecord,
    EditResult,
    MemoryOperationAbandonedError,
    MemoryRefusal,
    MutationRequest,
    MutationResponse,
    SettleRequest,
    SettleResponse,
    ToolCall,
    check_limit,
    edit_status,
    fingerprint,
    parse_tool_call,
)
from ..stores import (
    MemoryMutation,
    MemoryOperation,
    SettlingStore,
    apply_edit,
    settle_operation,
)
from .gate import NotebookVisit
from .operations import certain, deadline_of, note_results, operation_of, refuse_conflicts

_TOOLS = {"write": "write_memory", "delete": "delete_memory"}


async def mutate(visit: NotebookVisit[MutationRequest], *, op: str) -> MutationResponse:
    """Apply the record's edits in order; `op` is what an edit does that does not say."""
    check_limit("max_memory_size", visit.request.max_memory_size)
    edits = [
        (edit, _operation(visit, edit, _TOOLS[edit.op or op], place))
        for place, edit in enumerate(visit.request.edits)
    ]
    refuse_conflicts(operation for _, operation in edits)
    results = [
        await _apply(visit, edit, _TOOLS[edit.op or op], operation) for edit, operation in edits
    ]
    note_results(visit.observation, results)
    return MutationResponse(results=tuple(results))


def _operation(
    visit: NotebookVisit[MutationRequest], edit: EditRecord, tool: str, place: int
) -> MemoryOperation:
    print_ = fingerprint(tool, edit.arguments())
    return operation_of(visit.scope, tool, print_, edit.call, place=place)


async def _apply(
    visit: NotebookVisit[MutationRequest], edit: EditRecord, tool: str, operation: MemoryOperation
) -> EditResult:
    try:
        call = parse_tool_call(tool, edit.arguments())
    except MemoryRefusal as refusal:
        return EditResult.refused(refusal)
    deadline = deadline_of(visit.request.deadline)

    async def attempt() -> EditResult:
        with visit.store_call("edit"):
            mutation = await apply_edit(
                visit.store,
                visit.scope.path(call.file),
                call.edit,
                max_chars=visit.request.max_memory_size,
                operation=operation,
                deadline=deadline,
            )
        return _result(call, mutation)

    async def receipt() -> EditResult | None:
        with visit.store_call("settle"):
            settled = await settle_operation(visit.store, operation, deadline=deadline)
        return None if settled.abandoned else _result(call, settled)

    try:
        return await certain(attempt, receipt, settles=isinstance(visit.store, SettlingStore))
    except MemoryOperationAbandonedError:
        return EditResult(status="abandoned", file=call.file, replayed=True)
    except MemoryRefusal as refusal:
        return EditResult.refused(refusal)


def _result(call: ToolCall, mutation: MemoryMutation) -> EditResult:
    return EditResult(
        status=edit_status(call.tool, call.arguments, existed=mutation.existed),
        file=call.file,
        version=mutation.version,
        replayed=mutation.replayed,
    )


async def settle(visit: NotebookVisit[SettleRequest]) -> SettleResponse:
    """Close the case of an operation whose outcome the workflow does not know."""
    named = visit.request.operation
    operation = operation_of(visit.scope, named.tool, named.fingerprint, named.call)
    with visit.store_call("settle"):
        receipt = await settle_operation(visit.store, operation, deadline=visit.request.deadline)
    visit.observation.note(outcome="abandoned" if receipt.abandoned else "applied")
    return SettleResponse(
        abandoned=receipt.abandoned, version=receipt.version, existed=receipt.existed
    )
