"""The document on the service is held to what it describes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

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


@pytest.mark.skipif(shutil.which("curl") is None, reason="the command curl is not here")
def test_the_requests_succeed(service: Service, token: str) -> None:
    """Each request by curl is answered without an error, and the search finds the entry."""
    (block,) = re.findall(r"## With curl\n\n```console\n(.*?)```", DOCUMENT, re.DOTALL)
    lines = [line.removeprefix("$ ").replace(SHOWN, service.url) for line in block.splitlines()]
    script = [
        line.replace("curl ", "curl --silent --show-error --fail -w '\\n' ") for line in lines
    ]
    done = subprocess.run(
        ["/bin/sh", "-e", "-c", "\n".join([f"TOKEN={token}", *script[1:]])],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    asked = [line for line in lines if line.startswith("curl ")]
    answers = done.stdout.splitlines()
    assert len(answers) == len(asked)
    (search,) = [answer for answer, line in zip(answers, asked, strict=True) if ":search" in line]
    assert "Drinks green tea." in search
