"""Which scopes and memory stores a worker serves.

Any workflow of a Temporal namespace can name any scope and any store, so the worker holds
allow-lists. They are the boundary between tenants of one worker fleet; the database's own rights
are another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .entries import check_store_id
from .errors import InvalidMemoryRequest, MemoryPermissionDenied
from .names import Scope
from .partitions import Partition

EVERY_SCOPE = "*"
EVERY_STORE = "*"


@dataclass(frozen=True, kw_only=True, slots=True)
class ScopePolicy:
    """An allow-list of scopes for each Temporal namespace.

    A pattern is `*` (every scope), a scope's key (`acme/support`), or a key's beginning followed
    by `/*` (`acme/*`: every scope whose namespace is `acme` or begins with `acme/`).

    Attributes:
        patterns: For every Temporal namespace that has none of its own.
        by_temporal_namespace: For one Temporal namespace, in place of `patterns`.

    Raises:
        InvalidMemoryRequest: A pattern is none of these, or the patterns are one text.
    """

    patterns: Sequence[str] = (EVERY_SCOPE,)
    by_temporal_namespace: Mapping[str, Sequence[str]] | None = None

    def __post_init__(self) -> None:
        for number, pattern in enumerate(_all(self), start=1):
            if pattern != EVERY_SCOPE and not _is_key(pattern.removesuffix("/*")):
                raise InvalidMemoryRequest(
                    f"scope pattern {number} is not `*`, a scope, or a beginning with `/*`"
                )

    def admit(self, temporal_namespace: str, scope: Scope) -> Scope:
        """Return `scope` if it may be served; raise `MemoryPermissionDenied` if not."""
        if not any(_covers(pattern, scope.key) for pattern in _own(self, temporal_namespace)):
            raise MemoryPermissionDenied
        return scope


@dataclass(frozen=True, kw_only=True, slots=True)
class StorePolicy:
    """An allow-list of memory stores for each Temporal namespace.

    A pattern is `*` (every store) or a store's id, whole: a store is the boundary of access, and
    ids that begin alike belong to different owners. Actors are partitions, not access control.

    Attributes:
        patterns: For every Temporal namespace that has none of its own.
        by_temporal_namespace: For one Temporal namespace, in place of `patterns`.

    Raises:
        InvalidMemoryRequest: A pattern is neither `*` nor a store's id.
    """

    patterns: Sequence[str] = (EVERY_STORE,)
    by_temporal_namespace: Mapping[str, Sequence[str]] | None = None

    def __post_init__(self) -> None:
        for pattern in _all(self):
            if pattern != EVERY_STORE:
                check_store_id(pattern)

    def admit(self, temporal_namespace: str, partition: Partition) -> Partition:
        """Return `partition` if it may be served; raise `MemoryPermissionDenied` if not."""
        if not {EVERY_STORE, partition.store}.intersection(_own(self, temporal_namespace)):
            raise MemoryPermissionDenied
        return partition


def _is_key(text: str) -> bool:
    namespace, _, agent_name = text.rpartition("/")
    try:
        return Scope(namespace=namespace, agent_name=agent_name).key == text
    except InvalidMemoryRequest:
        return False


def _all(policy: ScopePolicy | StorePolicy) -> list[str]:
    own = (policy.by_temporal_namespace or {}).values()
    # A text is a sequence of texts too, and the `*` in it would allow everything.
    if any(isinstance(patterns, str) for patterns in (policy.patterns, *own)):
        raise InvalidMemoryRequest("the patterns of an allow-list are a list, not one text")
    return [*policy.patterns, *(pattern for patterns in own for pattern in patterns)]


def _own(policy: ScopePolicy | StorePolicy, temporal_namespace: str) -> Sequence[str]:
    return (policy.by_temporal_namespace or {}).get(temporal_namespace, policy.patterns)


def _covers(pattern: str, key: str) -> bool:
    if pattern.endswith("/*"):
        return key.startswith(pattern.removesuffix("*"))
    return pattern in (EVERY_SCOPE, key)
