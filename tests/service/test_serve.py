"""The service as a process: how it starts, ends, and what it says meanwhile."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import httpx
import pytest
from services import AGENTS, PATIENCE, STORES, Caller, Service, code, environment, serving

SECRET = "marzipan"  # noqa: S105  (a word)
"""In every text of the test below, and in no log."""


def _serve(**variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "durable_memory.cli", "serve"],
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


@pytest.mark.parametrize(
    ("variables", "exit_code", "said"),
    [
        ({}, 2, "DURABLE_MEMORY_STORE"),
        ({"DURABLE_MEMORY_STORE": "memory:"}, 2, "DURABLE_MEMORY_STORE"),
        ({"DURABLE_MEMORY_PORT": "70000"}, 2, "DURABLE_MEMORY_PORT"),
        ({"DURABLE_MEMORY_HOST": "not an address"}, 2, "DURABLE_MEMORY_HOST"),
        (
            {"DURABLE_MEMORY_STORE": f"postgresql://u:{SECRET}@127.0.0.1:1/d"},
            1,
            "DURABLE_MEMORY_STORE",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    variables: dict[str, str], exit_code: int, said: str
) -> None:
    """A service that cannot start names the variable in one line, without its value."""
    done = _serve(**{"DURABLE_MEMORY_PORT": "0", **variables})
    assert done.returncode == exit_code
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert SECRET not in done.stderr


def test_a_port_that_is_taken_is_said(service: Service) -> None:
    """Two services on one port: the second says so and ends."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = _serve(DURABLE_MEMORY_STORE=service.database, DURABLE_MEMORY_PORT=port)
    assert done.returncode == 2
    assert "DURABLE_MEMORY_PORT" in done.stderr


def test_two_processes_are_one_service(
    service: Service, alice: Caller, store: str, tmp_path: Path
) -> None:
    """Page tokens, tokens and receipts of one process hold in another; SIGTERM ends it with 0."""
    with serving(service.database, tmp_path / "log") as second:
        assert second.pid != service.pid
        headers = {"Authorization": f"Bearer {alice.token}"}
        with httpx.Client(base_url=second.url, headers=headers) as there:
            for number in range(2):
                body = {"actor_id": "u", "path": f"/{number}"}
                alice.http.post(f"{STORES}/{store}/entries", json=body)
            query: dict[str, str | int] = {"actor_id": "u", "page_size": 1}
            first = alice.http.get(f"{STORES}/{store}/entries", params=query).json()
            query["page_token"] = first["next_page_token"]
            rest = there.get(f"{STORES}/{store}/entries", params=query).json()
            assert [each["path"] for each in rest["managed_memory_entries"]] == ["/1"]
            write = {"actor_id": "u", "path": "/a", "content": "x"}
            key = {"Idempotency-Key": "k"}
            url = f"/v1/memory-stores/{store}/entries:append"
            assert alice.http.post(url, json=write, headers=key).json()["replayed"] is False
            assert there.post(url, json=write, headers=key).json()["replayed"] is True


def test_logs_hold_no_content(service: Service, alice: Caller, store: str) -> None:
    """What is stored, asked, named or carried as a token is in no line of the log."""
    url = f"{STORES}/{store}/entries"
    body = {"actor_id": SECRET, "path": f"/{SECRET}", "content": SECRET, "session_id": SECRET}
    made = alice.http.post(url, json=body).json()
    alice.http.get(url, params={"actor_id": SECRET, "path_prefix": f"/{SECRET}"})
    alice.http.post(f"{url}:search", json={"actor_id": SECRET, "query": SECRET})
    alice.http.get(f"{AGENTS}/{made['name']}")
    alice.http.get(f"{url}/{SECRET}")
    alice.http.get(f"/{SECRET}?{SECRET}")
    alice.http.request(SECRET.upper(), f"/{SECRET}")
    alice.http.post(url, content=SECRET)
    alice.http.get(STORES, headers={"Authorization": f"Bearer {SECRET}"})
    log = service.log.read_text()
    assert SECRET not in log.lower()
    assert alice.token not in log
    assert store not in log
    lines = [json.loads(line) for line in log.splitlines()]
    last = [line for line in lines if line["message"] == "request"]
    assert {"create_entry", "search_entries"} <= {line["operation"] for line in last}
    assert not [line for line in lines if line["level"] == "error"]


async def test_a_database_that_is_gone_is_unavailable(
    postgres_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    """When the database does not answer the clients are told, with neither 429 nor 503."""
    name = urlsplit(empty_database_url).path.removeprefix("/")
    headers = {"Authorization": f"Bearer dm_{'0' * 16}_{'a' * 43}"}
    with serving(empty_database_url, tmp_path / "log") as lonely:
        async with httpx.AsyncClient(base_url=lonely.url, headers=headers) as caller:
            assert code(await caller.get(STORES)) == (401, "UNAUTHENTICATED")
            admin = await asyncpg.connect(postgres_url)
            await admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
            await admin.execute(_END, name)
            await admin.close()
            assert code(await caller.get(STORES)) == (504, "UNAVAILABLE")
            assert (await caller.get("/healthz")).json() == {"status": "ok"}
    assert "MemoryStoreUnavailable" in lonely.log.read_text()


_END = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1"
