"""`durable-memory token`: who may call the memory service."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ..stores import Backend, Principal, PrincipalType, Token, issue_token
from .backend import Json, on_backend, print_json
from .errors import MISUSED, CommandError
from .tables import print_rows

app = typer.Typer(help="Bearer tokens of the memory service.", no_args_is_help=True)


class Kind(StrEnum):
    """What kind of principal, as one types it."""

    USER = "user"
    SERVICE_PRINCIPAL = "service-principal"


KindOption = Annotated[Kind, typer.Option("--type", help="What kind of principal it is.")]


def principal(name: str, kind: Kind) -> Principal:
    """Return the principal that the arguments name."""
    return Principal(type=PrincipalType[kind.name], name=name)


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="An e-mail address, or a program's id.")],
    *,
    kind: KindOption = Kind.USER,
    admin: Annotated[bool, typer.Option("--admin", help="Manages every store's grants.")] = False,
    as_json: Json = False,
) -> None:
    """Make a token and print it; it is not kept and cannot be shown again."""
    if any(map(str.isspace, name)):
        # Whoever has one already is granted and revoked as ever.
        message = "a name has no blanks: an e-mail address, or a program's id"
        raise CommandError(message, exit_code=MISUSED)

    async def work(backend: Backend) -> tuple[str, Token]:
        text, token = issue_token(principal(name, kind), admin=admin)
        await backend.tokens.add_token(token)
        return text, token

    text, token = on_backend(work)
    if as_json:
        print_json({"token": text, **_fields(token)})
    else:
        typer.echo(text)


@app.command("list")
def list_(*, as_json: Json = False) -> None:
    """List tokens, revoked ones too, without their secrets."""

    async def work(backend: Backend) -> list[Token]:
        return list(await backend.tokens.list_tokens())

    rows = [_fields(token) for token in on_backend(work)]
    if as_json:
        print_json(rows)
    else:
        columns = ("id", "principal", "type", "admin", "created", "revoked")
        print_rows([[row[column] for column in columns] for row in rows], columns=columns)


@app.command()
def revoke(
    token_id: Annotated[str, typer.Argument(help="The token's id.")], *, as_json: Json = False
) -> None:
    """End a token at once."""

    async def work(backend: Backend) -> bool:
        return await backend.tokens.revoke_token(token_id)

    if not on_backend(work):
        raise CommandError("there is no valid token of that id")
    if as_json:
        print_json({"revoked": token_id})


def _fields(token: Token) -> dict[str, object]:
    return {
        "id": token.id,
        "principal": token.principal.name,
        "type": token.principal.type,
        "admin": token.admin,
        "created": token.created_at,
        "revoked": token.revoked_at,
    }
