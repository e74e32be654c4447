"""Nudges of embedding by whoever writes entries."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from temporalio import activity
from temporalio.client import Client
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from ..notebook import SAVE_ENTRY
from .schedules import nudge_embedding

_PAUSE = 1.0
"""Seconds between two nudges of one process: a burst of writes is one or two of them."""

_log = logging.getLogger("durable_memory.activities")


class EmbeddingNudger:
    """Starts embedding after entries were written.

    A write neither waits for its nudge nor fails by it: what is not nudged waits for the schedule.
    Of one process at most one nudge is under way; writes meanwhile are followed by one more.

    Args:
        client: Connected to Temporal, or a lazy one that connects at the first nudge.
        schedule_id: What is nudged.
    """

    def __init__(self, client: Client, *, schedule_id: str) -> None:
        self._client = client
        self._schedule_id = schedule_id
        self._wanted = False
        self._failing = False
        self._running: asyncio.Task[None] | None = None

    def nudge(self) -> None:
        """Nudge soon."""
        self._wanted = True
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Give up what is under way: the schedule starts it all the same."""
        if self._running:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _run(self) -> None:
        while self._wanted:
            self._wanted = False
            await self._try()
            await asyncio.sleep(_PAUSE)

    async def _try(self) -> None:
        try:
            await nudge_embedding(self._client, schedule_id=self._schedule_id)
        except Exception as error:  # noqa: BLE001  (the schedule starts it all the same)
            if not self._failing:
                _log.warning("embedding could not be nudged (%s)", type(error).__name__)
            self._failing = True
        else:
            self._failing = False


class EmbeddingNudges(Interceptor):
    """Nudges embedding after each entry that a worker saved; to give to it as an interceptor.

    Args:
        nudger: Starts embedding.
    """

    def __init__(self, nudger: EmbeddingNudger) -> None:
        self._nudger = nudger

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002  (Temporal's name)
        """See `Interceptor.intercept_activity`."""
        return _Watching(next, self._nudger)


class _Watching(ActivityInboundInterceptor):
    def __init__(self, following: ActivityInboundInterceptor, nudger: EmbeddingNudger) -> None:
        super().__init__(following)
        self._nudger = nudger

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002  (Temporal's name)
        """See `ActivityInboundInterceptor.execute_activity`."""
        result = await super().execute_activity(input)
        if activity.info().activity_type == SAVE_ENTRY:
            self._nudger.nudge()
        return result
