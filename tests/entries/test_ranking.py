"""Ranking on the labelled questions: a small version of `benchmarks/ranking/evaluate.py`."""

from __future__ import annotations

import asyncio
import statistics
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import asyncpg
import pytest
import pytest_asyncio
from measures import count_terms, embed_all, recall, reciprocal_rank
from questions import LANGUAGES, Dataset, Question, load

from durable_memory.activities import WordLlamaEmbedder
from durable_memory.notebook import EntryKey
from durable_memory.stores import PostgresEmbeddingQueue, PostgresEntryStore

DATASETS = {language: load(language) for language in LANGUAGES}
Ranker = Callable[[Question], Awaitable[Sequence[str]]]


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """All labelled entries in one memory store, embedded."""

    store: str
    pool: asyncpg.Pool

    def searched_by(self, *, meaning: bool) -> Ranker:
        """Rank by the search of the store."""
        embedder = WordLlamaEmbedder() if meaning else None
        entries = PostgresEntryStore(self.pool, embedder=embedder, embed_timeout=30)
        gate = asyncio.Semaphore(4)

        async def rank(question: Question) -> Sequence[str]:
            async with gate:
                matches = await entries.search(self.store, question.actor, question.question)
            return [match.entry.id for match in matches]

        return rank


@pytest_asyncio.fixture(scope="module")
async def shelf(pool: asyncpg.Pool, entries: PostgresEntryStore) -> Shelf:
    """The entries of both languages; their ids are their labels."""
    store = f"r-{uuid.uuid4().hex[:16]}"
    await entries.create_store(store, creator="USER:someone")
    await asyncio.gather(
        *(
            entries.create(
                EntryKey(store=store, actor=each.actor, path=each.path, session=each.session),
                content=each.content,
                description=each.description,
                entry_id=each.id,
            )
            for dataset in DATASETS.values()
            for each in dataset.entries
        )
    )
    await embed_all(PostgresEmbeddingQueue(pool), WordLlamaEmbedder())
    return Shelf(store=store, pool=pool)


def counted(dataset: Dataset) -> Ranker:
    """Rank by how often the question's words, as they stand, occur."""

    async def rank(question: Question) -> Sequence[str]:
        return count_terms(question, dataset.of_actor(question.actor))

    return rank


async def figures(ranker: Ranker, questions: Sequence[Question]) -> tuple[float, float]:
    """Recall@10 and mean reciprocal rank."""
    found = await asyncio.gather(*(ranker(question) for question in questions))
    pairs = list(zip(found, questions, strict=True))
    return (
        statistics.mean(recall(ids, asked) for ids, asked in pairs),
        statistics.mean(reciprocal_rank(ids, asked) for ids, asked in pairs),
    )


@pytest.mark.parametrize("language", LANGUAGES)
async def test_words_are_not_worse_than_term_counting(shelf: Shelf, language: str) -> None:
    """By words alone no fewer answers are found than by counting terms, and they rank higher."""
    dataset = DATASETS[language]
    found, mrr = await figures(shelf.searched_by(meaning=False), dataset.questions)
    other_found, other_mrr = await figures(counted(dataset), dataset.questions)
    assert found >= other_found
    assert mrr >= other_mrr


@pytest.mark.parametrize("language", LANGUAGES)
async def test_question_that_shares_words_is_answered(shelf: Shelf, language: str) -> None:
    """Where question and answer share words, the answer is among the first."""
    lexical = [each for each in DATASETS[language].questions if each.kind == "lexical"]
    for meaning in (False, True):
        found, mrr = await figures(shelf.searched_by(meaning=meaning), lexical)
        assert found >= 0.99
        assert mrr >= 0.95


@pytest.mark.parametrize(("language", "floor"), [("en", 0.75), ("ko", 0.36)])
async def test_meaning_answers_paraphrases(shelf: Shelf, language: str, floor: float) -> None:
    """Where they share none, the embedded model finds answers that words cannot."""
    paraphrases = [each for each in DATASETS[language].questions if each.kind == "paraphrase"]
    found, _ = await figures(shelf.searched_by(meaning=True), paraphrases)
    by_words, _ = await figures(shelf.searched_by(meaning=False), paraphrases)
    assert found >= floor
    assert found > by_words


async def test_overall_recall_reaches_the_target(shelf: Shelf) -> None:
    """With the embedded model recall@10 over both languages is at least 0.60, on the held half."""
    asked = [each for dataset in DATASETS.values() for each in dataset.questions]
    questions = [each for each in asked if each.split == "held"]
    found, _ = await figures(shelf.searched_by(meaning=True), questions)
    assert found >= 0.60
