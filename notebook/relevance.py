"""How entries are ranked, and how vectors are kept.

Words: BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) over content and
description, with everything counted inside the actor's own partition, as a share of what an entry
with every term of the query could have at most:

    words = Σ w·idf·n/(n + k1·(1 - b + b·length/mean)) / Σ w·idf
    idf = ln(1 + (N - df + ½)/(df + ½))

with w = 0.3 for stop words and 1 for all others, and without stop words beside meaning. So it lies
between 0 and 1, and tells a query whose words all occur from one of which a single word does. That
is what makes it fit to be added to the cosine of the meanings, where there is an embedder:

    score = words + cosine

The weights were chosen on the tuning half of the questions in `benchmarks/ranking/`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .terms import MAX_OCCURRENCES, IndexedText, is_stop_term

K1 = 1.2
B = 0.75
STOP_WEIGHT = 0.3
"""Weight of a stop word: it only decides where nothing else does."""

WORDS_WEIGHT = 1.0
"""Weight of words beside the cosine."""

COMPARED_EXACTLY = 200
"""Entries whose vectors are compared exactly: those nearest by signature, and best by words."""

MAX_EMBEDDED_CHARS = 8_000
"""Characters of an entry that are embedded."""

_SCALE = 32_767


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredVector:
    """A vector of length 1 as it is kept.

    Attributes:
        signature: The sign of each component: `1` for positive.
        components: Each component times 32,767, rounded.
    """

    signature: str
    components: tuple[int, ...]


def telling_terms(terms: Sequence[str]) -> tuple[str, ...]:
    """Return a query's terms without stop words, where others remain.

    Beside meaning stop words bring nothing, and they occur in most entries.
    """
    return tuple(term for term in terms if not is_stop_term(term)) or tuple(terms)


def term_weights(terms: Sequence[str]) -> list[float]:
    """Return the weight of each term of a query."""
    return [STOP_WEIGHT if is_stop_term(term) else 1.0 for term in terms]


def embedding_text(path: str, description: str, content: str) -> str:
    """Return the text that stands for an entry's meaning: the words of its path are part of it."""
    words = path.removesuffix(".md").replace("/", " ").replace("-", " ").strip()
    return f"{words}\n{description}\n{content}"[:MAX_EMBEDDED_CHARS]


def stored_vector(vector: Sequence[float]) -> StoredVector:
    """Return a vector as it is kept; of no length, it is near to nothing.

    Raises:
        ValueError: It has no components, or one that is not a finite number.
    """
    length = math.hypot(*vector)
    if not vector or not math.isfinite(length):
        raise ValueError("a vector has finite components, and at least one")
    return StoredVector(
        signature="".join("1" if value > 0 else "0" for value in vector),
        components=tuple(round(value / (length or 1) * _SCALE) for value in vector),
    )


def score_words(terms: Sequence[str], texts: Mapping[str, IndexedText]) -> dict[str, float]:
    """Return what words alone give each of an actor's entries that has a term of the query.

    The statement that searches is held equal to this.

    Args:
        terms: Of the query, each once.
        texts: What each of the actor's entries is indexed by, content and description together.
    """
    if not terms or not texts:
        return {}
    mean = max(1.0, sum(text.length for text in texts.values()) / len(texts))
    rarities = {
        term: weight * _rarity(sum(term in text.counts for text in texts.values()), len(texts))
        for term, weight in zip(terms, term_weights(terms), strict=True)
    }
    most = sum(rarities.values())
    return {
        name: sum(
            rarity * _saturated(text.counts[term], text.length / mean)
            for term, rarity in rarities.items()
            if term in text.counts
        )
        / most
        for name, text in texts.items()
        if any(term in text.counts for term in terms)
    }


def _rarity(having: int, entries: int) -> float:
    return math.log(1 + (entries - having + 0.5) / (having + 0.5))


def _saturated(occurrences: int, relative_length: float) -> float:
    count = min(occurrences, MAX_OCCURRENCES)
    return count / (count + K1 * (1 - B + B * relative_length))
