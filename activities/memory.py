"""The memory activities: public, stable names, one plain-JSON record in and one out.

They take `Any` and validate it themselves: a typed argument that fails to decode would be retried
for ever. The records are in `durable_memory.notebook`; any language can call them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from temporalio import activity

from ..notebook import (
    DELETE,
    LOAD_SNAPSHOT,
    READ,
    SEARCH,
    SETTLE,
    WRITE,
    MutationRequest,
    ReadRequest,
    Scope,
    ScopePolicy,
    SearchRequest,
    SettleRequest,
    SnapshotRequest,
)
from ..stores import MemoryStore
from . import lookups, mutations
from .gate import Gate, StoreResolver
from .telemetry import Telemetry


class MemoryActivities:
    """The memory activities of one worker.

    Every activity raises `ApplicationError` with the type of an error of
    `durable_memory.notebook.errors` and its retry verdict.

    Args:
        store: The store, or a resolver that chooses one by scope. A resolver is asked on every
            call, so it can open its pool lazily, and should keep it.
        policy: Which scopes this worker serves; every scope by default.
        telemetry: Spans and metrics; by default with a hash key that lives with the process.
    """

    def __init__(
        self,
        store: MemoryStore | StoreResolver,
        *,
        policy: ScopePolicy | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        self._gate: Gate[Scope, MemoryStore] = Gate(
            resolve=_always(store) if isinstance(store, MemoryStore) else store,
            policy=policy or ScopePolicy(),
            telemetry=telemetry or Telemetry(),
        )

    @property
    def activities(self) -> Sequence[Callable[..., Any]]:
        """The activities, to register on a worker."""
        return [
            self.load_snapshot,
            self.write,
            self.read,
            self.delete,
            self.search,
            self.settle,
        ]

    @activity.defn(name=LOAD_SNAPSHOT)
    async def load_snapshot(self, request: Any) -> dict[str, Any]:
        """`SnapshotRequest` in, `SnapshotResponse` out."""
        async with self._gate.enter(SnapshotRequest, request) as visit:
            return (await lookups.load_snapshot(visit)).wire()

    @activity.defn(name=WRITE)
    async def write(self, request: Any) -> dict[str, Any]:
        """`MutationRequest` in, `MutationResponse` out; an edit without `op` is a write."""
        async with self._gate.enter(MutationRequest, request) as visit:
            return (await mutations.mutate(visit, op="write")).wire()

    @activity.defn(name=DELETE)
    async def delete(self, request: Any) -> dict[str, Any]:
        """`MutationRequest` in, `MutationResponse` out; an edit without `op` is a delete."""
        async with self._gate.enter(MutationRequest, request) as visit:
            return (await mutations.mutate(visit, op="delete")).wire()

    @activity.defn(name=READ)
    async def read(self, request: Any) -> dict[str, Any]:
        """`ReadRequest` in, `ReadResponse` out."""
        async with self._gate.enter(ReadRequest, request) as visit:
            return (await lookups.read(visit)).wire()

    @activity.defn(name=SEARCH)
    async def search(self, request: Any) -> dict[str, Any]:
        """`SearchRequest` in, `SearchResponse` out."""
        async with self._gate.enter(SearchRequest, request) as visit:
            return (await lookups.search(visit)).wire()

    @activity.defn(name=SETTLE)
    async def settle(self, request: Any) -> dict[str, Any]:
        """`SettleRequest` in, `SettleResponse` out."""
        async with self._gate.enter(SettleRequest, request) as visit:
            return (await mutations.settle(visit)).wire()


def _always(store: MemoryStore) -> StoreResolver:
    async def resolve(_scope: Scope) -> MemoryStore:
        return store

    return resolve
