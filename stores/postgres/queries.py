"""The named queries of the `.sql` files beside this module."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from ..statements import statements

_PACKAGE = __package__ or ""


@cache
def _queries() -> dict[str, str]:
    names = (file.name for file in files(_PACKAGE).iterdir() if file.name.endswith(".sql"))
    return {name: text for file in names for name, text in statements(_PACKAGE, file).items()}


def query(name: str) -> str:
    """Return the text of the query `name`; raise `KeyError` if there is none."""
    return _queries()[name]
