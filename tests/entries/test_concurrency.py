"""Many at once on one entry, one path, one store."""

from __future__ import annotations

import asyncio
import uuid

import asyncpg

from durable_memory.notebook import (
    EntryKey,
    MemoryFault,
    MemoryNotFound,
    index_terms,
    stored_vector,
)
from durable_memory.stores import (
    EmbeddedTask,
    EntryWrite,
    MemoryOperation,
    PostgresEmbeddingQueue,
    PostgresEntryStore,
    create_pool,
)

WRITERS = 32


def key(store: str, path: str = "/a.md", session: str | None = None) -> EntryKey:
    """A key with what does not matter filled in."""
    return EntryKey(store=store, actor="someone", path=path, session=session)


async def index_of(pool: asyncpg.Pool, store: str) -> dict[str, int]:
    """Terms of a store's one entry in the index, with their number of occurrences."""
    rows = await pool.fetch(
        "SELECT (u).lexeme AS term, cardinality((u).positions) AS count"
        " FROM (SELECT unnest(terms) AS u FROM durable_memory.entry_terms WHERE store = $1) AS t",
        store,
    )
    return {row["term"]: row["count"] for row in rows}


async def test_32_appends_all_land(
    entries: PostgresEntryStore, store: str, pool: asyncpg.Pool
) -> None:
    """Of 32 appends at once none is lost, each has its own version, and the index has all words."""
    done = await asyncio.gather(
        *(entries.append(key(store), content=f"note word{n}") for n in range(WRITERS))
    )
    assert len({each.version for each in done}) == WRITERS
    entry = await entries.find(key(store))
    assert entry is not None
    lines = (entry.content or "").splitlines()
    assert sorted(lines) == sorted(f"note word{n}" for n in range(WRITERS))
    assert await index_of(pool, store) == index_terms(entry.content or "").counts
    steps = await entries.history(store, entry.id, limit=100)
    assert len(steps) == WRITERS
    for step in steps:
        then = await entries.read_version(store, entry.id, step.version)
        assert then is not None


async def test_32_puts_leave_the_last(
    entries: PostgresEntryStore, store: str, pool: asyncpg.Pool
) -> None:
    """After 32 puts at once the entry and its index are what the newest version wrote."""
    done = await asyncio.gather(
        *(
            entries.put(key(store), content=f"word{n}", description=f"about{n}")
            for n in range(WRITERS)
        )
    )
    newest = max(done, key=lambda each: int(each.version or 0))
    entry = await entries.find(key(store))
    assert entry is not None
    assert entry == newest.entry
    assert set(await index_of(pool, store)) == {entry.content, entry.description}
    assert len({each.entry_ids for each in done}) == 1


async def test_described_appends_and_descriptions_all_land(
    entries: PostgresEntryStore, store: str
) -> None:
    """Appends that bring a description are one step, and so is a new description beside them."""
    made = await entries.append(key(store), content="start")
    await asyncio.gather(
        *(entries.append(key(store), content=f"n{n}", description=f"d{n}") for n in range(32)),
        *(entries.update(store, made.entry_ids[0], description=f"e{n}") for n in range(16)),
    )
    entry = await entries.find(key(store))
    assert entry is not None
    assert sorted((entry.content or "").split()[1:]) == sorted(f"n{n}" for n in range(32))
    for words in ("start n7 n31", entry.description):
        assert len(await entries.search(store, "someone", words)) == 1
    given = {f"d{n}" for n in range(32)} | {f"e{n}" for n in range(16)}
    for gone in given - {entry.description}:
        assert await entries.search(store, "someone", gone) == []


async def test_one_operation_sent_32_times_at_once_is_applied_once(
    entries: PostgresEntryStore, store: str
) -> None:
    """Whoever comes second waits for the first and gets its receipt."""
    write = EntryWrite(operation=MemoryOperation(id=uuid.uuid4().hex, fingerprint="f"))
    done = await asyncio.gather(
        *(entries.append(key(store), content="note", write=write) for _ in range(WRITERS))
    )
    assert sum(not each.replayed for each in done) == 1
    assert len({each.version for each in done}) == 1
    entry = await entries.find(key(store))
    assert entry is not None
    assert entry.content == "note\n"


