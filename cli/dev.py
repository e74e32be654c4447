"""`durable-memory dev`: everything on this machine, until Ctrl-C."""

from __future__ import annotations

import json
import os
import shlex
from importlib.util import find_spec
from pathlib import Path

from ..settings import NO_EMBEDDER, PREFIX, SCRIPTED_MODEL, WORDLLAMA, Settings
from .processes import WorkerProcess, worker_process
from .running import ended_by_a_signal, forever
from .stack import Stack, embedded_stack
from .tables import print_rows

_MODEL = f"{PREFIX}MODEL_"
_EMBEDDER = f"{PREFIX}EMBEDDER"


async def run_dev(*, data: Path, task_queue: str, port: int, ui_port: int, as_json: bool) -> int:
    """Run the stack and a worker until a signal comes, and return the exit code.

    Args:
        data: Folder that keeps the servers' data.
        task_queue: The worker's.
        port: Port of the Temporal server.
        ui_port: Port of its web page.
        as_json: Print the addresses as one JSON object.

    Raises:
        SettingsError: A variable of ours does not exist, or cannot be used.
        CommandError: A server does not start, or the worker ends by itself.
    """
    Settings.load()  # before anything is made; the worker is told those on the model and embedder
    async with embedded_stack(data, port=port, ui_port=ui_port) as stack:
        variables = {
            **stack.environment(),
            "DURABLE_MEMORY_TASK_QUEUE": task_queue,
            "DURABLE_MEMORY_LOG_FORMAT": "text",
            **_model(),
            **_embedder(),
        }
        async with worker_process(variables) as worker:
            _announce(stack, worker, task_queue, as_json=as_json)
            with ended_by_a_signal():
                await worker.while_up(forever())
    return 0


def _model() -> dict[str, str]:
    """Return the caller's model variables, or the scripted model."""
    named = {name: value for name, value in os.environ.items() if name.startswith(_MODEL)}
    return named or {f"{_MODEL}BASE_URL": SCRIPTED_MODEL}


def _embedder() -> dict[str, str]:
    """Return the caller's embedder variables, or the embedder that is installed, if one is."""
    named = {name: value for name, value in os.environ.items() if name.startswith(_EMBEDDER)}
    return named or {_EMBEDDER: WORDLLAMA if find_spec("wordllama") else NO_EMBEDDER}


def _announce(stack: Stack, worker: WorkerProcess, task_queue: str, *, as_json: bool) -> None:
    if as_json:
        addresses = {"web": stack.web, "task_queue": task_queue, "worker_pid": worker.pid}
        print(json.dumps({**stack.environment(), **addresses}), flush=True)  # noqa: T201
        return
    rows = (
        ("Temporal", stack.temporal),
        ("web page", stack.web),
        ("Postgres", stack.store),
        ("task queue", task_queue),
        ("worker", f"process {worker.pid}"),
    )
    print_rows(rows)
    print("\nFor other shells:")  # noqa: T201
    for name, value in stack.environment().items():
        print(f"export {name}={shlex.quote(value)}")  # noqa: T201
    print("\nCtrl-C stops everything; the data stays.", flush=True)  # noqa: T201
