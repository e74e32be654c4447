"""Mutations of one file, within one transaction that holds the write lock.

In this order: the receipt of an earlier arrival answers; a late arrival is refused, by the clock
after the wait for the lock; the version is compared; the change, its step of history and its
receipt are written. A crash or an error before the commit leaves nothing, after it everything, and
no two processes are ever between these steps at once: an edit is planned on what it changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ...notebook import Splice, apply_splice, is_memory_filename, split_path
from ..checks import refuse_late
from ..intents import Intent
from ..protocols import MemoryMutation, MemoryOperation
from ..statements import statements
from ..versions import new_version
from .clock import now
from .receipts import Receipts
from .sessions import Session

_SQL = statements(__package__, "queries.sql")


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

    def apply(self, session: Session) -> MemoryMutation:
        """Carry it out; see the module for the order of the steps."""
        receipts = Receipts(session=session)
        if found := receipts.answer(self.operation):
            return found
        refuse_late(self.deadline)
        row = session.row(_SQL["document"], *split_path(self.path))
        content = None if row is None else row["content"]
        self.intent.check(row["version"] if row is not None and content is not None else None)
        if self.intent.deletes and content is None:
            return receipts.keep(self.operation, MemoryMutation(version=None))
        known = None if row is None else row["id"]
        version = self._store(session, known, content, self.intent.splice(content))
        done = MemoryMutation(version=version, existed=content is not None)
        return receipts.keep(self.operation, done)

    def _store(
        self, session: Session, known: int | None, content: str | None, splice: Splice
    ) -> str | None:
        """Give the file its new content and its history a step; return its version."""
        after = None if self.intent.deletes else apply_splice(content or "", splice)
        version = new_version()
        if known is None:
            scope, name = split_path(self.path)
            spellable = is_memory_filename(name)
            row = session.row(_SQL["create"], scope, name, after, version, spellable)
        else:
            row = session.row(_SQL["update"], after, version, known)
        session.run(
            _SQL["append_step"],
            row and row["id"],
            version,
            content is not None,
            after is not None,
            splice.at,
            splice.removed,
            splice.added,
            self.operation and self.operation.id,
            now(),
        )
        return None if after is None else version
