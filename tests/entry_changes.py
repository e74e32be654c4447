"""Every mutation of entries, for tests of what holds for all of them."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable

from durable_memory.notebook import EntryKey
from durable_memory.stores import EntryMutation, EntryWrite, MemoryOperation, PostgresEntryStore

Change = Callable[[PostgresEntryStore, str, str, EntryWrite], Awaitable[EntryMutation]]


def key(store: str, path: str = "/a.md", session: str | None = None) -> EntryKey:
    """A key with what does not matter filled in."""
    return EntryKey(store=store, actor="someone", path=path, session=session)


def new_operation(fingerprint: str = "f") -> MemoryOperation:
    """An operation that nobody has used."""
    return MemoryOperation(id=uuid.uuid4().hex, fingerprint=fingerprint)


CHANGES: dict[str, Change] = {
    "create": lambda entries, store, _, write: entries.create(
        key(store, "/new"), content="x", write=write
    ),
    "put": lambda entries, store, _, write: entries.put(key(store), content="x", write=write),
    "append": lambda entries, store, _, write: entries.append(key(store), content="x", write=write),
    "append described": lambda entries, store, _, write: entries.append(
        key(store), content="x", description="d", write=write
    ),
    "update": lambda entries, store, id_, write: entries.update(
        store, id_, content="x", write=write
    ),
    "describe": lambda entries, store, id_, write: entries.update(
        store, id_, description="x", write=write
    ),
    "delete": lambda entries, store, id_, write: entries.delete(store, id_, write=write),
    "forget": lambda entries, store, _, write: entries.forget(
        store, "someone", "/a.md", write=write
    ),
}
"""Each on `/a.md` of `someone`, whose id is the third argument; `create` on `/new`."""
