"""`MemoryPlugin`: one line that gives a worker the memory activities."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

from temporalio import activity
from temporalio.plugin import SimplePlugin

from durable_memory.activities import MemoryActivities, StoreResolver, Telemetry
from durable_memory.notebook import Scope, ScopePolicy
from durable_memory.stores import MemoryStore, open_store

OpenStore = Callable[[], AbstractAsyncContextManager[MemoryStore]]
"""Opens a store on entering, and closes it on leaving."""


class LazyStore:
    """A store that is opened when an activity first needs it.

    A worker can therefore start, and stay up, while the database is down: each call tries again,
    and fails with a retryable error until it is there. Call it with a scope, as a resolver.

    Args:
        open_: Opens the store.
    """

    def __init__(self, open_: OpenStore) -> None:
        self._open = open_
        self._lock = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._store: MemoryStore | None = None

    async def __call__(self, _scope: Scope) -> MemoryStore:
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
    `Replayer`), and closed with the worker if the plugin opened it. Sets no data converter, and
    registers the activities once, also when it stands on both the client and the worker.

    Args:
        store: A URL (`postgresql://...`, `memory:`), which the plugin opens and closes; or a store
            or a resolver of yours, which it does not close.
        policy: Which scopes the worker serves; every scope by default.
        telemetry: Spans and metrics.
    """

    def __init__(
        self,
        store: str | MemoryStore | StoreResolver,
        *,
        policy: ScopePolicy | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        self._lazy = LazyStore(lambda: open_store(store)) if isinstance(store, str) else None
        self._activities = MemoryActivities(
            self._lazy or store,  # type: ignore[arg-type]  # a string became lazy
            policy=policy,
            telemetry=telemetry,
        )
        super().__init__(
            "durable_memory.MemoryPlugin",
            activities=self._with_activities,
            run_context=self._running,
        )

    def _with_activities(
        self, existing: Sequence[Callable[..., Any]] | None
    ) -> Sequence[Callable[..., Any]]:
        present = list(existing or ())
        names = {_name(each) for each in present}
        return [*present, *(own for own in self._activities.activities if _name(own) not in names)]

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            if self._lazy is not None:
                await self._lazy.close()


def _name(function: Callable[..., Any]) -> str | None:
    definition = activity._Definition.from_callable(function)  # noqa: SLF001  (no public way)
    return definition.name if definition else None
