"""The memory store in a process's own memory: for tests and first steps, gone with the process.

Atomic for the tasks of one event loop: no method awaits between looking and changing.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from ..notebook import (
    MAIN_FILENAME,
    Edit,
    NotebookView,
    apply_splice,
    check_path,
    check_prefix,
    is_memory_filename,
    split_path,
)
from .checks import check_bound, check_deadline, check_operation, parse_version, refuse_late
from .history import rebuild
from .intents import Change, Intent, Overwrite, Revision
from .ledger import Ledger
from .listing import listing_order
from .records import MemoryFile, MemoryMutation, MemoryOperation, MemorySearchResult, MemoryVersion
from .searching import search_contents
from .sweeping import RECEIPT_AGE, SWEEP_LIMIT, OpenRuns, check_age


class InMemoryStore:
    """A memory store that lives with the process; has every ability."""

    def __init__(self) -> None:
        self._ledger = Ledger()

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """See `MemoryStore.read`."""
        check_path(path)
        check_bound("max_chars", max_chars)
        document = self._ledger.document(path)
        if document.content is None:
            return None
        return MemoryFile(
            content=document.content[:max_chars],
            version=document.steps[-1].version,
            truncated=len(document.content) > max_chars,
        )

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """See `MemoryStore.get_operation`."""
        check_operation(operation)
        return self._ledger.receipt(operation)

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
        return self._change(path, intent, operation, deadline)

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
        return self._change(path, intent, operation, deadline)

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """See `MemoryStore.list_paths`."""
        check_prefix(prefix)
        check_bound("limit", limit)
        found = [path for path in self._ledger.paths() if path.startswith(prefix)]
        return sorted(found, key=lambda path: listing_order(prefix, path))[:limit]

    async def settle(
        self, operation: MemoryOperation, *, deadline: datetime | None = None
    ) -> MemoryMutation:
        """See `SettlingStore.settle`. No attempt is ever under way between two awaits."""
        check_operation(operation)
        check_deadline(deadline)
        return self._ledger.receipt(operation) or self._ledger.abandon(operation)

    async def edit(
        self,
        path: str,
        edit: Edit,
        *,
        max_chars: int,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """See `EditingStore.edit`."""
        intent = Revision(name=split_path(path)[1], edit=edit, max_chars=max_chars)
        return self._change(path, intent, operation, deadline)

    async def view(self, prefix: str, *, tail_chars: int, max_names: int) -> NotebookView:
        """See `SnapshotStore.view`."""
        check_prefix(prefix)
        check_bound("tail_chars", tail_chars)
        check_bound("max_names", max_names)
        main = self._ledger.document(prefix + MAIN_FILENAME).content or ""
        names = [name for name in self._names(prefix) if name != MAIN_FILENAME]
        return NotebookView(
            tail=main[-tail_chars:],
            tail_truncated=len(main) > tail_chars,
            names=tuple(names[:max_names]),
            names_truncated=len(names) > max_names,
        )

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
        """See `SearchableMemoryStore.search`; scans."""
        check_prefix(prefix)
        check_bound("limit", limit)
        check_bound("max_files", max_files)
        check_bound("max_chars", max_chars)
        check_bound("max_file_chars", max_file_chars)
        names = self._names(prefix)[: max_files + 1]
        read = [await self.read(prefix + name, max_chars=max_file_chars) for name in names]
        return search_contents(
            prefix,
            query,
            [(name, file) for name, file in zip(names, read, strict=True) if file],
            limit=limit,
            max_files=max_files,
            max_chars=max_chars,
        )

    def _names(self, prefix: str) -> list[str]:
        """Return the names directly below `prefix` that the memory tools can spell, in order."""
        below = (
            path.removeprefix(prefix) for path in self._ledger.paths() if path.startswith(prefix)
        )
        return sorted(name for name in below if is_memory_filename(name))

    async def history(
        self, path: str, *, limit: int, before: str | None = None
    ) -> list[MemoryVersion]:
        """See `HistoryStore.history`."""
        check_path(path)
        check_bound("limit", limit)
        steps = self._ledger.document(path).steps[::-1]
        if before is not None:
            steps = [step for step in steps if int(step.version) < parse_version(before)]
        return steps[:limit]

    async def read_version(self, path: str, version: str) -> MemoryFile | None:
        """See `HistoryStore.read_version`."""
        check_path(path)
        document = self._ledger.document(path)
        content = rebuild(document.content, reversed(document.steps), version)
        return None if content is None else MemoryFile(content=content, version=version)

    async def restore(
        self,
        path: str,
        version: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """See `HistoryStore.restore`."""
        past = await self.read_version(path, version)
        intent = Overwrite(
            content=None if past is None else past.content, expected_version=expected_version
        )
        return self._change(path, intent, operation, deadline)

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
        return self._ledger.sweep(older_than, OpenRuns.of(open_runs), limit)

    def _change(
        self,
        path: str,
        intent: Intent,
        operation: MemoryOperation | None,
        deadline: datetime | None,
    ) -> MemoryMutation:
        change = Change(path=path, intent=intent, operation=operation, deadline=deadline)
        if found := self._ledger.answer(operation):
            return found
        refuse_late(deadline)
        document = self._ledger.document(change.path)
        intent.check(document.version)
        splice = intent.splice(document.content)
        after = None if intent.deletes else apply_splice(document.content or "", splice)
        return self._ledger.apply(path, after, splice, operation)
