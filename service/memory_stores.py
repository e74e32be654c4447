"""Routes of memory stores: every token may list and get them, whatever is in them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from ..notebook import MemoryNotFound
from .callers import BEARER, NO_QUERY, Calling
from .conditions import UNCONDITIONAL
from .errors import NO_STORE, ServiceError
from .resources import Error, OptionalText, StoreResource, split_mask

PageSize = Annotated[int, Query(ge=1, le=100, description="Rows of one page.")]
PageToken = Annotated[str, Query(description="`next_page_token` of the page before.")]

router = APIRouter(
    tags=["memory stores"], dependencies=[BEARER], responses={"4XX": {"model": Error}}
)


class StoreBody(BaseModel):
    """What can be said of a memory store; other fields of the resource are ignored."""

    display_name: OptionalText = None
    description: OptionalText = None


class StoresResponse(BaseModel):
    """One page of memory stores."""

    managed_memory_stores: list[StoreResource]
    next_page_token: str | None = None


class Nothing(BaseModel):
    """An empty object."""


@router.post("/memory-stores", dependencies=[UNCONDITIONAL])
async def create_store(
    caller: Calling, managed_memory_store_id: str, body: StoreBody | None = None
) -> StoreResource:
    """Create a memory store. Its creator has WRITE for ever, and manages its grants."""
    asked = body or StoreBody()
    if asked.display_name not in {None, managed_memory_store_id}:
        raise ServiceError.invalid("display_name: equals managed_memory_store_id")
    info = await caller.stores.create_store(
        managed_memory_store_id,
        creator=caller.principal.key,
        description=asked.description or "",
    )
    return StoreResource.of(info)


@router.get("/memory-stores", response_model_exclude_none=True)
async def list_stores(
    caller: Calling, page_size: PageSize = 10, page_token: PageToken = ""
) -> StoresResponse:
    """List memory stores, by their ids."""
    listed = ["stores"]
    after = caller.pages.open(listed, page_token)[0] if page_token else None
    page = await caller.stores.list_stores(limit=page_size, after=after)
    return StoresResponse(
        managed_memory_stores=[StoreResource.of(info) for info in page.stores],
        next_page_token=caller.pages.seal(listed, [page.next]) if page.next else None,
    )


@router.get("/memory-stores/{store}")
async def get_store(caller: Calling, store: str) -> StoreResource:
    """Get a memory store."""
    info = await caller.stores.get_store(store)
    if info is None:
        raise MemoryNotFound(NO_STORE)
    return StoreResource.of(info)


@router.patch("/memory-stores/{store}", dependencies=[UNCONDITIONAL])
async def update_store(
    caller: Calling, store: str, update_mask: str, body: StoreBody
) -> StoreResource:
    """Change the description of a memory store; needs WRITE. Nothing else of it can change."""
    split_mask(update_mask, "update_mask", {"description"})
    stores = await caller.writes(store)
    info = await stores.update_store(store, description=body.description or "")
    return StoreResource.of(info)


@router.delete("/memory-stores/{store}", dependencies=[NO_QUERY, UNCONDITIONAL])
async def delete_store(caller: Calling, store: str) -> Nothing:
    """Delete a memory store with all that is in it; for its creator and administrators."""
    access = await caller.manages(store)
    if not await caller.stores.within(access.incarnation).delete_store(store):
        raise MemoryNotFound(NO_STORE)
    return Nothing()
