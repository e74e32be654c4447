"""The schedule of embedding, and its nudge.

The schedule starts the workflow now and then, so that nothing waits for ever. Who has written an
entry may trigger it, so that the entry does not wait for the clock. A trigger while the workflow
runs is kept, and starts it once more when it ends, so no entry falls between. A listener on the
database would do the same only where no proxy pools its connections.
"""

from __future__ import annotations

from datetime import timedelta

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
)

from ..notebook import EMBEDDING, EMBEDDING_SCHEDULE

EVERY = timedelta(minutes=1)
"""How long an entry waits at most before its embedding begins."""


async def ensure_embedding_schedule(
    client: Client,
    *,
    task_queue: str,
    every: timedelta = EVERY,
    schedule_id: str = EMBEDDING_SCHEDULE,
) -> None:
    """Make the schedule unless there is one; one that is there stays as it is.

    Args:
        client: Connected to Temporal.
        task_queue: Where a worker has the workflow and its activity.
        every: How often it starts.
        schedule_id: Another one for another database in the same namespace.
    """
    schedule = Schedule(
        action=ScheduleActionStartWorkflow(EMBEDDING, id=schedule_id, task_queue=task_queue),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=every)]),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP),
    )
    try:
        await client.create_schedule(schedule_id, schedule)
    except ScheduleAlreadyRunningError:
        return


async def nudge_embedding(client: Client, *, schedule_id: str = EMBEDDING_SCHEDULE) -> None:
    """Start the workflow now, or once more after the run that is under way."""
    handle = client.get_schedule_handle(schedule_id)
    await handle.trigger(overlap=ScheduleOverlapPolicy.BUFFER_ONE)
