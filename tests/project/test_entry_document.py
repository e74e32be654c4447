"""The document on entries is held to the code it describes."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

from temporalio.testing import WorkflowEnvironment

from durable_memory.notebook import entry_tool_definitions
from durable_memory.stores import EntryStore

DOCUMENT = (Path(__file__).parents[2] / "docs" / "entries.md").read_text(encoding="utf-8")


async def test_the_code_runs(
    temporal: WorkflowEnvironment, entries: EntryStore, entries_url: str, tmp_path: Path
) -> None:
    """The document's code runs as it stands, against the servers of the tests."""
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    await entries.create_store("support-memory", creator="USER:tests")
    address = temporal.client.service_client.config.target_host
    code = code.replace("localhost:7233", address)
    file = tmp_path / "recall.py"
    file.write_text(code.replace("postgresql://localhost/memory", entries_url), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, file),
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, complaints = await process.communicate()
    # The exit code is not compared: a script that holds a client can abort when it is over.
    saved, found, listed = printed.decode().splitlines() or [complaints.decode()]
    assert saved == "Saved memory at /preferences/contact.md"
    assert "No memory found." in found or "Prefers e-mail." in found
    assert "/preferences/contact.md" in listed


def test_every_tool_is_in_the_table() -> None:
    """The tools are those that the model gets, with their arguments."""
    named = re.findall(r"^\| `(\w+)\((.*?)\)` \|", DOCUMENT, re.MULTILINE)
    fields = {
        tool.name: list(tool.parameters["properties"])  # type: ignore[call-overload]
        for tool in entry_tool_definitions()
    }
    assert {name: re.findall(r"(\w+)(?:=\"\")?", given) for name, given in named} == fields
