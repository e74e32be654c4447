"""Grants in PostgreSQL."""

from __future__ import annotations

from ...notebook import MemoryNotFound, check_store_id
from ..checks import check_bound
from ..grants import Access, Grant, GrantPage, Permission, Principal
from .calls import Caller
from .pool import PostgresPool
from .rows import Row


class PostgresGrantStore:
    """A `GrantStore` in the schema `durable_memory`, made by `migrate`.

    Args:
        pool: asyncpg's pool, or one that looks like it; the caller's.
        timeout: Seconds that one call may take, the wait for a connection included.
    """

    def __init__(self, pool: PostgresPool, *, timeout: float = 10.0) -> None:
        self._caller = Caller(pool=pool, timeout=timeout)

    async def access(self, store: str, principal: Principal) -> Access | None:
        """See `GrantStore.access`. One round trip."""
        row = await self._caller.row("access", check_store_id(store), principal.key)
        if row is None:
            return None
        granted = row["permission"]
        permission = Permission.WRITE if row["creator"] else granted and Permission(granted)
        return Access(creator=row["creator"], permission=permission, incarnation=row["incarnation"])

    async def grant(self, store: str, grant: Grant, *, incarnation: int | None = None) -> None:
        """See `GrantStore.grant`. One round trip."""
        given = (check_store_id(store), grant.principal.key, grant.permission.value, incarnation)
        if not (await self._caller.mutate("grant", *given))["done"]:
            raise MemoryNotFound("No such memory store.")

    async def revoke(
        self, store: str, principal: Principal, *, incarnation: int | None = None
    ) -> bool:
        """See `GrantStore.revoke`. One round trip."""
        taken = (check_store_id(store), principal.key, incarnation)
        row = await self._caller.mutate("revoke", *taken)
        return bool(row["done"])

    async def list_grants(
        self, store: str, *, limit: int, after: str | None = None, incarnation: int | None = None
    ) -> GrantPage:
        """See `GrantStore.list_grants`. One round trip."""
        bound = check_bound("limit", limit)
        where = (check_store_id(store), after or "", bound + 1, incarnation)
        rows = await self._caller.rows("list_grants", *where)
        grants = [_grant(row) for row in rows[:bound]]
        more = len(rows) > bound
        return GrantPage(grants=grants, next=grants[-1].principal.key if more else None)


def _grant(row: Row) -> Grant:
    return Grant(
        principal=Principal.of_key(row["principal"]), permission=Permission(row["permission"])
    )
