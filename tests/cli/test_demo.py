"""`durable-memory demo`, whole: real servers, a killed worker, a reset, the proof."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

COMMAND = [sys.executable, "-m", "durable_memory.cli", "demo"]
BUDGET = 120.0
"""Seconds; half of it on an idle machine."""


def _run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *options], capture_output=True, text=True, check=False, timeout=300
    )


def _summary(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    summary: dict[str, Any] = json.loads(line)
    return summary


def test_the_demo_proves_its_claims() -> None:
    """On the shipped transcript every claim holds, and soon."""
    started = time.monotonic()
    summary = _summary(_run("--json"))
    assert time.monotonic() - started < BUDGET
    assert summary["held"]
    assert len(summary["checks"]) == 5
    assert all(check["held"] for check in summary["checks"])
    assert summary["notebook"].startswith("Hi! I'm Mina.")
    assert summary["notebook"].count("Thanks!\n") == 4
    assert summary["workflow"].startswith("http://127.0.0.1:")


def test_a_conversation_of_the_user_s_is_told_for_people(tmp_path: Path) -> None:
    """Two lines are enough; story, notebook and proof are printed, and no server is left."""
    path = tmp_path / "mine.jsonl"
    said = ("[bold]not markup[/bold] 🥐", "[bold]not markup[/bold] 🥐")
    lines = [json.dumps({"role": "user", "content": line}) for line in said]
    path.write_text("\n".join(lines), encoding="utf-8")
    done = _run("--transcript", str(path), "--data", str(tmp_path / "kept"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("[bold]not markup[/bold] 🥐") == 2
    assert "killed before Temporal heard of note 1" in done.stdout
    assert "every note exactly once, in the order it was said" in done.stdout
    assert "http" not in done.stdout  # its servers are gone
    assert (tmp_path / "kept" / "temporal.sqlite3").exists()
    assert _left(tmp_path) == []


def _left(folder: Path) -> list[str]:
    """Return the names of processes that were started on a folder."""
    every = (process.info for process in psutil.process_iter(["name", "cmdline"]))
    return [info["name"] for info in every if str(folder) in " ".join(info["cmdline"] or ())]
