"""The one place where the driver's errors become the project's, with the cause kept."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ...notebook import (
    InvalidMemoryRequest,
    MemoryAlreadyExists,
    MemoryConflictError,
    MemoryDeadlineExceeded,
    MemoryFault,
    MemoryNotFound,
    MemoryOperationAbandonedError,
    MemoryOperationConflictError,
    MemoryStoreRefused,
    MemoryStoreUnavailable,
)

SERIALIZATION_FAILURE = "40001"
DEADLOCK_DETECTED = "40P01"
LOCK_NOT_AVAILABLE = "55P03"


class DocumentTooLarge(MemoryFault):
    """The append would make the document too large."""


_BY_STATE: dict[str, type[MemoryFault]] = {
    "DM001": MemoryConflictError,
    "DM002": MemoryOperationConflictError,
    "DM003": MemoryOperationAbandonedError,
    "DM004": MemoryDeadlineExceeded,
    "DM005": DocumentTooLarge,
    "DM006": MemoryAlreadyExists,
    "DM007": MemoryNotFound,
    "23503": MemoryNotFound,  # foreign_key_violation: the memory store is gone
    "23505": MemoryAlreadyExists,  # unique_violation: a chosen entry id is taken
    "23514": InvalidMemoryRequest,  # check_violation: a part of a key is too long
    "54000": InvalidMemoryRequest,  # program_limit_exceeded
}

# A value that the database cannot take; the driver's words for it quote the value.
_MALFORMED = frozenset({"22000", "22003", "22021", "22P02"})

_UNAVAILABLE_BY_STATE = {
    # Not MemoryDeadlineExceeded, although the wait ends with the deadline: what was waited for may
    # be an earlier attempt of the same operation, which was in time and is about to commit.
    LOCK_NOT_AVAILABLE: "Another writer held the document for too long: try again.",
    "3F000": "The database has no durable_memory schema: migrate it.",
    "42P01": "The durable_memory schema lacks a table this release needs: migrate it.",
    "42883": "The durable_memory schema lacks a function this release needs: migrate it.",
    "42501": "The database role lacks a right on the durable_memory schema: grant it.",
    "25006": "The database is read-only: connect to the primary.",
    "53300": "The database has no connection left: raise its limit, or lower the pools' sizes.",
}

_NOT_FOUND_BY_STATE = {
    "DM008": (
        "That was done in a memory store that has been deleted since: for the one that was made in "
        "its place use another id (over HTTP: another Idempotency-Key)."
    ),
}

# What the database says of a URL that is wrong, or of a role that may not come in.
_REFUSED_BY_STATE = {
    "3D000": "The database of the memory store does not exist: create it.",
    "28000": "The database refused the login: check the role and its password.",
    "28P01": "The database refused the login: check the role and its password.",
}


def sqlstate(error: BaseException) -> str | None:
    """Return the SQLSTATE of a driver's error, `None` for one that the database did not raise."""
    state = getattr(error, "sqlstate", None)
    return state if isinstance(state, str) else None


@contextmanager
def translated() -> Iterator[None]:
    """Raise the driver's errors as the project's."""
    try:
        yield
    except MemoryFault:
        raise
    except Exception as error:
        fault = translate(error)
        if fault is None:
            raise
        raise fault from None if sqlstate(error) in _MALFORMED else error


def translate(error: Exception) -> MemoryFault | None:
    """Return the project's error for a driver's; `None` for one that is neither's.

    The details of a database error quote rows, so they are taken off what becomes the cause.
    """
    state = sqlstate(error)
    if state is not None:
        _strip(error)
        return _of_state(state)
    if isinstance(error, OSError | TimeoutError):
        return MemoryStoreUnavailable()
    if _is_drivers_own(error):
        # A connection that is gone or in disorder.
        return MemoryStoreUnavailable()
    return None


def _of_state(state: str) -> MemoryFault:
    if state in _MALFORMED:
        return InvalidMemoryRequest("a value cannot be stored")
    if state in _BY_STATE:
        return _BY_STATE[state]()
    if state in _NOT_FOUND_BY_STATE:
        return MemoryNotFound(_NOT_FOUND_BY_STATE[state])
    if state in _REFUSED_BY_STATE:
        return MemoryStoreRefused(_REFUSED_BY_STATE[state])
    known = _UNAVAILABLE_BY_STATE.get(state)
    return MemoryStoreUnavailable(known or f"The database failed with SQLSTATE {state}.")


def _strip(error: Exception) -> None:
    for name in ("detail", "where", "internal_query"):
        if getattr(error, name, None) is not None:
            setattr(error, name, None)


def _is_drivers_own(error: Exception) -> bool:
    """Whether asyncpg itself raised it; the caller's driver may be another."""
    driver = sys.modules.get("asyncpg")
    own = driver and (driver.InterfaceError, driver.InternalClientError)
    return isinstance(error, own or ())
