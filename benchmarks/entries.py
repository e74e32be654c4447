"""Latency of entries: search and put at three sizes of an actor's partition, and WAL of a put.

Usage: python benchmarks/entries.py [--json] [--layouts]

The entries have 400 characters of a vocabulary as skewed as a language's, and a short description.
Beside the partitions measured stand 50 of other actors. With `--layouts` the postings layout that
was not chosen (a row for each term and entry) is measured beside the one that was.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import asyncpg
from rich.console import Console
from rich.table import Table

from durable_memory.activities import WordLlamaEmbedder
from durable_memory.cli.embedded import postgres_server
from durable_memory.notebook import EntryKey, index_terms, query_terms, stored_vector
from durable_memory.stores import (
    EmbeddedTask,
    PostgresEmbeddingQueue,
    PostgresEntryStore,
    create_pool,
    migrate,
)

STORE = "benchmark"
SIZES = (100, 1_000, 10_000)
OTHERS = 50
SEARCHES = 60
PUTS = 300
RANDOM = random.Random(20)  # noqa: S311  (a repeatable benchmark)
VOCABULARY = [
    "".join(RANDOM.choices("bcdfghklmnprstvw", k=1))
    + "".join(RANDOM.choices("aeioubcdfglmnprst", k=RANDOM.randint(2, 8)))
    for _ in range(20_000)
]
# Zipf's law, and the words that every language repeats.
WEIGHTS = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(VOCABULARY))))


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One row of the result; times in milliseconds."""

    what: str
    partition: int
    p50: float
    p95: float
    wal_bytes: int | None = None


