"""Embedding of the entries that wait for it."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from ..notebook import EMBED, EmbedRequest, EmbedResponse, stored_vector
from ..stores import EmbeddedTask, Embedder, EmbeddingQueue, EmbeddingTask
from .faults import as_application_error
from .telemetry import Telemetry

UNAVAILABLE_TYPE = "EmbedderUnavailable"
"""Type of the error of a batch of which nothing could be embedded; retried."""

_PAGES = 20
"""Pages of entries looked through in one run of the activity."""

_REST = 600.0
"""Seconds from the end of one look through all entries to the next."""

_log = logging.getLogger("durable_memory.activities")


class EmbeddingActivities:
    """The embedding activity of one worker.

    Running it twice is harmless: entries are claimed, and a vector is kept only while its entry
    still has the version that was embedded. What a crash leaves claimed comes up again.

    Args:
        queue: The entries that wait, or who gives them, asked on every call.
        embedder: Turns them into vectors.
        telemetry: Spans and metrics; by default with a hash key that lives with the process.
    """

    def __init__(
        self,
        queue: EmbeddingQueue | Callable[[], Awaitable[EmbeddingQueue]],
        embedder: Embedder,
        *,
        telemetry: Telemetry | None = None,
    ) -> None:
        self._resolve = _always(queue) if isinstance(queue, EmbeddingQueue) else queue
        self._embedder = embedder
        self._telemetry = telemetry or Telemetry()
        self._lacking = _Lacking(embedder.name)

    @property
    def activities(self) -> Sequence[Callable[..., Any]]:
        """The activities, to register on a worker."""
        return [self.embed_entries]

    @activity.defn(name=EMBED)
    async def embed_entries(self, request: Any) -> dict[str, Any]:
        """`EmbedRequest` in, `EmbedResponse` out.

        When nothing waits, entries without a vector of this embedder are queued first: those
        written before there was one, and all of them after it was changed.
        """
        with as_application_error(), self._telemetry.observe(EMBED) as observation:
            limit = EmbedRequest.parse(request).limit
            queue = await self._resolve()
            tasks = await queue.claim(limit=limit)
            if not tasks and await self._lacking.queued(queue):
                tasks = await queue.claim(limit=limit)
            embedded = await self._embed(tasks)
            if tasks and not embedded:
                raise ApplicationError("the embedder did not answer", type=UNAVAILABLE_TYPE)
            kept = await queue.keep(self._embedder.name, embedded) if embedded else 0
            observation.note(outcome="ok", claimed=len(tasks), kept=kept)
            return EmbedResponse(claimed=len(tasks), kept=kept).wire()

    async def _embed(self, tasks: Sequence[EmbeddingTask]) -> list[EmbeddedTask]:
        """Embed a batch; of one that fails, halves, down to the texts that the embedder refuses.

        An embedder that refuses both halves of a batch is asked for one text of each: one that is
        down is asked five times, and not once for each text.
        """
        whole = await self._try(tasks) if tasks else []
        return await self._halved(tasks, answering=False) if whole is None else whole

    async def _halved(
        self, tasks: Sequence[EmbeddingTask], *, answering: bool
    ) -> list[EmbeddedTask]:
        """Embed what can be of a batch that failed as a whole; give up where nothing answers."""
        if len(tasks) == 1:
            return []
        middle = len(tasks) // 2
        halves = [tasks[:middle], tasks[middle:]]
        outcomes = [await self._try(half) for half in halves]
        if not (answering or any(outcomes) or await self._answers(halves)):
            return []
        embedded = list[EmbeddedTask]()
        for half, outcome in zip(halves, outcomes, strict=True):
            embedded += await self._halved(half, answering=True) if outcome is None else outcome
        return embedded

    async def _answers(self, halves: Sequence[Sequence[EmbeddingTask]]) -> bool:
        """Whether the embedder takes a text of one of the halves, the last ones where there are."""
        return any([await self._try(half[-1:]) is not None for half in halves if len(half) > 1])

    async def _try(self, tasks: Sequence[EmbeddingTask]) -> list[EmbeddedTask] | None:
        try:
            vectors = await self._embedder.embed([task.text for task in tasks])
            pairs = zip(tasks, vectors, strict=True)
            return [EmbeddedTask(task=task, vector=stored_vector(vector)) for task, vector in pairs]
        except Exception as error:  # noqa: BLE001  (whatever an embedder may raise)
            _log.warning("the embedder failed (%s)", type(error).__name__)
            return None


class _Lacking:
    """Looks through all entries, page by page, for those without a vector of one embedder.

    What is written queues itself. This finds what was written before there was an embedder, or is
    embedded by another one, whose last worker may end an hour later: so it begins anew, after a
    rest. A page is a few milliseconds of the database's time.
    """

    def __init__(self, embedder: str) -> None:
        self._embedder = embedder
        self._place = 0
        self._rested_at = 0.0

    async def queued(self, queue: EmbeddingQueue) -> bool:
        """Go on through the pages until one has something to queue; whether one had."""
        for _ in range(_PAGES):
            if time.monotonic() < self._rested_at:
                return False
            page = await queue.refill(self._embedder, after=self._place)
            self._place = page.next or 0
            if page.next is None:
                self._rested_at = time.monotonic() + _REST
            if page.queued:
                return True
        return False


def _always(queue: EmbeddingQueue) -> Callable[[], Awaitable[EmbeddingQueue]]:
    async def resolve() -> EmbeddingQueue:
        return queue

    return resolve
