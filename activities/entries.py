"""The activities for entries: public, stable names, as those in `memory.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from temporalio import activity

from ..notebook import (
    FORGET_ENTRY,
    LIST_ENTRIES,
    SAVE_ENTRY,
    SEARCH_ENTRIES,
    SETTLE_ENTRY,
    EntryListRequest,
    EntryMutationRequest,
    EntrySearchRequest,
    EntrySettleRequest,
    Partition,
    StorePolicy,
)
from ..stores import EntryStore
from . import recall, saves
from .gate import EntryStoreResolver, Gate
from .telemetry import Telemetry


class EntryActivities:
    """The activities for entries of one worker; errors as `MemoryActivities`.

    Args:
        store: The store of entries, or a resolver that chooses one by partition. A resolver is
            asked on every call, so it can open its pool lazily, and should keep it.
        policy: Which memory stores this worker serves; every one by default.
        telemetry: Spans and metrics; by default with a hash key that lives with the process.
    """

    def __init__(
        self,
        store: EntryStore | EntryStoreResolver,
        *,
        policy: StorePolicy | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        self._gate: Gate[Partition, EntryStore] = Gate(
            resolve=_always(store) if isinstance(store, EntryStore) else store,
            policy=policy or StorePolicy(),
            telemetry=telemetry or Telemetry(),
        )

    @property
    def activities(self) -> Sequence[Callable[..., Any]]:
        """The activities, to register on a worker."""
        return [
            self.save_entry,
            self.list_entries,
            self.search_entries,
            self.forget_entry,
            self.settle_entry,
        ]

    @activity.defn(name=SAVE_ENTRY)
    async def save_entry(self, request: Any) -> dict[str, Any]:
        """`EntryMutationRequest` in, `EntryMutationResponse` out; an edit without `op` saves."""
        async with self._gate.enter(EntryMutationRequest, request) as visit:
            return (await saves.mutate(visit, op="save")).wire()

    @activity.defn(name=FORGET_ENTRY)
    async def forget_entry(self, request: Any) -> dict[str, Any]:
        """`EntryMutationRequest` in, `EntryMutationResponse` out; an edit without `op` forgets."""
        async with self._gate.enter(EntryMutationRequest, request) as visit:
            return (await saves.mutate(visit, op="forget")).wire()

    @activity.defn(name=LIST_ENTRIES)
    async def list_entries(self, request: Any) -> dict[str, Any]:
        """`EntryListRequest` in, `EntryListResponse` out."""
        async with self._gate.enter(EntryListRequest, request) as visit:
            return (await recall.list_entries(visit)).wire()

    @activity.defn(name=SEARCH_ENTRIES)
    async def search_entries(self, request: Any) -> dict[str, Any]:
        """`EntrySearchRequest` in, `EntrySearchResponse` out."""
        async with self._gate.enter(EntrySearchRequest, request) as visit:
            return (await recall.search_entries(visit)).wire()

    @activity.defn(name=SETTLE_ENTRY)
    async def settle_entry(self, request: Any) -> dict[str, Any]:
        """`EntrySettleRequest` in, `SettleResponse` out."""
        async with self._gate.enter(EntrySettleRequest, request) as visit:
            return (await saves.settle(visit)).wire()


def _always(store: EntryStore) -> EntryStoreResolver:
    async def resolve(_partition: Partition) -> EntryStore:
        return store

    return resolve
