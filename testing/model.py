"""The plain model of a store: what must be, with nothing that makes it durable or fast."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..notebook import (
    Edit,
    MemoryConflictError,
    MemoryDeadlineExceeded,
    MemoryOperationAbandonedError,
    MemoryOperationConflictError,
    Remove,
    apply_splice,
    plan_edit,
)
from ..stores import MemoryMutation, MemoryOperation


@dataclass(kw_only=True)
class StoreModel:
    """The files, versions and receipts of one scope.

    A mutation is predicted first, and recorded with the version that the store made.

    Attributes:
        files: Text and version by name.
        receipts: Fingerprint and receipt by operation id.
        versions: Every version that was ever made, in order.
        past: Each file's steps by name, oldest first: version and text, both `None` for a deletion.
    """

    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    receipts: dict[str, tuple[str, MemoryMutation]] = field(default_factory=dict)
    versions: list[str] = field(default_factory=list)
    past: dict[str, list[tuple[str | None, str | None]]] = field(default_factory=dict)

    def version(self, name: str) -> str | None:
        """Return the version of a file, `None` when there is none."""
        return self.files[name][1] if name in self.files else None

    def text(self, name: str) -> str | None:
        """Return the text of a file, `None` when there is none."""
        return self.files[name][0] if name in self.files else None

    def receipt(self, operation: MemoryOperation) -> MemoryMutation | None:
        """Return the receipt of an operation.

        Raises:
            MemoryOperationConflictError: The id has another fingerprint.
        """
        if self.is_reused(operation):
            raise MemoryOperationConflictError
        _, mutation = self.receipts.get(operation.id, ("", None))
        return mutation and replace(mutation, replayed=True)

    def is_reused(self, operation: MemoryOperation) -> bool:
        """Tell whether the operation's id is known with another fingerprint."""
        fingerprint, _ = self.receipts.get(operation.id, (operation.fingerprint, None))
        return fingerprint != operation.fingerprint

    def answer(self, operation: MemoryOperation | None, *, late: bool) -> MemoryMutation | None:
        """Return the receipt that answers a mutation, `None` when it is to be applied.

        Raises:
            MemoryOperationConflictError: The id has another fingerprint.
            MemoryOperationAbandonedError: It was settled as abandoned.
            MemoryDeadlineExceeded: It has no receipt, and its deadline has passed.
        """
        found = self.receipt(operation) if operation else None
        if found and found.abandoned:
            raise MemoryOperationAbandonedError
        if late and not found:
            raise MemoryDeadlineExceeded
        return found

    def expect(self, name: str, expected_version: str | None) -> None:
        """Raise `MemoryConflictError` unless the file has that version."""
        if self.version(name) != expected_version:
            raise MemoryConflictError

    def edited(self, name: str, edit: Edit, *, max_chars: int) -> str | None:
        """Return what an edit makes of a file; raise `MemoryRefusal` if it does not fit."""
        text = self.text(name)
        plan = plan_edit(text, edit, name=name, max_chars=max_chars)
        return None if isinstance(edit, Remove) else apply_splice(text or "", plan)

    def record(
        self,
        name: str,
        text: str | None,
        mutation: MemoryMutation,
        operation: MemoryOperation | None,
    ) -> None:
        """Record a mutation that the store has applied."""
        if text is not None:
            version = mutation.version or ""
            self.files[name] = (text, version)
            self.past.setdefault(name, []).append((version, text))
            self.versions.append(version)
        elif self.files.pop(name, None):
            self.past[name].append((None, None))
        self.keep(operation, mutation)

    def keep(self, operation: MemoryOperation | None, mutation: MemoryMutation) -> None:
        """Record the receipt of an operation."""
        if operation is not None:
            self.receipts[operation.id] = (operation.fingerprint, mutation)
