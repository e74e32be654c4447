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
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

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
        InvalidMemoryRequest,
        MemoryNotFound,
        MemoryOperationConflictError,
        MemoryPermissionDenied,
        Record,
        SettleResponse,
        encoded_size,
    )

from .errors import received
from .options import Timeouts
from .runs import Room

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
    """The store did not answer a call that changes nothing.

    Args:
        type_: Stable type of its last error; `None` when it did not answer at all.
    """

    def __init__(self, type_: str | None) -> None:
        super().__init__(type_)
        self.type = type_


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What is known of a mutation once its activity has ended.

    Attributes:
        result: The activity's raw result; `None` when whether it was applied is not known.
        cancelled: Whether the workflow was cancelled meanwhile.
    """

    result: Any = None
    cancelled: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Journal:
    """Calls the memory activities of one memory."""

    task_queue: str | None
    timeouts: Timeouts
    room: Room

    async def lookup(self, activity: str, record: Record) -> Any:
        """Run an activity that changes nothing and return its raw result.

        Raises:
            ApplicationError: The caller's fault.
            Unavailable: The store is down.
        """
        return await self._lookup(activity, record, self.timeouts.lookup)

    async def snapshot(self, activity: str, record: Record, *, max_bytes: int) -> Any:
        """Run the snapshot activity, locally where it is in this worker; errors as `lookup`.

        Args:
            activity: Its name.
            record: Its request.
            max_bytes: Encoded size of its result at most.
        """
        if self.task_queue is None and self.room.claim_local(max_bytes):
            try:
                return await workflow.execute_local_activity(
                    activity,
                    record.wire(),
                    schedule_to_close_timeout=self.timeouts.local_snapshot,
                    start_to_close_timeout=self.timeouts.local_snapshot / _LOCAL_ATTEMPTS,
                    retry_policy=_LOCAL_RETRIES,
                )
            except FailureError as error:
                _raise_unless_unavailable(error)
        return await self._lookup(activity, record, self.timeouts.snapshot)

    async def _lookup(self, activity: str, record: Record, budget: timedelta) -> Any:
        wire = record.wire()
        try:
            async with self.room.take(encoded_size(wire)):
                return await workflow.execute_activity(
                    activity,
                    wire,
                    task_queue=self.task_queue,
                    start_to_close_timeout=self.timeouts.attempt,
                    schedule_to_close_timeout=budget,
                    retry_policy=_RETRIES,
                )
        except ActivityError as error:
            _raise_unless_unavailable(error)
            raise Unavailable(_fault_type(error)) from error

    async def mutate(
        self, activity: str, record: Record, *, scheduled: Callable[[], None]
    ) -> Outcome:
        """Run a mutation to its end, whatever is cancelled meanwhile.

        Args:
            activity: Its name.
            record: Its request.
            scheduled: Called once the activity is scheduled.

        Raises:
            ApplicationError: The caller's fault.
        """
        wire = record.wire()
        async with self.room.take(encoded_size(wire)):
            handle = workflow.start_activity(
                activity,
                wire,
                task_queue=self.task_queue,
                start_to_close_timeout=self.timeouts.attempt,
                schedule_to_close_timeout=self.timeouts.mutation,
                cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
                retry_policy=_RETRIES,
            )
            scheduled()
            cancelled = await until_done(handle)
        try:
            return Outcome(result=handle.result(), cancelled=cancelled)
        except ActivityError as error:
            if not cancelled:
                _raise_fault_of_caller(error)
            return Outcome(cancelled=cancelled)
        except asyncio.CancelledError:
            return Outcome(cancelled=True)

    async def settle(self, activity: str, record: Record) -> tuple[SettleResponse | None, bool]:
        """Settle an operation, shielded.

        Args:
            activity: The one that settles.
            record: Its request.

        Returns:
            Its receipt, or `None` when the store is still down; and whether the workflow was
            cancelled meanwhile.

        Raises:
            ApplicationError: The caller's fault.
        """
        handle = workflow.start_activity(
            activity,
            record.wire(),
            task_queue=self.task_queue,
            start_to_close_timeout=self.timeouts.attempt,
            schedule_to_close_timeout=self.timeouts.settle,
            cancellation_type=ActivityCancellationType.ABANDON,
            retry_policy=_RETRIES,
        )
        cancelled = await until_done(handle, forward=False)
        try:
            return received(SettleResponse, handle.result()), cancelled
        except ActivityError as error:
            if not cancelled:
                _raise_fault_of_caller(error)
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


def _raise_unless_unavailable(error: FailureError) -> None:
    """Raise what is not the store's fault: a cancellation, or a fault of the caller."""
    if is_cancelled_exception(error):
        raise error
    _raise_fault_of_caller(error)


def _raise_fault_of_caller(error: FailureError) -> None:
    cause = _cause(error)
    if isinstance(cause, ApplicationError) and cause.type in _CALLERS_FAULTS:
        raise ApplicationError(cause.message, type=cause.type, non_retryable=True) from None


def _cause(error: FailureError) -> BaseException | None:
    # A local activity's failure comes without the ActivityError around it.
    return error.cause if isinstance(error, ActivityError) else error


def _fault_type(error: FailureError) -> str | None:
    cause = _cause(error)
    return cause.type if isinstance(cause, ApplicationError) else None
