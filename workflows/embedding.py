"""The workflow that embeds what waits for it.

It holds no text: the activity claims entries, embeds them and keeps their vectors. Started by a
schedule, it goes on until nothing is due, and ends when the embedder stays away: the next start
goes on where this one ended.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from ..notebook import EMBED, EMBEDDING, EmbedRequest, EmbedResponse

_TIMEOUT = timedelta(minutes=5)
_RETRY = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    maximum_interval=timedelta(seconds=30),
    maximum_attempts=5,
)


@dataclass(frozen=True, kw_only=True)
class EmbeddingRun:
    """What a run is given, and carries on to the next.

    Attributes:
        limit: Entries of a batch.
        batches: Batches of one run; then it continues as new, so that no history grows.
        kept: Vectors kept so far, by the runs before too.
    """

    limit: int = 64
    batches: int = 100
    kept: int = 0


@dataclass(frozen=True, kw_only=True)
class EmbeddingResult:
    """What all runs did.

    Attributes:
        kept: Vectors kept.
        finished: Nothing was due any more; otherwise the embedder or the database stayed away.
    """

    kept: int
    finished: bool


@workflow.defn(name=EMBEDDING)
class EmbeddingWorkflow:
    """Embeds batch after batch until nothing is due."""

    @workflow.run
    async def run(self, given: EmbeddingRun | None = None) -> EmbeddingResult:
        """Embed; without an argument with the defaults."""
        state = given or EmbeddingRun()
        for _ in range(state.batches):
            try:
                done = await self._batch(state)
            except ActivityError as error:
                if is_cancelled_exception(error):
                    raise
                return EmbeddingResult(kept=state.kept, finished=False)
            if not done.claimed:
                return EmbeddingResult(kept=state.kept, finished=True)
            state = replace(state, kept=state.kept + done.kept)
        return workflow.continue_as_new(state)

    async def _batch(self, state: EmbeddingRun) -> EmbedResponse:
        request = EmbedRequest(limit=state.limit).wire()
        answer = await workflow.execute_activity(
            EMBED, request, start_to_close_timeout=_TIMEOUT, retry_policy=_RETRY
        )
        return EmbedResponse.parse(answer)
