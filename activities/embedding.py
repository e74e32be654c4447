"""Embedding of the entries that wait for it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from ..notebook import EMBED, EmbedRequest, EmbedResponse
from ..stores import EmbeddedTask, Embedder, EmbeddingQueue, EmbeddingTask
from .faults import as_application_error
from .telemetry import Telemetry

UNAVAILABLE_TYPE = "EmbedderUnavailable"
"""Type of the error of a batch of which nothing could be embedded; retried."""

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
            if not tasks and await queue.refill(self._embedder.name):
                tasks = await queue.claim(limit=limit)
            embedded = await self._embed(tasks)
            if tasks and not embedded:
                raise ApplicationError("the embedder did not answer", type=UNAVAILABLE_TYPE)
            kept = await queue.keep(self._embedder.name, embedded) if embedded else 0
            observation.note(outcome="ok", claimed=len(tasks), kept=kept)
            return EmbedResponse(claimed=len(tasks), kept=kept).wire()

    async def _embed(self, tasks: Sequence[EmbeddingTask]) -> list[EmbeddedTask]:
        """Embed a batch; of one that fails, halves, as long as there is a half that does not.

        So one text that the embedder refuses leaves out itself, and an embedder that is down is
        asked three times and not once for each text.
        """
        whole = await self._try(tasks) if tasks else []
        if whole is not None:
            return whole
        failing, embedded = list(tasks), list[EmbeddedTask]()
        while len(failing) > 1:
            middle = len(failing) // 2
            halves = [failing[:middle], failing[middle:]]
            outcomes = [await self._try(half) for half in halves]
            embedded += [each for outcome in outcomes for each in outcome or ()]
            bad = [half for half, outcome in zip(halves, outcomes, strict=True) if outcome is None]
            if len(bad) != 1:
                break
            (failing,) = bad
        return embedded

    async def _try(self, tasks: Sequence[EmbeddingTask]) -> list[EmbeddedTask] | None:
        try:
            vectors = await self._embedder.embed([task.text for task in tasks])
            pairs = zip(tasks, vectors, strict=True)
            return [EmbeddedTask(task=task, vector=vector) for task, vector in pairs]
        except Exception as error:  # noqa: BLE001  (whatever an embedder may raise)
            _log.warning("the embedder failed (%s)", type(error).__name__)
            return None


def _always(queue: EmbeddingQueue) -> Callable[[], Awaitable[EmbeddingQueue]]:
    async def resolve() -> EmbeddingQueue:
        return queue

    return resolve
