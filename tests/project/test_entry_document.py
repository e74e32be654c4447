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
    """The document's code finds what it saves, and can be run again."""
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    await entries.create_store("support-memory", creator="USER:tests")
    address = temporal.client.service_client.config.target_host
    file = tmp_path / "recall.py"
    file.write_text(code.replace("localhost:7233", address), encoding="utf-8")
    for _ in range(2):
        printed = await _run(file, DURABLE_MEMORY_STORE=entries_url)
        # The exit code is not compared: a script that holds a client can abort when it is over.
        assert "Saved memory at /preferences/contact.md\n" in printed
        assert printed.count("Prefers contact by e-mail.") == 1, printed
        assert printed.count("/preferences/contact.md") == 3


async def _run(file: Path, **variables: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, file),
        cwd=file.parent,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, complaints = await process.communicate()
    return printed.decode() or complaints.decode()


def test_every_tool_is_in_the_table() -> None:
    """The tools are those that the model gets, with their arguments."""
    named = re.findall(r"^\| `(\w+)\((.*?)\)` \|", DOCUMENT, re.MULTILINE)
    fields = {
        tool.name: list(tool.parameters["properties"])  # type: ignore[call-overload]
        for tool in entry_tool_definitions()
    }
    assert {name: re.findall(r"(\w+)(?:=\"\")?", given) for name, given in named} == fields
