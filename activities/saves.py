"""Saving, forgetting and settling of entries; see `operations.py` for what makes them certain."""

from __future__ import annotations

from ..notebook import (
    FORGET_TOOL,
    SAVE_TOOL,
    EntryCall,
    EntryEditRecord,
    EntryMutationRequest,
    EntryMutationResponse,
    EntryResult,
    EntrySettleRequest,
    InvalidMemoryRequest,
    MemoryOperationAbandonedError,
    MemoryRefusal,
    SettleResponse,
    entry_status,
    fingerprint,
    parse_entry_call,
)
from ..stores import EntryMutation, EntryWrite, MemoryOperation
from .gate import EntryVisit
from .operations import certain, deadline_of, note_results, operation_of, refuse_conflicts

_TOOLS = {"save": SAVE_TOOL, "forget": FORGET_TOOL}


async def mutate(visit: EntryVisit[EntryMutationRequest], *, op: str) -> EntryMutationResponse:
    """Apply the record's edits in order; `op` is what an edit does that does not say."""
    edits = [
        (edit, _operation(visit, edit, _TOOLS[edit.op or op], place))
        for place, edit in enumerate(visit.request.edits)
    ]
    refuse_conflicts(operation for _, operation in edits)
    results = [
        await _apply(visit, edit, _TOOLS[edit.op or op], operation) for edit, operation in edits
    ]
    note_results(visit.observation, results)
    return EntryMutationResponse(results=tuple(results))


def _operation(
    visit: EntryVisit[EntryMutationRequest], edit: EntryEditRecord, tool: str, place: int
) -> MemoryOperation:
    if tool == FORGET_TOOL and edit.session is not None:
        raise InvalidMemoryRequest("a forget has no session: it removes every session's entry")
    print_ = fingerprint(tool, edit.arguments())
    return operation_of(visit.scope, tool, print_, edit.call, place=place)


async def _apply(
    visit: EntryVisit[EntryMutationRequest],
    edit: EntryEditRecord,
    tool: str,
    operation: MemoryOperation,
) -> EntryResult:
    try:
        call = parse_entry_call(tool, edit.tool_arguments())
    except MemoryRefusal as refusal:
        return EntryResult.refused(refusal)
    write = EntryWrite(operation=operation, deadline=deadline_of(visit.request.deadline))

    async def attempt() -> EntryResult:
        return _result(call, await _change(visit, call, edit.session, write))

    async def receipt() -> EntryResult | None:
        with visit.store_call("settle"):
            settled = await visit.store.settle(operation, deadline=write.deadline)
        return None if settled.abandoned else _result(call, settled)

    try:
        return await certain(attempt, receipt)
    except MemoryOperationAbandonedError:
        return EntryResult(status="abandoned", path=call.path, replayed=True)
    except MemoryRefusal as refusal:
        return EntryResult.refused(refusal)


async def _change(
    visit: EntryVisit[EntryMutationRequest],
    call: EntryCall,
    session: str | None,
    write: EntryWrite,
) -> EntryMutation:
    if call.tool == FORGET_TOOL:
        with visit.store_call("forget"):
            return await visit.store.forget(
                visit.scope.store, visit.scope.actor, call.path, write=write
            )
    with visit.store_call("put"):
        return await visit.store.put(
            visit.scope.entry(call.path, session),
            content=call.content,
            description=call.description,
            write=write,
        )


def _result(call: EntryCall, mutation: EntryMutation) -> EntryResult:
    return EntryResult(
        status=entry_status(call.tool, existed=mutation.existed),
        path=call.path,
        version=mutation.version,
        replayed=mutation.replayed,
    )


async def settle(visit: EntryVisit[EntrySettleRequest]) -> SettleResponse:
    """Close the case of an operation whose outcome the workflow does not know."""
    named = visit.request.operation
    operation = operation_of(visit.scope, named.tool, named.fingerprint, named.call)
    with visit.store_call("settle"):
        receipt = await visit.store.settle(operation, deadline=visit.request.deadline)
    visit.observation.note(outcome="abandoned" if receipt.abandoned else "applied")
    return SettleResponse(
        abandoned=receipt.abandoned, version=receipt.version, existed=receipt.existed
    )
