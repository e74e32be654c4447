"""The error tree."""

from __future__ import annotations

import re

import pytest

from durable_memory import notebook
from durable_memory.notebook import (
    REFUSAL_CODES,
    InvalidMemoryRequest,
    MemoryConflictError,
    MemoryFault,
    MemoryRefusal,
    MemorySchemaMismatch,
    MemoryStoreRefused,
    MemoryStoreUnavailable,
    errors,
)

FAULTS = [
    kind
    for kind in vars(notebook).values()
    if isinstance(kind, type) and issubclass(kind, MemoryFault) and kind is not MemoryRefusal
]


def test_retry_verdicts() -> None:
    """Only a lost race and a store that may be another one later are worth another attempt."""
    assert {kind for kind in FAULTS if kind.retryable} == {
        MemoryConflictError,
        MemorySchemaMismatch,
        MemoryStoreRefused,
        MemoryStoreUnavailable,
    }


def test_the_tree_is_drawn() -> None:
    """Every error stands in the module's tree with its verdict, below its base class."""
    drawn = re.findall(
        r"^([ │]*)[├└]── (\w+) +(not retried|retried)$", errors.__doc__, re.MULTILINE
    )
    assert {name: verdict == "retried" for _, name, verdict in drawn} == {
        kind.__name__: kind.retryable for kind in FAULTS if kind is not MemoryFault
    }
    nested = {name for indent, name, _ in drawn if indent}
    assert nested == {kind.__name__ for kind in FAULTS if MemoryFault not in kind.__bases__} - {
        MemoryFault.__name__
    }


@pytest.mark.parametrize("kind", FAULTS)
def test_default_message(kind: type[MemoryFault]) -> None:
    """Every error explains itself by the sentence of its docstring, and a given message wins."""
    assert str(kind()) == str(kind.__doc__)
    assert str(kind("Look there.")) == "Look there."


@pytest.mark.parametrize("kind", FAULTS)
def test_type_string(kind: type[MemoryFault]) -> None:
    """The type string on the wire is the class's name."""
    assert kind().type == kind.__name__


def test_invalid_request_is_a_value_error() -> None:
    """A malformed request can be caught as `ValueError`, as Pydantic's validators need."""
    assert issubclass(InvalidMemoryRequest, ValueError)


@pytest.mark.parametrize("code", sorted(REFUSAL_CODES))
def test_refusal_carries_its_code(code: str) -> None:
    """A refusal has a code for programs and a message for the model, and is never retried."""
    refusal = MemoryRefusal(code, "Do it otherwise.")
    assert (refusal.code, str(refusal), refusal.retryable) == (code, "Do it otherwise.", False)


def test_unknown_refusal_code() -> None:
    """A refusal code that is not documented cannot be used."""
    with pytest.raises(ValueError, match="unknown refusal code"):
        MemoryRefusal("made_up", "No.")
