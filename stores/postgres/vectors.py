"""The queue of embedding, and vectors, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from ...notebook import MAX_EMBEDDED_CHARS, embedding_text, stored_vector
from ..checks import check_bound
from ..embedding import CLAIM_LEASE, CLAIM_LIMIT, EmbeddedTask, EmbeddingTask
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
        rows = await self._caller.rows("claim_embeddings", limit, lease, MAX_EMBEDDED_CHARS)
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
        vectors = [stored_vector(each.vector) for each in embedded]
        row = await self._caller.mutate(
            "store_vectors",
            embedder,
            [each.task.document for each in embedded],
            [each.task.version for each in embedded],
            [vector.signature for vector in vectors],
            ["{" + ",".join(map(str, vector.components)) + "}" for vector in vectors],
        )
        stored: int = row["stored"]
        return stored

    async def refill(self, embedder: str, *, limit: int = 1_000) -> int:
        """See `EmbeddingQueue.refill`. One round trip."""
        row = await self._caller.mutate("queue_embeddings", embedder, check_bound("limit", limit))
        queued: int = row["queued"]
        return queued
