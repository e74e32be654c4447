"""The durable stores, each with the ways in which it can be killed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import cast

from durable_memory.cli.embedded import postgres_server
from durable_memory.stores import migrate, open_store

from . import native_calls, system_calls
from .messages import Wire
from .mutations import TriedStore
from .rounds import Open, Target

STORES = ("file", "sqlite", "postgres")


def opener(url: str) -> Open:
    """Return what opens the store at a URL, with one connection."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[TriedStore]:
        async with open_store(url, max_size=1, migrate=False) as store:
            yield cast("TriedStore", store)

    return opened


def local(store: str, folder: Path) -> Target:
    """Return the file or the SQLite store in a folder, killed as this system allows."""
    # The directory's own folder is missing too, so that what makes it is among the steps.
    url = {"file": f"file://{folder}/kept/notes", "sqlite": f"sqlite://{folder}/memory.db"}[store]
    traced = system_calls.permitted()
    return Target(
        name=f"{store}, {'system calls' if traced else 'native calls (may not trace)'}",
        folder=folder,
        opened=opener(url),
        victim=opener(url),
        tracer=system_calls.run if traced else native_calls.run,
    )


def native(store: str, folder: Path) -> Target:
    """Return a local store killed at its statements and calls, as Python sees them."""
    target = local(store, folder)
    return Target(
        name=f"{store}, native calls",
        folder=folder,
        opened=target.opened,
        victim=target.victim,
        tracer=native_calls.run,
    )


def remote(url: str, folder: Path) -> list[Target]:
    """Return a Postgres store, whose process or whose backend dies."""
    asyncio.run(migrate(url))
    wire = Wire(server=url, folder=folder)
    return [
        Target(
            name=f"postgres, messages, {fate} dies",
            folder=folder,
            opened=opener(url),
            victim=opener(wire.url),
            tracer=wire.tracer(fate),
        )
        for fate in ("victim", "backend")
    ]


@contextmanager
def targets(stores: list[str], folder: Path, url: str | None) -> Iterator[list[Target]]:
    """Return all targets of some stores; without a URL a server is started for Postgres."""
    found: list[Target] = []
    for store in ("file", "sqlite"):
        if store in stores:
            found += [
                each(store, _made(folder / each.__name__ / store)) for each in (local, native)
            ]
    if "postgres" not in stores:
        yield found
    elif url:
        yield [*found, *remote(url, _made(folder / "wire"))]
    else:
        with postgres_server(folder / "postgres", keep=False) as own:
            yield [*found, *remote(own, _made(folder / "wire"))]


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
