"""Stores of notebooks that keep entries too, in the same place."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ..notebook import InvalidMemoryRequest
from .embedding import Embedder
from .entries import EntryStore
from .protocols import MemoryStore


@runtime_checkable
class EntryServingStore(Protocol):
    """Keeps entries beside its notebooks."""

    def entries(self, *, embedder: Embedder | None = None) -> EntryStore:
        """Return the store of entries, on the same connections.

        Args:
            embedder: Adds meaning to search; without one it goes by words.
        """
        ...


def entries_of(store: MemoryStore, *, embedder: Embedder | None = None) -> EntryStore:
    """Return the store of entries that a store has beside its notebooks.

    Raises:
        InvalidMemoryRequest: It has none.
    """
    if not isinstance(store, EntryServingStore):
        raise InvalidMemoryRequest("this worker's store keeps no entries: they need PostgreSQL")
    return store.entries(embedder=embedder)
