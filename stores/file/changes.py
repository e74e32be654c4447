"""Mutations of files, under the directory's lock: prepared, done, noted.

`prepared.py` says what holds when one of them is interrupted anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ...notebook import (
    MemoryConflictError,
    MemoryFault,
    MemoryRefusal,
    MemoryStoreUnavailable,
    split_path,
)
from ..checks import refuse_late, remaining
from ..intents import Change
from ..records import MemoryMutation
from ..sqlite.connections import OwnConnection
from ..sqlite.errors import translated as translated_sqlite
from ..sqlite.receipts import Receipts
from ..sqlite.sessions import Session
from ..sqlite.transactions import transaction
from ..statements import statements
from ..versions import new_version
from .contents import Found, discard, look, remove, replace, write_spare
from .errors import ForeignFileError, read_only, translated
from .folders import opened
from .journal import Journal, Known
from .locks import locked
from .prepared import Prepared
from .spelling import spell_path

_SQL = statements(__package__, "queries.sql")
_RACES = 16
"""Times a mutation is planned anew after a person was faster."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Writer:
    """Changes the files of one directory.

    Attributes:
        root: The directory.
        journal: Its journal.
        timeout: Seconds to wait for another process.
    """

    root: Path
    journal: Journal
    timeout: float

    @contextmanager
    def alone(self, deadline: datetime | None = None) -> Iterator[OwnConnection]:
        """Be the only one who changes anything, with nothing left half done by one who died."""
        left = remaining(deadline)
        wait = self.timeout if left is None else min(self.timeout, left)
        with translated():
            if self.root.exists() and not os.access(self.root, os.W_OK | os.X_OK):
                raise read_only()
            with locked(self.root, wait), self.journal.writing() as connection:
                self._recover(connection)
                yield connection

    def apply(self, change: Change) -> MemoryMutation:
        """Carry out a mutation."""
        with self.alone(change.deadline) as connection:
            for _ in range(_RACES):
                planned = self._prepare(connection, change)
                if isinstance(planned, MemoryMutation):
                    return planned
                with suppress(MemoryConflictError):
                    return self._carry_out(connection, planned)
        raise MemoryConflictError

    def _prepare(self, connection: OwnConnection, change: Change) -> Prepared | MemoryMutation:
        """Decide what is done: steps 1 and 2. A receipt, or nothing to do, is the answer itself."""
        self._refuse_undecided(connection, change.path)
        try:
            with transaction(connection, "IMMEDIATE"):
                session = Session(connection=connection)
                receipts = Receipts(session=session)
                if found := receipts.answer(change.operation):
                    return found
                refuse_late(change.deadline)
                prepared = self._plan(session, change)
                if prepared is None:
                    return receipts.keep(change.operation, MemoryMutation(version=None))
                session.run(_SQL["prepare"], *prepared.values())
                return prepared
        except BaseException:
            self._discard(change.path)
            raise

    def _refuse_undecided(self, connection: OwnConnection, path: str) -> None:
        """Let nobody plan over a mutation that could be neither done nor undone, as on a full disk.

        Its temporary file tells whether it has happened: another plan would write over it, and
        take it away when it fails.
        """
        if Session(connection=connection).row(_SQL["prepared_of_path"], path):
            raise MemoryStoreUnavailable("An earlier change of the file is still undecided.")

    def _plan(self, session: Session, change: Change) -> Prepared | None:
        """Plan on the file as it is, and write the temporary file; `None` for nothing to do.

        No folder is made before it is clear that there will be a file: a refusal leaves nothing.
        """
        *folders, name = spell_path(*split_path(change.path))
        found = self._look(folders, name, max_chars=max(change.intent.chars_needed, 1))
        after = _after(session, change, found)
        if after is None and found is None:
            return None
        stamp = None
        if after is not None:
            with opened(self.root, folders, create=True) as folder:
                stamp = write_spare(folder, name, after, mode=found and found.mode)
        return Prepared(
            path=change.path,
            version=None if after is None else new_version(),
            after=stamp,
            before=found and found.stamp,
            operation=change.operation,
            deadline=change.deadline,
        )

    def _look(self, folders: Sequence[str], name: str, *, max_chars: int) -> Found | None:
        try:
            with opened(self.root, folders) as folder:
                return look(folder, name, max_chars=max_chars)
        except FileNotFoundError:
            return None

    def _carry_out(self, connection: OwnConnection, prepared: Prepared) -> MemoryMutation:
        """Do what is prepared: steps 3 and 4. What cannot be done is undone."""
        try:
            self._swap(prepared)
        except BaseException:
            # When even this fails, the next one who holds the lock decides.
            with suppress(MemoryStoreUnavailable, OSError):
                self._close_case(connection, prepared)
            raise
        # It has happened, which the next one can see too: not to be able to note it is no failure.
        with suppress(MemoryStoreUnavailable):
            self._note(connection, prepared)
        return prepared.mutation

    def _recover(self, connection: OwnConnection) -> None:
        """Decide what those who died have left."""
        rows = list(Session(connection=connection).rows(_SQL["prepared"]))
        for prepared in map(Prepared.of_row, rows):
            with suppress(MemoryFault, OSError):
                if prepared.has_happened(self.root):
                    self._note(connection, prepared)
                else:
                    self._carry_out(connection, prepared)

    def _swap(self, prepared: Prepared) -> None:
        refuse_late(prepared.deadline)
        if not prepared.can_happen(self.root):
            raise MemoryConflictError
        *folders, name = prepared.pieces
        with opened(self.root, folders) as folder:
            if prepared.after is None:
                remove(folder, name)
            else:
                replace(folder, name)

    def _close_case(self, connection: OwnConnection, prepared: Prepared) -> None:
        if prepared.has_happened(self.root):
            self._note(connection, prepared)
            return
        with translated_sqlite(), transaction(connection, "IMMEDIATE"):
            Session(connection=connection).run(_SQL["drop_prepared"], prepared.path)
        self._discard(prepared.path)

    def _note(self, connection: OwnConnection, prepared: Prepared) -> None:
        """Tell the journal: step 4, not waited for to be on the disk.

        A loss of power may take it back, and then it is done anew, as after any death at 3. The
        next mutation's step 2 puts it on the disk together with itself.
        """
        with translated_sqlite(), _unhurried(connection), transaction(connection, "IMMEDIATE"):
            session = Session(connection=connection)
            session.run(_SQL["drop_prepared"], prepared.path)
            stamp = prepared.after
            if stamp is None:
                session.run(_SQL["drop_version"], prepared.path)
            else:
                state = (prepared.version, stamp.digest, stamp.modified)
                session.run(_SQL["set_version"], prepared.path, *state)
            Receipts(session=session).keep(prepared.operation, prepared.mutation)

    def _discard(self, path: str) -> None:
        *folders, name = spell_path(*split_path(path))
        with suppress(OSError, ForeignFileError), opened(self.root, folders) as folder:
            discard(folder, name)


@contextmanager
def _unhurried(connection: OwnConnection) -> Iterator[None]:
    """Do not wait for the disk at the end of a transaction."""
    connection.execute("PRAGMA synchronous = NORMAL")
    try:
        yield
    finally:
        connection.execute("PRAGMA synchronous = FULL")


def _after(session: Session, change: Change, found: Found | None) -> str | None:
    """Return what the file becomes; `None` for no file."""
    intent = change.intent
    intent.check(found and Known.of(session, change.path).version_of(found.stamp))
    if found and intent.chars_needed and not found.intact:
        raise MemoryRefusal(
            "invalid_text",
            "The file holds bytes that are not text, so it cannot be edited here. Write to "
            "another file.",
        )
    return intent.after(found and found.text)
