"""A mutation between being decided and being noted as done, and whether it has happened.

The life of a mutation, all of it under the directory's lock:

1. The new content is in a temporary file beside the file, and on the disk.
2. The mutation is committed to the journal as prepared: the state it was planned on, the state it
   makes, its receipt.
3. The temporary file takes the file's name, in one step of the file system. **This decides.**
4. The journal is told: version and receipt are committed, and it is no longer prepared. Only this
   may be lost again with the power: then it is done again.

Whoever finds a prepared mutation holding the lock knows that its owner has died, for the lock is
held from 1 to 4. Where it died is seen from the files alone:

| died    | temporary file | file                 | so                                            |
| ------- | -------------- | -------------------- | --------------------------------------------- |
| after 2 | there          | as planned on        | 3 and 4 are done now, unless it is too late   |
| after 2 | there          | changed by a person  | it is undone: the person was first            |
| after 2 | gone by hand   | as planned on        | it is undone                                  |
| either  | not to be seen | its folder is gone   | it is undone; so it is behind a link          |
| after 3 | gone           | anything else        | 4 is done now                                 |

A file that a person edited after 3 is not as planned on, so the mutation has happened and the edit
is a new version after it. A link in the file's place is a change by a person, never as planned on.
A deletion has no temporary file: it has happened if no file is there, whoever took it away. A loss
of power may undo 3, never without bringing the temporary file's name back; or lose both, if the
name of the temporary file was never on the disk, and then the file is as planned on. It cannot lose
2 and keep 3, as 2 is on the disk before 3 is begun.

Before 2 there is at most a temporary file, which the next mutation of the file writes over. After 4
there is nothing to do. Undoing removes the row before the temporary file, so that a reader never
takes an undone mutation for one that has happened.

What is left is the moment between looking at the file and replacing it: the edit of a person who
saves in just that moment is lost, as no file system has a compare-and-swap for editors.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Self

from ...notebook import split_path
from ..records import MemoryMutation, MemoryOperation
from ..sqlite.clock import microseconds, moment
from .contents import Stamp, look, spare_name
from .errors import ForeignFileError
from .folders import opened
from .spelling import spell_path

FOREIGN = Stamp(digest="", modified=0)
"""The state of what is no file of the store, as a link: equal to no file's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """What is in a file's folder.

    Attributes:
        current: The state of the file; `None` for no file.
        spare: The state of the temporary file beside it, as above.
    """

    current: Stamp | None
    spare: Stamp | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """One row of the journal.

    Attributes:
        path: The file.
        version: The version it makes; `None` for a deletion.
        after: The state it makes; `None` for a deletion.
        before: The state it was planned on; `None` for no file.
        operation: Whose receipt it is.
        deadline: After which it must not happen any more.
    """

    path: str
    version: str | None
    after: Stamp | None
    before: Stamp | None
    operation: MemoryOperation | None
    deadline: datetime | None

    @classmethod
    def of_row(cls, row: sqlite3.Row) -> Self:
        """Return the record of a row."""
        operation = None
        if row["operation_id"] is not None:
            operation = MemoryOperation(
                id=row["operation_id"],
                fingerprint=row["fingerprint"],
                workflow_id=row["workflow_id"],
                run_id=row["run_id"],
            )
        return cls(
            path=row["path"],
            version=row["version"],
            after=_stamp(row["digest"], row["modified"]),
            before=_stamp(row["before_digest"], row["before_modified"]),
            operation=operation,
            deadline=None if row["deadline"] is None else moment(row["deadline"]),
        )

    def values(self) -> tuple[object, ...]:
        """Return the row's values."""
        after, before, operation = self.after, self.before, self.operation
        return (
            self.path,
            self.version,
            after and after.digest,
            after and after.modified,
            before and before.digest,
            before and before.modified,
            operation and operation.id,
            operation and operation.fingerprint,
            operation and operation.workflow_id,
            operation and operation.run_id,
            self.deadline and microseconds(self.deadline),
        )

    @property
    def mutation(self) -> MemoryMutation:
        """What it does."""
        return MemoryMutation(version=self.version, existed=self.before is not None)

    def receipt(self) -> MemoryMutation:
        """Return what a later arrival of the operation is answered with."""
        return replace(self.mutation, replayed=True)

    @property
    def pieces(self) -> tuple[str, ...]:
        """The file's place on the disk."""
        return spell_path(*split_path(self.path))

    def has_happened(self, root: Path) -> bool:
        """Whether the file was replaced, by the table above."""
        found = self.state(root)
        if self.after is None:
            return found is None or found.current in {None, FOREIGN}
        return found is not None and found.spare != self.after and found.current != self.before

    def can_happen(self, root: Path) -> bool:
        """Whether the file is still as the mutation was planned on, and all is there to do it."""
        found = self.state(root)
        if found is None or found.current != self.before:
            return False
        return self.after is None or found.spare == self.after

    def state(self, root: Path) -> State | None:
        """Return what is in the file's folder; `None` when it is gone, or no folder of ours."""
        *folders, name = self.pieces
        try:
            with opened(root, folders) as folder:
                current = _stamp_of(folder, name)
                return State(current=current, spare=_stamp_of(folder, spare_name(name)))
        except (FileNotFoundError, ForeignFileError):
            return None


def _stamp_of(folder: int, name: str) -> Stamp | None:
    try:
        found = look(folder, name, max_chars=1)
    except ForeignFileError:
        return FOREIGN
    return found and found.stamp


def _stamp(digest: str | None, modified: int | None) -> Stamp | None:
    if digest is None or modified is None:
        return None
    return Stamp(digest=digest, modified=modified)
