"""Who may use a memory store: principals, permissions, and where grants are kept.

A memory store is the boundary; actors partition what is in it and bound nothing. Its creator has
WRITE for ever. Everyone else has what was granted: being an administrator lets one manage grants,
and shows no data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, Self, runtime_checkable

from ..notebook import InvalidMemoryRequest, is_storable

MAX_PRINCIPAL_BYTES = 256
"""Size of a principal's name, in bytes of UTF-8."""


class PrincipalType(StrEnum):
    """What kind of caller it is; there are no groups."""

    USER = "USER"
    SERVICE_PRINCIPAL = "SERVICE_PRINCIPAL"


class Permission(StrEnum):
    """What a principal may do with what is in a memory store; WRITE includes READ."""

    READ = "READ"
    WRITE = "WRITE"


@dataclass(frozen=True, kw_only=True, slots=True)
class Principal:
    """Someone who holds tokens: a user by e-mail address, or a program by its id.

    Attributes:
        type: Two principals of one name and different types are different.
        name: 1 to 256 bytes of UTF-8 without NUL, control characters and whitespace around it.

    Raises:
        InvalidMemoryRequest: The name breaks its rule.
    """

    type: PrincipalType
    name: str

    def __post_init__(self) -> None:
        if not is_storable(self.name) or not self.name.isprintable():
            raise InvalidMemoryRequest("a principal's name is text without control characters")
        size = len(self.name.encode())
        if self.name != self.name.strip() or not 1 <= size <= MAX_PRINCIPAL_BYTES:
            raise InvalidMemoryRequest(
                f"a principal's name has 1 to {MAX_PRINCIPAL_BYTES} bytes of UTF-8, and no "
                "whitespace around it"
            )

    @property
    def key(self) -> str:
        """One text that names it, as a memory store's `creator` does."""
        return f"{self.type}:{self.name}"

    @classmethod
    def of_key(cls, key: str) -> Self:
        """Return the principal of a `key`; raise `InvalidMemoryRequest` if it is none."""
        kind, _, name = key.partition(":")
        if kind not in PrincipalType.__members__:
            raise InvalidMemoryRequest("a principal is USER:name or SERVICE_PRINCIPAL:name")
        return cls(type=PrincipalType(kind), name=name)


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """What a principal was given on one memory store."""

    principal: Principal
    permission: Permission


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantPage:
    """One page of grants, in order of the principals' keys.

    Attributes:
        grants: At most `limit`.
        next: The key behind which the next page goes on; `None` on the last.
    """

    grants: Sequence[Grant]
    next: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """What one principal may do with one memory store.

    Attributes:
        creator: It made the store: it has WRITE, and manages grants.
        permission: The effective one; `None` for none.
        incarnation: That of the store in which this holds. A store of this id that is made after
            this one was deleted is another's, and has another.
    """

    creator: bool
    permission: Permission | None
    incarnation: int


@runtime_checkable
class GrantStore(Protocol):
    """Keeps the grants of memory stores.

    Every method raises `InvalidMemoryRequest` for a malformed id of a store, and
    `MemoryStoreUnavailable`. With an `incarnation` what is not in it is not there.
    """

    async def access(self, store: str, principal: Principal) -> Access | None:
        """Return what a principal may do; `None` when there is no such store."""
        ...

    async def grant(self, store: str, grant: Grant, *, incarnation: int | None = None) -> None:
        """Add a grant; a READ leaves a WRITE that was there.

        Raises:
            MemoryNotFound: There is no such store.
        """
        ...

    async def revoke(
        self, store: str, principal: Principal, *, incarnation: int | None = None
    ) -> bool:
        """Take all that was granted to a principal; return whether there was anything.

        The creator's WRITE was not granted and stays.
        """
        ...

    async def list_grants(
        self, store: str, *, limit: int, after: str | None = None, incarnation: int | None = None
    ) -> GrantPage:
        """Return grants behind the key `after`; the creator's own WRITE is none."""
        ...
