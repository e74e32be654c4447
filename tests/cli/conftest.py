"""A bench for workers."""

from __future__ import annotations

from pathlib import Path

import pytest
from benches import Bench
from temporalio.testing import WorkflowEnvironment


@pytest.fixture
def bench(temporal: WorkflowEnvironment, tmp_path: Path) -> Bench:
    """A bench."""
    log = tmp_path / "worker.log"
    log.touch()
    return Bench(client=temporal.client, log=log)
