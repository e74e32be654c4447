"""Routes of our own: writes that are atomic, conditional and repeatable, and the versions of entries.

They stand beside the compatible ones below `/v1`. An entry is named by its key in the body of a
POST, never in a URL: an actor and a path are content, and URLs end up in the logs of proxies.
"""  # noqa: E501  (one sentence)

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from ..notebook import EntryKey, MemoryConflictError, MemoryNotFound
from ..stores import Entry, EntryMutation, EntryVersion, EntryWrite
from .callers import BEARER, NO_QUERY, WRITES_AN_ENTRY, Caller, Calling
from .conditions import Conditional, Conditions, version_tag
from .entries import left
from .errors import ServiceError
from .memory_stores import PageToken
from .resources import (
    EVERYTHING_SHOWN,
    EntryResource,
    Error,
    OptionalText,
    SourceType,
    provenance,
    time_text,
)

router = APIRouter(
    prefix="/memory-stores/{store}",
    tags=["versioned entries"],
    dependencies=[BEARER],
    responses={"4XX": {"model": Error}},
)


class KeyBody(BaseModel):
    """Which entry; `session_id` is missing for the one that applies to all sessions."""

    actor_id: str
    path: str
    session_id: OptionalText = None

    def key(self, store: str) -> EntryKey:
        """Return the key in a memory store."""
        return EntryKey(store=store, actor=self.actor_id, path=self.path, session=self.session_id)


class WriteBody(KeyBody):
    """What to write; a description that is missing stays as it is."""

    content: str
    description: str | None = None
    source_type: SourceType | None = None
    origin: str = ""


class PatchBody(BaseModel):
    """What to change; what is missing stays as it is."""

    content: str | None = None
    description: str | None = None
    source_type: SourceType | None = None
    origin: str = ""


class ForgetBody(BaseModel):
    """Which path of which actor, in every session."""

    actor_id: str
    path: str


class Written(BaseModel):
    """What a write did; a retry with the same `Idempotency-Key` is told the same."""

    entry: EntryResource | None = None
    version: str | None = None
    entry_ids: list[str]
    existed: bool
    replayed: bool


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


@router.post("/entries:put", response_model_exclude_none=True, dependencies=[WRITES_AN_ENTRY])
async def put_entry(
    caller: Calling, store: str, body: WriteBody, wanted: Conditional, response: Response
) -> Written:
    """Create an entry or replace its content, in one step."""
    await caller.writes(store)
    key, entries = body.key(store), caller.entries
    write = _write(caller, wanted, "put", store, body)
    if wanted.absent:
        fresh = body.description or ""
        done = await entries.create(key, content=body.content, description=fresh, write=write)
    else:
        with _condition(wanted):
            done = await entries.put(
                key,
                content=body.content,
                description=body.description,
                expected_version=wanted.version,
                write=write,
            )
    return _written(done, response)


@router.post("/entries:append", response_model_exclude_none=True, dependencies=[WRITES_AN_ENTRY])
async def append_entry(
    caller: Calling, store: str, body: WriteBody, wanted: Conditional, response: Response
) -> Written:
    """Add lines to an entry, in one step; creates it."""
    await caller.writes(store)
    if wanted.absent:
        raise ServiceError.invalid("If-None-Match: is not for appends")
    with _condition(wanted):
        done = await caller.entries.append(
            body.key(store),
            content=body.content,
            description=body.description,
            expected_version=wanted.version,
            write=_write(caller, wanted, "append", store, body),
        )
    return _written(done, response)


@router.post("/entries:find", response_model_exclude_none=True)
async def find_entry(
    caller: Calling, store: str, body: KeyBody, response: Response
) -> VersionedEntry:
    """Get an entry by its key."""
    await caller.reads(store)
    return _versioned(await caller.entries.find(body.key(store)), response)


@router.post("/entries:forget", response_model_exclude_none=True)
async def forget_entries(
    caller: Calling, store: str, body: ForgetBody, wanted: Conditional, response: Response
) -> Written:
    """Delete every session's entry at a path of one actor, in one step."""
    await caller.writes(store)
    _refuse_conditions(wanted)
    write = _write(caller, wanted, "forget", store, body)
    done = await caller.entries.forget(store, body.actor_id, body.path, write=write)
    return _written(done, response)


