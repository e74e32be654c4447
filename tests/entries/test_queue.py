"""The queue of embedding: what waits comes up, once at a time, and nothing else does."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest
from entry_changes import key
from measures import embed_all
from temporalio.testing import ActivityEnvironment

from durable_memory.activities import EmbeddingActivities, WordLlamaEmbedder
from durable_memory.stores import PostgresEmbeddingQueue, PostgresEntryStore, Refill

pytestmark = pytest.mark.usefixtures("clean")


async def fill(entries: PostgresEntryStore, store: str, count: int) -> None:
    """Write that many entries."""
    for n in range(count):
        await entries.create(key(store, f"/{n}"), content="text")


@pytest.mark.parametrize(
    "spoil",
    [
        "UPDATE durable_memory.entry_embeddings SET version = version - 1",
        "UPDATE durable_memory.entry_embeddings SET document_id = -document_id",
    ],
)
async def test_work_for_what_is_gone_is_dropped(
    entries: PostgresEntryStore,
    store: str,
    queue: PostgresEmbeddingQueue,
    pool: asyncpg.Pool,
    spoil: str,
) -> None:
    """A row of a version or a document that there is no more hides no entry from embedding."""
    await fill(entries, store, 2)
    await pool.execute(spoil)
    assert await queue.claim() == []
    assert await pool.fetchval("SELECT count(*) FROM durable_memory.entry_embeddings") == 0
    assert await queue.refill("test:2") == Refill(queued=2, next=None)
    assert len(await queue.claim()) == 2


async def test_claims_at_once_share_the_work(
    entries: PostgresEntryStore, store: str, entries_url: str
) -> None:
    """No two workers claim one entry, also where a caller's pool is stricter than the default."""
    await fill(entries, store, 40)
    settings = {"default_transaction_isolation": "repeatable read"}
    async with asyncpg.create_pool(
        entries_url, min_size=1, max_size=8, server_settings=settings
    ) as strict:
        queue = PostgresEmbeddingQueue(strict)
        claims = await asyncio.gather(*(queue.claim(limit=5) for _ in range(8)))
    claimed = [task.document for tasks in claims for task in tasks]
    assert len(claimed) == len(set(claimed))
    assert claimed


async def test_refill_goes_through_all_entries(
    entries: PostgresEntryStore, store: str, queue: PostgresEmbeddingQueue, pool: asyncpg.Pool
) -> None:
    """Page by page every entry that lacks a vector of the embedder is queued, and no other."""
    await fill(entries, store, 7)
    await embed_all(queue, WordLlamaEmbedder())
    assert await queue.refill(WordLlamaEmbedder().name) == Refill(queued=0, next=None)
    place, queued = 0, []
    while True:
        page = await queue.refill("another:2", after=place, limit=3)
        queued.append(page.queued)
        if page.next is None:
            break
        place = page.next
    assert queued == [3, 3, 1]
    assert await pool.fetchval("SELECT count(*) FROM durable_memory.entry_embeddings") == 7


class Counting(PostgresEmbeddingQueue):
    """A queue that counts how often all entries are looked through."""

    refills = 0

    async def refill(self, embedder: str, *, after: int = 0, limit: int = 2) -> Refill:
        """Count, in pages of two."""
        self.refills += 1
        return await super().refill(embedder, after=after, limit=limit)


async def test_idle_worker_does_not_look_again(
    entries: PostgresEntryStore, store: str, pool: asyncpg.Pool
) -> None:
    """After one look through all entries the next comes after a rest, whatever starts a batch."""
    await fill(entries, store, 5)
    await pool.execute("DELETE FROM durable_memory.entry_embeddings")
    queue, environment = Counting(pool), ActivityEnvironment()
    activities = EmbeddingActivities(queue, WordLlamaEmbedder())
    kept = [(await environment.run(activities.embed_entries, {}))["kept"] for _ in range(6)]
    assert sum(kept) == 5
    assert queue.refills == 3
