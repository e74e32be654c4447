"""The `agentbricks` command line, unmodified, against the service."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from services import PATIENCE, Caller, Service, environment

COMMAND = Path(sys.executable).with_name("agentbricks")
PROGRAM = Path(__file__).parents[1] / "agentbricks_program.py"


class Command:
    """Runs commands of `agentbricks` in one process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin
        assert process.stdout
        self._ask, self._answers = process.stdin, process.stdout

    def run(self, *arguments: str) -> dict[str, Any]:
        """Run one and return what it said."""
        self._ask.write(json.dumps(arguments) + "\n")
        self._ask.flush()
        said: dict[str, Any] = json.loads(self._answers.readline())
        return said

    def json(self, *arguments: str) -> Any:
        """Run one for a machine."""
        done = self.run("-o", "json", "memory", *arguments)
        assert done["code"] == 0, done
        return json.loads(done["stdout"])

    def failure(self, *arguments: str) -> str | None:
        """Run one for a machine and return the code it failed with."""
        done = self.run("-o", "json", "memory", *arguments)
        assert done["code"] != 0
        code: str | None = json.loads(done["stderr"])["error"].get("code")
        return code


@pytest.fixture(scope="module")
def variables(
    service: Service, alice: Caller, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """What points the command at the service as alice."""
    return environment(
        DATABRICKS_HOST=service.url,
        DATABRICKS_TOKEN=alice.token,
        AGENTBRICKS_DISABLE_TELEMETRY="1",
        HOME=str(tmp_path_factory.mktemp("home")),
    )


@pytest.fixture(scope="module")
def command(variables: dict[str, str]) -> Iterator[Command]:
    """Alice's command line."""
    with subprocess.Popen(
        [sys.executable, PROGRAM],
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Command(process)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def test_the_script(variables: dict[str, str]) -> None:
    """The installed script lists memory stores as a table."""
    done = subprocess.run(
        [COMMAND, "memory", "stores", "list"],
        env=variables,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert "Managed Memory Stores" in done.stdout


def test_stores(command: Command) -> None:
    """Stores are created, listed, got by id and by display name, updated and deleted."""
    made = command.json("stores", "create", "--name", "my-agent-memory", "--description", "d")
    assert made["name"] == "memory-stores/my-agent-memory"
    listed = command.json("stores", "list", "--name", "my-agent")
    assert [each["display_name"] for each in listed["managed_memory_stores"]] == ["my-agent-memory"]
    assert command.failure("stores", "create", "--name", "my-agent-memory") == "ALREADY_EXISTS"
    updated = command.json("stores", "update", "my-agent-memory", "--description", "e")
    assert updated["description"] == "e"
    assert command.json("stores", "get", "my-agent-memory")["description"] == "e"
    shown = command.run("memory", "stores", "get", "memory-stores/my-agent-memory")
    assert "my-agent-memory" in shown["stdout"]
    # Not an id, so that the command goes on to look for the display name.
    assert command.failure("stores", "get", "My Agent") is None
    assert command.json("stores", "delete", "my-agent-memory", "--yes")
    assert command.failure("stores", "delete", "my-agent-memory", "--yes") == "NOT_FOUND"


def test_entries(command: Command, store: str) -> None:
    """Entries are created, listed in pages, searched, got, updated and deleted."""
    in_store = ("--store", store)
    actor = ("--actor-id", "you@example.com")
    made = command.json(
        "entries",
        "create",
        *in_store,
        *actor,
        "--path",
        "/style.md",
        "--content",
        "Prefers Python.",
    )
    command.json("entries", "create", *in_store, *actor, "--path", "/tea.md", "--content", "Tea.")
    first = command.json("entries", "list", *in_store, *actor, "--page-size", "1")
    token = first["next_page_token"]
    second = command.json(
        "entries", "list", *in_store, *actor, "--page-size", "1", "--page-token", token
    )
    assert "next_page_token" not in second
    paths = [each["managed_memory_entries"][0]["path"] for each in (first, second)]
    assert paths == ["/style.md", "/tea.md"]
    found = command.json("entries", "search", *in_store, *actor, "--query", "python")
    assert found["results"][0]["managed_memory_entry"]["path"] == "/style.md"
    entry = made["name"]
    assert command.json("entries", "update", entry, "--content", "New.")["content"] == "New."
    assert command.json("entries", "get", entry)["content"] == "New."
    command.json("entries", "delete", entry, "--yes")
    assert command.failure("entries", "get", entry) == "NOT_FOUND"


def test_what_is_not_here_says_so(command: Command) -> None:
    """Pipelines answer NOT_IMPLEMENTED."""
    assert command.failure("pipeline", "list") == "NOT_IMPLEMENTED"
