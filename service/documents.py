"""Routes of our own: writes that are atomic, conditional and repeatable.

They stand beside the compatible ones below `/v1`. An entry is named by its key in the body of a
POST, never in a URL: an actor and a path are content, and URLs end up in the logs of proxies.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import APIRouter, Response
from pydantic import BaseModel

from ..notebook import EntryKey, MemoryAlreadyExists, MemoryConflictError
from ..stores import EntryMutation
from .callers import BEARER, NO_QUERY, WRITES_AN_ENTRY, Calling
from .conditions import Changing, Conditional, Conditions, Repeatable, version_tag
from .errors import ServiceError
from .resources import (
    EVERYTHING_SHOWN,
    EntryResource,
    Error,
    OptionalText,
)
from .versions import VersionedEntry, versioned
from .writes import Traced, entry_write

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


class WriteBody(KeyBody, Traced):
    """What to write; a description that is missing stays as it is, and an empty one is removed."""

    content: str
    description: str | None = None


class PatchBody(Traced):
    """What to change; what is missing stays as it is, and what is empty becomes empty."""

    content: str | None = None
    description: str | None = None


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


@router.post("/entries:put", response_model_exclude_none=True, dependencies=[WRITES_AN_ENTRY])
async def put_entry(
    caller: Calling, store: str, body: WriteBody, wanted: Conditional, response: Response
) -> Written:
    """Create an entry or replace its content, in one step."""
    entries = await caller.writes(store)
    key, write = body.key(store), entry_write(caller, wanted, action="put", store=store, body=body)
    with _condition(wanted):
        if wanted.absent:
            done = await entries.create(
                key, content=body.content, description=body.description or "", write=write
            )
        else:
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
    caller: Calling, store: str, body: WriteBody, wanted: Changing, response: Response
) -> Written:
    """Add lines to an entry, in one step; creates it."""
    entries = await caller.writes(store)
    with _condition(wanted):
        done = await entries.append(
            body.key(store),
            content=body.content,
            description=body.description,
            expected_version=wanted.version,
            write=entry_write(caller, wanted, action="append", store=store, body=body),
        )
    return _written(done, response)


@router.post("/entries:find", response_model_exclude_none=True)
async def find_entry(
    caller: Calling, store: str, body: KeyBody, response: Response
) -> VersionedEntry:
    """Get an entry by its key."""
    entries = await caller.reads(store)
    return versioned(await entries.find(body.key(store)), response)


@router.post("/entries:forget", response_model_exclude_none=True)
async def forget_entries(
    caller: Calling, store: str, body: ForgetBody, wanted: Repeatable, response: Response
) -> Written:
    """Delete every session's entry at a path of one actor, in one step."""
    entries = await caller.writes(store)
    write = entry_write(caller, wanted, action="forget", store=store, body=body)
    done = await entries.forget(store, body.actor_id, body.path, write=write)
    return _written(done, response)


@router.get("/entries/{entry}", response_model_exclude_none=True)
async def get_versioned(
    caller: Calling, store: str, entry: str, response: Response
) -> VersionedEntry:
    """Get an entry with its version."""
    entries = await caller.reads(store)
    return versioned(await entries.get(store, entry), response)


@router.patch("/entries/{entry}", response_model_exclude_none=True, dependencies=[WRITES_AN_ENTRY])
async def patch_entry(
    caller: Calling,
    store: str,
    entry: str,
    *,
    body: PatchBody,
    wanted: Changing,
    response: Response,
) -> Written:
    """Change the fields that are given."""
    entries = await caller.writes(store)
    with _condition(wanted):
        done = await entries.update(
            store,
            entry,
            content=body.content,
            description=body.description,
            expected_version=wanted.version,
            write=entry_write(caller, wanted, action=f"patch {entry}", store=store, body=body),
        )
    return _written(done, response)


@router.delete("/entries/{entry}", response_model_exclude_none=True, dependencies=[NO_QUERY])
async def delete_versioned(
    caller: Calling, store: str, entry: str, wanted: Changing, response: Response
) -> Written:
    """Delete an entry."""
    entries = await caller.writes(store)
    with _condition(wanted):
        done = await entries.delete(
            store,
            entry,
            expected_version=wanted.version,
            write=entry_write(caller, wanted, action=f"delete {entry}", store=store),
        )
    return _written(done, response)


@contextmanager
def _condition(wanted: Conditions) -> Iterator[None]:
    """Answer what is not as it was demanded as a condition that failed (RFC 9110, 13.1)."""
    try:
        yield
    except (MemoryAlreadyExists, MemoryConflictError) as error:
        if wanted.version is None and not wanted.absent:
            raise
        raise ServiceError(412, "FAILED_PRECONDITION", str(error)) from error


def _written(done: EntryMutation, response: Response) -> Written:
    if done.version is not None:
        response.headers["ETag"] = version_tag(done.version)
    return Written(
        entry=EVERYTHING_SHOWN.entry(done.entry) if done.entry else None,
        version=done.version,
        entry_ids=list(done.entry_ids),
        existed=done.existed,
        replayed=done.replayed,
    )
