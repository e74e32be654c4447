"""Logs without content: one line a record, for programs or for people.

An exception's message can quote what someone stored (a driver's does), so a log line names the
types of an exception and of its causes and the places it came through, and never its message.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from traceback import extract_tb

_FIELDS = "fields"
_FINEST = {
    "asyncio": logging.INFO,
    "asyncpg": logging.INFO,
    "httpcore": logging.INFO,
    "httpx": logging.WARNING,
    "temporalio": logging.INFO,
}


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the fields of `fields`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return json.dumps({**_base(record), **_fields(record), **_error(record)}, default=str)


class TextFormatter(logging.Formatter):
    """The same for people."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        base = _base(record)
        extra = {**_fields(record), **_error(record)}
        pairs = "".join(f" {name}={value}" for name, value in extra.items())
        return f"{base['time']} {base['level']:<7} {base['logger']}: {base['message']}{pairs}"


def configure(*, level: str, as_json: bool) -> None:
    """Send every log of this process to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if as_json else TextFormatter())
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    # Finer ones print what they carry: payloads, URLs, queries.
    for name, finest in _FINEST.items():
        logger = logging.getLogger(name)
        logger.setLevel(max(finest, logging.getLogger().level))


def fields(**values: object) -> dict[str, dict[str, object]]:
    """Return `extra` for a log call: numbers, names of types, settings; never content."""
    return {_FIELDS: values}


def _base(record: logging.LogRecord) -> dict[str, str]:
    return {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": " ".join(record.getMessage().split()),
    }


def _fields(record: logging.LogRecord) -> dict[str, object]:
    found = getattr(record, _FIELDS, {})
    return found if isinstance(found, dict) else {}


def _error(record: logging.LogRecord) -> dict[str, object]:
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return {}
    return {
        "error": " <- ".join(_name(each) for each in _chain(error)),
        "places": [
            f"{Path(frame.filename).name}:{frame.lineno}:{frame.name}"
            for frame in extract_tb(error.__traceback__)
        ],
    }


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__  # type: ignore[assignment]  # ends with None


def _name(error: BaseException) -> str:
    """Return the stable type of one of our errors, else the class."""
    stable = getattr(error, "type", None)
    return stable if isinstance(stable, str) and stable else type(error).__name__
