"""Ranking of entry search on labelled questions: recall@10 and mean reciprocal rank.

Usage: python benchmarks/ranking/evaluate.py [--json] [--half tune|held|all]

Compares term counting, PostgreSQL's `ts_rank`, `bm25s`, and this project's search by words alone
and with the embedded embedder, by language and kind of question. Each ranker sees the entries of
the actor who asks, as one partition, and returns ten. Choices were made on the half `tune` only.
"""

from __future__ import annotations

import asyncio
import json
import logging
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import asyncpg
import bm25s
import snowballstemmer
from measures import SHOWN, count_terms, embed_all, recall, reciprocal_rank
from questions import LANGUAGES, Dataset, LabelledEntry, Question, load
from rich.console import Console
from rich.table import Table

from durable_memory.activities import WordLlamaEmbedder
from durable_memory.cli.embedded import postgres_server
from durable_memory.notebook import EntryKey
from durable_memory.stores import (
    PostgresEmbeddingQueue,
    PostgresEntryStore,
    create_pool,
    migrate,
)

STORE = "ranking"
logging.getLogger("bm25s").setLevel(logging.WARNING)  # its debug lines would mix with --json

Ranker = Callable[[Question, Sequence[LabelledEntry]], Awaitable[list[str]]]
"""Returns the ids of at most ten entries, best first."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One row of the result."""

    ranker: str
    language: str
    half: str
    kind: str
    questions: int
    recall_at_10: float
    mrr: float


async def counted(question: Question, entries: Sequence[LabelledEntry]) -> list[str]:
    """Rank by counting terms."""
    return count_terms(question, entries)


class Bm25s:
    """The package `bm25s` with its own tokeniser and Snowball stems."""

    def __init__(self, language: str) -> None:
        self._stop = "en" if language == "en" else None
        self._stem = snowballstemmer.stemmer("english").stemWords if language == "en" else None
        self._indices: dict[str, bm25s.BM25] = {}

    async def __call__(self, question: Question, entries: Sequence[LabelledEntry]) -> list[str]:
        """Rank."""
        if question.actor not in self._indices:
            index = bm25s.BM25()
            texts = [f"{entry.description}\n{entry.content}" for entry in entries]
            index.index(self._tokens(texts), show_progress=False)
            self._indices[question.actor] = index
        found, scores = self._indices[question.actor].retrieve(
            self._tokens([question.question]), k=SHOWN, show_progress=False
        )
        pairs = zip(found[0], scores[0], strict=True)
        return [entries[at].id for at, score in pairs if score > 0]

    def _tokens(self, texts: list[str]) -> object:
        return bm25s.tokenize(texts, stopwords=self._stop, stemmer=self._stem, show_progress=False)


def ts_rank(pool: asyncpg.Pool, language: str) -> Ranker:
    """Rank by `ts_rank` over any of the question's words."""
    configuration = "english" if language == "en" else "simple"

    async def rank(question: Question, entries: Sequence[LabelledEntry]) -> list[str]:
        rows = await pool.fetch(
            """
            SELECT id FROM (
                SELECT id, ts_rank(to_tsvector($3::regconfig, text), query) AS score
                FROM unnest($1::text[], $2::text[]) AS entry (id, text)
                CROSS JOIN (SELECT replace(
                    plainto_tsquery($3::regconfig, $4)::text, '&', '|')::tsquery AS query) AS asked
            ) AS ranked
            WHERE score > 0 ORDER BY score DESC, id LIMIT $5
            """,
            [entry.id for entry in entries],
            [f"{entry.description}\n{entry.content}" for entry in entries],
            configuration,
            question.question,
            SHOWN,
        )
        return [row["id"] for row in rows]

    return rank


def ours(store: PostgresEntryStore, ids: dict[tuple[str, str], str]) -> Ranker:
    """Rank by the search of this project."""

    async def rank(question: Question, _entries: Sequence[LabelledEntry]) -> list[str]:
        matches = await store.search(STORE, question.actor, question.question, limit=SHOWN)
        return [ids[match.entry.key.actor, match.entry.key.path] for match in matches]

    return rank


async def fill(pool: asyncpg.Pool, datasets: Sequence[Dataset]) -> dict[tuple[str, str], str]:
    """Write and embed all entries; return their labels by actor and path."""
    store, queue, embedder = (
        PostgresEntryStore(pool),
        PostgresEmbeddingQueue(pool),
        WordLlamaEmbedder(),
    )
    await store.create_store(STORE, creator="USER:benchmark")
    ids = {}
    for entry in (entry for dataset in datasets for entry in dataset.entries):
        key = EntryKey(store=STORE, actor=entry.actor, path=entry.path, session=entry.session)
        await store.create(key, content=entry.content, description=entry.description)
        ids[entry.actor, entry.path] = entry.id
    await embed_all(queue, embedder)
    return ids


async def figures(name: str, ranker: Ranker, dataset: Dataset) -> list[Figure]:
    """Ask all questions of a language, and sum up by half and kind."""
    outcomes: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for question in dataset.questions:
        found = await ranker(question, dataset.of_actor(question.actor))
        outcome = recall(found, question), reciprocal_rank(found, question)
        outcomes[question.split, question.kind].append(outcome)
        outcomes[question.split, "all"].append(outcome)
    return [
        Figure(
            ranker=name,
            language=dataset.language,
            half=half,
            kind=kind,
            questions=len(found),
            recall_at_10=round(statistics.mean(each[0] for each in found), 3),
            mrr=round(statistics.mean(each[1] for each in found), 3),
        )
        for (half, kind), found in sorted(outcomes.items())
    ]


@asynccontextmanager
async def rankers(url: str) -> AsyncIterator[Callable[[str], dict[str, Ranker]]]:
    """Open everything, and give what makes the rankers of a language."""
    await migrate(url)
    async with await create_pool(url) as pool:
        ids = await fill(pool, [load(language) for language in LANGUAGES])
        words = ours(PostgresEntryStore(pool), ids)
        meaning = ours(PostgresEntryStore(pool, embedder=WordLlamaEmbedder()), ids)
        yield lambda language: {
            "term counting": counted,
            "ts_rank": ts_rank(pool, language),
            "bm25s": Bm25s(language),
            "ours, words": words,
            "ours, words and meaning": meaning,
        }


async def main(url: str) -> list[Figure]:
    """Evaluate all rankers on all languages."""
    async with rankers(url) as of_language:
        return [
            figure
            for language in LANGUAGES
            for name, ranker in of_language(language).items()
            for figure in await figures(name, ranker, load(language))
        ]


def show(found: list[Figure]) -> None:
    """Print a table, or JSON."""
    arguments = sys.argv[1:]
    half = arguments[arguments.index("--half") + 1] if "--half" in arguments else "all"
    rows = [asdict(each) for each in found if half in {"all", each.half}]
    if "--json" in arguments:
        print(json.dumps(rows, indent=2))
        return
    table = Table(*(name.replace("_", " ") for name in rows[0]))
    for row in rows:
        table.add_row(*map(str, row.values()))
    Console().print(table)


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as folder,
        postgres_server(Path(folder) / "data", keep=False) as address,
    ):
        show(asyncio.run(main(address)))
