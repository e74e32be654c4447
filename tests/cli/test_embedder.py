"""The worker as it embeds what it saves, by its environment alone."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio
from benches import Bench
from entry_scripts import MixedWorkflow
from temporalio.worker import Worker

from durable_memory.cli.faults import until
from durable_memory.notebook import EMBEDDING_SCHEDULE
from durable_memory.stores import PostgresEntryStore, create_pool, migrate

Ask = Callable[..., Any]


@pytest_asyncio.fixture
async def memory(bench: Bench, empty_database_url: str) -> dict[str, Any]:
    """Ann's memory, which the bench's worker serves."""
    await migrate(empty_database_url)
    async with await create_pool(empty_database_url) as pool:
        await PostgresEntryStore(pool).create_store("notes", creator="USER:tests")
    return {"store": "notes", "actor": "ann", "task_queue": bench.queue}


@pytest_asyncio.fixture
async def ask(bench: Bench, memory: dict[str, Any]) -> AsyncIterator[Ask]:
    """Makes one call on the memory in a workflow, and returns what the model is told."""
    queue = f"queue-{uuid.uuid4().hex}"

    async def call(tool: str, **arguments: str) -> str:
        done = await bench.client.execute_workflow(
            MixedWorkflow.run,
            args=[[memory], [[tool, arguments]]],
            id=uuid.uuid4().hex,
            task_queue=queue,
        )
        return str(done["texts"][0])

    async with Worker(bench.client, task_queue=queue, workflows=[MixedWorkflow]):
        yield call


@pytest_asyncio.fixture
async def schedule(bench: Bench) -> AsyncIterator[str]:
    """Id of the schedule that the bench's worker makes; gone after the test."""
    yield (name := f"{EMBEDDING_SCHEDULE}-{bench.queue}")
    await bench.client.get_schedule_handle(name).delete()


@pytest.mark.usefixtures("schedule")
async def test_saved_entry_is_found_by_meaning(
    bench: Bench, empty_database_url: str, ask: Ask
) -> None:
    """What one worker saved is found by words it does not hold, by the next worker too."""

    async def found() -> bool:
        return "/pets.md" in await ask("search_memory", query="animals")

    variables = {"STORE": empty_database_url, "EMBEDDER": "wordllama:"}
    async with bench.worker(**variables) as worker:
        await ask("save_memory", path="/pets.md", content="My dog and my cat sleep all day.")
        await worker.while_up(until(found, "the entry"))
        assert await worker.stop() == 0
    async with bench.worker(**variables) as worker:
        assert await worker.while_up(found())
        assert await worker.stop() == 0


async def test_without_an_embedder_search_goes_by_words(
    bench: Bench, empty_database_url: str, ask: Ask
) -> None:
    """Nothing is embedded unless the environment says so."""
    async with bench.worker(STORE=empty_database_url):
        await ask("save_memory", path="/pets.md", content="My dog and my cat sleep all day.")
        assert "/pets.md" in await ask("search_memory", query="dog")
        assert "/pets.md" not in await ask("search_memory", query="animals")
