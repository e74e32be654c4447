"""The way in of every memory activity: validate, admit, resolve the store, observe."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

from temporalio import activity

from ..notebook import Partition, Scope
from ..stores import EntryStore, MemoryStore
from .faults import as_application_error
from .telemetry import Observation, Telemetry

StoreResolver = Callable[[Scope], Awaitable[MemoryStore]]
"""Chooses the store of a scope: one for all, or one for each tenant."""

EntryStoreResolver = Callable[[Partition], Awaitable[EntryStore]]
"""Chooses where a partition's entries are: one place for all, or one for each tenant."""

PlaceT = TypeVar("PlaceT", Scope, Partition)
PlaceT_co = TypeVar("PlaceT_co", bound=Scope | Partition, covariant=True)
StoreT = TypeVar("StoreT")


class PlacedRecord(Protocol[PlaceT_co]):
    """A request that says which scope or partition it is on."""

    @classmethod
    def parse(cls, raw: object) -> Self:
        """Validate plain JSON; raise `InvalidMemoryRequest`."""

    def place(self) -> PlaceT_co:
        """Return the scope or partition; raise `InvalidMemoryRequest`."""


class Policy(Protocol[PlaceT]):
    """An allow-list of a worker."""

    def admit(self, temporal_namespace: str, place: PlaceT, /) -> PlaceT:
        """Return what may be served; raise `MemoryPermissionDenied` if it may not."""


RequestT = TypeVar("RequestT", bound=PlacedRecord[Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class Visit(Generic[RequestT, PlaceT, StoreT]):
    """One activity's run: its request, and what it may work on."""

    request: RequestT
    scope: PlaceT
    store: StoreT
    observation: Observation
    telemetry: Telemetry

    def store_call(self, name: str) -> AbstractContextManager[None]:
        """Span one call of the store."""
        return self.telemetry.store_call(name, type(self.store).__name__)


NotebookVisit = Visit[RequestT, Scope, MemoryStore]
EntryVisit = Visit[RequestT, Partition, EntryStore]


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate(Generic[PlaceT, StoreT]):
    """What all activities of one kind of memory share on a worker."""

    resolve: Callable[[PlaceT], Awaitable[StoreT]]
    policy: Policy[PlaceT]
    telemetry: Telemetry

    @asynccontextmanager
    async def enter(
        self, record: type[RequestT], raw: object
    ) -> AsyncIterator[Visit[RequestT, PlaceT, StoreT]]:
        """Open one activity's run.

        Raises:
            ApplicationError: Any error of the run, by its stable type.
        """
        info = activity.info()
        with as_application_error(), self.telemetry.observe(info.activity_type) as observation:
            request = record.parse(raw)
            scope = self.policy.admit(info.namespace, request.place())
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
