"""`durable-memory migrate`: what it says, and its exit codes."""

from __future__ import annotations

import json
import socket

import pytest
from pydantic import SecretStr

from durable_memory.cli.errors import FAILED, MISUSED, CommandError
from durable_memory.cli.migrate import run_migrate
from durable_memory.settings import Settings

Captured = pytest.CaptureFixture[str]


def settings(url: str) -> Settings:
    """Settings for the store at `url`."""
    return Settings(store=SecretStr(url))


async def test_it_says_what_was_applied(capsys: Captured, empty_database_url: str) -> None:
    """The first run names the migrations; the second finds the schema up to date."""
    assert await run_migrate(settings(empty_database_url), as_json=False) == 0
    assert capsys.readouterr().out.startswith("Applied 0001, 0002")
    assert await run_migrate(settings(empty_database_url), as_json=False) == 0
    assert capsys.readouterr().out == "The schema is up to date.\n"


async def test_json_is_for_programs(capsys: Captured, empty_database_url: str) -> None:
    """`--json` prints one object with the numbers."""
    assert await run_migrate(settings(empty_database_url), as_json=True) == 0
    applied = json.loads(capsys.readouterr().out)["applied"]
    assert applied == sorted(applied)
    assert applied[0] == 1
    assert await run_migrate(settings(empty_database_url), as_json=True) == 0
    assert json.loads(capsys.readouterr().out) == {"applied": []}


@pytest.mark.parametrize("url", ["memory:", "sqlite:////absent/memory.db"])
async def test_a_store_without_a_schema_is_misuse(url: str) -> None:
    """Only a database has a schema to migrate."""
    with pytest.raises(CommandError) as error:
        await run_migrate(settings(url), as_json=False)
    assert error.value.exit_code == MISUSED
    assert str(error.value).startswith("DURABLE_MEMORY_STORE: ")


async def test_a_database_that_refuses_is_misuse(postgres_url: str) -> None:
    """A database that is not there is the variable's fault, as it is for the worker."""
    url = postgres_url.replace("/postgres?", "/absent?")
    with pytest.raises(CommandError, match="create it") as error:
        await run_migrate(settings(url), as_json=False)
    assert error.value.exit_code == MISUSED
    assert "absent" not in str(error.value)


async def test_a_database_that_is_down_is_a_failure() -> None:
    """A server that does not answer may answer later: another exit code."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"postgresql://nobody@127.0.0.1:{closed.getsockname()[1]}/none"
        with pytest.raises(CommandError, match="did not answer") as error:
            await run_migrate(settings(url), as_json=False)
    assert error.value.exit_code == FAILED
