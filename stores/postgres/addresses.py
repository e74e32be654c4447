"""Where a notebook's path lies in the table of documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ...notebook import check_prefix, is_memory_filename, split_path

NOTEBOOKS = "_notebooks"
"""The store that holds notebooks; outside the pattern of the stores of entries."""

_NO_SESSION = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """The identity of a document."""

    store: str
    actor: str
    session: str
    path: str

    @classmethod
    def of_path(cls, path: str) -> Self:
        """Return the address of a notebook's file; raise `InvalidMemoryRequest` if it is none."""
        scope, name = split_path(path)
        return cls(store=NOTEBOOKS, actor=scope, session=_NO_SESSION, path=name)

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The primary key."""
        return (self.store, self.actor, self.session, self.path)

    @property
    def spellable(self) -> bool:
        """Whether the memory tools can name the file."""
        return is_memory_filename(self.path)


def scope_of_prefix(prefix: str) -> str:
    """Return the key of the scope that `prefix` names; empty for none."""
    check_prefix(prefix)
    return prefix.removesuffix("/")


def nested_range(prefix: str) -> tuple[str, str]:
    """Return the range of the scopes nested below `prefix`: first, and first after.

    Keys compare bytewise, so the scopes that begin with `a/` lie from `a/` up to `a0`, as `0`
    follows `/`. Below the empty prefix lies every scope.
    """
    if not prefix:
        return "", "\U0010ffff"
    return prefix, prefix[:-1] + "0"
