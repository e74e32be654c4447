"""The stores behind the commands for people, and what they print.

These commands work on the database itself, as its operator does: whoever has its URL could read it
anyway, so they ask for no token and check no grant. Callers of the service go through its API.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import Annotated, TypeVar

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..notebook import InvalidMemoryRequest, MemoryFault, MemoryRefusal
from ..settings import Settings
from ..stores import Backend, open_backend
from .errors import FAILED, MISUSED, CommandError
from .running import run

T = TypeVar("T")

_VARIABLE = "DURABLE_MEMORY_STORE"

Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def on_backend(work: Callable[[Backend], Awaitable[T]]) -> T:
    """Do some work on the stores that DURABLE_MEMORY_STORE names.

    Raises:
        CommandError: It cannot be done, in one line.
    """
    done: list[T] = []

    async def command() -> int:
        done.append(await _with_backend(Settings.load(), work))
        return 0

    code = run(command())
    if not done:
        raise typer.Exit(code)
    return done[0]


async def _with_backend(settings: Settings, work: Callable[[Backend], Awaitable[T]]) -> T:
    try:
        async with open_backend(
            settings.store.get_secret_value(),
            max_size=1,
            transaction_pooling=settings.transaction_pooling,
            migrate=settings.migrate,
        ) as backend:
            return await _in_one_line(work(backend))
    except InvalidMemoryRequest as error:
        raise CommandError(f"{_VARIABLE}: {error}", exit_code=MISUSED) from None
    except MemoryFault as error:
        raise CommandError(f"{_VARIABLE}: {error}", exit_code=FAILED) from None


async def _in_one_line(work: Awaitable[T]) -> T:
    try:
        return await work
    except (InvalidMemoryRequest, MemoryRefusal) as error:
        raise CommandError(str(error), exit_code=MISUSED) from None
    except MemoryFault as error:
        raise CommandError(str(error), exit_code=FAILED) from None


def confirm(question: str, *, yes: bool) -> None:
    """Ask before what cannot be undone.

    Raises:
        CommandError: Nobody is there to be asked.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandError("say --yes to go on without being asked", exit_code=MISUSED)
    typer.confirm(question, abort=True)


def print_rows(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table; text is shown as it is, and never cut."""
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_shown(cell)) for cell in row))
    Console(highlight=False).print(table)


def print_json(value: object) -> None:
    """Print a record, or something that holds records, as JSON."""
    sys.stdout.write(f"{json.dumps(value, default=_plain, ensure_ascii=False)}\n")


def _shown(cell: object) -> str:
    if isinstance(cell, datetime):
        return cell.astimezone().isoformat(sep=" ", timespec="seconds")
    return "" if cell is None else str(cell)


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {name: part for name, part in asdict(value).items() if not isinstance(part, bytes)}
    return value.isoformat() if isinstance(value, datetime) else str(value)