def text(chars: int) -> str:
    """Text of about that many characters."""
    words = RANDOM.choices(VOCABULARY, cum_weights=WEIGHTS, k=chars // 5)
    return " ".join(words)[:chars]


async def times(action: Callable[[], Awaitable[object]], count: int) -> list[float]:
    """Times of an action in milliseconds, in order."""
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        await action()
        taken.append((time.perf_counter() - start) * 1_000)
    return sorted(taken)


def measurement(
    what: str, partition: int, taken: Sequence[float], wal: int | None = None
) -> Measurement:
    """Summarise times."""
    return Measurement(
        what=what,
        partition=partition,
        p50=round(statistics.median(taken), 2),
        p95=round(taken[int(len(taken) * 0.95)], 2),
        wal_bytes=wal,
    )


@dataclass(frozen=True, kw_only=True)
class Bench:
    """The store under measurement."""

    pool: asyncpg.Pool
    words: PostgresEntryStore
    meaning: PostgresEntryStore
    queue: PostgresEmbeddingQueue
    embedder: WordLlamaEmbedder

    async def fill(self) -> None:
        """Write all partitions, and embed them."""
        await self.words.create_store(STORE, creator="USER:benchmark")
        sizes = {f"actor-{size}": size for size in SIZES}
        sizes |= {f"other-{number}": 100 for number in range(OTHERS)}
        gate = asyncio.Semaphore(8)
        keys = [
            EntryKey(store=STORE, actor=actor, path=f"/notes/{number}.md")
            for actor, size in sizes.items()
            for number in range(size)
        ]
        RANDOM.shuffle(keys)
        await asyncio.gather(*(self._put(key, gate) for key in keys))
        await self.embed()
        await self.pool.execute("VACUUM ANALYZE")

    async def _put(self, key: EntryKey, gate: asyncio.Semaphore) -> None:
        async with gate:
            await self.words.put(key, content=text(400), description=text(40))

    async def embed(self) -> None:
        """Embed all that waits."""
        while tasks := await self.queue.claim(limit=500):
            vectors = await self.embedder.embed([task.text for task in tasks])
            pairs = zip(tasks, vectors, strict=True)
            embedded = [
                EmbeddedTask(task=task, vector=stored_vector(vector)) for task, vector in pairs
            ]
            await self.queue.keep(self.embedder.name, embedded)

    async def searches(self, name: str, store: PostgresEntryStore, size: int) -> Measurement:
        """Measure searches of eight words."""
        taken = await times(
            lambda: store.search(STORE, f"actor-{size}", text(40), content=True), SEARCHES
        )
        return measurement(name, size, taken)

    async def puts(self, size: int) -> Measurement:
        """Measure puts of new entries, and what they write to the log."""

        async def put() -> None:
            key = EntryKey(store=STORE, actor=f"actor-{size}", path=f"/new/{RANDOM.random()}.md")
            await self.words.put(key, content=text(400), description=text(40))

        await self.pool.execute("CHECKPOINT")
        await times(put, PUTS)  # the first change of a page after a checkpoint writes it whole
        before = await self.pool.fetchval("SELECT pg_current_wal_lsn()")
        taken = await times(put, PUTS)
        wal = await self.pool.fetchval("SELECT pg_current_wal_lsn() - $1::pg_lsn", before)
        return measurement("put", size, taken, int(wal) // PUTS)


async def postings(pool: asyncpg.Pool) -> list[Measurement]:
    """Measure the layout that was not chosen: a row for each term and entry."""
    await pool.execute(
        """
        CREATE TABLE postings (
            actor text COLLATE "C", term text COLLATE "C", document_id bigint,
            occurrences smallint, length integer,
            PRIMARY KEY (actor, term, document_id) INCLUDE (occurrences, length));
        CREATE TABLE lengths (actor text COLLATE "C", document_id bigint, length integer,
            PRIMARY KEY (actor, document_id) INCLUDE (length))
        """
    )
    numbers = iter(range(10**9))

    async def put(actor: str) -> None:
        indexed = index_terms(text(440))
        await pool.execute(
            """
            WITH entry AS (INSERT INTO lengths VALUES ($1, $2, $3))
            INSERT INTO postings SELECT $1, term, $2, occurrences, $3
            FROM unnest($4::text[], $5::smallint[]) AS t (term, occurrences) ORDER BY term
            """,
            *(actor, next(numbers), indexed.length),
            *(list(indexed.counts), list(indexed.counts.values())),
        )

    for size in SIZES:
        for _ in range(size):
            await put(f"actor-{size}")
    await pool.execute("VACUUM ANALYZE postings, lengths")
    found = []
    for size in SIZES:
        taken = await times(partial(_search_postings, pool, f"actor-{size}"), SEARCHES)
        found.append(measurement("search in postings", size, taken))
    await pool.execute("CHECKPOINT")
    await times(lambda: put("actor-1000"), PUTS)
    before = await pool.fetchval("SELECT pg_current_wal_lsn()")
    taken = await times(lambda: put("actor-1000"), PUTS)
    wal = await pool.fetchval("SELECT pg_current_wal_lsn() - $1::pg_lsn", before)
    return [*found, measurement("postings of a put alone", 1_000, taken, int(wal) // PUTS)]


async def _search_postings(pool: asyncpg.Pool, actor: str) -> None:
    await pool.fetch(
        """
        WITH hits AS MATERIALIZED (
            SELECT * FROM postings WHERE actor = $1 AND term = ANY ($2)
        ), totals AS (SELECT count(*) AS n, avg(length) AS mean FROM lengths WHERE actor = $1
        ), rarities AS (
            SELECT term, ln(1 + (n - count(*) + 0.5) / (count(*) + 0.5)) AS rarity
            FROM hits CROSS JOIN totals GROUP BY term, n
        )
        SELECT document_id, sum(rarity * occurrences / (occurrences + 0.3 + 0.9 * length / mean))
        FROM hits JOIN rarities USING (term) CROSS JOIN totals
        GROUP BY document_id ORDER BY 2 DESC LIMIT 10
        """,
        actor,
        list(query_terms(text(40))),
    )


async def main(url: str) -> list[Measurement]:
    """Measure all."""
    await migrate(url)
    async with await create_pool(url, max_size=10) as pool:
        embedder = WordLlamaEmbedder()
        bench = Bench(
            pool=pool,
            words=PostgresEntryStore(pool),
            meaning=PostgresEntryStore(pool, embedder=embedder),
            queue=PostgresEmbeddingQueue(pool),
            embedder=embedder,
        )
        await bench.fill()
        found = [
            await bench.searches(name, store, size)
            for name, store in (
                ("search by words", bench.words),
                ("search by words and meaning", bench.meaning),
            )
            for size in SIZES
        ]
        found += [await bench.puts(size) for size in SIZES]
        return found + (await postings(pool) if "--layouts" in sys.argv[1:] else [])


def show(measurements: list[Measurement]) -> None:
    """Print a table, or JSON."""
    rows = [asdict(each) for each in measurements]
    if "--json" in sys.argv[1:]:
        print(json.dumps(rows, indent=2))
        return
    table = Table(*(name.replace("_", " ") for name in rows[0]))
    for row in rows:
        table.add_row(*(str(value) if value is not None else "" for value in row.values()))
    Console().print(table)


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as folder,
        postgres_server(Path(folder) / "data", keep=False) as address,
    ):
        show(asyncio.run(main(address)))
