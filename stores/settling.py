"""Closing the case of an operation whose outcome is unknown, on any store."""

from __future__ import annotations

import asyncio
from datetime import datetime

from .checks import check_deadline, check_operation, remaining
from .protocols import MemoryStore, SettlingStore
from .records import MemoryMutation, MemoryOperation


async def settle_operation(
    store: MemoryStore, operation: MemoryOperation, *, deadline: datetime | None = None
) -> MemoryMutation:
    """Return the receipt of `operation`; `abandoned` when it was not applied and never will be.

    A store that can settle is asked to. Of one that cannot, the deadline is waited out first,
    since it refuses the operation from then on, and then the receipt is asked for. That trusts its
    clock and this one to agree, and without a deadline it only says what is known now.

    Args:
        store: Any store.
        operation: Whose outcome is unknown.
        deadline: The one that the operation carried.

    Raises:
        MemoryOperationConflictError: The operation's id has another fingerprint.
    """
    check_operation(operation)
    check_deadline(deadline)
    if isinstance(store, SettlingStore):
        return await store.settle(operation, deadline=deadline)
    await asyncio.sleep(remaining(deadline) or 0)
    receipt = await store.get_operation(operation)
    return receipt or MemoryMutation(version=None, abandoned=True)
