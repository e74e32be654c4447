"""Rows of entries as records."""

from __future__ import annotations

from ...notebook import (
    SOURCE_AGENT,
    EntryKey,
    MemoryOperationConflictError,
    Provenance,
)
from ..entryrecords import Entry, EntryMutation, EntryStoreInfo, EntryVersion
from ..receipts import check_fingerprint
from ..records import MemoryOperation
from .rows import Row, step


def store_info(row: Row) -> EntryStoreInfo:
    """Return a memory store."""
    return EntryStoreInfo(
        id=row["id"],
        description=row["description"],
        creator=row["creator"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def entry(row: Row) -> Entry:
    """Return an entry as it is now."""
    return Entry(
        key=_key(row),
        id=row["entry_id"],
        version=str(row["version"]),
        content=row["content"],
        description=row["description"] or "",
        provenance=_provenance(row),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def version_step(row: Row) -> EntryVersion:
    """Return one step of an entry's history."""
    plain = step(row)
    return EntryVersion(
        version=plain.version,
        operation_id=plain.operation_id,
        workflow_id=row["workflow_id"],
        written_at=plain.written_at,
        existed_before=plain.existed_before,
        exists=plain.exists,
        change=plain.change,
        description=row["description"] or "",
        provenance=_provenance(row),
    )


def past(content: str | None, row: Row, entry_id: str | None) -> Entry | None:
    """Return an entry as it was after a step, `None` when that deleted it.

    Args:
        content: Of that version.
        row: The step.
        entry_id: The id that the entry had then, `None` for the one it has now.
    """
    public_id = entry_id or row["entry_id"]
    if content is None or public_id is None:
        return None
    return Entry(
        key=_key(row),
        id=public_id,
        version=str(row["version"]),
        content=content,
        description=row["description"] or "",
        provenance=_provenance(row),
        created_at=row["created_at"],
        updated_at=row["written_at"],
    )


def receipt(row: Row, operation: MemoryOperation | None, entry: Entry | None) -> EntryMutation:
    """Return the receipt of an operation; raise if its id has another fingerprint.

    Both faces have one table of receipts: a version without ids is that of a notebook's file.
    """
    if operation and "fingerprint" in row:
        check_fingerprint(operation, row["fingerprint"])
    version = row["version"]
    if version is not None and not row["entry_ids"]:
        raise MemoryOperationConflictError
    return EntryMutation(
        entry=entry,
        entry_ids=tuple(row["entry_ids"] or ()),
        version=None if version is None else str(version),
        existed=row["existed"],
        replayed=row["replayed"],
        abandoned=row.get("abandoned") or False,
    )


def _key(row: Row) -> EntryKey:
    return EntryKey(
        store=row["store"],
        actor=row["actor"],
        path=row["path"],
        session=row["session"] or None,
    )


def _provenance(row: Row) -> Provenance:
    return Provenance(source_type=row["source_type"] or SOURCE_AGENT, origin=row["origin"] or "")