@router.get("/entries/{entry}", response_model_exclude_none=True)
async def get_versioned(
    caller: Calling, store: str, entry: str, response: Response
) -> VersionedEntry:
    """Get an entry with its version."""
    await caller.reads(store)
    return _versioned(await caller.entries.get(store, entry), response)


@router.patch("/entries/{entry}", response_model_exclude_none=True, dependencies=[WRITES_AN_ENTRY])
async def patch_entry(
    caller: Calling,
    store: str,
    entry: str,
    *,
    body: PatchBody,
    wanted: Conditional,
    response: Response,
) -> Written:
    """Change the fields that are given."""
    await caller.writes(store)
    if wanted.absent:
        raise ServiceError.invalid("If-None-Match: is not for changes")
    with _condition(wanted):
        done = await caller.entries.update(
            store,
            entry,
            content=body.content,
            description=body.description,
            expected_version=wanted.version,
            write=_write(caller, wanted, f"patch {entry}", store, body),
        )
    return _written(done, response)


@router.delete("/entries/{entry}", response_model_exclude_none=True, dependencies=[NO_QUERY])
async def delete_versioned(
    caller: Calling, store: str, entry: str, wanted: Conditional, response: Response
) -> Written:
    """Delete an entry."""
    await caller.writes(store)
    if wanted.absent:
        raise ServiceError.invalid("If-None-Match: is not for deletions")
    with _condition(wanted):
        done = await caller.entries.delete(
            store,
            entry,
            expected_version=wanted.version,
            write=_write(caller, wanted, f"delete {entry}", store, None),
        )
    return _written(done, response)


@router.get("/entries/{entry}/versions", response_model_exclude_none=True)
async def list_versions(
    caller: Calling,
    store: str,
    entry: str,
    page_size: Annotated[int, Query(ge=1, le=100)] = 10,
    page_token: PageToken = "",
) -> VersionsResponse:
    """List what happened to an entry, newest first, by the database's order."""
    await caller.reads(store)
    listed = ["versions", store, entry]
    before = caller.pages.open(listed, page_token)[0] if page_token else None
    steps = await caller.entries.history(store, entry, limit=page_size + 1, before=before)
    shown, more = steps[:page_size], len(steps) > page_size
    return VersionsResponse(
        versions=[VersionResource.of(step) for step in shown],
        next_page_token=caller.pages.seal(listed, [shown[-1].version]) if more else None,
    )


@router.get("/entries/{entry}/versions/{version}", response_model_exclude_none=True)
async def get_version(
    caller: Calling, store: str, entry: str, version: str, response: Response
) -> VersionedEntry:
    """Get an entry as it was."""
    await caller.reads(store)
    return _versioned(await caller.entries.read_version(store, entry, version), response)


@contextmanager
def _condition(wanted: Conditions) -> Iterator[None]:
    """Answer a version that is not the demanded one as a condition that failed."""
    try:
        yield
    except MemoryConflictError as error:
        if wanted.version is None:
            raise
        raise ServiceError(412, "FAILED_PRECONDITION", str(error)) from error


def _refuse_conditions(wanted: Conditions) -> None:
    if wanted.version is not None or wanted.absent:
        raise ServiceError.invalid("If-Match: is not for what may be several entries")


def _write(
    caller: Caller, wanted: Conditions, action: str, store: str, body: BaseModel | None
) -> EntryWrite:
    arguments = body.model_dump(mode="json", exclude_unset=True) if body else {}
    source = body if isinstance(body, WriteBody | PatchBody) else PatchBody()
    operation = wanted.operation(caller.principal, action=action, store=store, arguments=arguments)
    return EntryWrite(operation=operation, provenance=provenance(source.source_type, source.origin))


def _written(done: EntryMutation, response: Response) -> Written:
    if done.version is not None:
        response.headers["ETag"] = version_tag(done.version)
    return Written(
        entry=EVERYTHING_SHOWN.entry(left(done)) if done.entry else None,
        version=done.version,
        entry_ids=list(done.entry_ids),
        existed=done.existed,
        replayed=done.replayed,
    )


def _versioned(entry: Entry | None, response: Response) -> VersionedEntry:
    if entry is None:
        raise MemoryNotFound("No such entry.")
    response.headers["ETag"] = version_tag(entry.version)
    return VersionedEntry(entry=EVERYTHING_SHOWN.entry(entry), version=entry.version)
