"""Tokens in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

from ...notebook import MemoryStoreUnavailable
from ..grants import Principal
from ..tokens import Token
from .calls import Caller
from .pool import PostgresPool
from .rows import Row


class PostgresTokenStore:
    """A `TokenStore` in the schema `durable_memory`, made by `migrate`.

    Args:
        pool: asyncpg's pool, or one that looks like it; the caller's.
        timeout: Seconds that one call may take, the wait for a connection included.
    """

    def __init__(self, pool: PostgresPool, *, timeout: float = 10.0) -> None:
        self._caller = Caller(pool=pool, timeout=timeout)

    async def add_token(self, token: Token) -> None:
        """See `TokenStore.add_token`."""
        fields = (token.id, token.digest, token.principal.key, token.admin)
        await self._caller.mutate("add_token", *fields)

    async def find_token(self, token_id: str) -> Token | None:
        """See `TokenStore.find_token`."""
        row = await self._caller.row("find_token", token_id)
        return None if row is None else _token(row)

    async def list_tokens(self) -> Sequence[Token]:
        """See `TokenStore.list_tokens`."""
        return [_token(row) for row in await self._caller.rows("list_tokens")]

    async def revoke_token(self, token_id: str) -> bool:
        """See `TokenStore.revoke_token`."""
        return bool((await self._caller.mutate("revoke_token", token_id))["done"])

    async def signing_key(self) -> bytes:
        """See `TokenStore.signing_key`."""
        row = await self._caller.row("signing_key")
        if row is None:
            raise MemoryStoreUnavailable("The database has no signing key: migrate it.")
        return bytes(row["key"])


def _token(row: Row) -> Token:
    return Token(
        id=row["id"],
        principal=Principal.of_key(row["principal"]),
        admin=row["admin"],
        digest=bytes(row["digest"]),
        created_at=row["created_at"],
        revoked_at=row["revoked_at"],
    )
