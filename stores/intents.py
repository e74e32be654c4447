"""What a mutation makes of a file, whatever keeps the file: the rules of `write` and `edit`.

A store that holds a file's lock asks, in this order: for the receipt of an earlier arrival, which
answers; whether it is too late; `check` of the version that is there; `splice` or `after` of the
content that is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from ..notebook import (
    Edit,
    MemoryConflictError,
    Remove,
    Splice,
    apply_splice,
    check_edit,
    check_path,
    check_removable,
    check_text,
    diff_splice,
    plan_edit,
)
from .checks import check_bound, check_deadline, check_operation
from .records import MemoryOperation


@dataclass(frozen=True, kw_only=True, slots=True)
class Overwrite:
    """Make `content` the whole file if its version is the expected one.

    Attributes:
        content: The new text, `None` to delete the file.
        expected_version: As `MemoryStore.write` takes it.
    """

    content: str | None
    expected_version: str | None

    def __post_init__(self) -> None:
        if self.content is not None:
            check_text(self.content, field="content")

    @property
    def deletes(self) -> bool:
        """Whether no file is left."""
        return self.content is None

    @property
    def chars_needed(self) -> int:
        """How much of the content that is there decides what will be."""
        return 0

    def check(self, version: str | None) -> None:
        """Raise `MemoryConflictError` if the file has another version."""
        if version != self.expected_version:
            raise MemoryConflictError

    def splice(self, content: str | None) -> Splice:
        """Return what changes in the whole text that is there."""
        return diff_splice(content or "", self.content or "")

    def after(self, _content: str | None) -> str | None:
        """Return what the text becomes; `None` for no file."""
        return self.content


@dataclass(frozen=True, kw_only=True, slots=True)
class Revision:
    """Do an edit to whatever the file is.

    Attributes:
        name: The file's name, for the messages to the model.
        edit: What to do.
        max_chars: As `EditingStore.edit` takes it.
    """

    name: str
    edit: Edit
    max_chars: int

    def __post_init__(self) -> None:
        check_bound("max_chars", self.max_chars)
        check_edit(self.edit)
        if self.deletes:
            check_removable(self.name)

    @property
    def deletes(self) -> bool:
        """Whether no file is left."""
        return isinstance(self.edit, Remove)

    @property
    def chars_needed(self) -> int:
        """How much of the content that is there decides what will be.

        One character more than an edit may see shows that the file is too large for it.
        """
        return 0 if self.deletes else self.max_chars + 1

    def check(self, version: str | None) -> None:
        """Fit any version."""

    def splice(self, content: str | None) -> Splice:
        """Return what changes; raise `MemoryRefusal` if the edit does not fit."""
        return plan_edit(content, self.edit, name=self.name, max_chars=self.max_chars)

    def after(self, content: str | None) -> str | None:
        """Return what the text becomes; `None` for no file."""
        return None if self.deletes else apply_splice(content or "", self.splice(content))


Intent: TypeAlias = Overwrite | Revision
"""One mutation of a file, as it was asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One mutation, as it was asked for.

    Attributes:
        path: The file.
        intent: What to make of it.
        operation: Identity, for exactly-once.
        deadline: Aware time after which nothing may change.
    """

    path: str
    intent: Intent
    operation: MemoryOperation | None
    deadline: datetime | None

    def __post_init__(self) -> None:
        check_path(self.path)
        check_operation(self.operation)
        check_deadline(self.deadline)
