"""The one place where SQLite's errors become the project's, with the cause kept.

SQLite's messages name tables and columns, never values, so the cause says nothing private.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from ...notebook import InvalidMemoryRequest, MemoryFault, MemoryStoreUnavailable

# Primary result codes, by the beginning of their extended codes' names.
_UNAVAILABLE = {
    # Not MemoryDeadlineExceeded: what was waited for may be an earlier attempt of the operation.
    "SQLITE_BUSY": "Another process held the database for too long: try again.",
    "SQLITE_LOCKED": "Another connection held the database for too long: try again.",
    "SQLITE_READONLY": "The database cannot be written: give the worker's user the right to write "
    "the file and the directory it is in.",
    "SQLITE_CANTOPEN": "The database cannot be opened: check that its directory exists and that "
    "the worker's user may write there.",
    "SQLITE_PERM": "The database cannot be opened: give the worker's user the right to.",
    "SQLITE_AUTH": "The connection's authorizer refused a statement of the memory store.",
    "SQLITE_FULL": "The disk is full: free some space. Nothing was changed.",
    "SQLITE_IOERR": "The disk failed or is full: look at the system's log.",
    "SQLITE_CORRUPT": "The database is damaged: restore it from a backup.",
    "SQLITE_NOTADB": "The database is damaged or no SQLite database: restore it from a backup.",
}
_INVALID = ("SQLITE_TOOBIG", "SQLITE_MISMATCH", "SQLITE_RANGE")


@contextmanager
def translated() -> Iterator[None]:
    """Raise SQLite's errors as the project's."""
    try:
        yield
    except MemoryFault:
        raise
    except sqlite3.Error as error:
        raise translate(error) from error


def translate(error: sqlite3.Error) -> MemoryFault:
    """Return the project's error for one of SQLite's."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(_INVALID):
        return InvalidMemoryRequest()
    for prefix, message in _UNAVAILABLE.items():
        if name.startswith(prefix):
            return MemoryStoreUnavailable(message)
    if isinstance(error, sqlite3.ProgrammingError):
        return _misused(error)
    return MemoryStoreUnavailable(f"The database failed with {name or type(error).__name__}.")


def being_replaced() -> MemoryStoreUnavailable:
    """Return the error of a database whose file is another one each time that it is looked at."""
    return MemoryStoreUnavailable("The database's file is being replaced: try again.")


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection was in the way."""
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _misused(error: sqlite3.ProgrammingError) -> MemoryFault:
    """The driver's own complaints, which have no code: all are about the caller's connection."""
    if "thread" in str(error):
        return InvalidMemoryRequest(
            "the connection belongs to one thread: create it with check_same_thread=False"
        )
    return InvalidMemoryRequest("the connection is closed: give the store one that stays open")
