"""`durable-memory entries`: the entries of one actor in one memory store."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer

from ..notebook import SOURCE_TYPES, EntryFilter, EntryKey, MemoryNotFound, Provenance
from ..stores import Backend, Entry, EntryMatch, EntryMutation, EntryVersion, EntryWrite
from .backend import Json, Yes, confirm, on_store, print_json
from .errors import MISUSED, CommandError
from .tables import print_rows

T = TypeVar("T")

_NO_ENTRY = "No such entry."

app = typer.Typer(help="Entries of memory stores.", no_args_is_help=True)

Store = Annotated[str, typer.Argument(help="The memory store's id.")]
Id = Annotated[str, typer.Argument(help="The entry's id.", metavar="ENTRY")]
Path = Annotated[str, typer.Argument(help="Such as /preferences/style.md.")]
Actor = Annotated[str, typer.Option(help="Whose memory.")]
Session = Annotated[str | None, typer.Option(help="Of this session only.")]
Prefix = Annotated[str | None, typer.Option(help="At this path and below it.")]
Limit = Annotated[int, typer.Option(min=1, max=100, help="Entries at most.")]
Content = Annotated[str, typer.Argument(help="The text; - reads standard input.")]
Description = Annotated[str | None, typer.Option(help="Short text for search.")]
Source = Annotated[
    str | None,
    typer.Option("--source-type", help=f"Who says so: {', '.join(sorted(SOURCE_TYPES))}."),
]


@app.command("list")
def list_(
    store: Store,
    *,
    actor: Actor,
    path: Annotated[str | None, typer.Option(help="Exactly this path.")] = None,
    prefix: Prefix = None,
    session: Session = None,
    limit: Annotated[int, typer.Option(min=1, help="Entries at most.")] = 1_000,
    as_json: Json = False,
) -> None:
    """List entries, without their contents; with them as JSON."""

    async def work(backend: Backend) -> list[Entry]:
        where = EntryFilter(path=path, path_prefix=prefix, session=session)
        found: list[Entry] = []
        after = None
        while len(found) < limit:
            size = min(100, limit - len(found))
            page = await backend.entries.list_entries(
                store, actor, limit=size, where=where, after=after, content=as_json
            )
            found.extend(page.entries)
            after = page.next
            if after is None:
                break
        return found

    found = _on_store(store, work)
    if as_json:
        print_json(found)
    else:
        columns = ("id", "path", "session", "version", "updated", "description")
        print_rows([_row(entry) for entry in found], columns=columns)


@app.command()
def get(
    store: Store,
    entry: Id,
    *,
    version: Annotated[str | None, typer.Option(help="As it was; see history.")] = None,
    as_json: Json = False,
) -> None:
    """Print the content of an entry; all of it as JSON."""

    async def work(backend: Backend) -> Entry:
        if version is None:
            found = await backend.entries.get(store, entry)
        else:
            found = await backend.entries.read_version(store, entry, version)
        if found is None:
            raise MemoryNotFound(_NO_ENTRY if version is None else "It is deleted there.")
        return found

    found = _on_store(store, work)
    if as_json:
        print_json(found)
    else:
        sys.stdout.write(found.content or "")


@app.command()
def search(
    store: Store,
    query: Annotated[str, typer.Argument(help="Natural language.")],
    *,
    actor: Actor,
    prefix: Prefix = None,
    session: Session = None,
    limit: Limit = 10,
    as_json: Json = False,
) -> None:
    """Search entries, best first; by meaning too where DURABLE_MEMORY_EMBEDDER is set."""

    async def work(backend: Backend) -> list[EntryMatch]:
        where = EntryFilter(path_prefix=prefix, session=session)
        return list(await backend.entries.search(store, actor, query, limit=limit, where=where))

    found = _on_store(store, work, meaning=True)
    if as_json:
        print_json(found)
    else:
        rows = [(f"{match.score:.3f}", *_row(match.entry)[:3]) for match in found]
        print_rows(rows, columns=("score", "id", "path", "session"))


@app.command()
def put(
    store: Store,
    path: Path,
    content: Content,
    *,
    actor: Actor,
    session: Session = None,
    description: Description = None,
    source_type: Source = None,
    as_json: Json = False,
) -> None:
    """Create an entry or replace its content, in one step."""
    text = _text(content)

    async def work(backend: Backend) -> EntryMutation:
        key = EntryKey(store=store, actor=actor, path=path, session=session)
        return await backend.entries.put(
            key, content=text, description=description, write=_write(source_type)
        )

    _say(_on_store(store, work), as_json=as_json)


@app.command()
def append(
    store: Store,
    path: Path,
    content: Content,
    *,
    actor: Actor,
    session: Session = None,
    description: Description = None,
    source_type: Source = None,
    as_json: Json = False,
) -> None:
    """Add lines to an entry, in one step; creates it."""
    text = _text(content)

    async def work(backend: Backend) -> EntryMutation:
        key = EntryKey(store=store, actor=actor, path=path, session=session)
        return await backend.entries.append(
            key, content=text, description=description, write=_write(source_type)
        )

    _say(_on_store(store, work), as_json=as_json)


@app.command()
def update(
    store: Store,
    entry: Id,
    *,
    content: Annotated[str | None, typer.Option(help="The text; - reads standard input.")] = None,
    description: Description = None,
    source_type: Source = None,
    as_json: Json = False,
) -> None:
    """Change what is given of an entry."""
    text = None if content is None else _text(content)

    async def work(backend: Backend) -> EntryMutation:
        return await backend.entries.update(
            store, entry, content=text, description=description, write=_write(source_type)
        )

    _say(_on_store(store, work), as_json=as_json)


@app.command()
def delete(store: Store, entry: Id, *, yes: Yes = False, as_json: Json = False) -> None:
    """Delete one entry."""
    confirm(f"Delete the entry {entry}?", yes=yes)

    async def work(backend: Backend) -> EntryMutation:
        return await backend.entries.delete(store, entry)

    _say(_on_store(store, work), as_json=as_json)


@app.command()
def forget(
    store: Store, path: Path, *, actor: Actor, yes: Yes = False, as_json: Json = False
) -> None:
    """Delete every session's entry at a path, in one step."""
    confirm(f"Delete every entry of {actor} at {path}?", yes=yes)

    async def work(backend: Backend) -> EntryMutation:
        return await backend.entries.forget(store, actor, path)

    done = _on_store(store, work)
    if as_json:
        print_json(done)
    else:
        typer.echo(f"{len(done.entry_ids)} deleted.")


