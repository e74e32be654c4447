"""The commands, their options, and how they end."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from .. import worker as worker_module
from ..settings import Settings, SettingsError
from . import entries, memory_stores, tokens
from .demo import load_transcript, run_demo
from .dev import run_dev
from .errors import INTERRUPTED, MISUSED, CommandError
from .migrate import run_migrate
from .running import run
from .serving import run_serve

PROGRAM = "durable-memory"

app = typer.Typer(
    name=PROGRAM,
    help="Persistent memory for AI agents on Temporal, applied exactly once, whatever crashes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(tokens.app, name="token")
app.add_typer(memory_stores.app, name="stores")
app.add_typer(entries.app, name="entries")

Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]
Data = Annotated[Path, typer.Option("--data", help="Folder that keeps the servers' data.")]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code.

    0: done. 1: what was asked for did not succeed. 2: an argument, a variable or a file cannot be
    used. 130: ended by a signal.

    Args:
        arguments: Without the program's name; those of the process when `None`.
    """
    try:
        code = app(arguments, prog_name=PROGRAM, standalone_mode=False)
    except CommandError as error:
        return _fail(str(error), error.exit_code)
    except SettingsError as error:
        return _fail(str(error), MISUSED)
    except typer.TyperException as error:
        return _fail(error.format_message(), error.exit_code)
    except typer.Abort:
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    if line:  # a group of commands without a command has printed its help, and says no more
        sys.stderr.write(f"{PROGRAM}: {line}\n")
    return code


def _print_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"{PROGRAM} {version(PROGRAM)}\n")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Persistent memory for AI agents on Temporal, applied exactly once, whatever crashes."""


@app.command()
def worker() -> int:
    """Run the worker, as DURABLE_MEMORY_* and TEMPORAL_* say, until SIGTERM."""
    return worker_module.main()


@app.command()
def serve() -> int:
    """Serve the memory service's REST API, as DURABLE_MEMORY_* say, until SIGTERM."""
    return run_serve()


@app.command()
def migrate(*, as_json: Json = False) -> int:
    """Bring the database behind DURABLE_MEMORY_STORE to this release's schema."""
    return run(run_migrate(Settings.load(), as_json=as_json))


@app.command()
def dev(
    *,
    data: Data = Path(".data"),
    task_queue: Annotated[str, typer.Option(help="The worker's task queue.")] = "memory",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Temporal's port.")] = 7233,
    ui_port: Annotated[int, typer.Option(min=1, max=65535, help="The web page's port.")] = 8233,
    as_json: Json = False,
) -> int:
    """Run Postgres, Temporal with its web page, and a worker, until Ctrl-C.

    The worker serves every scope, and the reference agent with the model that
    DURABLE_MEMORY_MODEL_* name; with a scripted one when they name none.
    """
    return run(
        run_dev(
            data=data,
            task_queue=task_queue,
            port=port,
            ui_port=ui_port,
            as_json=as_json,
        )
    )


@app.command()
def demo(
    *,
    transcript: Annotated[
        Path | None,
        typer.Option(help="JSON lines with role, content and optional session."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps the servers' data; a temporary one by default."),
    ] = None,
    hold: Annotated[
        bool, typer.Option("--hold", help="Keep the servers up for a look, until Ctrl-C.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Kill a worker, reset a workflow, and prove that no note is lost or doubled."""
    sessions = load_transcript(transcript)
    return run(run_demo(sessions, data=data, as_json=as_json, hold=hold))
