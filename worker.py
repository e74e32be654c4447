"""The worker process: settings → store → activities → worker.

Runs as `durable-memory worker`, `python -m durable_memory.worker` or `python worker.py`. Serves the
memory activities, and the reference agent where a model is set. Exit codes: 0 after SIGTERM or
SIGINT, 1 when Temporal cannot be reached or fails, 2 when a variable cannot be used.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import Any

from temporalio.client import Client, Interceptor
from temporalio.worker import Worker

from durable_memory import logs
from durable_memory.activities import (
    EmbeddingActivities,
    EmbeddingNudger,
    EmbeddingNudges,
    ModelActivities,
    OpenAIChatModel,
    ScriptedModel,
    Telemetry,
)
from durable_memory.connection import TemporalUnreachable, connect
from durable_memory.embedding import open_embedder, schedule_id, try_schedule
from durable_memory.exits import leave
from durable_memory.notebook import (
    InvalidMemoryRequest,
    MemorySchemaMismatch,
    MemoryStoreRefused,
    MemoryStoreUnavailable,
    Scope,
)
from durable_memory.plugin import EPHEMERAL, LazyStore, MemoryPlugin
from durable_memory.settings import (
    NO_EMBEDDER,
    SCRIPTED_MODEL,
    Settings,
    SettingsError,
)
from durable_memory.stores import Embedder, EmbeddingQueue, PostgresMemoryStore, open_store
from durable_memory.workflows import AgentWorkflow, EmbeddingWorkflow

_OTLP = tuple(f"OTEL_EXPORTER_OTLP_{signal}ENDPOINT" for signal in ("", "TRACES_", "METRICS_"))

_log = logging.getLogger("durable_memory.worker")


def main() -> int:
    """Run the worker until a signal comes, and return the exit code."""
    try:
        settings = Settings.load()
        logs.configure(level=settings.log_level, as_json=settings.log_format == "json")
        asyncio.run(serve(settings))
    except SettingsError as error:
        sys.stderr.write(f"durable-memory: {error}\n")
        return 2
    except TemporalUnreachable as error:
        sys.stderr.write(f"durable-memory: {error}\n")
        return 1
    return 0


async def serve(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT; then let running activities end, and close everything.

    Raises:
        SettingsError: The database or Temporal's configuration refuses what a variable says.
        TemporalUnreachable: Temporal cannot be reached.
    """
    stopped = _signals()
    with _exporting() as interceptors:
        async with (
            _lazy_store(settings) as store,
            _model(settings) as model,
            open_embedder(settings) as embedder,
        ):
            await _try_store(store)
            client = await connect(
                metrics_address=settings.metrics_address, interceptors=interceptors
            )
            if embedder:
                await try_schedule(settings, client)
            async with build_worker(settings, client, store=store, model=model, embedder=embedder):
                _announce(settings)
                await stopped.wait()
                _log.info("stopping")
    _log.info("stopped")


def build_worker(
    settings: Settings,
    client: Client,
    *,
    store: LazyStore,
    model: ModelActivities | None,
    embedder: Embedder | None = None,
) -> Worker:
    """Put the worker together.

    Args:
        settings: Queue, allow-list, time to shut down.
        client: Connected to Temporal.
        store: Opened when it is first needed.
        model: Asks the reference agent's model; without one the agent is not served.
        embedder: Embeds entries and what is searched for; without one search goes by words.
    """
    key = settings.telemetry_key.get_secret_value().encode()
    telemetry = Telemetry(key or None)
    plugin = MemoryPlugin(
        store,
        policy=settings.policy,
        telemetry=telemetry,
        entry_policy=settings.entry_policy,
        embedder=embedder,
    )
    activities: list[Callable[..., Any]] = [model.complete] if model else []
    workflows: list[type] = [AgentWorkflow] if model else []
    if embedder:
        embedding = EmbeddingActivities(_queue_of(store), embedder, telemetry=telemetry)
        activities += embedding.activities
        workflows.append(EmbeddingWorkflow)
    nudges = EmbeddingNudges(EmbeddingNudger(client, schedule_id=schedule_id(settings)))
    return Worker(
        client,
        task_queue=settings.task_queue,
        activities=activities,
        workflows=workflows,
        plugins=[plugin],
        interceptors=[nudges] if embedder else [],
        graceful_shutdown_timeout=settings.shutdown_timeout,
    )


def _exporting() -> AbstractContextManager[Sequence[Interceptor]]:
    """Export spans and metrics where OpenTelemetry's variables ask for it."""
    if not any(os.environ.get(name) for name in _OTLP):
        return nullcontext(())
    try:
        # An extra: most workers do without the SDK of OpenTelemetry.
        from durable_memory.tracing import exporting  # noqa: PLC0415
    except ModuleNotFoundError:
        _log.warning("an OTEL_* endpoint is set, and durable-memory[otel] is not installed")
        return nullcontext(())
    return exporting()


@asynccontextmanager
async def _lazy_store(settings: Settings) -> AsyncIterator[LazyStore]:
    store = LazyStore(
        lambda: open_store(
            settings.store.get_secret_value(),
            min_size=settings.pool_min_size,
            max_size=settings.pool_max_size,
            transaction_pooling=settings.transaction_pooling,
            migrate=settings.migrate,
        )
    )
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def _model(settings: Settings) -> AsyncIterator[ModelActivities | None]:
    if not settings.model_base_url:
        yield None
    elif settings.model_base_url == SCRIPTED_MODEL:
        yield ModelActivities(ScriptedModel())
    else:
        api_key = settings.model_api_key.get_secret_value() or None
        model = OpenAIChatModel(settings.model_base_url, settings.model_name, api_key=api_key)
        async with model:
            yield ModelActivities(model)


def _queue_of(store: LazyStore) -> Callable[[], Awaitable[EmbeddingQueue]]:
    async def resolve() -> EmbeddingQueue:
        opened = await store(Scope())
        if not isinstance(opened, PostgresMemoryStore):
            raise InvalidMemoryRequest("embedding needs PostgreSQL")
        return opened.embedding_queue()

    return resolve


async def _try_store(store: LazyStore) -> None:
    """Open the store now if that is possible, so that a wrong URL is found at the start.

    A database that does not answer is waited for by each activity, not here.
    """
    try:
        await store(Scope())
    except (InvalidMemoryRequest, MemorySchemaMismatch, MemoryStoreRefused) as error:
        raise SettingsError(f"DURABLE_MEMORY_STORE: {error}") from None
    except MemoryStoreUnavailable as error:
        _log.warning("the database does not answer yet; activities are retried", exc_info=error)


def _announce(settings: Settings) -> None:
    _log.info(
        "serving",
        extra=logs.fields(
            task_queue=settings.task_queue,
            durable=settings.durable,
            agent=bool(settings.model_base_url),
            embedder=settings.has_vectors and settings.embedder != NO_EMBEDDER,
        ),
    )
    if not settings.durable:
        _log.warning(EPHEMERAL)


def _signals() -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set."""
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    return stopped


if __name__ == "__main__":
    leave(main())
