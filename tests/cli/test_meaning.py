"""Search by meaning over HTTP: the service writes and asks, a worker beside it embeds."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from benches import Bench
from services import STORES, Service, environment, serving

from durable_memory.cli.faults import until
from durable_memory.notebook import EMBEDDING_SCHEDULE
from durable_memory.stores import (
    PostgresTokenStore,
    Principal,
    PrincipalType,
    create_pool,
    issue_token,
    migrate,
)

PETS = "My dog and my cat sleep all day."
TAXES = "The tax office wants the form back."
NOWHERE = "127.0.0.1:1"


class Notes:
    """Ann's entries in a memory store of her own, over HTTP."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._entries = f"{STORES}/notes/entries"

    async def put(self, content: str) -> None:
        """Make `/note.md` say that."""
        body = {"actor_id": "ann", "path": "/note.md", "content": content}
        answer = await self._http.post("/v1/memory-stores/notes/entries:put", json=body)
        assert answer.status_code == 200, answer.text

    async def finds(self, query: str) -> bool:
        """Whether the note answers a query."""
        body = {"actor_id": "ann", "query": query}
        answer = await self._http.post(f"{self._entries}:search", json=body)
        return bool(answer.json()["results"])


@pytest_asyncio.fixture
async def database(empty_database_url: str) -> tuple[str, str]:
    """URL of a migrated database, and a token for it."""
    await migrate(empty_database_url)
    text, token = issue_token(Principal(type=PrincipalType.USER, name="ann"), admin=False)
    async with await create_pool(empty_database_url) as pool:
        await PostgresTokenStore(pool).add_token(token)
    return empty_database_url, text


@pytest.fixture
def variables(bench: Bench) -> dict[str, str]:
    """What the service is told beside its store."""
    return {
        "DURABLE_MEMORY_EMBEDDER": "wordllama:",
        "DURABLE_MEMORY_TASK_QUEUE": bench.queue,
        "TEMPORAL_ADDRESS": bench.client.service_client.config.target_host,
    }


@asynccontextmanager
async def notes_of(service: Service, token: str) -> AsyncIterator[Notes]:
    """Open Ann's notes, in a new memory store."""
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=service.url, headers=headers, timeout=30) as http:
        made = await http.post(STORES, params={"managed_memory_store_id": "notes"}, json={})
        assert made.status_code == 200, made.text
        yield Notes(http)


async def test_written_entry_is_found_by_meaning(
    bench: Bench, database: tuple[str, str], variables: dict[str, str], tmp_path: Path
) -> None:
    """A write over HTTP has itself embedded at once; what it replaces is never found."""
    url, token = database
    schedule = bench.client.get_schedule_handle(f"{EMBEDDING_SCHEDULE}-{bench.queue}")
    async with bench.worker(STORE=url, EMBEDDER="wordllama:") as worker:
        await worker.while_up(bench.logged("serving"))
        # The clock starts nothing now: what is embedded was nudged.
        await schedule.pause()
        with serving(url, tmp_path / "log", **variables) as service:
            async with notes_of(service, token) as notes:
                await notes.put(PETS)
                await worker.while_up(until(lambda: notes.finds("animals"), "the entry"))
                assert await _typed("animals", url, EMBEDDER="wordllama:") == [PETS]
                assert await _typed("animals", url) == []
                assert await worker.stop() == 0
                await notes.put(TAXES)
                assert not await notes.finds("animals")
                assert await notes.finds("office")
    await schedule.delete()


async def _typed(query: str, url: str, **variables: str) -> list[str]:
    """Return what `durable-memory entries search` finds of Ann's."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "durable_memory.cli", "entries", "search", "notes", query),
        *("--actor", "ann", "--json"),
        env={
            **environment(DURABLE_MEMORY_STORE=url),
            **{f"DURABLE_MEMORY_{name}": value for name, value in variables.items()},
        },
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await process.communicate()
    return [match["entry"]["content"] for match in json.loads(printed)]


async def test_writes_go_on_without_temporal(
    database: tuple[str, str], variables: dict[str, str], tmp_path: Path
) -> None:
    """Where Temporal does not answer, writes and search by words do, and the log says so once."""
    url, token = database
    log = tmp_path / "log"
    with serving(url, log, **{**variables, "TEMPORAL_ADDRESS": NOWHERE}) as service:
        async with notes_of(service, token) as notes:
            await notes.put(PETS)
            assert await notes.finds("dog")
            await until(lambda: _warned(log), "the warning")
            await notes.put(TAXES)
            assert not await notes.finds("dog")
    assert log.read_text().count("nudged") == 1


async def _warned(log: Path) -> bool:
    return "nudged" in log.read_text()
