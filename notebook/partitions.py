"""Partitions: one actor's entries in one memory store."""

from __future__ import annotations

from dataclasses import dataclass

from .entries import EntryKey, check_actor, check_store_id


@dataclass(frozen=True, kw_only=True, slots=True)
class Partition:
    """Whose entries: resolved by application code, never by the model, never shown to it.

    Attributes:
        store: The memory store's id.
        actor: Whose memory in it; there is no default.

    Raises:
        InvalidMemoryRequest: Store or actor break their rule, see `EntryKey`.
    """

    store: str
    actor: str

    def __post_init__(self) -> None:
        check_store_id(self.store)
        check_actor(self.actor)

    @property
    def key(self) -> str:
        """Store and actor as one text; no other partition, and no scope, has the same."""
        return f"{self.store}//{self.actor}"

    def entry(self, path: str, session: str | None = None) -> EntryKey:
        """Return the key of an entry; raises as `EntryKey`."""
        return EntryKey(store=self.store, actor=self.actor, session=session, path=path)
