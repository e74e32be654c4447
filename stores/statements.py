"""The named statements of a package: `.sql` files, one line of description each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


@cache
def statements(package: str, file: str) -> Mapping[str, str]:
    """Return the statements of a `.sql` file of a package, by name."""
    _, *parts = _NAME.split(script(package, file))
    return dict(zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True))


def script(package: str, file: str) -> str:
    """Return the text of a `.sql` file of a package."""
    return (files(package) / file).read_text(encoding="utf-8")