async def test_forget_meets_writers(entries: PostgresEntryStore, store: str) -> None:
    """Writers and forgetters of one path neither deadlock nor leave half an entry."""
    sessions = [None, *(f"s{n}" for n in range(8))]
    calls = [
        *(entries.put(key(store, session=s), content="x") for s in sessions for _ in range(3)),
        *(entries.forget(store, "someone", "/a.md") for _ in range(8)),
    ]
    await asyncio.gather(*calls)
    page = await entries.list_entries(store, "someone", limit=100)
    listed = {each.key.session for each in page.entries}
    matches = await entries.search(store, "someone", "x", limit=100)
    assert {match.entry.key.session for match in matches} == listed
    gone = await entries.forget(store, "someone", "/a.md")
    assert len(gone.entry_ids) == len(listed)


async def test_waiting_writers_leave_connections_to_readers(
    entries: PostgresEntryStore, store: str, entries_url: str, pool: asyncpg.Pool
) -> None:
    """While writers wait for a memory store that is being deleted, what is there can be read."""
    made = await entries.create(key(store), content="one")
    async with await create_pool(entries_url, max_size=2) as few, pool.acquire() as holder:
        busy = PostgresEntryStore(few, timeout=3.0, max_writers=1)
        transaction = holder.transaction()
        await transaction.start()
        await holder.execute(HOLD, store)
        puts = [asyncio.ensure_future(busy.put(key(store), content=str(n))) for n in range(6)]
        for _ in range(20):
            entry = await busy.get(store, made.entry_ids[0])
            assert entry is not None
            assert entry.content == "one"
        await transaction.rollback()
        await asyncio.gather(*puts)


HOLD = "SELECT pg_advisory_xact_lock(1684890989, hashtext($1))"
"""What `delete_memory_store_v1` holds."""


async def test_deleted_store_is_not_written_into(
    entries: PostgresEntryStore, store: str, pool: asyncpg.Pool
) -> None:
    """Writers that meet the deletion of their store either precede it or are told."""
    writers = [
        asyncio.ensure_future(entries.put(key(store, f"/{n}"), content="x")) for n in range(16)
    ]
    await asyncio.gather(entries.delete_store(store), *writers, return_exceptions=True)
    for writer in writers:
        error = writer.exception()
        assert error is None or isinstance(error, MemoryNotFound)
    for table in ("documents", "entry_terms", "entry_embeddings"):
        count = f"SELECT count(*) FROM durable_memory.{table} WHERE store = $1"  # noqa: S608
        assert await pool.fetchval(count, store) == 0


async def test_embedding_meets_writers(
    entries: PostgresEntryStore,
    store: str,
    queue: PostgresEmbeddingQueue,
    pool: asyncpg.Pool,
) -> None:
    """While entries change and are embedded at once, no vector is ever of another version."""

    async def write(n: int) -> None:
        for round_ in range(6):
            await entries.put(key(store, f"/{n}"), content=f"round {round_}")
            if round_ == 3:
                await entries.forget(store, "someone", f"/{n}")

    async def embed() -> None:
        for _ in range(10):
            tasks = await queue.claim(limit=5)
            pairs = [EmbeddedTask(task=task, vector=stored_vector([1.0, -1.0])) for task in tasks]
            try:
                await queue.keep("test:2", pairs)
            except MemoryFault as error:
                assert error.retryable  # noqa: PT017  (a deadlock that lost every time)
            assert await pool.fetchval(STALE) == 0

    await asyncio.gather(*(write(n) for n in range(8)), *(embed() for _ in range(4)))
    assert await pool.fetchval(STALE) == 0


STALE = """
SELECT count(*) FROM durable_memory.entry_vectors v
LEFT JOIN durable_memory.documents d
    ON d.id = v.document_id AND d.version = v.version AND d.entry_id IS NOT NULL
WHERE d.id IS NULL
"""
