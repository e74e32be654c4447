"""A connection while it is lent to one call: statements in, rows out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """Runs statements, whatever row factory the connection's owner has set.

    Attributes:
        connection: Lent for one call, in a transaction.
    """

    connection: sqlite3.Connection

    def run(self, statement: str, *values: object) -> None:
        """Run a statement that returns nothing."""
        with closing(self._cursor(statement, values)):
            pass

    def row(self, statement: str, *values: object) -> sqlite3.Row | None:
        """Return the first row, or `None`."""
        with closing(self._cursor(statement, values)) as cursor:
            found: sqlite3.Row | None = cursor.fetchone()
            return found

    def rows(self, statement: str, *values: object) -> Iterator[sqlite3.Row]:
        """Yield the rows as they are read."""
        with closing(self._cursor(statement, values)) as cursor:
            yield from cursor

    def _cursor(self, statement: str, values: tuple[object, ...]) -> sqlite3.Cursor:
        cursor = self.connection.cursor()
        cursor.row_factory = sqlite3.Row
        try:
            return cursor.execute(statement, values)
        except BaseException:
            cursor.close()
            raise
