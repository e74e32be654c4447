"""Log lines: structured, and without what an exception may quote."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from durable_memory import logs
from durable_memory.notebook import MemoryStoreUnavailable


def _record(
    message: str, *, error: BaseException | None = None, extra: dict[str, Any] | None = None
) -> logging.LogRecord:
    info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("name", logging.WARNING, __file__, 1, message, None, info)
    record.__dict__.update(extra or {})
    return record


def _quote() -> None:
    raise ValueError("Key (path)=(marzipan) already exists")


def _translate() -> None:
    try:
        _quote()
    except ValueError as error:
        raise MemoryStoreUnavailable from error


def _raised() -> MemoryStoreUnavailable:
    """Return an error as a store raises it, with a driver's message as its cause."""
    with pytest.raises(MemoryStoreUnavailable) as caught:
        _translate()
    return caught.value


def test_a_line_is_one_json_object() -> None:
    """Level, logger, message and the given fields are members; line breaks do not survive."""
    line = logs.JsonFormatter().format(
        _record("two\nlines", extra=logs.fields(task_queue="memory"))
    )
    assert "\n" not in line
    record = json.loads(line)
    assert record["message"] == "two lines"
    assert (record["level"], record["logger"]) == ("warning", "name")
    assert record["task_queue"] == "memory"
    assert record["time"].endswith("+00:00")


@pytest.mark.parametrize("formatter", [logs.JsonFormatter(), logs.TextFormatter()])
def test_an_exception_is_named_and_not_quoted(formatter: logging.Formatter) -> None:
    """Types of the chain and places are logged, messages are not."""
    line = formatter.format(_record("failed", error=_raised()))
    assert "MemoryStoreUnavailable <- ValueError" in line
    assert "test_logs.py" in line
    assert "marzipan" not in line


def test_a_chain_that_bites_its_tail_ends() -> None:
    """An exception that is its own cause is named once."""
    one, other = ValueError("1"), KeyError("2")
    one.__cause__, other.__cause__ = other, one
    record = json.loads(logs.JsonFormatter().format(_record("failed", error=one)))
    assert record["error"] == "ValueError <- KeyError"


def test_text_is_for_people() -> None:
    """The same as a line to read."""
    line = logs.TextFormatter().format(_record("serving", extra=logs.fields(durable=True)))
    assert line.endswith("warning name: serving durable=True")


def test_a_worker_s_log_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard output stays free."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    try:
        logs.configure(level="info", as_json=True)
        logging.getLogger("some.where").info("hello")
    finally:
        root.handlers[:] = before
        root.setLevel(level)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert json.loads(printed.err)["message"] == "hello"
