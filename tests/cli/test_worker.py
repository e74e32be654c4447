"""The worker as a process: how it starts, refuses, recovers and stops."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from benches import SCOPE, Bench
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ActivityError, ApplicationError

from durable_memory.cli.embedded import free_port, postgres_server
from durable_memory.cli.errors import CommandError
from durable_memory.cli.faults import row_lock
from durable_memory.cli.processes import worker_process
from durable_memory.cli.running import forever
from durable_memory.notebook import Scope

Start = Callable[..., Awaitable[int]]


@pytest.fixture
def refused(bench: Bench) -> Start:
    """Runs a worker that ends by itself and returns its exit code."""

    async def run(**variables: str) -> int:
        async with bench.worker(**variables) as worker:
            return await worker.wait()

    return run


async def test_a_wrong_url_ends_the_worker(bench: Bench, refused: Start) -> None:
    """A URL that is none is one line with the variable's name, and exit code 2."""
    assert await refused(STORE="postgresql://user:hunter2@db:port/memory") == 2
    assert bench.lines() == [
        "durable-memory: DURABLE_MEMORY_STORE: the database's URL has a host or a port that is none"
    ]


async def test_a_worker_that_ends_says_why(bench: Bench) -> None:
    """Whoever waits for something on a worker that ends is told its exit code and last words."""
    said = "exit code 2: durable-memory: DURABLE_MEMORY_POOL_MAX_SIZE: "
    async with bench.worker(POOL_MAX_SIZE="0") as worker:
        with pytest.raises(CommandError, match=said):
            await worker.while_up(forever())


async def test_a_missing_database_ends_the_worker(
    bench: Bench, refused: Start, postgres_url: str
) -> None:
    """A database the server does not have is one line with the variable's name."""
    assert await refused(STORE=postgres_url.replace("/postgres?", "/absent?")) == 2
    (line,) = bench.lines()
    assert line.startswith("durable-memory: DURABLE_MEMORY_STORE: ")
    assert "absent" not in line


async def test_an_unreachable_temporal_ends_the_worker(bench: Bench, tmp_path: Path) -> None:
    """Without a Temporal server the worker says where it looked, with exit code 1."""
    address = f"127.0.0.1:{free_port()}"
    async with worker_process({"TEMPORAL_ADDRESS": address}, log=bench.log) as worker:
        assert await worker.wait() == 1
    assert bench.lines() == [f"durable-memory: Temporal does not answer at {address}"]


async def test_a_temporal_configuration_that_is_none_ends_the_worker(
    bench: Bench, tmp_path: Path
) -> None:
    """A broken `temporal.toml` is one line, and the file's text is not repeated."""
    toml = tmp_path / "temporal.toml"
    toml.write_text("api_key = [hunter2", encoding="utf-8")
    async with worker_process({"TEMPORAL_CONFIG_FILE": str(toml)}, log=bench.log) as worker:
        assert await worker.wait() == 2
    (line,) = bench.lines()
    assert line.startswith("durable-memory: TEMPORAL_* or temporal.toml: ")
    assert "hunter2" not in line


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_worker_in_order(bench: Bench, number: int) -> None:
    """On memory that is not durable it says so; after a signal it closes all and exits with 0."""
    async with bench.worker() as worker:
        await bench.logged("memory ends with this process")
        await (await bench.start("one", "two")).result()
        worker.send(number)
        assert await worker.wait() == 0
    own = [each["message"] for each in bench.records() if each["logger"] == "durable_memory.worker"]
    assert own[-2:] == ["stopping", "stopped"]


async def test_running_activities_end_before_the_worker(
    bench: Bench, empty_database_url: str
) -> None:
    """A write that is under way at SIGTERM is finished and reported, on its first attempt."""
    async with row_lock(empty_database_url, SCOPE) as lock:
        async with bench.worker(STORE=empty_database_url) as worker:
            await (await bench.start("one")).result()
            await lock.hold()
            handle = await bench.start("two")
            await lock.waiting_backend()
            worker.send(signal.SIGTERM)
            await bench.logged("stopping")
            await lock.release()
            assert await worker.wait() == 0
        assert await lock.receipts(handle.id) == 1
    history = await handle.fetch_history()
    attempts = [
        event.activity_task_started_event_attributes.attempt
        for event in history.events
        if event.HasField("activity_task_started_event_attributes")
    ]
    assert set(attempts) == {1}
    await handle.terminate()


async def test_a_scope_that_is_not_allowed_fails_the_workflow(bench: Bench) -> None:
    """The allow-list is checked before the store, and the error is not retried."""
    async with bench.worker(ALLOWED_SCOPES="acme/*"):
        await (await bench.start("one")).result()
        handle = await bench.start("one", scope=Scope(namespace="globex", agent_name="support"))
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()
    assert _type(caught.value) == "MemoryPermissionDenied"


def _type(error: WorkflowFailureError) -> str | None:
    cause = error.cause.cause if isinstance(error.cause, ActivityError) else error.cause
    assert isinstance(cause, ApplicationError)
    return cause.type


async def test_a_database_that_is_down_is_waited_for(bench: Bench, tmp_path: Path) -> None:
    """The worker starts without its database, stays up, and goes on when it comes."""
    data = tmp_path / "postgres"
    with postgres_server(data) as url:
        pass
    async with bench.worker(STORE=url) as worker:
        await bench.logged("the database does not answer yet")
        handle = await bench.start("one")
        await bench.logged("Completing activity as failed")
        with postgres_server(data, keep=False):
            assert (await worker.while_up(handle.result())).answered == 1
            assert await worker.stop() == 0


async def test_logs_hold_no_content(bench: Bench, empty_database_url: str) -> None:
    """Not at any level: no text, file name or namespace of a memory reaches the log."""
    favourite = "marzipan"
    async with bench.worker(STORE=empty_database_url, LOG_LEVEL="debug") as worker:
        handle = await bench.start(
            f"I like {favourite}.", scope=Scope(namespace=favourite, agent_name="support")
        )
        await worker.while_up(handle.result())
        assert await worker.stop() == 0
    assert bench.records() != []
    assert favourite not in bench.log.read_text(encoding="utf-8")


async def test_migrating_is_a_step_of_its_own(bench: Bench, empty_database_url: str) -> None:
    """A worker that may not migrate says so on a database without the schema."""
    async with bench.worker(STORE=empty_database_url, MIGRATE="false") as worker:
        assert await worker.wait() == 2
    assert bench.lines()[-1].startswith("durable-memory: DURABLE_MEMORY_STORE: ")


async def test_a_frozen_worker_can_be_ended(bench: Bench) -> None:
    """`stop` ends a worker that can no longer answer a signal."""
    async with bench.worker() as worker:
        await bench.logged("serving")
        worker.freeze()
        assert await asyncio.wait_for(worker.stop(), timeout=10) == -signal.SIGKILL
