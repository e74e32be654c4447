"""Writer processes at once on one store, counted from three sides.

Usage: python -m crash.writers [--url URL] [--processes N] [--operations N] [--json]

Each process appends lines to one file that all share and to one of its own, and tries operations
that every other process tries too, which one of them must win. What was applied, what has a receipt
and what the content shows must be the same. Exits 1 when they are not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from rich.console import Console
from rich.table import Table

from durable_memory.cli.embedded import postgres_server
from durable_memory.notebook import Append
from durable_memory.stores import MemoryOperation, migrate

from .mutations import TriedStore
from .targets import opener

MAX_CHARS = 1_000_000
_CONTESTED = 5
"""Of so many operations, one is tried by every process."""
_OWN = 4
"""Of so many operations, one is on a file of the process's own."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One operation: a line, and where it is appended."""

    path: str
    text: str

    @property
    def operation(self) -> MemoryOperation:
        """Its identity: the same in every process."""
        return MemoryOperation(id=f"{self.path} {self.text}", fingerprint="f" * 64)


@dataclass(frozen=True, kw_only=True)
class Count:
    """What was counted.

    Attributes:
        asked: Distinct operations.
        applied: Arrivals that were answered as applied, not replayed.
        receipts: Operations that have a receipt.
        shown: Lines that the files hold.
        distinct: Different lines among them.
        seconds: How long it took.
    """

    asked: int
    applied: int
    receipts: int
    shown: int
    distinct: int
    seconds: float

    @property
    def agrees(self) -> bool:
        """Whether all sides say the same."""
        return {self.applied, self.receipts, self.shown, self.distinct} == {self.asked}


def lines(scope: str, process: int, operations: int) -> Iterator[Line]:
    """Yield what a process does."""
    for number in range(operations):
        if number % _CONTESTED == 0:
            yield Line(path=f"{scope}/shared.md", text=f"contested {number}")
        elif number % _OWN == 0:
            yield Line(path=f"{scope}/process-{process}.md", text=f"{process}: {number}")
        else:
            yield Line(path=f"{scope}/shared.md", text=f"{process}: {number}")


def run(url: str, *, processes: int, operations: int) -> Count:
    """Let the processes write, and count."""
    scope = f"writers/{uuid.uuid4().hex}/agent"
    started = time.monotonic()
    # Nothing is open yet in this process that they could share.
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        work = [(url, scope, process, operations) for process in range(processes)]
        applied = sum(pool.starmap(_write, work, chunksize=1))
    every = [each for process in range(processes) for each in lines(scope, process, operations)]
    seconds = time.monotonic() - started
    return asyncio.run(_count(url, set(every), applied=applied, seconds=seconds))


def _write(url: str, scope: str, process: int, operations: int) -> int:
    return asyncio.run(_append_all(url, lines(scope, process, operations)))


async def _append_all(url: str, work: Iterator[Line]) -> int:
    """Append the lines; return how many were applied by this process."""
    async with opener(url)() as store:
        done = [
            await store.edit(
                line.path,
                Append(content=line.text),
                max_chars=MAX_CHARS,
                operation=line.operation,
            )
            for line in work
        ]
    return sum(not mutation.replayed for mutation in done)


async def _count(url: str, every: set[Line], *, applied: int, seconds: float) -> Count:
    async with opener(url)() as store:
        receipts = [await store.get_operation(line.operation) for line in every]
        shown = {path: await _shown(store, path) for path in {line.path for line in every}}
        found = {line for line in every if line.text in shown[line.path]}
    return Count(
        asked=len(every),
        applied=applied,
        receipts=sum(receipt is not None for receipt in receipts),
        shown=sum(len(content) for content in shown.values()),
        distinct=len(found),
        seconds=round(seconds, 2),
    )


async def _shown(store: TriedStore, path: str) -> list[str]:
    found = await store.read(path, max_chars=MAX_CHARS)
    return [] if found is None else found.content.splitlines()


def main(arguments: Sequence[str]) -> int:
    """Run the writers on each store, print, and return the exit code."""
    given = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="writers-") as folder, _urls(given, folder) as urls:
        counts = {
            url.partition(":")[0]: run(url, processes=given.processes, operations=given.operations)
            for url in urls
        }
    if given.json:
        json.dump({store: asdict(count) for store, count in counts.items()}, sys.stdout)
    else:
        _print(counts)
    return int(not all(count.agrees for count in counts.values()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m crash.writers")
    parser.add_argument("--url", help="a store; a fresh one of each kind by default")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--operations", type=int, default=250, help="of each process")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


@contextmanager
def _urls(given: argparse.Namespace, folder: str) -> Iterator[list[str]]:
    if given.url:
        yield [given.url]
        return
    place = Path(folder).resolve()
    with postgres_server(place / "postgres", keep=False) as postgres:
        asyncio.run(migrate(postgres))
        yield [f"file://{place}/notes", f"sqlite://{place}/memory.db", postgres]


def _print(counts: Mapping[str, Count]) -> None:
    names = [field.name for field in fields(Count)]
    table = Table("store", *names)
    for store, count in counts.items():
        table.add_row(store, *(str(getattr(count, name)) for name in names))
    Console(width=None if sys.stdout.isatty() else 120).print(table)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
