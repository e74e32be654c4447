"""Routes of grants: for a memory store's creator and administrators, except the caller's own."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from ..stores import Grant, Permission, Principal, PrincipalType
from .callers import BEARER, Calling
from .conditions import UNCONDITIONAL
from .errors import ServiceError
from .memory_stores import Nothing, PageToken
from .resources import EMPTY_IS_MISSING, Error, PrincipalResource

router = APIRouter(
    prefix="/memory-stores/{store}",
    tags=["permissions"],
    dependencies=[BEARER],
    responses={"4XX": {"model": Error}},
)


class PrincipalBody(BaseModel):
    """Whom to grant: the clients call the kind `type` or `principal_type`."""

    name: str
    type: Annotated[PrincipalType | None, EMPTY_IS_MISSING] = None
    principal_type: Annotated[PrincipalType | None, EMPTY_IS_MISSING] = None

    def principal(self) -> Principal:
        """Return whom it names."""
        kinds = {self.type, self.principal_type} - {None}
        kind = kinds.pop() if len(kinds) == 1 else None
        if kind is None:
            raise ServiceError.invalid("principal.principal_type: USER or SERVICE_PRINCIPAL, once")
        return Principal(type=kind, name=self.name)


class GrantBody(BaseModel):
    """What to grant."""

    principal: PrincipalBody
    permission: Permission


class RevokeBody(BaseModel):
    """Whose grants to take; the clients may name a permission, and all of them go."""

    principal: PrincipalBody
    permission: Annotated[Permission | None, EMPTY_IS_MISSING] = None


class Level(StrEnum):
    """The caller's own permission."""

    NONE = "PERMISSION_LEVEL_UNSPECIFIED"
    READ = "READ"
    WRITE = "WRITE"


class GrantResource(BaseModel):
    """What a principal has."""

    principal: PrincipalResource
    permission: Level


class GrantsResponse(BaseModel):
    """One page of grants."""

    memory_store_permissions: list[GrantResource]
    next_page_token: str | None = None


@router.post("/permissions:grant", dependencies=[UNCONDITIONAL])
async def grant(caller: Calling, store: str, body: GrantBody) -> Nothing:
    """Grant READ or WRITE. A READ leaves a WRITE that was granted before."""
    access = await caller.manages(store)
    given = Grant(principal=body.principal.principal(), permission=body.permission)
    await caller.service.backend.grants.grant(store, given, incarnation=access.incarnation)
    return Nothing()


@router.post("/permissions:revoke", dependencies=[UNCONDITIONAL])
async def revoke(caller: Calling, store: str, body: RevokeBody) -> Nothing:
    """Take all that was granted to a principal. The creator's WRITE was not granted and stays."""
    access = await caller.manages(store)
    await caller.service.backend.grants.revoke(
        store, body.principal.principal(), incarnation=access.incarnation
    )
    return Nothing()


@router.get("/permissions", response_model_exclude_none=True)
async def list_grants(
    caller: Calling,
    store: str,
    page_size: Annotated[int, Query(ge=1, le=1000)] = 100,
    page_token: PageToken = "",
) -> GrantsResponse:
    """List what was granted."""
    access = await caller.manages(store)
    listed = ["permissions", store]
    after = caller.pages.open(listed, page_token)[0] if page_token else None
    page = await caller.service.backend.grants.list_grants(
        store, limit=page_size, after=after, incarnation=access.incarnation
    )
    return GrantsResponse(
        memory_store_permissions=[_resource(grant) for grant in page.grants],
        next_page_token=caller.pages.seal(listed, [page.next]) if page.next else None,
    )


@router.get("/permissions/self")
async def own_permission(caller: Calling, store: str) -> GrantResource:
    """Get what the caller may do."""
    held = (await caller.access(store)).permission
    level = Level.NONE if held is None else Level(held.value)
    return GrantResource(principal=PrincipalResource.of(caller.principal), permission=level)


def _resource(grant: Grant) -> GrantResource:
    return GrantResource(
        principal=PrincipalResource.of(grant.principal), permission=Level(grant.permission.value)
    )
