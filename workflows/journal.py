"""Scheduling the memory activities, and learning what became of them.

Zombies
-------
After a time-out, a cancellation or a reset the old activity can still run. Three things keep it
from landing behind a newer write:

* Every mutation carries an absolute deadline, the one Temporal gives the activity up at. The store
  refuses to apply it after that.
* A cancelled workflow waits for its mutation to end (`WAIT_CANCELLATION_COMPLETED`), and only then
  is told of its cancellation.
* When the outcome stays unknown (a time-out, a cancellation between attempts, a connection lost
  during the commit), the operation is settled before the scope's next mutation goes: its receipt is
  returned, or one is written that says it is abandoned, after which it can never land.

A zombie from before a reset is unknown to the new run. Identical calls are safe by their receipts;
for the rest the deadline bounds it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    FailureError,
    is_cancelled_exception,
)
from temporalio.workflow import ActivityCancellationType

with workflow.unsafe.imports_passed_through():
    from ..notebook import (
        SETTLE,
        InvalidMemoryRequest,
        MemoryDeadlineExceeded,
        MemoryNotFound,
        MemoryOperationConflictError,
        MemoryPermissionDenied,
        Record,
        SettleRequest,
        SettleResponse,
        encoded_size,
    )

from .errors import received
from .runs import Room

if TYPE_CHECKING:
    from .memory import Memory

_RETRIES = RetryPolicy(
    initial_interval=timedelta(milliseconds=100), maximum_interval=timedelta(seconds=5)
)

# A local activity is retried past its schedule-to-close time-out (measured: for ever, when each
# attempt fails at once), so that attempts, and the time of each, bound it.
_LOCAL_ATTEMPTS = 3
_LOCAL_RETRIES = RetryPolicy(
    initial_interval=timedelta(milliseconds=100), maximum_attempts=_LOCAL_ATTEMPTS
)

_CALLERS_FAULTS = {
    InvalidMemoryRequest.__name__,
    MemoryNotFound.__name__,
    MemoryOperationConflictError.__name__,
    MemoryPermissionDenied.__name__,
}
"""Errors of the configuration or the workflow's code: nothing a model could act on."""


class Unavailable(Exception):  # noqa: N818  (caught where it is raised; not an error of the API)
    """The store did not answer a call that changes nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What is known of a mutation once its activity has ended.

    Attributes:
        result: The activity's raw result; `None` when it has none.
        known: Without a result: whether it is certain that nothing was or will be applied.
        cancelled: Whether the workflow was cancelled meanwhile.
    """

    result: Any = None
    known: bool = True
    cancelled: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Journal:
    """Calls the memory activities of one memory."""

    memory: Memory
    room: Room

    async def lookup(self, activity: str, record: Record) -> Any:
        """Run an activity that changes nothing and return its raw result.

        Raises:
            ApplicationError: The caller's fault.
            Unavailable: The store is down.
        """
        return await self._lookup(activity, record, self.memory.timeouts.lookup)

    async def snapshot(self, activity: str, record: Record, *, max_bytes: int) -> Any:
        """Run the snapshot activity, locally where it is in this worker; errors as `lookup`.

        Args:
            activity: Its name.
            record: Its request.
            max_bytes: Encoded size of its result at most.
        """
        if self.memory.task_queue is None and self.room.claim_local(max_bytes):
            try:
                return await workflow.execute_local_activity(
                    activity,
                    record.wire(),
                    schedule_to_close_timeout=self.memory.timeouts.local_snapshot,
                    start_to_close_timeout=self.memory.timeouts.local_snapshot / _LOCAL_ATTEMPTS,
                    retry_policy=_LOCAL_RETRIES,
                )
            except FailureError as error:  # a local activity's failure comes without ActivityError
                _raise_callers_fault(error)
        return await self._lookup(activity, record, self.memory.timeouts.snapshot)

    async def _lookup(self, activity: str, record: Record, budget: timedelta) -> Any:
        wire = record.wire()
        try:
            async with self.room.take(encoded_size(wire)):
                return await workflow.execute_activity(
                    activity,
                    wire,
                    task_queue=self.memory.task_queue,
                    start_to_close_timeout=self.memory.timeouts.attempt,
                    schedule_to_close_timeout=budget,
                    retry_policy=_RETRIES,
                )
        except ActivityError as error:
            _raise_callers_fault(error)
            raise Unavailable from error

    async def mutate(self, activity: str, record: Record) -> Outcome:
        """Run a mutation to its end, whatever is cancelled meanwhile.

        Raises:
            ApplicationError: The caller's fault.
        """
        wire = record.wire()
        async with self.room.take(encoded_size(wire)):
            handle = workflow.start_activity(
                activity,
                wire,
                task_queue=self.memory.task_queue,
                start_to_close_timeout=self.memory.timeouts.attempt,
                schedule_to_close_timeout=self.memory.timeouts.mutation,
                cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
                retry_policy=_RETRIES,
            )
            cancelled = await until_done(handle)
        try:
            return Outcome(result=handle.result(), cancelled=cancelled)
        except (ActivityError, asyncio.CancelledError) as error:
            return Outcome(known=_certainly_not_applied(error), cancelled=cancelled)

    async def settle(self, record: SettleRequest) -> tuple[SettleResponse | None, bool]:
        """Settle an operation, shielded.

        Returns:
            Its receipt, or `None` when the store is still down; and whether the workflow was
            cancelled meanwhile.
        """
        handle = workflow.start_activity(
            SETTLE,
            record.wire(),
            task_queue=self.memory.task_queue,
            start_to_close_timeout=self.memory.timeouts.attempt,
            schedule_to_close_timeout=self.memory.timeouts.settle,
            cancellation_type=ActivityCancellationType.ABANDON,
            retry_policy=_RETRIES,
        )
        cancelled = await until_done(handle, forward=False)
        try:
            return received(SettleResponse, handle.result()), cancelled
        except ActivityError:
            return None, cancelled


async def until_done(task: asyncio.Task[Any], *, forward: bool = True) -> bool:
    """Wait for `task` through any cancellation, and return whether there was one.

    Args:
        task: An activity's handle.
        forward: Whether the activity is asked to cancel, which ends its retries.
    """
    cancelled = False
    while not task.done():
        try:
            await workflow.wait([task])
        except asyncio.CancelledError:
            cancelled = True
            if forward:
                task.cancel()
    return cancelled


def _raise_callers_fault(error: FailureError) -> None:
    """Raise what is not the store's fault: a cancellation, or a fault of the caller."""
    if is_cancelled_exception(error):
        raise error
    cause = error.cause if isinstance(error, ActivityError) else error
    if isinstance(cause, ApplicationError):
        _raise_fault_of_caller(cause)


def _certainly_not_applied(error: BaseException) -> bool:
    """Return whether the failure itself says so; raise when it is the caller's fault."""
    cause = error.cause if isinstance(error, ActivityError) else None
    if not isinstance(cause, ApplicationError):
        return False
    _raise_fault_of_caller(cause)
    return cause.type == MemoryDeadlineExceeded.__name__


def _raise_fault_of_caller(cause: ApplicationError) -> None:
    if cause.type in _CALLERS_FAULTS:
        raise ApplicationError(cause.message, type=cause.type, non_retryable=True) from None
