"""The application: routes, errors, and the boundary around them."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from ..notebook import MemoryFault
from ..stores import Backend
from . import documents, entries, memory_stores, permissions, versions, workspace
from .boundary import Boundary
from .callers import Service
from .errors import ServiceError, handle
from .pages import Pages

COMPATIBLE = "/api/2.0/agents"
"""Base path of the routes that the public clients call."""

OWN = "/v1"
"""Base path of our own routes."""

_DESCRIPTION = """
Memory stores and their entries. The routes below `/api/2.0/agents` are those that the public
clients call. Those below `/v1` are atomic, take conditions, and know the versions of entries.
Writes of entries take an `Idempotency-Key` on either.
"""


async def create_app(backend: Backend, *, on_write: Callable[[], None] = lambda: None) -> ASGIApp:
    """Return the application of the memory service.

    Args:
        backend: Its stores; the caller's to close.
        on_write: Called after each entry that was written.

    Raises:
        MemoryStoreUnavailable: The database does not answer.
    """
    app = routes()
    pages = Pages(key=await backend.tokens.signing_key())
    app.state.service = Service(backend=backend, pages=pages, on_write=on_write)
    return Boundary(app, backend.tokens)


def routes() -> FastAPI:
    """Return the routes, and the OpenAPI page of them."""
    app = FastAPI(
        title="durable-memory",
        version=version("durable-memory"),
        description=_DESCRIPTION,
        # A path that ends in a slash is not sent on to one without: `entries/..` would become the
        # memory store itself, and a deletion of one entry that of all.
        redirect_slashes=False,
        redoc_url=None,
    )
    for kind in (ServiceError, MemoryFault, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, handle)
    app.include_router(workspace.router)
    for module in (memory_stores, permissions, entries):
        app.include_router(module.router, prefix=COMPATIBLE)
    app.include_router(workspace.absent, prefix=COMPATIBLE)
    for module in (documents, versions):
        app.include_router(module.router, prefix=OWN)
    return app
