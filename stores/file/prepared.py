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

| died    | temporary file | file               | so                                              |
| ------- | -------------- | ------------------ | ----------------------------------------------- |
| after 2 | there          | as planned on      | 3 and 4 are done now, unless the deadline is by |
| after 2 | there          | changed by a person | it is undone: the person was first             |
| after 2 | gone by hand   | as planned on      | it is undone                                    |
| after 3 | gone           | anything else      | 4 is done now                                   |

A file that a person edited after 3 is not as planned on, so the mutation has happened and the edit
is a new version after it. A deletion has no temporary file: it has happened if the file is gone. A
loss of power may undo 3, never without bringing the temporary file's name back; or lose both, if
the name of the temporary file was never on the disk, and then the file is as planned on. It cannot
lose 2 and keep 3, as 2 is on the disk before 3 is begun.

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
from ..protocols import MemoryMutation, MemoryOperation
from ..sqlite.clock import microseconds, moment
from .contents import Stamp, look, spare_name
from .errors import ForeignFileError
from .folders import opened
from .spelling import spell_path


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
        current, spare = self.state(root)
        if self.after is None:
            return current is None
        return spare != self.after and current != self.before

    def can_happen(self, root: Path) -> bool:
        """Whether the file is still as the mutation was planned on, and all is there to do it."""
        current, spare = self.state(root)
        return current == self.before and (self.after is None or spare == self.after)

    def state(self, root: Path) -> tuple[Stamp | None, Stamp | None]:
        """Return the states of the file and of the temporary file beside it."""
        *folders, name = self.pieces
        try:
            with opened(root, folders) as folder:
                found = (look(folder, each, max_chars=1) for each in (name, spare_name(name)))
                current, spare = (each and each.stamp for each in found)
                return current, spare
        except (FileNotFoundError, ForeignFileError):
            return None, None


def _stamp(digest: str | None, modified: int | None) -> Stamp | None:
    if digest is None or modified is None:
        return None
    return Stamp(digest=digest, modified=modified)
