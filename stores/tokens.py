"""Bearer tokens: shown once, kept as a digest.

A token is `dm_`, its public id, `_`, and a secret of 256 random bits. The database has the id and
the SHA-256 of the whole: with that much randomness a slow hash would add nothing. The row is found
by the public id and the digests are compared in constant time, so that neither the index nor the
comparison tells how near a guess was.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from .grants import Principal

_ID_BYTES = 8
_SECRET_BYTES = 32
_TOKEN = re.compile(r"dm_([0-9a-f]{16})_[A-Za-z0-9_-]{43}", re.ASCII)
_NO_DIGEST = bytes(hashlib.sha256().digest_size)


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A token, without its secret.

    Attributes:
        id: Public; names it in lists and when it is revoked.
        principal: Who calls with it.
        admin: Whether its holder manages the grants of every memory store.
        digest: SHA-256 of the token.
        created_at: By the database's clock; `None` before it is stored.
        revoked_at: When it stopped to be valid; `None` while it is.
    """

    id: str
    principal: Principal
    admin: bool
    digest: bytes
    created_at: datetime | None = None
    revoked_at: datetime | None = None


@runtime_checkable
class TokenStore(Protocol):
    """Keeps tokens; every method raises `MemoryStoreUnavailable`."""

    async def add_token(self, token: Token) -> None:
        """Keep a new token."""
        ...

    async def find_token(self, token_id: str) -> Token | None:
        """Return a token that is not revoked."""
        ...

    async def list_tokens(self) -> Sequence[Token]:
        """Return all tokens, revoked ones too, oldest first."""
        ...

    async def revoke_token(self, token_id: str) -> bool:
        """End a token at once; return whether it was valid until now."""
        ...

    async def signing_key(self) -> bytes:
        """Return the key that all processes of the service on this database sign with."""
        ...


def issue_token(principal: Principal, *, admin: bool = False) -> tuple[str, Token]:
    """Make a token: the text for its holder, to be shown once, and the record to keep."""
    token_id = secrets.token_hex(_ID_BYTES)
    text = f"dm_{token_id}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    return text, Token(id=token_id, principal=principal, admin=admin, digest=_digest(text))


async def authenticate(tokens: TokenStore, text: str) -> Token | None:
    """Return the token that a caller sent; `None` when it is malformed, unknown or revoked."""
    match = _TOKEN.fullmatch(text)
    if match is None:
        return None
    found = await tokens.find_token(match[1])
    known = found.digest if found else _NO_DIGEST
    return found if hmac.compare_digest(known, _digest(text)) else None


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
