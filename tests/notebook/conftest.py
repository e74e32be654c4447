"""What several notebook tests need."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable

import pytest

_HIDDEN = {"Cc", "Cf", "Mn", "Me"}
_FILLERS = "\u115f\u1160\u3164\uffa0"
_TAG = re.compile(r"<\s*(/?)\s*memory", re.IGNORECASE)


@pytest.fixture(scope="session")
def find_tags() -> Callable[[str], list[str]]:
    """Detector of `memory` tags that shares nothing with the product.

    Decodes, normalises and drops what is not shown over and over until nothing changes; returns
    `""` for each opening tag and `"/"` for each closing one.
    """

    def visible(text: str) -> str:
        kept = (c for c in text if c in "\t\n\r" or unicodedata.category(c) not in _HIDDEN)
        return "".join(kept).translate(dict.fromkeys(map(ord, _FILLERS)))

    def find(text: str) -> list[str]:
        before = None
        while before != text:
            before = text
            text = visible(unicodedata.normalize("NFKC", visible(html.unescape(text))))
        return _TAG.findall(text)

    return find
