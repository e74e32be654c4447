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
    """Of what surviving runs were told, nothing is lost, doubled or out of order, on any store."""
    report = torture("--workflows", "24", "--seed", "5")
    assert set(report["faults"]) == set(STORES)
    happened = {
        fault for faults in report["faults"].values() for fault, count in faults.items() if count
    }
    # A cancellation often comes after the write; `test_zombies.py` has one that does not.
    assert happened >= set(FAULTS) - {"cancelled"}
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
