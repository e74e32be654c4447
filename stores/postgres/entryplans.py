"""Changes of entries that follow from what is read first.

The terms of an entry are of its whole text. A change that keeps text which only the database has
reads it, plans, and lands on the version that was read and on no other:

- whoever writes in between makes it a conflict, and it is planned anew;
- where the caller expects another version than the one read it lands on none, although the
  expected one may appear in between: it was planned from another text;
- where there is nothing to change it lands on none. It is sent all the same: a receipt may answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Protocol

from ...notebook import (
    MAX_CONTENT_CHARS,
    EntryKey,
    MemoryAlreadyExists,
    MemoryConflictError,
    append_addition,
)
from ..checks import NOTHING
from ..entryrecords import Entry, EntryMutation
from .entrychanges import EntryChange, EntryMutator

_RACES = 16
"""Times a change is planned anew after another writer was faster."""


class Plan(Protocol):
    """What to read, and what follows from it."""

    @property
    def makes(self) -> bool:
        """Whether it makes an entry where there is none."""
        ...

    async def read(self) -> Entry | None:
        """Read the entry."""
        ...

    def change(self, current: Entry | None) -> EntryChange:
        """Return the change of what was read."""
        ...


@dataclass(frozen=True, slots=True)
class AppendDescribed:
    """Adds lines to an entry, and describes it anew."""

    find: Callable[[EntryKey], Awaitable[Entry | None]]
    key: EntryKey
    added: str
    description: str
    makes: ClassVar[bool] = True

    async def read(self) -> Entry | None:
        """Read the whole, whose terms change."""
        return await self.find(self.key)

    def change(self, current: Entry | None) -> EntryChange:
        """Write the whole; one that is too long is left to the database, behind its receipts."""
        before = (current.content if current else None) or ""
        whole = before + append_addition(before, self.added)
        kind: Literal["put", "create"] = "put" if current else "create"
        change = EntryChange(kind=kind, store=self.key.store, key=self.key)
        if len(whole) > MAX_CONTENT_CHARS:
            return replace(change, kind="append", content=self.added)
        return replace(change, content=whole, description=self.description)


@dataclass(frozen=True, slots=True)
class Describe:
    """Changes the description of an entry alone."""

    get: Callable[[str, str], Awaitable[Entry | None]]
    update: EntryChange
    makes: ClassVar[bool] = False

    async def read(self) -> Entry | None:
        """Read the content, whose terms stay."""
        return await self.get(self.update.store, self.update.entry_id or "")

    def change(self, current: Entry | None) -> EntryChange:
        """Name the content that is kept."""
        return replace(self.update, indexed=(current.content if current else None) or "")


async def apply_read(plan: Plan, mutator: EntryMutator, *, expected: str | None) -> EntryMutation:
    """Read and change, anew when another writer was faster, unless a version is expected.

    Raises:
        MemoryConflictError: The entry has another version, or was changed every time.
    """
    for _ in range(_RACES):
        current = await plan.read()
        read = current.version if current else None
        lands = expected in {None, read} and (plan.makes or read is not None)
        planned = replace(plan.change(current), expected=read if lands else NOTHING)
        try:
            return await mutator.apply(planned)
        except (MemoryConflictError, MemoryAlreadyExists):
            if expected is not None:
                raise
    raise MemoryConflictError
