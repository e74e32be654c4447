"""One worker, a store for each tenant, chosen by a function."""

from __future__ import annotations

from pathlib import Path

import runs
from temporalio.client import Client

from durable_memory.activities import MemoryActivities
from durable_memory.notebook import Scope
from durable_memory.stores import FileMemoryStore, InMemoryStore, MemoryStore, SqliteMemoryStore
from durable_memory.testing.base import content_of
from scripts import ByNameWorkflow


async def test_function_chooses_the_store_of_each_tenant(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Each tenant's memory is in the store that the function names, and in no other."""
    files, database = FileMemoryStore(tmp_path / "acme"), SqliteMemoryStore(tmp_path / "globex.db")
    stores: dict[str, MemoryStore] = {"acme": files, "globex": database, "": InMemoryStore()}

    async def store_of(scope: Scope) -> MemoryStore:
        return stores[scope.namespace.partition("/")[0]]

    async with (
        files,
        database,
        runs.worker(
            temporal_client,
            queue := runs.unique("tenants"),
            activities=MemoryActivities(store_of).activities,
            workflows=[ByNameWorkflow],
        ),
    ):
        for tenant in stores:
            record = {
                "scope": {"namespace": tenant and f"{tenant}/mina"},
                "edits": [{"content": f"of {tenant}", "call": {"tool_call_id": "t"}}],
            }
            await temporal_client.execute_workflow(
                ByNameWorkflow.run,
                args=["memory.write", record, 0],
                id=runs.unique("tenant"),
                task_queue=queue,
            )
        for tenant, store in stores.items():
            scope = Scope(namespace=tenant and f"{tenant}/mina")
            assert await store.list_paths(limit=10) == [scope.path("MEMORY.md")]
            assert await content_of(store, scope.path("MEMORY.md")) == f"of {tenant}\n"
