"""The README is held to the code it describes."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from pydantic import SecretStr
from temporalio.testing import WorkflowEnvironment

from durable_memory import notebook
from durable_memory.activities import UNEXPECTED_TYPE
from durable_memory.cli import main
from durable_memory.notebook import (
    MODEL_MALFORMED,
    MODEL_REFUSED,
    MODEL_UNAVAILABLE,
    MemoryFault,
    MemoryRefusal,
    tool_definitions,
)
from durable_memory.settings import Settings, variables
from durable_memory.workflows import Memory, Timeouts

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = README + "".join(
    page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md"))
)


def _table(first_column: str) -> list[list[str]]:
    """Return the rows of the table whose first column has that heading."""
    (text,) = re.findall(rf"^\| {first_column} \|.*\n\| ---.*\n((?:\|.*\n)+)", README, re.MULTILINE)
    return [[cell.strip() for cell in row.strip("|\n").split("|")] for row in text.splitlines()]


def _default(value: object) -> str:
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    if text == "":
        return "none"
    return f"`{str(text).lower() if isinstance(text, bool) else text}`"


def test_every_variable_is_in_the_table() -> None:
    """Each variable of the settings has a row with its default, in the record's order."""
    rows = {row[0].strip("`"): row[1] for row in _table("variable")}
    fields = Settings.model_fields.values()
    defaults = [_default(field.default) for field in fields]
    assert rows == dict(zip(variables(), defaults, strict=True))
    assert list(rows) == list(variables())


def test_no_document_names_a_variable_that_is_none() -> None:
    """Variables in documents, the compose file and the image exist."""
    known = set(variables())
    for name in ("README.md", "CONTRIBUTING.md", "docker-compose.yml", "Dockerfile", "Makefile"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert set(re.findall(r"DURABLE_MEMORY_[A-Z]\w+", text)) <= known


def _kinds(kind: type[MemoryFault]) -> Iterator[type[MemoryFault]]:
    """Yield the project's errors below `kind`, those of the stores too."""
    for below in kind.__subclasses__():
        if below.__module__.startswith("durable_memory."):
            yield below
            yield from _kinds(below)


def test_every_error_is_in_the_table() -> None:
    """Each type that travels through Temporal has a row with its retry verdict."""
    rows = {row[0].strip("`"): row[1] for row in _table("type")}
    kinds = {kind for kind in _kinds(MemoryFault) if kind.__name__ in notebook.__all__}
    verdicts = {kind.__name__: kind.retryable for kind in kinds - {MemoryRefusal}}
    model = {MODEL_UNAVAILABLE: True, MODEL_REFUSED: False, MODEL_MALFORMED: True}
    expected = {**verdicts, UNEXPECTED_TYPE: True, **model}
    assert rows == {name: "yes" if retried else "no" for name, retried in expected.items()}


def test_every_option_is_in_the_table() -> None:
    """Each option of `Memory` has a row with its default, in the record's order."""
    rows = {row[0].strip("`"): row[1] for row in _table("option")}
    defaults = Memory()
    options = {each.name: getattr(defaults, each.name) for each in fields(Memory)}
    assert list(rows) == list(options)
    del rows["timeouts"], options["timeouts"]
    assert rows == {name: f"`{value!r}`" for name, value in options.items()}


def test_every_time_out_is_named() -> None:
    """The row of `timeouts` names each of them."""
    (meaning,) = [row[2] for row in _table("option") if row[0] == "`timeouts`"]
    assert [each.name for each in fields(Timeouts)] == re.findall(r"`([a-z_]+)`", meaning)[:-1]


def test_every_place_is_in_the_table() -> None:
    """Each package and each module at the root stands in the table of places."""
    named = {
        name.strip("/") for row in _table("place") for name in re.findall(r"\]\((.*?)\)", row[0])
    }
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    modules = {path.name for path in ROOT.glob("*.py")} - {"__init__.py"}
    assert named == packages | modules


def test_every_tool_is_in_the_table() -> None:
    """The tools' names are those that the model gets."""
    named = [row[0].strip("`").split("(")[0] for row in _table("tool")]
    assert named == [tool.name for tool in tool_definitions()]


def test_every_command_is_named() -> None:
    """The commands that the README and the documents speak of exist."""
    named = set(re.findall(r"(?:`|bin/)durable-memory ([a-z]+)(?: ([a-z]+))?", COMMANDS))
    assert {"serve", "stores", "entries"} <= {group for group, _ in named}
    for group, verb in named:
        words = [group, verb] if group in {"token", "stores", "entries"} and verb else [group]
        assert main([*words, "--help"]) == 0, words


async def test_the_first_code_runs(temporal: WorkflowEnvironment, tmp_path: Path) -> None:
    """The code at the top prints what the quick start shows, against a server as it is."""
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (shown,) = re.findall(r"remember\.py\n(.*?)```", README, re.DOTALL)
    address = temporal.client.service_client.config.target_host
    file = tmp_path / "remember.py"
    file.write_text(code.replace("localhost:7233", address), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, file),
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, complaints = await process.communicate()
    # The exit code is not compared: a script that holds a client can abort when it is over.
    assert printed.decode() == shown, complaints.decode()


def test_the_first_code_is_short() -> None:
    """Running code within thirty lines, imports left out."""
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in code.splitlines() if line and "import" not in line]) <= 30
