"""The queue of embedding, and vectors, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from ...notebook import MAX_EMBEDDED_CHARS, embedding_text
from ..checks import check_bound
from ..embedding import (
    CLAIM_LEASE,
    CLAIM_LIMIT,
    REFILL_LIMIT,
    EmbeddedTask,
    EmbeddingTask,
    Refill,
)
from .calls import Caller
from .pool import PostgresPool


class PostgresEmbeddingQueue:
    """An `EmbeddingQueue` in the schema `durable_memory`, made by `migrate`.

    Args:
        pool: asyncpg's pool, or one that looks like it; the caller's.
        timeout: Seconds that one call may take, the wait for a connection included.
    """

    def __init__(self, pool: PostgresPool, *, timeout: float = 10.0) -> None:
        self._caller = Caller(pool=pool, timeout=timeout)

    async def claim(
        self, *, limit: int = CLAIM_LIMIT, lease: timedelta = CLAIM_LEASE
    ) -> Sequence[EmbeddingTask]:
        """See `EmbeddingQueue.claim`. One round trip."""
        check_bound("limit", limit)
        rows = await self._caller.mutate_rows("claim_embeddings", limit, lease, MAX_EMBEDDED_CHARS)
        return [
            EmbeddingTask(
                document=row["document_id"],
                version=row["version"],
                text=embedding_text(row["path"], row["description"] or "", row["content"]),
            )
            for row in rows
        ]

    async def keep(self, embedder: str, embedded: Sequence[EmbeddedTask]) -> int:
        """See `EmbeddingQueue.keep`. One round trip."""
        row = await self._caller.mutate(
            "store_vectors",
            embedder,
            [each.task.document for each in embedded],
            [each.task.version for each in embedded],
            [each.vector.signature for each in embedded],
            ["{" + ",".join(map(str, each.vector.components)) + "}" for each in embedded],
        )
        stored: int = row["stored"]
        return stored

    async def refill(self, embedder: str, *, after: int = 0, limit: int = REFILL_LIMIT) -> Refill:
        """See `EmbeddingQueue.refill`. One round trip."""
        check_bound("limit", limit)
        row = await self._caller.mutate("queue_embeddings", embedder, after, limit)
        return Refill(queued=row["queued"], next=row["next"])
