"""Rows as records, and versions as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...notebook import Splice
from ..receipts import check_fingerprint
from ..records import MemoryMutation, MemoryOperation, MemoryVersion

Row = Mapping[str, Any]


def mutation(row: Row) -> MemoryMutation:
    """Return what a function did."""
    version = row["version"]
    return MemoryMutation(
        version=None if version is None else str(version),
        replayed=row["replayed"],
        existed=row["existed"],
        abandoned=row.get("abandoned") or False,
    )


def receipt(row: Row, operation: MemoryOperation) -> MemoryMutation:
    """Return the receipt of `operation`; raise if its id has another fingerprint."""
    check_fingerprint(operation, row["fingerprint"])
    return mutation(row)


def step(row: Row) -> MemoryVersion:
    """Return one step of a document's history."""
    return MemoryVersion(
        version=str(row["version"]),
        operation_id=row["operation_id"],
        written_at=row["written_at"],
        existed_before=row["existed_before"],
        exists=row["exists_after"],
        change=Splice(at=row["at"], removed=row["removed"], added=row["added"]),
    )
