"""What a receipt says to whoever brings its operation again, whatever keeps it."""

from __future__ import annotations

from ..notebook import MemoryOperationAbandonedError, MemoryOperationConflictError
from .records import MemoryMutation, MemoryOperation


def check_fingerprint(operation: MemoryOperation, known: str) -> None:
    """Raise `MemoryOperationConflictError` if the operation's id is known with another one."""
    if operation.fingerprint != known:
        raise MemoryOperationConflictError


def check_applied(receipt: MemoryMutation) -> MemoryMutation:
    """Return a receipt that answers a mutation; one that was abandoned never can be applied.

    Raises:
        MemoryOperationAbandonedError: The operation was settled before it was applied.
    """
    if receipt.abandoned:
        raise MemoryOperationAbandonedError
    return receipt
