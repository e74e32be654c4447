"""A process beside the tests: works on a store by its URL, under conditions of its own.

`python store_child.py CONDITION URL ARGUMENTS...` prints what came of it as one JSON value.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from durable_memory.notebook import Append, MemoryFault
from durable_memory.stores import MemoryOperation, MemoryStore, apply_edit, open_store

PATH = "acme/support/notes.md"
_NOBODY = 65534
_EVERYTHING = 1_000_000


def run_child(condition: str, url: str, *arguments: str) -> Any:
    """Run this program to its end, and return what it printed."""
    return finish(start_child(condition, url, *arguments))


def start_child(condition: str, url: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start this program."""
    command = [sys.executable, __file__, condition, url, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def finish(child: subprocess.Popen[bytes]) -> Any:
    """Wait for this program's end, and return what it printed."""
    printed, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    return json.loads(printed)


async def append_lines(store: MemoryStore, name: str, count: str) -> list[str | None]:
    """Append lines of one writer, each for an operation of its own; return the versions."""
    versions = []
    for number in range(int(count)):
        line = f"{name} {number}"
        done = await apply_edit(
            store,
            PATH,
            Append(content=line),
            max_chars=_EVERYTHING,
            operation=MemoryOperation(id=line, fingerprint="f"),
        )
        versions.append(done.version)
    return versions


async def write_on_a_full_disk(store: MemoryStore, limit: str) -> list[str | None]:
    """Write more than files may hold; return the text before, the error, and the text after.

    The last two are what a write makes once there is room again.
    """
    first = await store.write(PATH, "start\n", expected_version=None)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), hard))
    large = "x" * (4 * int(limit))
    operation = MemoryOperation(id="large", fingerprint="f")
    told = await _told(
        store.write(PATH, large, expected_version=first.version, operation=operation)
    )
    after = await _text(store)
    receipt = await store.get_operation(operation)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    again = await store.write(
        PATH, "room again\n", expected_version=first.version, operation=operation
    )
    known = None if receipt is None else receipt.version
    return [told, after, known, str(again.replayed), await _text(store)]


async def use_read_only(store: MemoryStore) -> list[str | None]:
    """Read and write as a user who may only read; return the text, the errors and the text."""
    text = await _text(store)
    paths = await store.list_paths(limit=10)
    found = await store.read(PATH, max_chars=10)
    version = None if found is None else found.version
    told = await _told(store.write(PATH, "mine", expected_version=version))
    new = await _told(store.write("acme/other/new.md", "mine", expected_version=None))
    receipt = await store.get_operation(MemoryOperation(id="known", fingerprint="f"))
    known = None if receipt is None else receipt.version
    return [text, *paths, told, new, known, await _text(store)]


async def _told(call: Awaitable[object]) -> str:
    try:
        await call
    except MemoryFault as fault:
        return f"{fault.type}: {fault}"
    return "no error"


async def _text(store: MemoryStore) -> str | None:
    found = await store.read(PATH, max_chars=_EVERYTHING)
    return None if found is None else found.content


_CONDITIONS: dict[str, Callable[..., Awaitable[object]]] = {
    "append": append_lines,
    "full": write_on_a_full_disk,
    "read-only": use_read_only,
}


async def main(condition: str, url: str, *arguments: str) -> None:
    """Open the store and do what was asked for."""
    if condition == "read-only" and os.geteuid() == 0:
        os.setuid(_NOBODY)
    async with open_store(url) as store:
        sys.stdout.write(json.dumps(await _CONDITIONS[condition](store, *arguments)))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
