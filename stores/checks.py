"""What every store asks of its arguments before it does anything.

No message holds the argument: paths and ids are the caller's content.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from ..notebook import InvalidMemoryRequest, MemoryDeadlineExceeded
from .records import MemoryOperation

MAX_OPERATION_BYTES = 1000
"""Bytes of UTF-8 that each field of an operation may have, as Temporal bounds its ids."""

MAX_BOUND = 2**31 - 2
"""The greatest bound.

One more, by which a store sees that there is more, is still a 32-bit integer of SQL.
"""

NO_VERSION = -1
"""Equals no document's version, and is below all of them."""

NEWEST = 2**63 - 1
"""Above every document's version, and every step of a history."""

_VERSION = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)


def check_bound(name: str, value: int) -> int:
    """Return `value` if it is a bound; raise `InvalidMemoryRequest` if not."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_BOUND:
        raise InvalidMemoryRequest(f"{name} must be a whole number from 1 to {MAX_BOUND}")
    return value


def check_deadline(deadline: datetime | None) -> datetime | None:
    """Return `deadline`; raise `InvalidMemoryRequest` if it has no time zone."""
    if deadline is not None and deadline.tzinfo is None:
        raise InvalidMemoryRequest("deadline must have a time zone")
    return deadline


def refuse_late(deadline: datetime | None) -> None:
    """Raise `MemoryDeadlineExceeded` when `deadline` has passed by this process's clock."""
    if deadline is not None and datetime.now(UTC) >= deadline:
        raise MemoryDeadlineExceeded


def remaining(deadline: datetime | None) -> float | None:
    """Return the seconds until `deadline`, never less than 0; `None` when there is none."""
    if deadline is None:
        return None
    return max((deadline - datetime.now(UTC)) / timedelta(seconds=1), 0.0)


def parse_version(version: str) -> int:
    """Return the number of a version; `NO_VERSION` for text that is none of ours."""
    return int(version) if _VERSION.fullmatch(version) else NO_VERSION


def check_operation(operation: MemoryOperation | None) -> MemoryOperation | None:
    """Return `operation`; raise `InvalidMemoryRequest` if a field cannot be stored."""
    if operation is not None:
        _check_field("operation id", operation.id, low=1)
        _check_field("operation fingerprint", operation.fingerprint, low=1)
        _check_field("operation workflow_id", operation.workflow_id)
        _check_field("operation run_id", operation.run_id)
    return operation


def _check_field(name: str, value: str, *, low: int = 0) -> None:
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidMemoryRequest(f"{name} holds a lone surrogate") from None
    if not low <= size <= MAX_OPERATION_BYTES or "\0" in value:
        raise InvalidMemoryRequest(
            f"{name} must be {low} to {MAX_OPERATION_BYTES} bytes of UTF-8 without NUL"
        )
