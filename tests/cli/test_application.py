"""The command line's surface: help, version, and errors of one line."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from durable_memory.cli import main
from durable_memory.cli.embedded import free_port

Captured = pytest.CaptureFixture[str]


def test_help_names_every_command(capsys: Captured) -> None:
    """`durable-memory --help` lists the commands with what they do."""
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    assert all(command in printed for command in ("worker", "migrate", "dev", "demo"))


@pytest.mark.parametrize("command", ["worker", "migrate", "dev", "demo"])
def test_every_command_has_help(capsys: Captured, command: str) -> None:
    """Help is printed to standard output, with exit code 0."""
    assert main([command, "--help"]) == 0
    assert "Usage: durable-memory" in capsys.readouterr().out


def test_version_is_the_distribution_s(capsys: Captured) -> None:
    """`--version` prints the name and the installed version."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"durable-memory {version('durable-memory')}\n"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["frobnicate"], "frobnicate"),
        (["demo", "--frobnicate"], "--frobnicate"),
        (["dev", "--port", "many"], "--port"),
        (["dev", "--port", "70000"], "--port"),
        (["demo", "--transcript", "absent.jsonl"], "absent.jsonl"),
    ],
)
def test_misuse_is_one_line(capsys: Captured, arguments: list[str], named: str) -> None:
    """A wrong command, option or file is named in one line, with exit code 2."""
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("durable-memory: ")
    assert printed.err.count("\n") == 1
    assert named in printed.err


def test_a_transcript_that_is_not_json_lines_is_one_line(capsys: Captured, tmp_path: Path) -> None:
    """The demo names the line before it starts anything."""
    path = tmp_path / "mine.jsonl"
    path.write_text('{"role": "user", "content": "one"}\nhello\n', encoding="utf-8")
    assert main(["demo", "--transcript", str(path)]) == 2
    assert capsys.readouterr().err == ("durable-memory: transcript line 2: not a JSON object\n")


def test_servers_need_a_path_without_spaces(capsys: Captured, tmp_path: Path) -> None:
    """The folder is refused before a server is started."""
    ports = ["--port", str(free_port()), "--ui-port", str(free_port())]
    assert main(["dev", "--data", str(tmp_path / "my data"), *ports]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "without spaces" in line


def test_an_idle_store_has_no_schema(capsys: Captured) -> None:
    """`migrate` without a database names the variable, with exit code 2."""
    assert main(["migrate"]) == 2
    assert "DURABLE_MEMORY_STORE" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "durable_memory.cli", "worker"],
        ["-m", "durable_memory.worker"],
        [str(Path(__file__).parents[2] / "worker.py")],
    ],
)
def test_the_worker_runs_three_ways(command: list[str]) -> None:
    """As a command, as a module and as a file the worker refuses the same variable alike."""
    environment = {**os.environ, "DURABLE_MEMORY_STORE": "mysql://user:hunter2@db/memory"}
    done = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("durable-memory: DURABLE_MEMORY_STORE: the store's URL must begin with ")
