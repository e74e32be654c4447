"""`MemoryPlugin`: one line that gives a worker the memory activities."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any
from weakref import WeakSet

from temporalio import activity
from temporalio.plugin import SimplePlugin

from durable_memory.activities import (
    EntryActivities,
    EntryStoreResolver,
    MemoryActivities,
    StoreResolver,
    Telemetry,
)
from durable_memory.notebook import (
    InvalidMemoryRequest,
    Partition,
    Scope,
    ScopePolicy,
    StorePolicy,
)
from durable_memory.stores import (
    IN_MEMORY,
    Embedder,
    EntryStore,
    MemoryStore,
    entries_of,
    open_store,
)

OpenStore = Callable[[], AbstractAsyncContextManager[MemoryStore]]
"""Opens a store on entering, and closes it on leaving."""

EPHEMERAL = f"memory ends with this process: its store is {IN_MEMORY}"
"""What a worker warns of when it starts on a store that does not last."""

_log = logging.getLogger("durable_memory.plugin")

_owners: WeakSet[Any] = WeakSet()
"""Who holds the activities of the plugins of this process."""


class LazyStore:
    """A store that is opened when an activity first needs it.

    A worker can therefore start, and stay up, while the database is down: each call tries again,
    and fails with a retryable error until it is there. Call it as a resolver.

    Args:
        open_: Opens the store.
    """

    def __init__(self, open_: OpenStore) -> None:
        self._open = open_
        self._lock = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._store: MemoryStore | None = None

    async def __call__(self, _scope: Scope | Partition) -> MemoryStore:
        """Return the store, opened."""
        async with self._lock:
            if self._store is None:
                self._store = await self._stack.enter_async_context(self._open())
            return self._store

    async def close(self) -> None:
        """Close the store if it was opened; it opens again when it is needed again."""
        async with self._lock:
            self._store = None
            await self._stack.aclose()


class MemoryPlugin(SimplePlugin):
    """Registers the memory activities on a worker; one line on the client or the worker.

    The store is opened when the first activity needs it (a plugin's run context also runs for the
    `Replayer`), and closed with the last of its workers if the plugin opened it. Sets no data
    converter, and registers the activities once: where one plugin stands on the client and another
    on the worker, the worker's serves, with its store and its policies.

    Args:
        store: A URL (`postgresql://...`, `memory:`), which the plugin opens and closes; or a store
            or a resolver of yours, which it does not close.
        policy: Which scopes the worker serves; every scope by default.
        telemetry: Spans and metrics.
        entries: Where entries are; by default beside the notebooks, in a store that keeps both
            (PostgreSQL). In any other, the activities for entries fail by `InvalidMemoryRequest`;
            beside a resolver of yours they are not registered.
        entry_policy: Which memory stores of entries the worker serves; every one by default.
        embedder: Adds meaning to the search in entries beside the notebooks.
    """

    def __init__(
        self,
        store: str | MemoryStore | StoreResolver,
        *,
        policy: ScopePolicy | None = None,
        telemetry: Telemetry | None = None,
        entries: EntryStore | EntryStoreResolver | None = None,
        entry_policy: StorePolicy | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        self._lazy = LazyStore(lambda: open_store(store)) if isinstance(store, str) else None
        self._ephemeral = isinstance(store, str) and store == IN_MEMORY
        telemetry = telemetry or Telemetry()
        notebooks: MemoryStore | StoreResolver = self._lazy or store  # type: ignore[assignment]  # a string became lazy
        self._activities = [
            *MemoryActivities(notebooks, policy=policy, telemetry=telemetry).activities
        ]
        entries = entries or _beside(notebooks, embedder)
        if entries is not None:
            self._activities += EntryActivities(
                entries, policy=entry_policy, telemetry=telemetry
            ).activities
        _owners.update(getattr(each, "__self__", None) for each in self._activities)
        self._running_contexts = 0
        super().__init__(
            "durable_memory.MemoryPlugin",
            activities=self._with_activities,
            run_context=self._running,
        )

    def _with_activities(
        self, existing: Sequence[Callable[..., Any]] | None
    ) -> Sequence[Callable[..., Any]]:
        """Add the plugin's own; a worker's plugin takes the place of its client's."""
        own = {_name(each) for each in self._activities}
        others = [each for each in existing or () if not _is_of_a_plugin(each)]
        if twice := own & {_name(each) for each in others}:
            raise InvalidMemoryRequest(
                f"the worker has {min(filter(None, twice))} already: leave it to the plugin, or "
                "leave out the plugin"
            )
        return [*others, *self._activities]

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        if self._ephemeral:
            _log.warning(EPHEMERAL)
        self._running_contexts += 1
        try:
            yield
        finally:
            self._running_contexts -= 1
            # Several workers, and replayers, may run on one plugin: the last one closes.
            if self._lazy is not None and not self._running_contexts:
                await self._lazy.close()


def _is_of_a_plugin(activity_: Callable[..., Any]) -> bool:
    return getattr(activity_, "__self__", None) in _owners


def _beside(
    notebooks: MemoryStore | StoreResolver, embedder: Embedder | None
) -> EntryStoreResolver | None:
    """Return a resolver of the entries beside the notebooks, where one store keeps both for all."""

    async def resolve(partition: Partition) -> EntryStore:
        store = await notebooks(partition) if isinstance(notebooks, LazyStore) else notebooks
        return entries_of(store, embedder=embedder)  # type: ignore[arg-type]  # as asked below

    return resolve if isinstance(notebooks, LazyStore | MemoryStore) else None


def _name(function: Callable[..., Any]) -> str | None:
    definition = activity._Definition.from_callable(function)  # noqa: SLF001  (no public way)
    return definition.name if definition else None
