"""Routes of entries, as the public clients call them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from ..notebook import MAX_ENTRY_RESULTS, EntryFilter, EntryKey, MemoryNotFound
from ..stores import Entry, EntryCursor, EntryMutation
from .callers import BEARER, NO_QUERY, WRITES_AN_ENTRY, Calling
from .conditions import Repeatable
from .errors import NO_ENTRY, ServiceError
from .memory_stores import Nothing, PageSize, PageToken
from .resources import (
    EVERYTHING_SHOWN,
    EntryResource,
    Error,
    MatchResource,
    OptionalText,
    OptionalView,
    Projection,
    split_mask,
)
from .writes import Sourced, entry_write

_CHANGEABLE = {"content", "description"}
_MATCHES = 10

router = APIRouter(
    prefix="/memory-stores/{store}",
    tags=["entries"],
    dependencies=[BEARER],
    responses={"4XX": {"model": Error}},
)

Filter = Annotated[OptionalText, Query()]


class EntryBody(Sourced):
    """A new entry; `session_id` is missing for one that applies to all sessions."""

    actor_id: str
    path: str
    content: str | None = None
    description: str | None = None
    session_id: OptionalText = None


class EntryPatch(Sourced):
    """What can change in an entry; the clients send the masked fields, or the whole resource."""

    content: str | None = None
    description: str | None = None


class EntriesResponse(BaseModel):
    """One page of entries, by path, then session."""

    managed_memory_entries: list[EntryResource]
    next_page_token: str | None = None


class SearchBody(BaseModel):
    """What to look for; `limit` is an old name of `page_size`."""

    actor_id: str
    query: str
    page_size: Annotated[int | None, Field(ge=1, le=MAX_ENTRY_RESULTS)] = None
    limit: Annotated[int | None, Field(ge=1, le=MAX_ENTRY_RESULTS)] = None
    path_prefix: OptionalText = None
    session_id: OptionalText = None
    read_mask: OptionalText = None
    view: OptionalView = None

    def bound(self) -> int:
        """Return how many matches are wanted."""
        if self.page_size and self.limit and self.page_size != self.limit:
            raise ServiceError.invalid("limit: equals page_size, or is left out")
        return self.page_size or self.limit or _MATCHES


class SearchResponse(BaseModel):
    """Entries that answer a query, best first; twice, since clients read one or the other."""

    results: list[MatchResource]
    managed_memory_entries: list[EntryResource]


@router.post("/entries", response_model_exclude_none=True, dependencies=[WRITES_AN_ENTRY])
async def create_entry(
    caller: Calling,
    store: str,
    body: EntryBody,
    wanted: Repeatable,
    managed_memory_entry_id: Filter = None,
) -> EntryResource:
    """Create an entry; ALREADY_EXISTS if there is one of this actor, session and path."""
    entries = await caller.writes(store)
    key = EntryKey(store=store, actor=body.actor_id, path=body.path, session=body.session_id)
    done = await entries.create(
        key,
        content=body.content or "",
        description=body.description or "",
        entry_id=managed_memory_entry_id,
        write=entry_write(
            caller,
            wanted,
            action="create",
            store=store,
            body=body,
            managed_memory_entry_id=managed_memory_entry_id,
        ),
    )
    return EVERYTHING_SHOWN.entry(_left(done))


@router.get("/entries", response_model_exclude_none=True)
async def list_entries(
    caller: Calling,
    store: str,
    *,
    actor_id: str,
    path: Filter = None,
    path_prefix: Filter = None,
    session_id: Filter = None,
    page_size: PageSize = 10,
    page_token: PageToken = "",
    read_mask: Filter = None,
    view: Annotated[OptionalView, Query()] = None,
) -> EntriesResponse:
    """List entries of one actor. `path` is exact, in all sessions, and excludes `path_prefix`."""
    entries = await caller.reads(store)
    shown = Projection(read_mask, view)
    listed = ["entries", store, actor_id, path, path_prefix, session_id]
    page = await entries.list_entries(
        store,
        actor_id,
        limit=page_size,
        where=EntryFilter(path=path, path_prefix=path_prefix, session=session_id),
        after=_cursor(caller.pages.open(listed, page_token)) if page_token else None,
        content=shown.content,
    )
    place = page.next and caller.pages.seal(listed, [page.next.path, page.next.session])
    shown_entries = [shown.entry(entry) for entry in page.entries]
    return EntriesResponse(managed_memory_entries=shown_entries, next_page_token=place)


@router.post("/entries:search", response_model_exclude_none=True)
async def search_entries(caller: Calling, store: str, body: SearchBody) -> SearchResponse:
    """Search the entries of one actor: full text, fused with meaning where there is an embedder."""
    entries = await caller.reads(store)
    shown = Projection(body.read_mask, body.view)
    matches = await entries.search(
        store,
        body.actor_id,
        body.query,
        limit=body.bound(),
        where=EntryFilter(path_prefix=body.path_prefix, session=body.session_id),
        content=shown.content,
    )
    results = [shown.match(match) for match in matches]
    return SearchResponse(
        results=results, managed_memory_entries=[match.managed_memory_entry for match in results]
    )


@router.get("/entries/{entry}", response_model_exclude_none=True)
async def get_entry(
    caller: Calling,
    store: str,
    entry: str,
    *,
    read_mask: Filter = None,
    view: Annotated[OptionalView, Query()] = None,
) -> EntryResource:
    """Get an entry."""
    entries = await caller.reads(store)
    shown = Projection(read_mask, view)
    found = await entries.get(store, entry, content=shown.content)
    if found is None:
        raise MemoryNotFound(NO_ENTRY)
    return shown.entry(found)


@router.patch("/entries/{entry}", response_model_exclude_none=True, dependencies=[WRITES_AN_ENTRY])
async def update_entry(
    caller: Calling,
    store: str,
    entry: str,
    *,
    update_mask: str,
    body: EntryPatch,
    wanted: Repeatable,
) -> EntryResource:
    """Change the masked fields of an entry. A masked description that is missing is removed."""
    masked = split_mask(update_mask, "update_mask", _CHANGEABLE)
    if "content" in masked and body.content is None:
        raise ServiceError.invalid("content: is in update_mask and not in the body")
    entries = await caller.writes(store)
    done = await entries.update(
        store,
        entry,
        content=body.content if "content" in masked else None,
        description=(body.description or "") if "description" in masked else None,
        write=entry_write(
            caller,
            wanted,
            action=f"update {entry}",
            store=store,
            body=body,
            update_mask=update_mask,
        ),
    )
    return EVERYTHING_SHOWN.entry(_left(done))


@router.delete("/entries/{entry}", dependencies=[NO_QUERY])
async def delete_entry(caller: Calling, store: str, entry: str, wanted: Repeatable) -> Nothing:
    """Delete an entry."""
    entries = await caller.writes(store)
    write = entry_write(caller, wanted, action=f"delete {entry}", store=store)
    await entries.delete(store, entry, write=write)
    return Nothing()


def _left(done: EntryMutation) -> Entry:
    """Return the entry that a mutation left behind."""
    if done.entry is None:
        raise MemoryNotFound("That request was done; its memory store has been deleted since.")
    return done.entry


def _cursor(place: list[str | None]) -> EntryCursor:
    path, session = place
    return EntryCursor(path=path or "", session=session)
