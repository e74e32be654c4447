"""The stores behind the commands for people, and what they print.

These commands work on the database itself, as its operator does: whoever has its URL could read it
anyway, so they ask for no token and check no grant. Callers of the service go through its API.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import Annotated, TypeVar

import typer

from ..embedding import open_embedder
from ..notebook import MemoryFault, MemoryNotFound
from ..settings import PREFIX, Settings
from ..stores import Backend, open_backend
from .errors import MISUSED, CommandError, command_error
from .running import run

T = TypeVar("T")

_VARIABLE = f"{PREFIX}STORE"

NO_STORE = "No such memory store."

Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def on_backend(work: Callable[[Backend], Awaitable[T]], *, meaning: bool = False) -> T:
    """Do some work on the stores that DURABLE_MEMORY_STORE names.

    Args:
        work: What to do.
        meaning: Whether it searches by meaning, and so needs the embedder of the settings.

    Raises:
        CommandError: It cannot be done, in one line.
    """
    done: list[T] = []

    async def command() -> int:
        done.append(await _with_backend(Settings.load(), work, meaning=meaning))
        return 0

    code = run(command())
    if not done:
        raise typer.Exit(code)
    return done[0]


def on_store(store: str, work: Callable[[Backend], Awaitable[T]], *, meaning: bool = False) -> T:
    """Do some work on one memory store; errors as `on_backend`, and there may be no such store."""

    async def checked(backend: Backend) -> T:
        if await backend.entries.get_store(store) is None:
            raise MemoryNotFound(NO_STORE)
        return await work(backend)

    return on_backend(checked, meaning=meaning)


async def _with_backend(
    settings: Settings, work: Callable[[Backend], Awaitable[T]], *, meaning: bool
) -> T:
    try:
        async with (
            open_embedder(settings) if meaning else nullcontext() as embedder,
            open_backend(
                settings.store.get_secret_value(),
                max_size=1,
                transaction_pooling=settings.transaction_pooling,
                migrate=settings.migrate,
                embedder=embedder,
            ) as backend,
        ):
            return await _in_one_line(work(backend))
    except MemoryFault as error:
        raise command_error(error, about=_VARIABLE) from None


async def _in_one_line(work: Awaitable[T]) -> T:
    try:
        return await work
    except MemoryFault as error:
        raise command_error(error) from None


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


def print_json(value: object) -> None:
    """Print a record, or something that holds records, as JSON."""
    sys.stdout.write(f"{json.dumps(value, default=_plain, ensure_ascii=False)}\n")


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {name: part for name, part in asdict(value).items() if not isinstance(part, bytes)}
    return value.isoformat() if isinstance(value, datetime) else str(value)