@app.command()
def history(store: Store, entry: Id, *, limit: Limit = 20, as_json: Json = False) -> None:
    """List the versions of an entry, newest first."""

    async def work(backend: Backend) -> list[EntryVersion]:
        return list(await backend.entries.history(store, entry, limit=limit))

    found = _on_store(store, work)
    if as_json:
        print_json(found)
    else:
        rows = [
            (step.version, step.written_at, len(step.change.removed), len(step.change.added))
            for step in found
        ]
        print_rows(rows, columns=("version", "written", "removed", "added"))


def _on_store(store: str, work: Callable[[Backend], Awaitable[T]], *, meaning: bool = False) -> T:
    """Do some work on a memory store, in which what is not found is an entry."""

    async def said(backend: Backend) -> T:
        try:
            return await work(backend)
        except MemoryNotFound as error:
            nothing_special = str(error) == str(MemoryNotFound())
            raise MemoryNotFound(_NO_ENTRY if nothing_special else str(error)) from None

    return on_store(store, said, meaning=meaning)


def _write(source: str | None) -> EntryWrite:
    if source is None:
        return EntryWrite()
    return EntryWrite(provenance=Provenance(source_type=source.upper()))


def _text(content: str) -> str:
    if content != "-":
        return content
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise CommandError("standard input is not UTF-8", exit_code=MISUSED) from None


def _row(entry: Entry) -> tuple[object, ...]:
    key = entry.key
    return (entry.id, key.path, key.session, entry.version, entry.updated_at, entry.description)


def _say(done: EntryMutation, *, as_json: bool) -> None:
    if as_json:
        print_json(done)
    elif done.entry is not None:
        typer.echo(f"{done.entry.id} is at version {done.version}.")
