"""The document on the service is held to what it describes."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from string import Template

import httpx
import pytest
import pytest_asyncio
from services import Service, environment, serving

from durable_memory.stores import (
    PostgresTokenStore,
    Principal,
    PrincipalType,
    create_pool,
    issue_token,
    migrate,
)

DOCUMENT = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")
SHOWN = "http://127.0.0.1:8080"


@pytest_asyncio.fixture
async def token(empty_database_url: str) -> str:
    """A token for the service."""
    await migrate(empty_database_url)
    text, token = issue_token(Principal(type=PrincipalType.USER, name="you@example.com"))
    async with await create_pool(empty_database_url) as pool:
        await PostgresTokenStore(pool).add_token(token)
    return text


@pytest.fixture
def service(empty_database_url: str, token: str, tmp_path: Path) -> Iterator[Service]:
    """A service on a database of its own, as the document begins with one."""
    with serving(empty_database_url, tmp_path / "log") as running:
        yield running


def test_the_clients_find_what_they_put(service: Service, token: str, tmp_path: Path) -> None:
    """The code for the public clients prints what it has put, also the second time."""
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    code = code.replace(SHOWN, service.url).replace("dm_5f0c…", token)
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment(HOME=str(tmp_path), AGENTBRICKS_DISABLE_TELEMETRY="1"),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == "Prefers contact by email.\n", done.stderr


def _request(command: str) -> httpx.Request:
    """Return the request that curl would send."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-H", dest="headers", action="append", default=[])
    parser.add_argument("-X", dest="method")
    parser.add_argument("--json")
    parser.add_argument("url")
    asked = parser.parse_args(shlex.split(command)[1:])
    return httpx.Request(
        asked.method or ("POST" if asked.json else "GET"),
        asked.url,
        headers=[header.split(": ", 1) for header in asked.headers],
        json=None if asked.json is None else json.loads(asked.json),
    )


def test_the_requests_succeed(service: Service, token: str) -> None:
    """Each request by curl is answered without an error, and the search finds the entry."""
    (block,) = re.findall(r"## With curl\n\n```console\n(.*?)```", DOCUMENT, re.DOTALL)
    variables, found = {"TOKEN": token}, []
    with httpx.Client() as client:
        for line in block.replace(SHOWN, service.url).splitlines():
            command = Template(line.removeprefix("$ ")).safe_substitute(variables)
            if command.startswith("export "):
                name, _, value = command.removeprefix("export ").partition("=")
                variables.setdefault(name, value)
            else:
                answer = client.send(_request(command)).raise_for_status()
                found += [answer.text] * answer.request.url.path.endswith(":search")
    (search,) = found
    assert "Drinks green tea." in search
