"""What rankings are measured by, and the ranking they are measured against."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from questions import LabelledEntry, Question

from durable_memory.notebook import stored_vector
from durable_memory.stores import EmbeddedTask, Embedder, EmbeddingQueue

SHOWN = 10
"""Entries that a ranker returns at most."""


def recall(found: Collection[str], question: Question) -> float:
    """Return the share of a question's answers that was found."""
    return len({*found} & {*question.answers}) / len(question.answers)


def reciprocal_rank(found: Iterable[str], question: Question) -> float:
    """Return one over the place of the first answer, from 1; 0.0 for none."""
    return next((1 / rank for rank, id_ in enumerate(found, 1) if id_ in question.answers), 0.0)


def best(scores: dict[str, float]) -> list[str]:
    """Return the ids with a score above zero, best first."""
    ranked = sorted((id_ for id_ in scores if scores[id_] > 0), key=lambda id_: -scores[id_])
    return ranked[:SHOWN]


def count_terms(question: Question, entries: Sequence[LabelledEntry]) -> list[str]:
    """Rank by how often the question's words, as they stand, occur."""
    words = set(question.question.casefold().split())
    return best(
        {
            entry.id: 1.0
            * sum(f"{entry.content} {entry.description}".casefold().count(w) for w in words)
            for entry in entries
        }
    )


async def embed_all(queue: EmbeddingQueue, embedder: Embedder) -> int:
    """Embed all that waits, and return how many vectors were kept."""
    kept = 0
    while tasks := await queue.claim(limit=500):
        vectors = await embedder.embed([task.text for task in tasks])
        kept += await queue.keep(
            embedder.name,
            [
                EmbeddedTask(task=task, vector=stored_vector(vector))
                for task, vector in zip(tasks, vectors, strict=True)
            ],
        )
    return kept
