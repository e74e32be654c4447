"""The worker process: settings → store → activities → worker.

Runs as `durable-memory worker`, `python -m durable_memory.worker` or `python worker.py`. Serves the
memory activities, and the reference agent where a model is set. Exit codes: 0 after SIGTERM or
SIGINT, 1 when Temporal cannot be reached or fails, 2 when a variable cannot be used.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from temporalio.client import Client
from temporalio.envconfig import ClientConfig
from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)
from temporalio.worker import Worker

from durable_memory import logs
from durable_memory.activities import ModelActivities, OpenAIChatModel, ScriptedModel, Telemetry
from durable_memory.exits import leave
from durable_memory.notebook import InvalidMemoryRequest, MemoryStoreUnavailable, Scope
from durable_memory.plugin import LazyStore, MemoryPlugin
from durable_memory.settings import SCRIPTED_MODEL, Settings, SettingsError
from durable_memory.stores import MemorySchemaMismatch, open_store
from durable_memory.workflows import AgentWorkflow

_DEFAULT_ADDRESS = "localhost:7233"
# What the database itself says of a wrong URL: no such database, a refused login.
_WRONG_URL = {"3D000", "28000", "28P01"}

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
    except ConnectionError as error:
        sys.stderr.write(f"durable-memory: {error}\n")
        return 1
    return 0


async def serve(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT; then let running activities end, and close everything.

    Raises:
        SettingsError: The database or Temporal's configuration refuses what a variable says.
        ConnectionError: Temporal cannot be reached.
    """
    stopped = _signals()
    async with _lazy_store(settings) as store, _model(settings) as model:
        await _try_store(store)
        worker = build_worker(settings, await connect(), store=store, model=model)
        async with worker:
            _announce(settings)
            await stopped.wait()
            _log.info("stopping")
    _log.info("stopped")


def build_worker(
    settings: Settings, client: Client, *, store: LazyStore, model: ModelActivities | None
) -> Worker:
    """Put the worker together.

    Args:
        settings: Queue, allow-list, time to shut down.
        client: Connected to Temporal.
        store: Opened when it is first needed.
        model: Asks the reference agent's model; without one the agent is not served.
    """
    key = settings.telemetry_key.get_secret_value().encode()
    plugin = MemoryPlugin(store, policy=settings.policy, telemetry=Telemetry(key or None))
    return Worker(
        client,
        task_queue=settings.task_queue,
        activities=[model.complete] if model else [],
        workflows=[AgentWorkflow] if model else [],
        plugins=[plugin],
        graceful_shutdown_timeout=settings.shutdown_timeout,
    )


async def connect() -> Client:
    """Connect to Temporal as its own environment variables and `temporal.toml` say.

    Raises:
        SettingsError: They cannot be used.
        ConnectionError: The server does not answer.
    """
    try:
        config = ClientConfig.load_client_connect_config()
    except Exception as error:  # noqa: BLE001  (the SDK names no class for it)
        # Only the first line: the next ones quote the file, which may hold a key.
        reason = str(error).split("\n", 1)[0]
        raise SettingsError(f"TEMPORAL_* or temporal.toml: {reason}") from None
    config.setdefault("target_host", _DEFAULT_ADDRESS)
    try:
        return await Client.connect(**config, runtime=_runtime())
    except ValueError:
        raise SettingsError("TEMPORAL_ADDRESS: is not host:port") from None
    except RuntimeError:
        address = config["target_host"]
        raise ConnectionError(f"Temporal does not answer at {address}") from None


def _runtime() -> Runtime:
    """Return a runtime whose own logs go where ours go; their fields may hold what failed."""
    forwarding = LogForwardingConfig(
        logger=logging.getLogger("temporalio"), append_log_fields_to_message=False
    )
    logging_ = LoggingConfig(
        filter=TelemetryFilter(core_level="WARN", other_level="ERROR"), forwarding=forwarding
    )
    return Runtime(telemetry=TelemetryConfig(logging=logging_))


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


async def _try_store(store: LazyStore) -> None:
    """Open the store now if that is possible, so that a wrong URL is found at the start.

    A database that does not answer is waited for by each activity, not here.
    """
    try:
        await store(Scope())
    except (InvalidMemoryRequest, MemorySchemaMismatch) as error:
        raise SettingsError(f"DURABLE_MEMORY_STORE: {error}") from None
    except MemoryStoreUnavailable as error:
        if getattr(error.__cause__, "sqlstate", None) in _WRONG_URL:
            raise SettingsError(f"DURABLE_MEMORY_STORE: {error}") from None
        _log.warning("the database does not answer yet; activities are retried", exc_info=error)


def _announce(settings: Settings) -> None:
    _log.info(
        "serving",
        extra=logs.fields(
            task_queue=settings.task_queue,
            durable=settings.durable,
            agent=bool(settings.model_base_url),
        ),
    )
    if not settings.durable:
        _log.warning("memory ends with this process: DURABLE_MEMORY_STORE is memory:")


def _signals() -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set."""
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    return stopped


if __name__ == "__main__":
    leave(main())
