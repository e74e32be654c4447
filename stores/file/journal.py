"""The journal: versions, prepared mutations and receipts, in a hidden database beside the files.

Without it the files are still the content. So a reader of files does without one that is missing or
cannot be read, and sees versions that stand for the files' states. Receipts are nowhere else: a
journal that is there and cannot be read is an error for whoever asks for one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from ...notebook import MemoryStoreUnavailable
from ..receipts import check_fingerprint
from ..records import MemoryMutation, MemoryOperation
from ..sqlite.connections import Connections, OwnConnection
from ..sqlite.receipts import RECEIPTS_SCHEMA, Receipts
from ..sqlite.schema import Schema
from ..sqlite.sessions import Session
from ..sqlite.transactions import transaction
from ..statements import script, statements
from .contents import Stamp
from .errors import ForeignFileError, translated
from .prepared import Prepared

JOURNAL_NAME = ".memory-store.sqlite3"

SCHEMA = Schema(
    application_id=0x646D666A,  # "dmfj"
    migrations=(RECEIPTS_SCHEMA + script(__package__, "schema.sql"),),
)

_SQL = statements(__package__, "queries.sql")


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """What the journal knows of one file.

    Attributes:
        version: The version of the state it left.
        stamp: That state.
        prepared: What is about to be done to it.
    """

    version: str | None = None
    stamp: Stamp | None = None
    prepared: Prepared | None = None

    @classmethod
    def of(cls, session: Session, path: str) -> Self:
        """Return what a session's journal knows."""
        row = session.row(_SQL["version"], path)
        waiting = session.row(_SQL["prepared_of_path"], path)
        prepared = None if waiting is None else Prepared.of_row(waiting)
        if row is None:
            return cls(prepared=prepared)
        stamp = Stamp(digest=row["digest"], modified=row["modified"])
        return cls(version=row["version"], stamp=stamp, prepared=prepared)

    def has(self, stamp: Stamp) -> bool:
        """Whether a mutation is known to have made a state."""
        return stamp in {self.stamp, self.prepared and self.prepared.after}

    def version_of(self, stamp: Stamp) -> str:
        """Return the version of a state."""
        if stamp == self.stamp and self.version:
            return self.version
        if self.prepared and stamp == self.prepared.after and self.prepared.version:
            return self.prepared.version
        return _foreign_version(stamp)


def _foreign_version(stamp: Stamp) -> str:
    """Return the version of a state that was made outside, or before the journal was lost.

    It is the same each time that the state is looked at, and no version that was ever drawn: those
    are 32 hexadecimal digits.
    """
    return "x" + hashlib.sha256(f"{stamp.digest} {stamp.modified}".encode()).hexdigest()[:32]


@dataclass(frozen=True, kw_only=True, slots=True)
class Journal:
    """The journal of one directory.

    Attributes:
        root: The directory.
        connections: To the journal's file.
    """

    root: Path
    connections: Connections

    @classmethod
    def of(cls, root: Path, timeout: float) -> Self:
        """Return the journal of a directory; nothing is opened."""
        path = root / JOURNAL_NAME
        return cls(root=root, connections=Connections(path=path, schema=SCHEMA, timeout=timeout))

    @contextmanager
    def writing(self) -> Iterator[OwnConnection]:
        """Lend a connection to whoever holds the directory's lock; makes a missing journal.

        What a lost journal leaves beside it belongs to no journal: SQLite must not take it for the
        new one's.
        """
        self._refuse_link()
        if not self.connections.path.exists():
            for ending in ("-wal", "-shm"):
                self.connections.path.with_name(JOURNAL_NAME + ending).unlink(missing_ok=True)
        with self.connections.borrow() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Session | None]:
        """Lend a session that sees one state of the journal; `None` when there is no journal."""
        self._refuse_link()
        if not self.connections.path.exists():
            yield None
            return
        with self.connections.borrow() as connection, transaction(connection, "DEFERRED"):
            yield Session(connection=connection)

    def known(self, path: str) -> Known:
        """Return what is known of a file; nothing when the journal cannot be read."""
        try:
            with translated(), self.reading() as session:
                return Known.of(session, path) if session else Known()
        except MemoryStoreUnavailable:
            return Known()

    def receipt(self, operation: MemoryOperation) -> MemoryMutation | None:
        """Return the receipt of an operation, that of one which has happened and is not noted too.

        While its owner is at work, what is seen first may be over when the files are looked at: the
        answer is taken when the journal still says the same afterwards.
        """
        while True:
            receipt, prepared = self._case(operation)
            if receipt or prepared is None:
                return receipt
            happened = prepared.has_happened(self.root)
            if self._case(operation) == (None, prepared):
                return prepared.receipt() if happened else None

    def _case(self, operation: MemoryOperation) -> tuple[MemoryMutation | None, Prepared | None]:
        with self.reading() as session:
            if session is None:
                return None, None
            receipt = Receipts(session=session).find(operation)
            row = session.row(_SQL["prepared_of_operation"], operation.id)
        if receipt or row is None:
            return receipt, None
        check_fingerprint(operation, row["fingerprint"])
        return None, Prepared.of_row(row)

    def _refuse_link(self) -> None:
        if self.connections.path.is_symlink():
            raise ForeignFileError
