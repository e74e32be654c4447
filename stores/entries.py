"""What a store of entries is: memory stores, the entries in them, and search.

An entry is a versioned document like a notebook's file, and the rules of `protocols.py` hold for
it: one atomic step with its receipt, the same operation answered by its receipt, versions never
used again, nothing after the deadline. Beside them, each against a fault seen in the field:

1. Uniqueness is the database's: `create` of what exists raises `MemoryAlreadyExists`, whoever else
   creates it at the same moment. (A duplicate check on a stale read made silent duplicates.)
2. Every method takes its store, and its actor where it has one; there is no state, no default and
   no way to leave them out. (One tenant's write landed in another's memory through a shared handle;
   a filtered delete without its filter wiped every user.)
3. `put` and `append` are atomic. (Of ten clients that appended by reading and writing, one survived.)
4. What search finds is what is stored: words, and the work of embedding, change in the entry's own
   transaction, and a vector is used only while the entry's version and the embedder are those it
   was made for. (Deleted text was still found; a vector answered for text that was gone.)
5. Paths and prefixes compare literally, prefixes at segments. (`john_doe` found `john-doe`;
   `acme` saw `acme-corp`.)
6. Every mutation takes an operation. (Queues that retried doubled memories.)
7. Every write can name the version it was made for. (Consolidation wrote back what it had read
   before a slow model call.)
8. Versions come from the database's sequence under the row's lock, and histories are ordered by
   them. (Clocks of processes put an old write on top.)
9. Every write has a provenance. (97.8 % of an audited memory was its own recalled text.)

Errors raised by every method: `InvalidMemoryRequest` and `MemoryRefusal` by the rules in
`durable_memory.notebook` (`EntryKey`, `EntryFilter`, …), `MemoryStoreUnavailable`. Every mutation
of entries raises `MemoryNotFound` when there is no such memory store, and like all mutations
`MemoryOperationConflictError`, `MemoryOperationAbandonedError` and `MemoryDeadlineExceeded`. A
mutation that raises changed nothing and left no receipt.
"""  # noqa: E501  (a rule's line)

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, Self, runtime_checkable

from ..notebook import EntryFilter, EntryKey
from .entryrecords import (
    EVERYTHING,
    PLAIN_WRITE,
    Entry,
    EntryCursor,
    EntryMatch,
    EntryMutation,
    EntryPage,
    EntryStoreInfo,
    EntryStorePage,
    EntryVersion,
    EntryWrite,
)
from .records import MemoryOperation


