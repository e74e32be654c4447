"""Small torture runs; the whole one is `make torture`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from torture.plan import FAULTS, STORES

TESTS = Path(__file__).parents[1]
# A cancellation often comes after the write; `test_zombies.py` has one that does not. Only Postgres
# has connections.
UNSURE = {store: {"cancelled", "disconnected"} for store in STORES} | {
    "postgres": {"cancelled"},
}
"""Faults that need not happen, by store."""


def torture(*arguments: str) -> dict[str, Any]:
    """Run the program and return its report; fails with what it found wrong."""
    done = subprocess.run(
        [sys.executable, "-m", "torture", "--json", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["violations"] == [], f"seed {report['seed']}"
    assert done.returncode == 0
    return report


def test_every_fault_on_every_store_loses_nothing() -> None:
    """Every fault happens on every store, and of what was told nothing is lost or doubled."""
    # The first 21 workflows have each fault of a note or a workflow on each store once.
    report = torture("--workflows", "24", "--seed", "5")
    assert set(report["faults"]) == set(STORES)
    for store, faults in report["faults"].items():
        assert {fault for fault in FAULTS if not faults[fault]} <= UNSURE[store], store
    assert all(told["written"] for told in report["told"].values())


def test_many_workflows_on_one_scope_write_each_note_once() -> None:
    """With failures injected and workers killed three times, every note is there exactly once."""
    report = torture(
        *("--workflows", "30", "--store", "postgres", "--scopes", "1"),
        *("--fault", "fails", "--fault", "unreported", "--fault", "killed"),
    )
    faults, told = report["faults"]["postgres"], report["told"]["postgres"]
    assert faults["killed"] == 3
    assert faults["fails"]
    assert faults["unreported"]
    assert told["written"] == sum(told.values())
