"""Search in entries: words, and meaning where there is an embedder."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from ...notebook import (
    COMPARED_EXACTLY,
    K1,
    MAX_OCCURRENCES,
    WORDS_WEIGHT,
    B,
    StoredVector,
    query_terms,
    stored_vector,
    telling_terms,
    term_weights,
)
from ..embedding import Embedder
from ..entryrecords import EntryMatch
from .calls import Caller
from .entryrows import entry

_log = logging.getLogger("durable_memory.stores.search")


@dataclass(frozen=True, kw_only=True, slots=True)
class EntrySearch:
    """Searches one actor's entries.

    Attributes:
        caller: Runs the query.
        embedder: Gives the query a vector.
        embed_timeout: Seconds that it has for that.
    """

    caller: Caller
    embedder: Embedder | None
    embed_timeout: float

    async def search(
        self,
        store: str,
        actor: str,
        query: str,
        *,
        limit: int,
        paths: tuple[str, str, str],
        session: str | None,
        content: bool,
        incarnation: int | None,
    ) -> Sequence[EntryMatch]:
        """Return matches, best first; arguments are checked."""
        terms = query_terms(query)
        meant: tuple[str | None, str, list[int]] = (None, "", [])
        vector = await self._vector(query)
        if self.embedder and vector:
            terms = telling_terms(terms)
            meant = (self.embedder.name, vector.signature, list(vector.components))
        rows = await self.caller.rows(
            "search_entries",
            store,
            actor,
            list(terms),
            term_weights(terms),
            session,
            *paths,
            K1,
            B,
            *meant,
            COMPARED_EXACTLY,
            WORDS_WEIGHT,
            limit,
            content,
            incarnation,
            MAX_OCCURRENCES,
        )
        return [EntryMatch(entry=entry(row), score=row["score"]) for row in rows]

    async def _vector(self, query: str) -> StoredVector | None:
        """Return the query's vector; without one, search goes by words."""
        if self.embedder is None:
            return None
        try:
            async with asyncio.timeout(self.embed_timeout):
                (vector,) = await self.embedder.embed([query])
            return stored_vector(vector)
        except Exception as error:  # noqa: BLE001  (whatever an embedder may raise)
            _log.warning("search goes by words: the embedder failed (%s)", type(error).__name__)
            return None
