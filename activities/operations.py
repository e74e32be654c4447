"""Exactly once: what every activity that changes something is made of.

An activity may run any number of times: Temporal retries it when the worker dies before the
completion is heard, when a time-out passes while it still runs, and when a completion is lost. So:

* Every mutation carries an operation. The store applies it and writes its receipt in one step; a
  later arrival finds the receipt and answers with it.
* A crash before that step leaves nothing; after it, the receipt. There is no between.
* Two attempts at once meet at the receipt's key: one waits for the other, then finds its receipt,
  or goes on if the other was rolled back.
* An attempt that comes after the deadline is refused by the store, under the row's lock.
* A refusal (a passage that is not there, say) leaves no receipt, so an earlier attempt that still
  runs, perhaps one from before a reset, could apply what the workflow was told is refused. Hence
  the store's refusal first settles the operation: either another attempt has landed, and its
  receipt is the answer, or it never will. A deadline that has passed is such a refusal.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from temporalio import activity

from ..notebook import (
    CallRecord,
    MemoryDeadlineExceeded,
    MemoryOperationConflictError,
    MemoryRefusal,
    Partition,
    ResultRecord,
    Scope,
    operation_id,
    unnamed_call,
)
from ..stores import MemoryOperation
from .telemetry import Observation

ResultT = TypeVar("ResultT", bound=ResultRecord)


_LATE = MemoryRefusal(
    "unavailable", "The memory did not answer in time. Nothing was changed; try again later."
)


async def certain(
    attempt: Callable[[], Awaitable[ResultT]],
    receipt: Callable[[], Awaitable[ResultT | None]],
    *,
    settles: bool = True,
) -> ResultT:
    """Return what a mutation did; raise a refusal once no other attempt can prove it wrong.

    Args:
        attempt: Applies it, with its operation.
        receipt: Settles the operation; `None` when it was not and never will be applied.
        settles: Whether the store can settle. One that cannot is only asked after an earlier
            attempt, since the answer takes as long as the deadline.

    Raises:
        MemoryRefusal: It cannot be applied.
        MemoryFault: As the store.
    """
    try:
        return await attempt()
    except MemoryDeadlineExceeded:
        refusal = _LATE
    except MemoryRefusal as error:
        refusal = error
    asked = settles or activity.info().attempt > 1
    landed = await receipt() if asked else None
    if landed is None:
        raise refusal
    return landed


def note_results(observation: Observation, results: Sequence[ResultRecord]) -> None:
    """Note what became of a record's edits."""
    observation.note(
        edits=len(results),
        outcome=results[-1].status,
        replayed=any(result.replayed for result in results),
    )


def refuse_conflicts(operations: Iterable[MemoryOperation]) -> None:
    """Refuse a record that names two different mutations alike, before anything is applied.

    Raises:
        MemoryOperationConflictError: It does.
    """
    fingerprints: dict[str, str] = {}
    for operation in operations:
        if fingerprints.setdefault(operation.id, operation.fingerprint) != operation.fingerprint:
            raise MemoryOperationConflictError


def operation_of(
    scope: Scope | Partition, tool: str, fingerprint: str, call: CallRecord, *, place: int = 0
) -> MemoryOperation:
    """Return the operation of a call made by the workflow that this activity belongs to.

    Args:
        scope: Of the call.
        tool: Its tool, without a prefix.
        fingerprint: Of its arguments.
        call: Which call of the run it is.
        place: Its place in the record, which names it when nothing else does.
    """
    info = activity.info()
    scoped = call.operation_scope is not None
    # Without a workflow the activity is a run of its own.
    run = call.operation_scope or call.run or info.workflow_run_id or info.activity_run_id
    tool_call_id = call.tool_call_id
    if call.n is None and tool_call_id is None:
        tool_call_id = unnamed_call(info.activity_id, place)
    return MemoryOperation(
        id=operation_id(
            temporal_namespace=info.namespace,
            workflow_id="" if scoped else info.workflow_id or "",
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


def deadline_of(given: datetime | None) -> datetime | None:
    """Return the deadline of a mutation: what the workflow gave, or the activity's own end."""
    if given is not None:
        return given
    info = activity.info()
    ends = []
    if info.schedule_to_close_timeout:
        ends.append(info.scheduled_time + info.schedule_to_close_timeout)
    if info.start_to_close_timeout:
        ends.append(info.started_time + info.start_to_close_timeout)
    return min(ends, default=None)
