"""Connections of our own: opened when they are needed, and kept for the next call.

WAL, so that readers and the writer do not wait for each other; `synchronous=FULL`, so that what was
committed survives a loss of power.

A file that was deleted or replaced under an open connection would swallow what is written to it, so
the file's identity is compared before each loan, and again by whoever holds the write lock.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from .errors import being_replaced, is_busy, translated
from .schema import Schema

Identity = tuple[int, int]
"""Device and inode of a file."""

_PAUSE = 0.01
_OPENINGS = 5


class OwnConnection(sqlite3.Connection):
    """A connection that knows which file it has open."""

    identity: Identity | None = None


@dataclass(kw_only=True, slots=True)
class Connections:
    """Connections to one database file.

    Attributes:
        path: The file, absolute.
        schema: What it must hold.
        timeout: Seconds that a statement waits for another process.
    """

    path: Path
    schema: Schema
    timeout: float
    _idle: list[OwnConnection] = field(default_factory=list)

    @contextmanager
    def borrow(self) -> Iterator[OwnConnection]:
        """Lend a connection to one thread; outside a transaction it is kept for the next one."""
        with translated():
            connection = self._take() or self._open()
        try:
            with translated():
                # The last one who had it may have had less time.
                connection.execute(f"PRAGMA busy_timeout = {int(self.timeout * 1000):d}")
                yield connection
        finally:
            self._give_back(connection)

    def is_current(self, connection: OwnConnection) -> bool:
        """Whether the file that a connection has open still has its name."""
        return connection.identity == identity_of(self.path)

    def close(self) -> None:
        """Close the connections that are not lent."""
        while self._idle:
            self._idle.pop().close()

    def _take(self) -> OwnConnection | None:
        # Threads share the list: looking first whether it is empty would be too early.
        with suppress(IndexError):
            while True:
                connection = self._idle.pop()
                if self.is_current(connection):
                    return connection
                connection.close()
        return None

    def _give_back(self, connection: OwnConnection) -> None:
        if connection.in_transaction or not self.is_current(connection):
            connection.close()
        else:
            self._idle.append(connection)

    def _open(self) -> OwnConnection:
        for _ in range(_OPENINGS):
            before = identity_of(self.path)
            connection = self._try()
            after = identity_of(self.path)
            if after is not None and before in {after, None}:
                connection.identity = after
                return connection
            connection.close()
        raise being_replaced()

    def _try(self) -> OwnConnection:
        """Open the file for writing; where that is not allowed, for reading."""
        try:
            return self._prepared("mode=rwc")
        except sqlite3.OperationalError as error:
            if is_busy(error) or not self.path.exists():
                raise
            return self._readable(error)

    def _readable(self, refusal: sqlite3.OperationalError) -> OwnConnection:
        # `immutable` looks at no lock and no WAL: for media where nobody can write at all.
        for mode in ("mode=ro", "mode=ro&immutable=1"):
            try:
                return self._prepared(mode)
            except sqlite3.OperationalError:
                continue
        raise refusal

    def _prepared(self, mode: str) -> OwnConnection:
        connection = sqlite3.connect(
            f"file:{quote(os.fsencode(self.path))}?{mode}",
            uri=True,
            timeout=self.timeout,
            isolation_level=None,
            check_same_thread=False,
            factory=OwnConnection,
        )
        try:
            self._prepare(connection, writable=mode == "mode=rwc")
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: OwnConnection, *, writable: bool) -> None:
        connection.execute("PRAGMA trusted_schema = OFF")
        if writable:
            self._use_wal(connection)
            connection.execute("PRAGMA synchronous = FULL")
            self.schema.ensure(connection)
        else:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()

    def _use_wal(self, connection: OwnConnection) -> None:
        """Switch to WAL. SQLite does not wait for others while it does, so this does."""
        end = time.monotonic() + self.timeout
        while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            try:
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() > end:
                    raise
                time.sleep(_PAUSE)


def identity_of(path: Path) -> Identity | None:
    """Return the identity of a file, `None` when there is none."""
    try:
        found = os.stat(path, follow_symlinks=False)  # noqa: PTH116  (one call, not two)
    except OSError:
        return None
    return found.st_dev, found.st_ino
