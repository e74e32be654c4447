"""Recorded histories replay on today's workflow code."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from durable_memory.plugin import MemoryPlugin
from durable_memory.workflows import AgentWorkflow, EmbeddingWorkflow

HISTORIES = Path(__file__).parent / "histories"
CHANGED = HISTORIES / "changed.json"
RECORDED = sorted(path for path in HISTORIES.glob("*.json") if path != CHANGED)


def history(path: Path) -> WorkflowHistory:
    """A recorded history."""
    return WorkflowHistory.from_json(path.stem, path.read_text(encoding="utf-8"))


def test_kinds_of_runs_are_recorded() -> None:
    """There is a history of a plain run, both deployments, a retry, a reset and a continuation."""
    names = {path.stem for path in RECORDED}
    assert names >= {"plain", "fleet", "retry", "reset", "continued", "continued-2"}
    assert names >= {"embedding", "embedding-2"}


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
async def test_history_replays(path: Path) -> None:
    """Today's code makes the commands that the history holds."""
    await Replayer(workflows=[AgentWorkflow, EmbeddingWorkflow]).replay_workflow(history(path))


async def test_history_of_changed_code_does_not_replay() -> None:
    """A valid history of changed code is told apart, so the tests above can fail."""
    with pytest.raises(NondeterminismError):
        await Replayer(workflows=[AgentWorkflow]).replay_workflow(history(CHANGED))


async def test_replaying_opens_no_store() -> None:
    """A plugin on the replayer connects to nothing: its URL leads nowhere."""
    plugin = MemoryPlugin("postgresql://nobody@127.0.0.1:1/none")
    replayer = Replayer(workflows=[AgentWorkflow], plugins=[plugin])
    await replayer.replay_workflow(history(HISTORIES / "plain.json"))


@pytest.mark.parametrize("path", [*RECORDED, CHANGED], ids=lambda path: path.stem)
def test_history_names_no_machine(path: Path) -> None:
    """Recorded histories were made by `scripts/record_histories.py`, with its identity."""
    text = path.read_text(encoding="utf-8")
    assert '"identity": "recorder"' in text
    assert "@" not in text
