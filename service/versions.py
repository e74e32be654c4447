"""Routes of our own: the versions of entries."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from ..notebook import MemoryNotFound
from ..stores import Entry, EntryVersion
from .callers import BEARER, Calling
from .conditions import version_tag
from .errors import NO_ENTRY
from .memory_stores import PageToken
from .resources import EVERYTHING_SHOWN, EntryResource, Error, SourceType, time_text

router = APIRouter(
    prefix="/memory-stores/{store}/entries/{entry}/versions",
    tags=["versioned entries"],
    dependencies=[BEARER],
    responses={"4XX": {"model": Error}},
)

_NO_VERSION = "No such entry, or it is not there in that version."


class VersionedEntry(BaseModel):
    """An entry, or what it was, and its version."""

    entry: EntryResource
    version: str


class Change(BaseModel):
    """At character `at`, `removed` made way for `added`."""

    at: int
    removed: str
    added: str


class VersionResource(BaseModel):
    """One step of an entry's history."""

    version: str
    write_time: str
    existed_before: bool
    exists: bool
    change: Change
    description: str
    source_type: SourceType
    origin: str
    operation_id: str | None = None
    workflow_id: str | None = None

    @classmethod
    def of(cls, step: EntryVersion) -> VersionResource:
        """Return the resource of a step."""
        change = step.change
        return cls(
            version=step.version,
            write_time=time_text(step.written_at),
            existed_before=step.existed_before,
            exists=step.exists,
            change=Change(at=change.at, removed=change.removed, added=change.added),
            description=step.description,
            source_type=SourceType[step.provenance.source_type],
            origin=step.provenance.origin,
            operation_id=step.operation_id,
            workflow_id=step.workflow_id or None,
        )


class VersionsResponse(BaseModel):
    """One page of an entry's history, newest first."""

    versions: list[VersionResource]
    next_page_token: str | None = None


@router.get("", response_model_exclude_none=True)
async def list_versions(
    caller: Calling,
    store: str,
    entry: str,
    page_size: Annotated[int, Query(ge=1, le=100)] = 10,
    page_token: PageToken = "",
) -> VersionsResponse:
    """List what happened to an entry, newest first, by the database's order."""
    entries = await caller.reads(store)
    listed = ["versions", store, entry]
    before = caller.pages.open(listed, page_token)[0] if page_token else None
    steps = await entries.history(store, entry, limit=page_size + 1, before=before)
    shown, more = steps[:page_size], len(steps) > page_size
    return VersionsResponse(
        versions=[VersionResource.of(step) for step in shown],
        next_page_token=caller.pages.seal(listed, [shown[-1].version]) if more else None,
    )


@router.get("/{version}", response_model_exclude_none=True)
async def get_version(
    caller: Calling, store: str, entry: str, version: str, response: Response
) -> VersionedEntry:
    """Get an entry as it was."""
    entries = await caller.reads(store)
    try:
        found = await entries.read_version(store, entry, version)
    except MemoryNotFound:
        found = None
    return versioned(found, response, missing=_NO_VERSION)


def versioned(
    entry: Entry | None, response: Response, *, missing: str = NO_ENTRY
) -> VersionedEntry:
    """Return the resource of an entry with its version, which is the answer's `ETag` too."""
    if entry is None:
        raise MemoryNotFound(missing)
    response.headers["ETag"] = version_tag(entry.version)
    return VersionedEntry(entry=EVERYTHING_SHOWN.entry(entry), version=entry.version)
