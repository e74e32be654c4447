"""Embedding: what turns text into vectors, and the work that waits for it.

A write never waits for an embedder: it queues the entry in its own transaction and is done. Who
embeds claims entries, asks the embedder, and hands the vectors back with the version that was
embedded. The store keeps a vector only while the entry has that version. So a slow embedder makes
meaning late, a failing one leaves words to search by, and neither makes a search answer for
text that is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, runtime_checkable

from ..notebook import StoredVector

CLAIM_LEASE = timedelta(seconds=60)
"""How long whoever claimed entries has before they come up again; doubled with every claim."""

CLAIM_LIMIT = 64
"""Entries claimed at once."""

REFILL_LIMIT = 10_000
"""Entries looked at for a vector at once."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """Names the model and its dimension: vectors under another name are never compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a vector for each text, all of one length.

        Raises any exception when it cannot; who asks goes on without.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddingTask:
    """An entry that waits for its vector.

    Attributes:
        document: The store's own number of it.
        version: The version whose text this is.
        text: What to embed.
    """

    document: int
    version: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddedTask:
    """A task and its vector, as it is stored."""

    task: EmbeddingTask
    vector: StoredVector


@dataclass(frozen=True, kw_only=True, slots=True)
class Refill:
    """What one page of `EmbeddingQueue.refill` had.

    Attributes:
        queued: How many of its entries were queued.
        next: Where the next page begins, `None` on the last.
    """

    queued: int
    next: int | None


@runtime_checkable
class EmbeddingQueue(Protocol):
    """The entries that wait."""

    async def claim(
        self, *, limit: int = CLAIM_LIMIT, lease: timedelta = CLAIM_LEASE
    ) -> Sequence[EmbeddingTask]:
        """Take entries that are due; those of others who claim are passed over.

        A claim that is never kept comes up again after the lease, and after a longer one each time,
        so a text that its embedder cannot take does not hold up the others.
        """
        ...

    async def keep(self, embedder: str, embedded: Sequence[EmbeddedTask]) -> int:
        """Keep vectors of entries that have not changed since; return of how many."""
        ...

    async def refill(self, embedder: str, *, after: int = 0, limit: int = REFILL_LIMIT) -> Refill:
        """Queue entries that have no vector of this embedder, of one page of all entries.

        Args:
            embedder: Whose vectors they should have.
            after: `Refill.next` of the page before.
            limit: Entries looked at.
        """
        ...
