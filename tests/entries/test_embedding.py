"""The activity and the workflow that embed, on a real Temporal server."""

from __future__ import annotations

import math
import uuid
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import asyncpg
import pytest
import pytest_asyncio
from temporalio.client import Client, ScheduleHandle
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Worker

from durable_memory.activities import (
    EmbeddingActivities,
    EmbeddingNudger,
    ensure_embedding_schedule,
    nudge_embedding,
)
from durable_memory.cli.faults import until
from durable_memory.notebook import EntryKey
from durable_memory.stores import PostgresEmbeddingQueue, PostgresEntryStore
from durable_memory.workflows import EmbeddingRun, EmbeddingWorkflow

USELESS: dict[str, list[float]] = {
    "nan": [math.nan, 1.0],
    "infinite": [math.inf, 1.0],
    "empty": [],
}


class Shaky:
    """An embedder of one direction that fails as often as it is told, and on one word always."""

    name = "shaky:2"

    def __init__(self) -> None:
        self.failures = 0
        self.calls = 0

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Embed, or fail."""
        self.calls += 1
        if self.failures or any("poison" in text for text in texts):
            self.failures = max(0, self.failures - 1)
            raise ConnectionError
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Sequence[float]:
        return next((vector for word, vector in USELESS.items() if word in text), [1.0, 1.0])


@pytest.fixture
def embedder() -> Shaky:
    """The embedder of the test."""
    return Shaky()


@pytest.fixture
def activities(queue: PostgresEmbeddingQueue, embedder: Shaky) -> EmbeddingActivities:
    """The activities of the test; what other tests left does not wait for them."""
    return EmbeddingActivities(queue, embedder)


@pytest_asyncio.fixture(scope="module")
async def queue_name(temporal_client: Client) -> str:
    """A task queue of the module's own."""
    return f"embedding-{uuid.uuid4().hex[:8]}"


@pytest_asyncio.fixture
async def worker(
    temporal_client: Client, queue_name: str, activities: EmbeddingActivities, clean: None
) -> AsyncIterator[None]:
    """A worker that embeds."""
    async with Worker(
        temporal_client,
        task_queue=queue_name,
        workflows=[EmbeddingWorkflow],
        activities=activities.activities,
    ):
        yield


def key(store: str, path: str) -> EntryKey:
    """A key with what does not matter filled in."""
    return EntryKey(store=store, actor="someone", path=path)


async def vectors(pool: asyncpg.Pool, store: str) -> int:
    """How many vectors a store has."""
    count = "SELECT count(*) FROM durable_memory.entry_vectors WHERE store = $1"
    found: int = await pool.fetchval(count, store)
    return found


async def test_batch_is_embedded(
    entries: PostgresEntryStore, store: str, activities: EmbeddingActivities, pool: asyncpg.Pool
) -> None:
    """One run of the activity embeds a batch and says how many entries it had."""
    for n in range(3):
        await entries.create(key(store, f"/{n}"), content="text")
    environment = ActivityEnvironment()
    done = await environment.run(activities.embed_entries, {"limit": 2})
    assert done == {"claimed": 2, "kept": 2}
    assert await vectors(pool, store) == 2


@pytest.mark.parametrize("spoilt", [{4}, {1, 30}, {0, 7, 15, 16, 25}])
@pytest.mark.parametrize("bad", ["poison", *USELESS])
async def test_texts_that_cannot_be_embedded_leave_out_themselves(  # noqa: PLR0917  (fixtures)
    entries: PostgresEntryStore,
    store: str,
    activities: EmbeddingActivities,
    embedder: Shaky,
    pool: asyncpg.Pool,
    bad: str,
    spoilt: set[int],
) -> None:
    """Of a batch with bad texts all others are embedded, and the bad ones are found by words."""
    for n in range(32):
        await entries.create(key(store, f"/{n}"), content=bad if n in spoilt else "text")
    done = await ActivityEnvironment().run(activities.embed_entries, {})
    assert done == {"claimed": 32, "kept": 32 - len(spoilt)}
    assert await vectors(pool, store) == 32 - len(spoilt)
    assert len(await entries.search(store, "someone", bad, limit=32)) == len(spoilt)


