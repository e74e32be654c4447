"""What the public clients ask for beside memory: where they are, and who they are."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel

from .callers import BEARER, Calling
from .errors import ServiceError
from .memory_stores import Nothing

_ABSENT = ("/memory-pipelines", "/session-stores")
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]

router = APIRouter(tags=["workspace"])
absent = APIRouter(dependencies=[BEARER], include_in_schema=False)
"""Routes of parts of the API that this service does not have."""


class Config(BaseModel):
    """What a client asks first, without a token."""

    workspace_id: str = "1"
    oidc_endpoint: str


class Me(BaseModel):
    """Who a token belongs to."""

    id: str
    userName: str  # noqa: N815  (SCIM's name)
    displayName: str  # noqa: N815  (SCIM's name)
    active: bool = True


class Health(BaseModel):
    """That the process serves; the database is not asked."""

    status: str = "ok"


@router.get("/.well-known/databricks-config")
async def config(request: Request) -> Config:
    """Say that this is a workspace, and which."""
    return Config(oidc_endpoint=f"{str(request.base_url).rstrip('/')}/oidc")


@router.get("/api/2.0/preview/scim/v2/Me", dependencies=[BEARER])
async def me(caller: Calling) -> Me:
    """Say who calls."""
    name = caller.principal.name
    return Me(id=name, userName=name, displayName=name)


@router.post("/telemetry-ext")
async def telemetry() -> Nothing:
    """Take the clients' telemetry and drop it."""
    return Nothing()


@router.get("/healthz")
async def health() -> Health:
    """Say that the process serves."""
    return Health()


async def _refuse() -> None:
    raise ServiceError(501, "NOT_IMPLEMENTED", "This service has no pipelines and session stores.")


for _place in _ABSENT:
    absent.add_api_route(_place, _refuse, methods=_METHODS)
    absent.add_api_route(f"{_place}/{{rest:path}}", _refuse, methods=_METHODS)
