"""Text: what can be stored, and how large it is on the wire."""

from __future__ import annotations

import json
from json.encoder import encode_basestring_ascii

from .errors import MemoryRefusal

_QUOTES_BYTES = 2


def check_text(text: str, *, field: str) -> str:
    """Return `text` if it can be stored: any Unicode but NUL and lone surrogates.

    Args:
        text: The text.
        field: What the model knows it by, for the message.

    Raises:
        MemoryRefusal: `invalid_text`.
    """
    if not is_storable(text):
        raise MemoryRefusal(
            "invalid_text",
            f"`{field}` holds a NUL character or half of a surrogate pair, which cannot be "
            "stored. Send it without that character.",
        )
    return text


def is_storable(text: str) -> bool:
    """Tell whether `text` has neither NUL nor lone surrogates."""
    if "\0" in text:
        return False
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def encoded_size(value: object) -> int:
    """Return the bytes of a JSON-native value as Temporal's default converter writes it.

    That is compact JSON in ASCII, so that a Korean character takes 6 bytes and an emoji 12.
    """
    if isinstance(value, str):
        return len(encode_basestring_ascii(value))
    return len(json.dumps(value, separators=(",", ":")))


def cut_to_encoded(text: str, max_bytes: int) -> str:
    """Return the longest start of `text` whose `encoded_size` is at most `max_bytes`.

    Looks at no more than `max_bytes` characters, each about once: every step of the search
    encodes half of what the step before did. Below 2 bytes nothing fits, and the result is empty.
    """
    fits, end = 0, min(len(text), max(0, max_bytes - _QUOTES_BYTES))
    room = max_bytes - _QUOTES_BYTES
    while fits < end:
        middle = (fits + end + 1) // 2
        size = encoded_size(text[fits:middle]) - _QUOTES_BYTES
        if size <= room:
            fits, room = middle, room - size
        else:
            end = middle - 1
    return text[:fits]
