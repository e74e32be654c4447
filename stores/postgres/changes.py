"""Mutations of one document, as calls of the database's one function for them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from ...notebook import (
    Append,
    Edit,
    MemoryConflictError,
    Remove,
    Replace,
    check_edit,
    check_removable,
    plan_edit,
)
from ..checks import check_deadline, check_operation
from ..receipts import check_applied
from ..records import MemoryMutation, MemoryOperation
from .addresses import Address
from .calls import Caller
from .errors import DocumentTooLarge
from .rows import Row, mutation, receipt

_RACES = 16
"""Times an edit that needs what it reads is planned anew after another writer was faster."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """What `mutate_v1` is told to do; its comment says what each kind needs."""

    kind: Literal["append", "remove", "write", "splice", "delete"]
    expected: int | None = None
    content: str | None = None
    at: int | None = None
    length: int | None = None
    max_chars: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutator:
    """Changes one document for one operation.

    Attributes:
        caller: Runs the calls.
        address: Which document.
        operation: Identity, for exactly-once.
        deadline: Aware time after which nothing may change.
    """

    caller: Caller
    address: Address
    operation: MemoryOperation | None
    deadline: datetime | None

    def __post_init__(self) -> None:
        check_operation(self.operation)
        check_deadline(self.deadline)

    async def apply(self, change: Change) -> MemoryMutation:
        """Make one change. One round trip."""
        row = await self.caller.mutate(
            "mutate",
            change.kind,
            *self.address.key,
            self.address.spellable,
            change.expected,
            change.content,
            change.at,
            change.length,
            change.max_chars,
            *identity(self.operation),
            self.deadline,
            deadline=self.deadline,
        )
        return mutation(row)

    async def edit(self, edit: Edit, max_chars: int) -> MemoryMutation:
        """Make the change that an edit asks for, in one round trip or two.

        What a replacement changes depends on what is there, so it is planned here and sent as a
        piece of the version that was read. A row lock held across the client would cost five times
        the throughput.
        """
        check_edit(edit)
        if isinstance(edit, Replace):
            return await self._replace(edit, max_chars)
        if isinstance(edit, Remove):
            check_removable(self.address.path)
            return await self.apply(Change(kind="remove"))
        return await self._append(edit, max_chars)

    async def _append(self, edit: Append, max_chars: int) -> MemoryMutation:
        try:
            return await self.apply(
                Change(kind="append", content=edit.content, max_chars=max_chars)
            )
        except DocumentTooLarge:
            # Planned on what is there, it is refused with the numbers.
            return await self._replace(edit, max_chars)

    async def _replace(self, edit: Edit, max_chars: int) -> MemoryMutation:
        """Read, plan and splice until no other writer comes between."""
        for _ in range(_RACES):
            row = await self._read(max_chars)
            if self.operation and row["fingerprint"] is not None:
                return check_applied(receipt(row, self.operation))
            plan = plan_edit(row["content"], edit, name=self.address.path, max_chars=max_chars)
            change = Change(
                kind="splice",
                expected=row["document_version"],
                content=plan.added,
                at=plan.at,
                length=len(plan.removed),
            )
            try:
                return await self.apply(change)
            except MemoryConflictError:
                continue
        raise MemoryConflictError

    async def _read(self, max_chars: int) -> Row:
        # One character more than an edit may see shows that the file is too large for it.
        operation_id = self.operation.id if self.operation else None
        key = self.address.key
        rows = await self.caller.rows("read_for_edit", *key, max_chars + 1, operation_id)
        return rows[0]


def identity(operation: MemoryOperation | None) -> tuple[str | None, str | None, str, str]:
    """Return an operation as the functions take it."""
    if operation is None:
        return None, None, "", ""
    return operation.id, operation.fingerprint, operation.workflow_id, operation.run_id
