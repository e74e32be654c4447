"""Mutations of one file, within one transaction that holds the write lock.

In this order: the receipt of an earlier arrival answers; a late arrival is refused, by the clock
after the wait for the lock; the version is compared; the change, its step of history and its
receipt are written. A crash or an error before the commit leaves nothing, after it everything, and
no two processes are ever between these steps at once: an edit is planned on what it changes.
"""

from __future__ import annotations

from ...notebook import apply_splice, is_memory_filename, split_path
from ..checks import refuse_late
from ..intents import Change
from ..records import MemoryMutation
from ..statements import statements
from ..versions import new_version
from .clock import now
from .receipts import Receipts
from .sessions import Session

_SQL = statements(__package__, "queries.sql")


def apply(session: Session, change: Change) -> MemoryMutation:
    """Carry a mutation out; see the module for the order of the steps."""
    receipts, intent = Receipts(session=session), change.intent
    if found := receipts.answer(change.operation):
        return found
    refuse_late(change.deadline)
    row = session.row(_SQL["document"], *split_path(change.path))
    content = None if row is None else row["content"]
    intent.check(row["version"] if row is not None and content is not None else None)
    if intent.deletes and content is None:
        return receipts.keep(change.operation, MemoryMutation(version=None))
    known = None if row is None else row["id"]
    version = _store(session, change, known, content)
    done = MemoryMutation(version=version, existed=content is not None)
    return receipts.keep(change.operation, done)


def _store(session: Session, change: Change, known: int | None, content: str | None) -> str | None:
    """Give the file its new content and its history a step; return its version."""
    splice = change.intent.splice(content)
    after = None if change.intent.deletes else apply_splice(content or "", splice)
    version = new_version()
    if known is None:
        scope, name = split_path(change.path)
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
        change.operation and change.operation.id,
        now(),
    )
    return None if after is None else version
