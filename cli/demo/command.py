"""The demo's command: servers up, story told, proof shown."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from ..embedded import free_port
from ..errors import FAILED
from ..running import ended_by_a_signal, forever
from ..stack import embedded_stack
from .narrator import Narrator
from .proof import Check, prove
from .stage import Run, Stage
from .story import tell
from .transcript import Session


async def run_demo(
    sessions: Sequence[Session], *, data: Path | None, as_json: bool, hold: bool
) -> int:
    """Run the demo and return its exit code: 0 only if every claim held.

    Args:
        sessions: The transcript.
        data: Folder that keeps the servers' data; a temporary one when `None`.
        as_json: Print one JSON object to standard output, and the story to standard error.
        hold: Keep the servers up until a signal comes, so that the web page can be looked at.

    Raises:
        CommandError: A server or a worker failed, or a wait took too long.
    """
    started = time.monotonic()
    narrator = Narrator(Console(stderr=as_json, highlight=False))
    with _folder(data) as folder:
        narrator.say("starting PostgreSQL and Temporal")
        async with embedded_stack(folder, port=free_port(), ui_port=free_port()) as stack:
            stage = Stage(stack=stack, narrator=narrator, log=folder / "workers.log")
            evidence = await tell(stage, sessions)
            checks = prove(evidence)
            again = Run(workflow_id=evidence.again.workflow_id, run_id=evidence.again.run_id)
            narrator.notebook(evidence.content)
            narrator.proof(checks)
            narrator.end(held=_held(checks), seconds=time.monotonic() - started)
            if as_json:
                summary = _summary(checks, evidence.content, stage.link(again))
                print(json.dumps(summary), flush=True)  # noqa: T201
            if hold:
                narrator.hold(stage.link(again))
                with ended_by_a_signal():
                    await forever()
    return 0 if _held(checks) else FAILED


def _held(checks: Sequence[Check]) -> bool:
    return all(check.held for check in checks)


def _summary(checks: Sequence[Check], notebook: str, link: str) -> dict[str, object]:
    return {
        "held": _held(checks),
        "checks": [asdict(check) for check in checks],
        "notebook": notebook,
        "workflow": link,
    }


@contextmanager
def _folder(data: Path | None) -> Iterator[Path]:
    if data is not None:
        yield data
        return
    # Postgres run by root belongs to another user, and its files may go before we look.
    with TemporaryDirectory(prefix="durable-memory-demo-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
