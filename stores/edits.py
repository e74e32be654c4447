"""Edits on any store: in one step where the store can, by compare-and-swap where it cannot."""

from __future__ import annotations

from datetime import datetime

from ..notebook import (
    Edit,
    MemoryConflictError,
    Remove,
    apply_splice,
    check_edit,
    plan_edit,
    split_path,
)
from .protocols import EditingStore, MemoryStore
from .receipts import check_applied
from .records import MemoryMutation, MemoryOperation

_RACES = 16
"""Times that a lost race is run again."""


async def apply_edit(
    store: MemoryStore,
    path: str,
    edit: Edit,
    *,
    max_chars: int,
    operation: MemoryOperation | None = None,
    deadline: datetime | None = None,
) -> MemoryMutation:
    """Apply `edit` to the file at `path`, exactly once for each operation.

    Args:
        store: Any store; one with `EditingStore` never loses a race of appends.
        path: The file.
        edit: What to do to whatever the file is.
        max_chars: Characters the file may have, before and after.
        operation: Identity, for exactly-once.
        deadline: Aware time after which it must not be applied.

    Returns:
        What it did. Removing a missing file is no error: `existed` is false.

    Raises:
        MemoryRefusal: The edit does not fit the file.
        MemoryConflictError: Other writers were faster too often.
    Other errors as `MemoryStore.write`.
    """
    if isinstance(store, EditingStore):
        return await store.edit(
            path, edit, max_chars=max_chars, operation=operation, deadline=deadline
        )
    check_edit(edit)
    for _ in range(_RACES):
        if operation and (receipt := await store.get_operation(operation)):
            return check_applied(receipt)
        try:
            return await _attempt(
                store, path, edit, max_chars=max_chars, operation=operation, deadline=deadline
            )
        except MemoryConflictError:
            continue
    raise MemoryConflictError


async def _attempt(
    store: MemoryStore,
    path: str,
    edit: Edit,
    *,
    max_chars: int,
    operation: MemoryOperation | None,
    deadline: datetime | None,
) -> MemoryMutation:
    """Read, plan, and write if nothing has changed."""
    # One character more than an edit may see shows that the file is too large for it.
    found = await store.read(path, max_chars=max_chars + 1)
    content, version = (found.content, found.version) if found else (None, None)
    splice = plan_edit(content, edit, name=split_path(path)[1], max_chars=max_chars)
    if isinstance(edit, Remove):
        return await store.delete(
            path, expected_version=version, operation=operation, deadline=deadline
        )
    return await store.write(
        path,
        apply_splice(content or "", splice),
        expected_version=version,
        operation=operation,
        deadline=deadline,
    )
