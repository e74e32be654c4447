"""The mutations that victims are killed in, and what each makes of a file."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from durable_memory.notebook import Append, Replace
from durable_memory.stores import (
    EditingStore,
    MemoryMutation,
    MemoryOperation,
    MemoryStore,
    SettlingStore,
)

MAX_CHARS = 65_536

# Large enough for several pages of a database.
OLD = "가나다 first\n" + "".join(f"line {number} of the notebook 👩\n" for number in range(300))
WHOLE = "written anew\n" * 700


class TriedStore(MemoryStore, EditingStore, SettlingStore, Protocol):
    """A store with the abilities that are tried; history is looked at where there is one."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One mutation to be made.

    Attributes:
        path: A file of its own.
        operation: Its identity.
        version: The file's version before it; `None` when there is no file.
    """

    path: str
    operation: MemoryOperation
    version: str | None


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """A kind of mutation.

    Attributes:
        old: The file's text before it; `None` for no file.
        new: The text after it.
        apply: Makes it.
    """

    old: str | None
    new: str | None
    apply: Callable[[TriedStore, Case], Awaitable[MemoryMutation]]

    async def prepare(self, store: TriedStore) -> Case:
        """Make a file for it, in a scope of its own, with a past of two versions."""
        path = f"crash/{uuid.uuid4().hex}/agent/notes.md"
        version = None
        if self.old is not None:
            first = await store.write(path, "before\n", expected_version=None)
            second = await store.write(path, self.old, expected_version=first.version)
            version = second.version
        operation = MemoryOperation(id=uuid.uuid4().hex, fingerprint="f" * 64)
        return Case(path=path, operation=operation, version=version)


async def _append(store: TriedStore, case: Case) -> MemoryMutation:
    edit = Append(content="one more line 👩")
    return await store.edit(case.path, edit, max_chars=MAX_CHARS, operation=case.operation)


async def _replace(store: TriedStore, case: Case) -> MemoryMutation:
    edit = Replace(old_text="가나다 first\n", content="replaced\n")
    return await store.edit(case.path, edit, max_chars=MAX_CHARS, operation=case.operation)


async def _write(store: TriedStore, case: Case) -> MemoryMutation:
    return await store.write(
        case.path, WHOLE, expected_version=case.version, operation=case.operation
    )


async def _delete(store: TriedStore, case: Case) -> MemoryMutation:
    return await store.delete(case.path, expected_version=case.version, operation=case.operation)


async def _settle(store: TriedStore, case: Case) -> MemoryMutation:
    return await store.settle(case.operation)


MUTATIONS = {
    "append": Mutation(old=OLD, new=OLD + "one more line 👩\n", apply=_append),
    "replace": Mutation(old=OLD, new=OLD.replace("가나다 first\n", "replaced\n"), apply=_replace),
    "create": Mutation(old=None, new=WHOLE, apply=_write),
    "write": Mutation(old=OLD, new=WHOLE, apply=_write),
    "delete": Mutation(old=OLD, new=None, apply=_delete),
    "settle": Mutation(old=OLD, new=OLD, apply=_settle),
}
