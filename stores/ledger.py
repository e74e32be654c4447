"""Documents, their histories and receipts, in a process's own memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice

from ..notebook import (
    Splice,
)
from .receipts import check_applied, check_fingerprint
from .records import MemoryMutation, MemoryOperation, MemoryVersion
from .sweeping import OpenRuns


@dataclass(kw_only=True, slots=True)
class Document:
    """A file, or what is left of it: a deleted one keeps its steps.

    Attributes:
        content: Its text, `None` when there is no file.
        steps: Its history, oldest first.
    """

    content: str | None = None
    steps: list[MemoryVersion] = field(default_factory=list)

    @property
    def version(self) -> str | None:
        """The version of the file, `None` when there is no file."""
        return None if self.content is None else self.steps[-1].version


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """What an operation did, and when."""

    operation: MemoryOperation
    mutation: MemoryMutation
    kept_at: datetime


class Ledger:
    """Applies changes; no method awaits, so for the tasks of one loop each is atomic."""

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}
        self._receipts: dict[str, Receipt] = {}
        self._versions = 0

    def document(self, path: str) -> Document:
        """Return the document at `path`; an empty one when there never was any."""
        return self._documents.get(path) or Document()

    def paths(self) -> list[str]:
        """Return the paths of all files."""
        return [path for path, document in self._documents.items() if document.version]

    def receipt(self, operation: MemoryOperation) -> MemoryMutation | None:
        """Return the receipt of `operation`; raise if its id has another fingerprint."""
        found = self._receipts.get(operation.id)
        if found is None:
            return None
        check_fingerprint(operation, found.operation.fingerprint)
        return replace(found.mutation, replayed=True)

    def answer(self, operation: MemoryOperation | None) -> MemoryMutation | None:
        """Return the receipt that answers a mutation, which an abandoned operation has not."""
        found = self.receipt(operation) if operation else None
        return check_applied(found) if found else None

    def abandon(self, operation: MemoryOperation) -> MemoryMutation:
        """Close the case of an operation that has no receipt."""
        return self._keep(operation, MemoryMutation(version=None, abandoned=True))

    def apply(
        self, path: str, content: str | None, change: Splice, operation: MemoryOperation | None
    ) -> MemoryMutation:
        """Make `content` the file's (`None` for no file), with a step of history and a receipt."""
        document = self.document(path)
        existed = document.content is not None
        if content is None and not existed:
            return self._keep(operation, MemoryMutation(version=None))
        self._versions += 1
        step = MemoryVersion(
            version=str(self._versions),
            operation_id=operation.id if operation else None,
            written_at=datetime.now(UTC),
            existed_before=existed,
            exists=content is not None,
            change=change,
        )
        document.content = content
        document.steps.append(step)
        self._documents[path] = document
        return self._keep(operation, MemoryMutation(version=document.version, existed=existed))

    def sweep(self, older_than: timedelta, open_runs: OpenRuns, limit: int) -> int:
        """Forget at most `limit` receipts of that age whose runs are not open; return how many."""
        now = datetime.now(UTC)
        old = (
            receipt.operation
            for receipt in self._receipts.values()
            if now - receipt.kept_at >= older_than
        )
        closed = (each.id for each in old if not open_runs.keep(each.workflow_id, each.run_id))
        swept = list(islice(closed, limit))
        for operation_id in swept:
            del self._receipts[operation_id]
        return len(swept)

    def _keep(self, operation: MemoryOperation | None, mutation: MemoryMutation) -> MemoryMutation:
        if operation is not None:
            self._receipts[operation.id] = Receipt(
                operation=operation, mutation=mutation, kept_at=datetime.now(UTC)
            )
        return mutation
