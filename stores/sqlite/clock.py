"""Times as SQLite keeps them: whole microseconds since 1970, which compare exactly."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNIT = timedelta(microseconds=1)


def microseconds(moment: datetime) -> int:
    """Return an aware time as a number."""
    return (moment - _EPOCH) // _UNIT


def now() -> int:
    """Return the time by this process's clock."""
    return microseconds(datetime.now(UTC))


def moment(number: int) -> datetime:
    """Return the aware time that a number stands for."""
    return _EPOCH + number * _UNIT
