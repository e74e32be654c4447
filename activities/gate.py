"""The way in of every memory activity: validate, admit, resolve the store, observe."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from temporalio import activity

from ..notebook import Scope, ScopedRecord, ScopePolicy
from ..stores import MemoryStore
from .faults import as_application_error
from .telemetry import Observation, Telemetry

StoreResolver = Callable[[Scope], Awaitable[MemoryStore]]
"""Chooses the store of a scope: one for all, or one for each tenant."""


RequestT = TypeVar("RequestT", bound=ScopedRecord)


@dataclass(frozen=True, kw_only=True, slots=True)
class Visit(Generic[RequestT]):
    """One activity's run: its request, and what it may work on."""

    request: RequestT
    scope: Scope
    store: MemoryStore
    observation: Observation
    telemetry: Telemetry

    def store_call(self, name: str) -> AbstractContextManager[None]:
        """Span one call of the store."""
        return self.telemetry.store_call(name, type(self.store).__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """What all memory activities of a worker share."""

    resolve: StoreResolver
    policy: ScopePolicy
    telemetry: Telemetry

    @asynccontextmanager
    async def enter(self, record: type[RequestT], raw: object) -> AsyncIterator[Visit[RequestT]]:
        """Open one activity's run.

        Raises:
            ApplicationError: Any error of the run, by its stable type.
        """
        info = activity.info()
        with as_application_error(), self.telemetry.observe(info.activity_type) as observation:
            request = record.parse(raw)
            scope = self.policy.admit(info.namespace, request.scope.scope())
            observation.note(scope_hash=self.telemetry.scope_hash(scope), attempt=info.attempt)
            store = await self.resolve(scope)
            observation.note(backend=type(store).__name__)
            yield Visit(
                request=request,
                scope=scope,
                store=store,
                observation=observation,
                telemetry=self.telemetry,
            )
