"""The memory store in a directory of Markdown files: any number of processes on one host."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self, TypeVar

from ...notebook import (
    Edit,
    InvalidMemoryRequest,
    NotebookView,
    check_path,
    check_prefix,
    split_path,
)
from ..checks import check_bound, check_deadline, check_operation
from ..intents import Change, Intent, Overwrite, Revision
from ..records import MemoryFile, MemoryMutation, MemoryOperation, MemorySearchResult
from ..searching import search_contents
from ..sqlite.lanes import Lane
from ..sqlite.receipts import Receipts
from ..sqlite.sessions import Session
from ..sqlite.transactions import transaction
from ..sweeping import RECEIPT_AGE, SWEEP_LIMIT, OpenRuns, check_age
from . import lookups
from .changes import Writer
from .errors import CANNOT_READ, translated
from .folders import SUPPORTED
from .journal import Journal
from .listing import paths_below

ResultT = TypeVar("ResultT")

_READERS = 4


class FileMemoryStore:
    """A memory store in a directory: files that a person can open, read and edit.

    A scope's segments are folders, a file is a Markdown file in them; `spelling.py` says how names
    are written. Each write replaces a file in one step, so that an editor or a crash never sees
    half of one. A hidden journal, `.memory-store.sqlite3`, holds versions and receipts: back it up
    with the files. Without it no content is lost, but receipts are.

    A file that is edited outside has a new version, one that is deleted is gone, one that is added
    is there. Links are not followed, and nothing outside the directory is ever read or written. On
    a directory that cannot be written, reads succeed and writes fail.

    Has every ability in `durable_memory.stores` but history: what a person changes cannot be undone
    step by step; keep the directory under version control for that. Nothing is opened before the
    first call; all work is done in threads off the event loop. Needs a local disk, and a system
    with POSIX locks.

    Args:
        directory: Where the files are; made by the first write.
        timeout: Seconds that a call waits for another process.

    Raises:
        InvalidMemoryRequest: The system has no POSIX files.
    """

    def __init__(self, directory: str | Path, *, timeout: float = 10.0) -> None:
        if not SUPPORTED:
            raise InvalidMemoryRequest("the file store needs a system with POSIX files")
        self._root = Path(directory).absolute()
        self._journal = Journal.of(self._root, timeout)
        self._writer = Writer(root=self._root, journal=self._journal, timeout=timeout)
        self._readers, self._changes = Lane(_READERS), Lane()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Wait for the calls that run, and close the journal; a call after it opens it again."""
        await self._readers.close()
        await self._changes.close()
        self._journal.connections.close()

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """See `MemoryStore.read`.

        What is not text is shown as U+FFFD; all of the file is read to tell its version.
        """
        check_path(path)
        check_bound("max_chars", max_chars)
        return await self._look(lambda: lookups.read(self._root, self._journal, path, max_chars))

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """See `MemoryStore.get_operation`."""
        check_operation(operation)
        return await self._look(lambda: self._journal.receipt(operation))

    async def write(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """See `MemoryStore.write`."""
        intent = Overwrite(content=content, expected_version=expected_version)
        return await self._change(path, intent, operation, deadline)

    async def delete(
        self,
        path: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """See `MemoryStore.delete`."""
        intent = Overwrite(content=None, expected_version=expected_version)
        return await self._change(path, intent, operation, deadline)

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """See `MemoryStore.list_paths`."""
        check_prefix(prefix)
        check_bound("limit", limit)
        return await self._look(lambda: paths_below(self._root, prefix, limit))

    async def settle(
        self, operation: MemoryOperation, *, deadline: datetime | None = None
    ) -> MemoryMutation:
        """See `SettlingStore.settle`; an attempt that is under way holds the directory's lock."""
        check_operation(operation)
        check_deadline(deadline)
        return await self._changes.run(
            lambda: self._with_receipts(lambda receipts: receipts.settle(operation))
        )

    async def edit(
        self,
        path: str,
        edit: Edit,
        *,
        max_chars: int,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """See `EditingStore.edit`; loses a race only to a person who edits without pause."""
        intent = Revision(name=split_path(path)[1], edit=edit, max_chars=max_chars)
        return await self._change(path, intent, operation, deadline)

    async def view(self, prefix: str, *, tail_chars: int, max_names: int) -> NotebookView:
        """See `SnapshotStore.view`."""
        check_prefix(prefix)
        check_bound("tail_chars", tail_chars)
        check_bound("max_names", max_names)
        return await self._look(lambda: lookups.view(self._root, prefix, tail_chars, max_names))

    async def search(
        self,
        prefix: str,
        query: str,
        *,
        limit: int,
        max_files: int,
        max_chars: int,
        max_file_chars: int,
    ) -> MemorySearchResult:
        """See `SearchableMemoryStore.search`; scans, in a thread, one file after the other."""
        check_prefix(prefix)
        check_bound("limit", limit)
        check_bound("max_files", max_files)
        check_bound("max_chars", max_chars)
        check_bound("max_file_chars", max_file_chars)
        return await self._look(
            lambda: search_contents(
                prefix,
                query,
                lookups.contents(self._root, prefix, max_files=max_files, max_chars=max_file_chars),
                limit=limit,
                max_files=max_files,
                max_chars=max_chars,
            )
        )

    async def sweep_receipts(
        self,
        older_than: timedelta = RECEIPT_AGE,
        *,
        open_runs: Collection[tuple[str, str]] = (),
        limit: int = SWEEP_LIMIT,
    ) -> int:
        """See `SweepingStore.sweep_receipts`."""
        check_age(older_than)
        check_bound("limit", limit)
        runs = OpenRuns.of(open_runs)
        return await self._changes.run(
            lambda: self._with_receipts(lambda receipts: receipts.sweep(older_than, runs, limit))
        )

    async def _change(
        self,
        path: str,
        intent: Intent,
        operation: MemoryOperation | None,
        deadline: datetime | None,
    ) -> MemoryMutation:
        change = Change(path=path, intent=intent, operation=operation, deadline=deadline)
        return await self._changes.run(lambda: self._writer.apply(change))

    async def _look(self, work: Callable[[], ResultT]) -> ResultT:
        def looked() -> ResultT:
            with translated(CANNOT_READ):
                return work()

        return await self._readers.run(looked)

    def _with_receipts(self, work: Callable[[Receipts], ResultT]) -> ResultT:
        with self._writer.alone() as connection, transaction(connection, "IMMEDIATE"):
            return work(Receipts(session=Session(connection=connection)))
