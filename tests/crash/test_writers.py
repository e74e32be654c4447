"""Processes that write at once; the full number is `make crash`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import pytest_asyncio

from durable_memory.stores import migrate

TESTS = Path(__file__).parents[1]


@pytest_asyncio.fixture(params=["file", "sqlite", "postgres"])
async def url(request: pytest.FixtureRequest, tmp_path: Path, empty_database_url: str) -> str:
    """Each durable store's URL."""
    await migrate(empty_database_url)
    urls = {"file": f"file://{tmp_path}/notes", "sqlite": f"sqlite://{tmp_path}/memory.db"}
    return urls.get(request.param, empty_database_url)


def test_four_processes_lose_and_double_nothing(url: str) -> None:
    """What four processes applied, what has a receipt, and what the files show is the same."""
    done = subprocess.run(
        [sys.executable, "-m", "crash.writers", "--url", url, "--operations", "50", "--json"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (count,) = json.loads(done.stdout).values()
    assert count["asked"] == 4 * 40 + 10, "ten of each fifty were the same for all"
