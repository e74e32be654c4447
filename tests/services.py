"""The memory service as a process, and callers of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import httpx

PATIENCE = 55.0
"""Seconds after which a process that was waited for has failed."""

AGENTS = "/api/2.0/agents"
STORES = f"{AGENTS}/memory-stores"


@dataclass(frozen=True, kw_only=True)
class Service:
    """A running `durable-memory serve`.

    Attributes:
        url: Where it listens.
        database: Its store.
        log: What it has said.
        pid: Its process.
    """

    url: str
    database: str
    log: Path
    pid: int


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Someone with a token.

    Attributes:
        name: Of the principal.
        token: As the service gave it.
        http: A client that sends it.
    """

    name: str
    token: str
    http: httpx.Client


def environment(**variables: str) -> dict[str, str]:
    """Return this process's environment without what would reach a service or a client."""
    prefixes = ("DURABLE_MEMORY_", "DATABRICKS_", "AGENTBRICKS_", "AGENT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
    return {**kept, **variables}


@contextmanager
def serving(database: str, log: Path, **variables: str) -> Iterator[Service]:
    """Run `durable-memory serve` on a free port, and stop it."""
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [sys.executable, "-m", "durable_memory.cli", "serve"],
            env=environment(DURABLE_MEMORY_STORE=database, DURABLE_MEMORY_PORT="0", **variables),
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
        )
    try:
        port = _port(process, log)
        url = f"http://127.0.0.1:{port}"
        yield Service(url=url, database=database, log=log, pid=process.pid)
        process.terminate()
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for line in log.read_text().splitlines():
            found = json.loads(line) if line.startswith("{") else {}
            if found.get("message") == "serving":
                return int(found["port"])
        assert process.poll() is None, log.read_text()
        time.sleep(0.02)
    raise AssertionError("the service did not start")


def code(response: httpx.Response) -> tuple[int, str]:
    """Return status and error code of a response, which has the contract's body and no more."""
    body = response.json()
    assert set(body) == {"error_code", "message"}, body
    assert "Unexpected error" not in body["message"]
    return response.status_code, body["error_code"]


def raw(caller: Caller, method: str, path: str) -> httpx.Response:
    """Send a request whose path no client has tidied up."""
    url = caller.http.base_url
    connection = HTTPConnection(url.host, url.port, timeout=PATIENCE)
    try:
        connection.request(method, path, headers={"Authorization": f"Bearer {caller.token}"})
        response = connection.getresponse()
        return httpx.Response(response.status, content=response.read())
    finally:
        connection.close()


def forged(token: str) -> list[str]:
    """Return texts that are nearly a page token."""
    flipped = [
        token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :] for at in (0, 12, 24)
    ]
    return [
        *flipped,
        token[:-4],
        token + "AAAA",
        "e30",
        "../..",
        "%00",
        re.sub("[a-z]", "x", token),
    ]
