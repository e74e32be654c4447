"""`durable-memory stores`: memory stores and their grants."""

from __future__ import annotations

from typing import Annotated

import typer

from ..notebook import MemoryAlreadyExists, MemoryNotFound
from ..stores import Backend, EntryStoreInfo, Grant, Permission, Principal
from .backend import NO_STORE, Json, Yes, confirm, on_backend, on_store, print_json
from .tables import print_rows
from .tokens import Kind, KindOption, principal

app = typer.Typer(help="Memory stores and their grants.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(help="The memory store's id.", metavar="STORE")]
Name = Annotated[str, typer.Argument(help="The principal's name.", metavar="PRINCIPAL")]
Description = Annotated[str, typer.Option(help="For people.")]

Granted = Annotated[
    Permission,
    typer.Argument(help="READ or WRITE.", metavar="PERMISSION", case_sensitive=False),
]

_PAGE = 100
_COLUMNS = ("id", "creator", "created", "updated", "description")


@app.command("list")
def list_(*, as_json: Json = False) -> None:
    """List all memory stores."""

    async def work(backend: Backend) -> list[EntryStoreInfo]:
        page = await backend.entries.list_stores(limit=_PAGE)
        found = list(page.stores)
        while page.next is not None:
            page = await backend.entries.list_stores(limit=_PAGE, after=page.next)
            found.extend(page.stores)
        return found

    _print(on_backend(work), as_json=as_json)


@app.command()
def get(store: Id, *, as_json: Json = False) -> None:
    """Show one memory store."""

    async def work(backend: Backend) -> EntryStoreInfo:
        found = await backend.entries.get_store(store)
        if found is None:
            raise MemoryNotFound(NO_STORE)
        return found

    _print(on_backend(work), as_json=as_json)


@app.command()
def create(
    store: Id,
    *,
    creator: Annotated[str, typer.Option(help="Principal that gets WRITE and manages grants.")],
    kind: KindOption = Kind.USER,
    description: Description = "",
    as_json: Json = False,
) -> None:
    """Create a memory store for a principal."""

    async def work(backend: Backend) -> EntryStoreInfo:
        owner = principal(creator, kind).key
        try:
            return await backend.entries.create_store(store, creator=owner, description=description)
        except MemoryAlreadyExists:
            raise MemoryAlreadyExists("There is a memory store of that id already.") from None

    _print(on_backend(work), as_json=as_json)


@app.command()
def update(
    store: Id,
    *,
    description: Annotated[str, typer.Option(help="For people.")],
    as_json: Json = False,
) -> None:
    """Change the description."""

    async def work(backend: Backend) -> EntryStoreInfo:
        return await backend.entries.update_store(store, description=description)

    _print(on_store(store, work), as_json=as_json)


@app.command()
def delete(store: Id, *, yes: Yes = False, as_json: Json = False) -> None:
    """Delete a memory store with all that is in it."""
    confirm(f"Delete the memory store {store} with every entry in it?", yes=yes)

    async def work(backend: Backend) -> None:
        if not await backend.entries.delete_store(store):
            raise MemoryNotFound(NO_STORE)

    on_backend(work)
    if as_json:
        print_json({"deleted": store})


@app.command()
def grants(store: Id, *, as_json: Json = False) -> None:
    """List what was granted; the creator's own WRITE is not among it."""

    async def work(backend: Backend) -> list[Grant]:
        page = await backend.grants.list_grants(store, limit=_PAGE)
        found = list(page.grants)
        while page.next is not None:
            page = await backend.grants.list_grants(store, limit=_PAGE, after=page.next)
            found.extend(page.grants)
        return found

    found = on_store(store, work)
    if as_json:
        print_json(found)
    else:
        rows = [(each.principal.name, each.principal.type, each.permission) for each in found]
        print_rows(rows, columns=("principal", "type", "permission"))


@app.command()
def grant(
    store: Id,
    name: Name,
    permission: Granted,
    *,
    kind: KindOption = Kind.USER,
    as_json: Json = False,
) -> None:
    """Grant READ or WRITE."""

    async def work(backend: Backend) -> Grant:
        given = Grant(principal=principal(name, kind), permission=permission)
        await backend.grants.grant(store, given)
        return given

    given = on_store(store, work)
    if as_json:
        print_json({"granted": given})


@app.command()
def revoke(store: Id, name: Name, *, kind: KindOption = Kind.USER, as_json: Json = False) -> None:
    """Take all that was granted to a principal."""

    async def work(backend: Backend) -> Principal:
        whose = principal(name, kind)
        if not await backend.grants.revoke(store, whose):
            raise MemoryNotFound("Nothing was granted to it.")
        return whose

    whose = on_store(store, work)
    if as_json:
        print_json({"revoked": whose})


def _print(found: EntryStoreInfo | list[EntryStoreInfo], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    rows = found if isinstance(found, list) else [found]
    print_rows([_row(info) for info in rows], columns=_COLUMNS)


def _row(info: EntryStoreInfo) -> tuple[object, ...]:
    creator = Principal.of_key(info.creator).name
    return (info.id, creator, info.created_at, info.updated_at, info.description)