@runtime_checkable
class EntryStore(Protocol):
    """Keeps memory stores and their entries."""

    def within(self, incarnation: int) -> Self:
        """Return this store for one incarnation of the memory store that is named.

        Whoever checked a right has checked it in one: see `Access.incarnation`. In a store of the
        same id that was made since, nothing is found and nothing changes.
        """
        ...

    async def create_store(
        self, store: str, *, creator: str, description: str = ""
    ) -> EntryStoreInfo:
        """Make a memory store for its `creator`, the key of a `Principal`.

        Raises:
            MemoryAlreadyExists: There is one of that id.
            InvalidMemoryRequest: The creator is no principal.
        """
        ...

    async def get_store(self, store: str) -> EntryStoreInfo | None:
        """Return a memory store."""
        ...

    async def list_stores(self, *, limit: int, after: str | None = None) -> EntryStorePage:
        """Return memory stores behind the id `after`."""
        ...

    async def update_store(self, store: str, *, description: str) -> EntryStoreInfo:
        """Change the description; raise `MemoryNotFound` if there is no such store."""
        ...

    async def delete_store(self, store: str) -> bool:
        """Delete a memory store with all that is in it; return whether there was one.

        Waits for mutations under way, and those that come later find no store. History and search
        index go too; receipts stay, so that a late retry does not write into a new store of the
        same id.
        """
        ...

    async def create(
        self,
        key: EntryKey,
        *,
        content: str = "",
        description: str = "",
        entry_id: str | None = None,
        write: EntryWrite = PLAIN_WRITE,
    ) -> EntryMutation:
        """Create an entry.

        Raises:
            MemoryAlreadyExists: There is one at this key, or with the chosen id in this store.
        """
        ...

    async def put(
        self,
        key: EntryKey,
        *,
        content: str,
        description: str | None = None,
        expected_version: str | None = None,
        write: EntryWrite = PLAIN_WRITE,
    ) -> EntryMutation:
        """Create an entry or replace its content, in one step.

        Args:
            key: Which.
            content: The whole new text.
            description: The new description; `None` keeps what is there.
            expected_version: The version it must have; `None` for any or none.
            write: Operation, deadline and provenance.

        Raises:
            MemoryConflictError: The entry has another version, or there is none.
        """
        ...

    async def append(
        self,
        key: EntryKey,
        *,
        content: str,
        description: str | None = None,
        expected_version: str | None = None,
        write: EntryWrite = PLAIN_WRITE,
    ) -> EntryMutation:
        """Add lines to an entry, by `append_addition` of the notebook; creates. Else as `put`.

        Raises:
            MemoryRefusal: `oversize`, the entry would be too long; `invalid_arguments`, nothing to
                append.
        """
        ...

    async def get(self, store: str, entry_id: str, *, content: bool = True) -> Entry | None:
        """Return an entry by its id, with its content or without."""
        ...

    async def find(self, key: EntryKey, *, content: bool = True) -> Entry | None:
        """Return an entry by its key."""
        ...

    async def list_entries(
        self,
        store: str,
        actor: str,
        *,
        limit: int,
        where: EntryFilter = EVERYTHING,
        after: EntryCursor | None = None,
        content: bool = True,
    ) -> EntryPage:
        """Return an actor's entries behind a cursor, with their contents or without."""
        ...

    async def search(
        self,
        store: str,
        actor: str,
        query: str,
        *,
        limit: int = 10,
        where: EntryFilter = EVERYTHING,
        content: bool = True,
    ) -> Sequence[EntryMatch]:
        """Return an actor's entries that answer a query, best first.

        Args:
            store: The memory store.
            actor: Whose entries; no others take part, not in the statistics either.
            query: Natural language, as `check_entry_query` takes it.
            limit: Matches at most, 1 to 100.
            where: Which entries; a `path` is allowed too.
            content: Whether contents are returned.
        """
        ...

    async def update(
        self,
        store: str,
        entry_id: str,
        *,
        content: str | None = None,
        description: str | None = None,
        expected_version: str | None = None,
        write: EntryWrite = PLAIN_WRITE,
    ) -> EntryMutation:
        """Change the fields that are given; `None` keeps one, and at least one is given.

        Raises:
            MemoryNotFound: There is no such entry.
            MemoryConflictError: It has another version.
        """
        ...

    async def delete(
        self,
        store: str,
        entry_id: str,
        *,
        expected_version: str | None = None,
        write: EntryWrite = PLAIN_WRITE,
    ) -> EntryMutation:
        """Delete an entry by its id; errors as `update`."""
        ...

    async def forget(
        self, store: str, actor: str, path: str, *, write: EntryWrite = PLAIN_WRITE
    ) -> EntryMutation:
        """Delete every session's entry at a path of one actor, in one transaction.

        What is not there is no error: `existed` is false, and the operation gets its receipt.
        """
        ...

    async def history(
        self, store: str, entry_id: str, *, limit: int, before: str | None = None
    ) -> Sequence[EntryVersion]:
        """Return steps of an entry, newest first, older than version `before`.

        Raises:
            MemoryNotFound: There is no such entry.
        """
        ...

    async def read_version(self, store: str, entry_id: str, version: str) -> Entry | None:
        """Return the entry as it was at `version`; `None` when that version deleted it.

        Raises:
            MemoryNotFound: There is no such entry, or it never had that version.
        """
        ...

    async def get_operation(self, operation: MemoryOperation) -> EntryMutation | None:
        """Return the receipt of an operation; errors as `MemoryStore.get_operation`."""
        ...

    async def settle(
        self, operation: MemoryOperation, *, deadline: datetime | None = None
    ) -> EntryMutation:
        """Close the case of an operation, as `SettlingStore.settle`."""
        ...
