"""Transactions of one connection."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Kind = Literal["IMMEDIATE", "DEFERRED"]


@contextmanager
def transaction(connection: sqlite3.Connection, kind: Kind) -> Iterator[None]:
    """Commit what the block does, or roll all of it back.

    `IMMEDIATE` takes the write lock before anything is looked at, so that what is read is still
    true when it is changed. Some errors (a full disk) end the transaction by themselves.
    """
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        # After a commit there is nothing left; after anything else there may be.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
