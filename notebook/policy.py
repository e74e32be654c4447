"""Which scopes a worker serves.

Any workflow of a Temporal namespace can name any scope, so the worker holds an allow-list. It is
the boundary between tenants of one worker fleet; the database's own rights are another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .errors import InvalidMemoryRequest, MemoryPermissionDenied
from .names import Scope

EVERY_SCOPE = "*"


@dataclass(frozen=True, kw_only=True, slots=True)
class ScopePolicy:
    """An allow-list of scopes for each Temporal namespace.

    A pattern is `*` (every scope), a scope's key (`acme/support`), or a key's beginning followed
    by `/*` (`acme/*`: every scope whose namespace is `acme` or begins with `acme/`).

    Attributes:
        patterns: For every Temporal namespace that has none of its own.
        by_temporal_namespace: For one Temporal namespace, in place of `patterns`.

    Raises:
        InvalidMemoryRequest: A pattern has a `*` anywhere but at its end.
    """

    patterns: Sequence[str] = (EVERY_SCOPE,)
    by_temporal_namespace: Mapping[str, Sequence[str]] | None = None

    def __post_init__(self) -> None:
        for pattern in self._all():
            if "*" in pattern.removesuffix("/*") and pattern != EVERY_SCOPE:
                raise InvalidMemoryRequest(
                    f"scope pattern {pattern!r} is not `*`, a scope, or a beginning with `/*`"
                )

    def _all(self) -> list[str]:
        own = (self.by_temporal_namespace or {}).values()
        return [*self.patterns, *(pattern for patterns in own for pattern in patterns)]

    def admit(self, temporal_namespace: str, scope: Scope) -> Scope:
        """Return `scope` if it may be served; raise `MemoryPermissionDenied` if not."""
        own = self.by_temporal_namespace or {}
        patterns = own.get(temporal_namespace, self.patterns)
        if not any(_covers(pattern, scope.key) for pattern in patterns):
            raise MemoryPermissionDenied
        return scope


def _covers(pattern: str, key: str) -> bool:
    if pattern.endswith("/*"):
        return key.startswith(pattern.removesuffix("*"))
    return pattern in (EVERY_SCOPE, key)
