"""`durable-memory dev`: the embedded stack as a person or a program would use it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import psutil
import pytest
from temporalio.client import Client

from durable_memory.cli.demo.evidence import read_notebook
from durable_memory.cli.embedded import free_port
from durable_memory.cli.errors import CommandError
from durable_memory.cli.faults import until
from durable_memory.cli.stack import check_port
from durable_memory.notebook import Scope
from durable_memory.workflows import AgentRequest, AgentWorkflow

SCOPE = Scope(namespace="you@example.com", agent_name="main")


class Dev:
    """A running `durable-memory dev --json`."""

    def __init__(self, process: asyncio.subprocess.Process, addresses: dict[str, Any]) -> None:
        self.process = process
        self.addresses = addresses

    @property
    def store(self) -> str:
        """URL of its database."""
        return str(self.addresses["DURABLE_MEMORY_STORE"])

    async def say(self, line: str) -> None:
        """Have the reference agent note a line."""
        client = await Client.connect(self.addresses["TEMPORAL_ADDRESS"])
        await client.execute_workflow(
            AgentWorkflow.run,
            AgentRequest(prompts=[line], namespace=SCOPE.namespace, agent_name=SCOPE.agent_name),
            id=uuid.uuid4().hex,
            task_queue=self.addresses["task_queue"],
        )

    async def end(self, number: int) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return await asyncio.wait_for(self.process.wait(), timeout=60)


def _command(data: Path, *more: str) -> list[str]:
    ports = ("--port", str(free_port()), "--ui-port", str(free_port()))
    return [sys.executable, "-m", "durable_memory.cli", "dev", "--data", str(data), *ports, *more]


def _refused(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


@asynccontextmanager
async def _dev(data: Path) -> AsyncIterator[Dev]:
    process = await asyncio.create_subprocess_exec(
        *_command(data, "--json"), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), timeout=120)
        yield Dev(process, json.loads(line))
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_the_stack_works_and_ends_whole(tmp_path: Path, number: int) -> None:
    """It serves an agent and a web page; a signal ends every process, and the data stays."""
    async with _dev(tmp_path / "data") as dev:
        await dev.say("one")
        async with httpx.AsyncClient() as http:
            assert (await http.get(dev.addresses["web"])).status_code == 200
        children = psutil.Process(dev.process.pid).children(recursive=True)
        assert dev.addresses["worker_pid"] in {child.pid for child in children}
        assert await dev.end(number) == 0
        _, alive = psutil.wait_procs(children, timeout=10)
        assert alive == []
        with pytest.raises(OSError, match=r"."):
            await asyncpg.connect(dev.store)
    async with _dev(tmp_path / "data") as dev:
        await dev.say("two")
        assert (await read_notebook(dev.store, SCOPE))[1] == ("one\n", "two\n")


async def test_a_folder_is_for_one_stack(tmp_path: Path) -> None:
    """A second stack on the same folder says that it is in use, in one line."""
    async with _dev(tmp_path / "data"):
        second = await asyncio.to_thread(_refused, _command(tmp_path / "data"))
    assert second.returncode == 2
    assert "is in use" in second.stderr
    assert second.stderr.count("\n") == 1


async def test_a_worker_that_ends_ends_the_stack(tmp_path: Path) -> None:
    """A killed worker is not hidden: the command fails and stops the servers."""
    async with _dev(tmp_path / "data") as dev:
        os.kill(dev.addresses["worker_pid"], signal.SIGKILL)
        assert await asyncio.wait_for(dev.process.wait(), timeout=60) == 1


@pytest.mark.parametrize("option", ["--port", "--ui-port"])
def test_a_port_in_use_is_named(tmp_path: Path, option: str) -> None:
    """The port is checked before anything is made, and named with its option."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [*_command(tmp_path / "data"), option, port]
        done = _refused(command)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"durable-memory: port {port} is in use, perhaps by another ")
    assert line.endswith(f"({option})")
    assert not (tmp_path / "data").exists()


def test_ports_must_differ(tmp_path: Path) -> None:
    """One port for both servers is refused before anything is made."""
    port = str(free_port())
    done = _refused([*_command(tmp_path / "data"), "--port", port, "--ui-port", port])
    assert done.returncode == 2
    assert done.stderr == f"durable-memory: --port and --ui-port are both {port}\n"
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("program", ["initdb", "pg_ctl"])
async def test_ctrl_c_while_a_server_starts_is_silent(tmp_path: Path, program: str) -> None:
    """Ctrl-C in a terminal, which every process of the group gets, ends a start with 130 alone."""
    process = await asyncio.create_subprocess_exec(
        *_command(tmp_path / "data"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )

    async def started() -> bool:
        return program in _names(process.pid)

    await until(started, program)
    os.killpg(process.pid, signal.SIGINT)
    said = await asyncio.wait_for(process.communicate(), timeout=60)
    assert (process.returncode, said) == (130, (b"", b""))
    async with _dev(tmp_path / "data") as dev:
        await dev.say("one")


def _names(pid: int) -> list[str]:
    """Return the names of a process's children that can be seen."""
    names = []
    for child in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            names.append(child.name())
    return names


def test_a_port_that_may_not_be_used_is_said_to_be_so(tmp_path: Path) -> None:
    """What the system says against a port is passed on, and not called "in use"."""
    with pytest.raises(CommandError) as error:
        check_port(free_port(), option="--port", host="192.0.2.1")
    assert "in use" not in str(error.value)
    assert "cannot be used: Cannot assign requested address" in str(error.value)
