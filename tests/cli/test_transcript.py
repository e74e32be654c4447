"""Reading the conversation behind the demo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from durable_memory.cli.demo import load_transcript
from durable_memory.cli.demo.transcript import MAX_SESSION_LINES, parse_transcript
from durable_memory.cli.errors import MISUSED, CommandError


def _line(content: str, *, role: str = "user", session: str | None = None) -> str:
    named = {} if session is None else {"session": session}
    return json.dumps({"role": role, "content": content, **named})


def _fault(*lines: str) -> str:
    with pytest.raises(CommandError) as caught:
        parse_transcript(lines)
    assert caught.value.exit_code == MISUSED
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_shipped_transcript_is_a_conversation_of_several_days() -> None:
    """The project ships at least three sessions and thirty lines of the user."""
    sessions = load_transcript()
    said = [line for session in sessions for line in session.lines]
    assert len(sessions) >= 3
    assert len(said) >= 30
    assert any(len(set(session.lines)) < len(session.lines) for session in sessions)


def test_only_the_user_is_noted() -> None:
    """Lines of the assistant and the system are read and not noted."""
    lines = [_line("be kind", role="system"), _line("one"), _line("two", role="assistant")]
    sessions = parse_transcript([*lines, _line("three")])
    assert [session.lines for session in sessions] == [("one",), ("three",)]


def test_sessions_keep_their_names_and_order() -> None:
    """A line without a session belongs to the session of the line before."""
    lines = [_line("one", session="a"), _line("two"), _line("three", session="b")]
    sessions = parse_transcript(lines)
    assert [(session.name, session.lines) for session in sessions] == [
        ("a", ("one", "two")),
        ("b", ("three",)),
    ]


def test_one_session_is_cut_in_two() -> None:
    """A transcript without sessions becomes two runs, of which the second can be interrupted."""
    sessions = parse_transcript([_line(str(number)) for number in range(5)])
    assert [session.lines for session in sessions] == [("0", "1", "2"), ("3", "4")]


@given(st.lists(st.sampled_from("ab"), min_size=2, max_size=200))
def test_cutting_loses_nothing(names: list[str]) -> None:
    """However sessions are cut, all lines stay, in order, in runs that can be reset as a whole."""
    lines = [_line(f"note {n}", session=name) for n, name in enumerate(sorted(names))]
    sessions = parse_transcript(lines)
    said = [line for session in sessions for line in session.lines]
    assert said == [f"note {n}" for n in range(len(names))]
    assert len(sessions) >= 2
    assert all(1 <= len(session.lines) <= MAX_SESSION_LINES for session in sessions)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("hello", "not a JSON object"),
        ("{", "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ("[1]", "line: "),
        ('{"role": "user"}', "content: "),
        ('{"role": "user", "content": 3}', "content: "),
        ('{"role": "user", "content": "x", "session": null}', "session: "),
        ('{"role": "robot", "content": "x"}', "role must be one of"),
        ('{"role": "user", "content": "   "}', ""),
        ('{"role": "user", "content": "a\\u0000b"}', ""),
        ('{"role": "user", "content": "\\ud800"}', ""),
        ('{"role": "user", "content": "x", "session": "\\ud800"}', "session"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(bad: str, reason: str) -> None:
    """The error is one line with the number of the line in the file, blank lines counted."""
    message = _fault(_line("one"), "", bad, _line("two"))
    assert message.startswith("transcript line 3: ")
    assert reason in message


def test_a_session_cannot_begin_again() -> None:
    """Sessions follow each other, since notes are checked in the order they were said."""
    lines = (_line("1", session="a"), _line("2", session="b"), _line("3", session="a"))
    assert "line 3: this session has already ended" in _fault(*lines)


def test_too_much_for_one_notebook_is_named() -> None:
    """The line is named at which the notebook would be over its limit."""
    assert _fault(_line("x" * 40_000), _line("y" * 40_000)).startswith("transcript line 2: ")


def test_a_transcript_needs_two_lines_of_the_user() -> None:
    """An empty file says what is missing, and no line."""
    assert "at least 2 lines of the user" in _fault("", _line("hi", role="assistant"))


def test_a_file_is_read_as_utf8(tmp_path: Path) -> None:
    """A byte order mark and Windows line ends do no harm."""
    path = tmp_path / "mine.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([_line("바다"), _line("🥐")]).encode())
    assert [session.lines for session in load_transcript(path)] == [("바다",), ("🥐",)]


def test_bytes_that_are_not_utf8_are_named(tmp_path: Path) -> None:
    """The line with the first wrong byte is named."""
    path = tmp_path / "mine.jsonl"
    path.write_bytes(_line("one").encode() + b'\n{"role": "user", "content": "\xff"}\n')
    with pytest.raises(CommandError, match="transcript line 2: not UTF-8"):
        load_transcript(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The path and the reason are in the message."""
    with pytest.raises(CommandError, match=r"absent\.jsonl: No such file"):
        load_transcript(tmp_path / "absent.jsonl")
