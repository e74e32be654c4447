"""The schema of a SQLite database: made when it is first opened, and numbered."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...notebook import MemoryStoreUnavailable
from .transactions import transaction


@dataclass(frozen=True, kw_only=True, slots=True)
class Schema:
    """What a database must hold.

    Attributes:
        application_id: SQLite's mark of whose database a file is.
        migrations: Scripts; the database's `user_version` counts those that were applied.
    """

    application_id: int
    migrations: Sequence[str]

    def ensure(self, connection: sqlite3.Connection) -> None:
        """Bring the database up to date; several processes may do it at once.

        Raises:
            MemoryStoreUnavailable: It is another program's, or of a newer release.
        """
        if self._is_current(connection):
            return
        with transaction(connection, "IMMEDIATE"):
            if not self._is_current(connection):
                self._migrate(connection)

    def _is_current(self, connection: sqlite3.Connection) -> bool:
        version = _number(connection, "PRAGMA user_version")
        if version > len(self.migrations):
            raise MemoryStoreUnavailable(
                "The database was written by a newer release: upgrade this worker."
            )
        if version and _number(connection, "PRAGMA application_id") != self.application_id:
            raise MemoryStoreUnavailable(_FOREIGN)
        return version == len(self.migrations)

    def _migrate(self, connection: sqlite3.Connection) -> None:
        version = _number(connection, "PRAGMA user_version")
        if not version and _number(connection, "SELECT count(*) FROM sqlite_schema"):
            raise MemoryStoreUnavailable(_FOREIGN)
        for migration in self.migrations[version:]:
            for statement in _statements(migration):
                connection.execute(statement)
        # Both are constants: a pragma takes no parameters.
        connection.execute(f"PRAGMA application_id = {self.application_id:d}")
        connection.execute(f"PRAGMA user_version = {len(self.migrations):d}")


_FOREIGN = "The database belongs to another program: give the memory store one of its own."


def _number(connection: sqlite3.Connection, statement: str) -> int:
    cursor = connection.cursor()
    cursor.row_factory = None
    return int(cursor.execute(statement).fetchone()[0])


def _statements(script: str) -> Iterator[str]:
    """Yield the statements of a script one by one: `executescript` would commit first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