async def test_embedder_that_is_down_is_asked_five_times(
    entries: PostgresEntryStore, store: str, activities: EmbeddingActivities, embedder: Shaky
) -> None:
    """When nothing can be embedded the activity fails, by a type that is retried."""
    for n in range(16):
        await entries.create(key(store, f"/{n}"), content="text")
    embedder.failures = 100
    with pytest.raises(Exception, match="did not answer") as error:
        await ActivityEnvironment().run(activities.embed_entries, {})
    assert getattr(error.value, "type", None) == "EmbedderUnavailable"
    assert not getattr(error.value, "non_retryable", True)
    assert embedder.calls == 5


@pytest.mark.usefixtures("worker")
async def test_workflow_embeds_until_nothing_is_due(
    temporal_client: Client,
    queue_name: str,
    entries: PostgresEntryStore,
    store: str,
    pool: asyncpg.Pool,
) -> None:
    """The workflow goes on batch after batch, over continue-as-new, until all is done."""
    for n in range(7):
        await entries.create(key(store, f"/{n}"), content="text")
    result = await temporal_client.execute_workflow(
        EmbeddingWorkflow.run,
        EmbeddingRun(limit=2, batches=2),
        id=f"embedding-{store}",
        task_queue=queue_name,
    )
    assert (result.kept, result.finished) == (7, True)
    assert await vectors(pool, store) == 7


@pytest.mark.usefixtures("worker")
async def test_workflow_survives_an_embedder_that_fails(  # noqa: PLR0917  (fixtures)
    temporal_client: Client,
    queue_name: str,
    entries: PostgresEntryStore,
    store: str,
    embedder: Shaky,
    pool: asyncpg.Pool,
) -> None:
    """Writes go on while the embedder is down, and what was claimed is embedded once it is back."""
    await entries.create(key(store, "/1"), content="text")
    embedder.failures = 1
    running = await temporal_client.start_workflow(
        EmbeddingWorkflow.run, id=f"embedding-{store}", task_queue=queue_name
    )
    await running.result()
    assert await vectors(pool, store) == 0
    await pool.execute("UPDATE durable_memory.entry_embeddings SET due_at = clock_timestamp()")
    result = await temporal_client.execute_workflow(
        EmbeddingWorkflow.run, id=f"embedding-{store}", task_queue=queue_name
    )
    assert result.kept == 1
    assert await vectors(pool, store) == 1


@pytest_asyncio.fixture
async def schedule(temporal_client: Client, queue_name: str) -> AsyncIterator[ScheduleHandle]:
    """A schedule that starts by nudges only, within a test."""
    name = f"embedding-{uuid.uuid4().hex[:8]}"
    for _ in range(2):
        await ensure_embedding_schedule(
            temporal_client, task_queue=queue_name, every=timedelta(days=1), schedule_id=name
        )
    handle = temporal_client.get_schedule_handle(name)
    yield handle
    await handle.delete()


@pytest.mark.usefixtures("worker")
async def test_nudge_embeds_at_once(
    temporal_client: Client,
    entries: PostgresEntryStore,
    store: str,
    schedule: ScheduleHandle,
    pool: asyncpg.Pool,
) -> None:
    """A nudge after a write has it embedded without waiting for the clock."""
    for n in range(2):
        await entries.create(key(store, f"/{n}"), content="text")
        await nudge_embedding(temporal_client, schedule_id=schedule.id)

    async def embedded() -> bool:
        return await vectors(pool, store) == 2

    await until(embedded, "the vectors")


@pytest.mark.usefixtures("worker")
async def test_nudges_of_a_burst_are_few(
    temporal_client: Client,
    entries: PostgresEntryStore,
    store: str,
    schedule: ScheduleHandle,
    pool: asyncpg.Pool,
) -> None:
    """A burst of saves is one nudge, with one more at most."""
    await entries.create(key(store, "/1"), content="text")
    nudger = EmbeddingNudger(temporal_client, schedule_id=schedule.id)
    for _ in range(50):
        nudger.nudge()

    async def embedded() -> bool:
        return await vectors(pool, store) == 1

    await until(embedded, "the vector")
    assert (await schedule.describe()).info.num_actions <= 2
    await nudger.close()


async def test_nudge_that_fails_is_said_once(
    temporal_client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a schedule writes go on, each failing nudge after the first in silence."""
    nudger = EmbeddingNudger(temporal_client, schedule_id="absent")

    async def ended() -> bool:
        return nudger._running is not None and nudger._running.done()

    for _ in range(2):
        nudger.nudge()
        await until(ended, "the end of a nudge")
    await nudger.close()
    assert [record.message for record in caplog.records] == [
        "embedding could not be nudged (RPCError)"
    ]
