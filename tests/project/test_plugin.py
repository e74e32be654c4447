"""The plugin: one line on a client or a worker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import runs
from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory.notebook import Scope, ScopePolicy
from durable_memory.plugin import LazyStore, MemoryPlugin
from durable_memory.stores import InMemoryStore, MemoryStore
from scripts import ScriptWorkflow, write


def with_plugin(client: Client, plugin: MemoryPlugin) -> Client:
    """The same client, with a plugin."""
    config = client.config()
    config["plugins"] = [plugin]
    return Client(**config)


async def test_plugin_on_client_and_worker_registers_once(temporal_client: Client) -> None:
    """The plugin may stand on the client, the worker, or both: the activities are there once."""
    client = with_plugin(temporal_client, MemoryPlugin("memory:"))
    with pytest.warns(UserWarning, match="present from both"):
        worker = Worker(
            client,
            task_queue=(queue := runs.unique("plugin")),
            workflows=[ScriptWorkflow],
            plugins=[MemoryPlugin("memory:")],
        )
    async with worker:
        (result,) = await runs.run(client, queue, {}, write("hello"))
    assert result["data"]["status"] == "created"


async def test_plugin_sets_no_data_converter(temporal_client: Client) -> None:
    """A client keeps its data converter: other plugins may set theirs."""
    before = temporal_client.config()["data_converter"]
    client = with_plugin(temporal_client, MemoryPlugin("memory:"))
    assert client.config()["data_converter"] is before


async def test_store_of_the_caller_is_not_closed(temporal_client: Client) -> None:
    """A store that was given open is the caller's, and works on after the worker has ended."""
    store = InMemoryStore()
    plugin = MemoryPlugin(store, policy=ScopePolicy(patterns=["main"]))
    async with Worker(
        temporal_client,
        task_queue=(queue := runs.unique("plugin")),
        workflows=[ScriptWorkflow],
        plugins=[plugin],
    ):
        await runs.run(temporal_client, queue, {}, write("hello"))
    assert await store.read(Scope().path("MEMORY.md"), max_chars=10) is not None


async def test_lazy_store_opens_once_and_again() -> None:
    """A lazy store opens at the first call, fails as often as opening fails, and closes once."""
    said: list[str] = []

    @asynccontextmanager
    async def open_() -> AsyncIterator[MemoryStore]:
        said.append("open")
        if len(said) == 1:
            raise ConnectionRefusedError
        yield InMemoryStore()
        said.append("close")

    lazy = LazyStore(open_)
    await lazy.close()
    assert said == []
    for _ in range(3):
        try:
            await lazy(Scope())
        except ConnectionRefusedError:
            said.append("failed")
    await lazy.close()
    await lazy.close()
    assert said == ["open", "failed", "open", "close"]
