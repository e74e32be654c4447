"""Who calls, and what they may."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from ..notebook import MemoryNotFound, MemoryPermissionDenied
from ..stores import Access, Backend, EntryStore, Permission, Principal
from .boundary import token_of
from .errors import NO_STORE, ServiceError
from .pages import Pages


@dataclass(frozen=True, kw_only=True, slots=True)
class Service:
    """What the routes work with.

    Attributes:
        backend: The stores.
        pages: Makes page tokens.
        on_write: Called after each entry that was written.
    """

    backend: Backend
    pages: Pages
    on_write: Callable[[], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """The caller of one request, with what it works with.

    Attributes:
        service: The stores and the page tokens.
        principal: Who it is.
        admin: Whether it manages the grants of every memory store.
    """

    service: Service
    principal: Principal
    admin: bool

    @property
    def stores(self) -> EntryStore:
        """The memory stores: their list and their making are open to all."""
        return self.service.backend.entries

    @property
    def pages(self) -> Pages:
        """The page tokens."""
        return self.service.pages

    async def access(self, store: str) -> Access:
        """Return what the caller may do with a memory store; raise `MemoryNotFound` for none."""
        found = await self.service.backend.grants.access(store, self.principal)
        if found is None:
            raise MemoryNotFound(NO_STORE)
        return found

    async def reads(self, store: str) -> EntryStore:
        """Let through who may read a memory store, and return what to read it by.

        It works in the incarnation of the store in which the right was found: one of this id that
        another caller makes meanwhile is out of its reach.
        """
        access = await self.access(store)
        if access.permission is None:
            raise MemoryPermissionDenied("READ on this memory store is needed: ask its creator.")
        return self.stores.within(access.incarnation)

    async def writes(self, store: str) -> EntryStore:
        """Let through who may write to a memory store, and return what to write to it by."""
        access = await self.access(store)
        if access.permission is not Permission.WRITE:
            raise MemoryPermissionDenied("WRITE on this memory store is needed: ask its creator.")
        return self.stores.within(access.incarnation)

    async def manages(self, store: str) -> Access:
        """Let through who may grant, revoke and delete: the creator, and administrators."""
        access = await self.access(store)
        if not access.creator and not self.admin:
            raise MemoryPermissionDenied("Only the store's creator and administrators may do that.")
        return access


def _caller(request: Request) -> Caller:
    token = token_of(request)
    return Caller(service=request.app.state.service, principal=token.principal, admin=token.admin)


async def _announce(request: Request) -> AsyncIterator[None]:
    """Say that an entry was written, after the route that did; not where it failed."""
    yield
    request.app.state.service.on_write()


def _refuse_query(request: Request) -> None:
    """Refuse a query where none is known: a filter that is ignored would delete too much."""
    if request.query_params:
        raise ServiceError.invalid(
            "A deletion takes no query: it is of exactly what the URL names."
        )


Calling = Annotated[Caller, Depends(_caller)]
"""The caller, as a route's parameter."""

BEARER = Depends(HTTPBearer(auto_error=False, description="`durable-memory token create`"))
"""Says in the OpenAPI page that a route needs a token; `Boundary` checks it."""

WRITES_AN_ENTRY = Depends(_announce)
"""For routes that leave an entry to be embedded."""

NO_QUERY = Depends(_refuse_query)
"""For routes that delete."""
