"""What a memory store is: a small protocol, and optional abilities beside it.

A store keeps files by path. A path is a scope's key, `/`, and a file name. Every store
holds to five rules, checked by the suite in `durable_memory.testing`:

1. A mutation is applied if and only if the file's version is the expected one
   (compare-and-swap), in one atomic step with its receipt.
2. The same operation arriving again is answered by its receipt and changes nothing. Its id with
   another fingerprint raises `MemoryOperationConflictError`.
3. A version is new with every write and never used again, also not after delete and re-create.
4. A mutation whose deadline has passed changes nothing and leaves no receipt.
5. Text with NUL or a lone surrogate is refused with `MemoryRefusal`; everything else comes out
   as it went in.

Errors raised by every method: `InvalidMemoryRequest` for a malformed path or bound,
`MemoryStoreUnavailable` when the backend does not answer.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from ..notebook import Edit, NotebookView
from .records import (
    MemoryFile,
    MemoryMutation,
    MemoryOperation,
    MemorySearchResult,
    MemoryVersion,
)
from .sweeping import RECEIPT_AGE, SWEEP_LIMIT


@runtime_checkable
class MemoryStore(Protocol):
    """The base protocol: all that a store must do."""

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """Return the file at `path`, at most `max_chars` characters of it, or `None`."""
        ...

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """Return the receipt of `operation` with `replayed=True`, or `None`.

        Raises:
            MemoryOperationConflictError: The id is known with another fingerprint.
        """
        ...

    async def write(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """Create or replace the file at `path`.

        Args:
            path: The file.
            content: Its whole new text.
            expected_version: The version it must have; `None` means it must not exist.
            operation: Identity, for exactly-once.
            deadline: Aware time after which the store must refuse to apply it.

        Raises:
            MemoryConflictError: The file has another version.
            MemoryOperationConflictError: The operation's id has another fingerprint.
            MemoryOperationAbandonedError: The operation was settled as abandoned.
            MemoryDeadlineExceeded: The deadline has passed.
            MemoryRefusal: The text has NUL or a lone surrogate.
        """
        ...

    async def delete(
        self,
        path: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """Delete the file at `path`; errors as `write`.

        A missing file with `expected_version=None` is no error: `existed` is false, and the
        operation gets its receipt.
        """
        ...

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """Return at most `limit` paths that start with `prefix`.

        Files directly below the prefix come first, whatever is nested below it. Each of the two
        groups is ordered by scope and then by name, bytewise, so that the files of a scope are
        never torn apart by those of a scope nested in it.
        """
        ...


@runtime_checkable
class SettlingStore(Protocol):
    """Can close the case of an operation whose outcome is unknown."""

    async def settle(
        self, operation: MemoryOperation, *, deadline: datetime | None = None
    ) -> MemoryMutation:
        """Return the receipt of `operation`, or write one that says it is abandoned.

        Waits for an attempt that is being applied right now. After it returns, the operation
        can never be applied by anyone who has not applied it already.

        Args:
            operation: Whose case is closed.
            deadline: The one that the operation carried, to know how long an attempt may go on.
        """
        ...


@runtime_checkable
class EditingStore(Protocol):
    """Can apply an edit and its receipt in one step, so that concurrent edits never lose a race."""

    async def edit(
        self,
        path: str,
        edit: Edit,
        *,
        max_chars: int,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """Apply `edit` to whatever the file is now.

        To remove a missing file is no error: `existed` is false, and the operation gets its
        receipt.

        Raises:
            MemoryRefusal: The edit does not fit the file (`text_not_found`, `ambiguous`,
                `oversize`, `not_found`); no receipt is left.
            MemoryConflictError: Lost too many races (only edits that need what they read).
        Other errors as `MemoryStore.write`.
        """
        ...


@runtime_checkable
class SearchableMemoryStore(Protocol):
    """Can search without moving every file to the caller."""

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
        """Search files directly below `prefix`, by the rule of `durable_memory.notebook`.

        Args:
            prefix: A scope's key and `/`, resolved by trusted code.
            query: Text of the model's; what is none by the notebook's rule is refused with
                `MemoryRefusal`.
            limit: Matches returned at most.
            max_files: Files scanned at most; an index may see every file.
            max_chars: Characters of file names and snippets together.
            max_file_chars: Characters of one file that a scan looks at.
        """
        ...


@runtime_checkable
class SnapshotStore(Protocol):
    """Can gather all that a snapshot shows in one call."""

    async def view(self, prefix: str, *, tail_chars: int, max_names: int) -> NotebookView:
        """Return the tail of `prefix + 'MEMORY.md'` and the names beside it.

        Names are those that the memory tools can spell; `names_truncated` tells whether more
        than `max_names` exist.
        """
        ...


@runtime_checkable
class HistoryStore(Protocol):
    """Keeps every version of a file."""

    async def history(
        self, path: str, *, limit: int, before: str | None = None
    ) -> list[MemoryVersion]:
        """Return steps of the file at `path`, newest first, older than version `before`."""
        ...

    async def read_version(self, path: str, version: str) -> MemoryFile | None:
        """Rebuild the file as it was at `version`; `None` when it was deleted by that version.

        Raises:
            MemoryNotFound: The file never had that version.
        """
        ...

    async def restore(
        self,
        path: str,
        version: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """Make the file what it was at `version`, as a new version; errors as `write`."""
        ...


@runtime_checkable
class SweepingStore(Protocol):
    """Can forget old receipts, in bounded batches, and never by their number."""

    async def sweep_receipts(
        self,
        older_than: timedelta = RECEIPT_AGE,
        *,
        open_runs: Collection[tuple[str, str]] = (),
        limit: int = SWEEP_LIMIT,
    ) -> int:
        """Forget receipts, abandoned ones too; content and history stay as they are.

        An operation whose receipt is gone is applied again when it arrives again: the guarantee
        for resets and late retries ends with the receipts.

        Args:
            older_than: Only receipts at least that old, by the store's clock; 90 days by default.
            open_runs: Workflow id and run id of runs whose receipts are kept whatever their age. A
                run that was reset goes on under a new run id with the old one's receipts: an empty
                run id keeps those of every run of the workflow.
            limit: Receipts forgotten at most, so that no call holds locks for long.

        Returns:
            How many were forgotten; less than `limit` means that no more are left to forget.
        """
        ...
