"""What can be stored, and how large it is on the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from temporalio.converter import DataConverter

from durable_memory.notebook import (
    MAX_BYTES_PER_CHAR,
    MemoryRefusal,
    check_text,
    cut_to_encoded,
    encoded_size,
    is_storable,
)

TEXT = st.one_of(st.text(), st.text('a"\\\n\x1fé가😀'))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXT),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(TEXT, inner)),
    max_leaves=8,
)


@pytest.mark.parametrize("text", ["\0", "a\0b", "\ud800", "가\udfff"])
def test_text_that_cannot_be_stored(text: str) -> None:
    """NUL and lone surrogates are refused, by the name the model knows the text by."""
    with pytest.raises(MemoryRefusal, match="`content`") as refusal:
        check_text(text, field="content")
    assert refusal.value.code == "invalid_text"
    assert not is_storable(text)


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_all_other_text(text: str) -> None:
    """All other Unicode text is taken as it is."""
    assert check_text(text, field="content") is text


@settings(deadline=None)
@given(JSON)
def test_size_is_that_of_temporal(value: Any) -> None:
    """The size is that of the payload Temporal's default converter makes."""
    payload = DataConverter.default.payload_converter.to_payloads([value])[0]
    # Null has an encoding without a body.
    assert value is None or encoded_size(value) == len(payload.data)


@settings(deadline=None)
@given(TEXT)
def test_bytes_of_a_character(text: str) -> None:
    """No character takes more than the 12 bytes that limits are reckoned with."""
    assert encoded_size(text) <= 2 + MAX_BYTES_PER_CHAR * len(text)


@settings(deadline=None, max_examples=150)
@given(TEXT, st.integers(-2, 80))
@example("😀", 13)
@example("😀", 14)
def test_cut_is_the_longest_that_fits(text: str, max_bytes: int) -> None:
    """A cut text fits, and with one character more it would not."""
    cut = cut_to_encoded(text, max_bytes)
    assert text.startswith(cut)
    assert not cut or len(json.dumps(cut)) <= max_bytes
    assert cut == text or len(json.dumps(text[: len(cut) + 1])) > max_bytes
