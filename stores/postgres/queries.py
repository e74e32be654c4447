"""The named queries of `queries.sql`."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


@cache
def _queries() -> dict[str, str]:
    text = (files(__package__) / "queries.sql").read_text(encoding="utf-8")
    _, *parts = _NAME.split(text)
    return dict(zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True))


def query(name: str) -> str:
    """Return the text of the query `name`; raise `KeyError` if there is none."""
    return _queries()[name]
