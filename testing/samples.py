"""What the contract's tests are made of: fresh names and difficult texts."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

from ..notebook import Scope
from ..stores import MemoryOperation

TEXTS = {
    "empty": "",
    "one line": "a note\n",
    "no newline at the end": "a note",
    "carriage returns": "one\r\ntwo\rthree\n\r\n",
    "blanks and tabs": "  \t indented \t \n \n",
    "byte order mark": "\ufeffnote",
    "accents apart and together": "e\u0301 and \u00e9",
    "Korean": "기억은 오래 남아요\n",
    "emoji": "👩‍👩‍👧‍👦 and 🏴\U000e0067\U000e0062",
    "controls": "\x01\x07\x1b[31m\x7f\x85\u2028",
    "no characters": "\ufffe\uffff\U0010ffff",
    "markup": "<memory>'; DROP TABLE x; -- % _ \\ $1 {0}</memory>",
    "large": "0123456789abcdef" * 4096,
}
"""Texts that must come out as they went in."""

UNSTORABLE = {"NUL": "a\0b", "high surrogate": "a\ud800b", "low surrogate": "\udfff"}
"""Texts that every store refuses."""

MALFORMED_PATHS = (
    "",
    "notes.md",
    "/agent/notes.md",
    "agent/",
    "agent//notes.md",
    "agent/..",
    "agent/.",
    "../agent/notes.md",
    "agent/../notes.md",
    "a gent/notes.md",
    "agent\\x/notes.md",
    "agent/no\0tes.md",
    "agent/\ud800.md",
    "agent/" + "n" * 201,
    "a" * 201 + "/notes.md",
    "a/" * 501 + "notes.md",
)
"""Texts that are no path."""


def new_scope() -> Scope:
    """Return a scope that nothing was written to yet."""
    return Scope(namespace=f"contract/{uuid.uuid4().hex}", agent_name="agent")


def new_operation() -> MemoryOperation:
    """Return an operation that was never seen before."""
    return MemoryOperation(
        id=f"operation-{uuid.uuid4().hex}",
        fingerprint="f" * 64,
        workflow_id="workflow",
        run_id="run",
    )


def reused(operation: MemoryOperation) -> MemoryOperation:
    """Return the same operation's id with the fingerprint of other arguments."""
    return MemoryOperation(id=operation.id, fingerprint="0" * 64)


def past() -> datetime:
    """Return a deadline that has passed."""
    return datetime.now(UTC) - timedelta(seconds=1)


def future() -> datetime:
    """Return a deadline far enough away."""
    return datetime.now(UTC) + timedelta(minutes=5)
