"""The named queries of the `.sql` files beside this module."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


@cache
def _queries() -> dict[str, str]:
    found: dict[str, str] = {}
    for file in files(__package__).iterdir():
        if file.name.endswith(".sql"):
            _, *parts = _NAME.split(file.read_text(encoding="utf-8"))
            named = zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True)
            found.update(named)
    return found


def query(name: str) -> str:
    """Return the text of the query `name`; raise `KeyError` if there is none."""
    return _queries()[name]
