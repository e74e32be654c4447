"""`durable-memory migrate`: the schema, made or brought up to date, before workers start."""

from __future__ import annotations

import json
import sys

from ..notebook import MemoryFault
from ..settings import Settings
from ..stores import migrate
from .errors import MISUSED, CommandError, command_error

_VARIABLE = "DURABLE_MEMORY_STORE"


async def run_migrate(settings: Settings, *, as_json: bool) -> int:
    """Migrate the database and say what was applied.

    Raises:
        CommandError: The store is not a database, refuses, does not answer, or does not fit.
    """
    if not settings.durable:
        raise CommandError(f"{_VARIABLE}: memory: has no schema", exit_code=MISUSED)
    try:
        applied = await migrate(settings.store.get_secret_value())
    except MemoryFault as error:
        raise command_error(error, about=_VARIABLE) from None
    sys.stdout.write(f"{_report(applied, as_json=as_json)}\n")
    return 0


def _report(applied: list[int], *, as_json: bool) -> str:
    if as_json:
        return json.dumps({"applied": applied})
    if not applied:
        return "The schema is up to date."
    return f"Applied {', '.join(f'{number:04}' for number in applied)}."
