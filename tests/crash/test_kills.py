"""Every durable store, killed at every step of a mutation; the full suite is `make crash`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
STORES = ("file", "sqlite", "postgres")
OTHERS = ("replace", "create", "write", "delete", "settle")


def crash(*arguments: str) -> list[dict[str, Any]]:
    """Run the program and return its rounds; fails with what it found broken."""
    done = subprocess.run(
        [sys.executable, "-m", "crash", "--json", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    rounds: list[dict[str, Any]] = json.loads(done.stdout)["rounds"]
    assert [each["violations"] for each in rounds if each["violations"]] == []
    assert done.returncode == 0
    return rounds


def found(each: dict[str, Any]) -> list[str]:
    """What was found after each kill of a round, in the order of the steps."""
    return [kill["found"] for kill in each["kills"]]


def place(store: str, url: str) -> list[str]:
    """The arguments that name a store."""
    return ["--store", store, *(["--url", url] if store == "postgres" else [])]


@pytest.mark.parametrize("store", STORES)
def test_append_killed_at_every_step_is_whole(store: str, empty_database_url: str) -> None:
    """An append killed anywhere is done or not done, as its receipt says, and is applied once."""
    rounds = crash(*place(store, empty_database_url), "--mutation", "append")
    for each in rounds:
        assert [kill["number"] for kill in each["kills"]] == list(range(1, each["steps"] + 1))
        assert {"old", "new"} == set(found(each)), "killed before and after it took effect"
        print(each["target"], *(kill["step"] for kill in each["kills"]), sep="\n  ")  # noqa: T201


@pytest.mark.parametrize("store", STORES)
def test_other_mutations_killed_at_some_steps_are_whole(
    store: str, empty_database_url: str
) -> None:
    """The same at steps spread over the other mutations; the last step is always among them."""
    named = [word for name in OTHERS for word in ("--mutation", name)]
    rounds = crash(*place(store, empty_database_url), *named, "--most", "6")
    assert {each["mutation"] for each in rounds} == set(OTHERS)
    for each in rounds:
        assert len(each["kills"]) > 2
        assert found(each)[-1] == "new"


def test_file_is_safe_from_a_loss_of_power_at_each_step(empty_database_url: str) -> None:
    """New content is on the disk before its name is, and its preparation before both."""
    (traced, *_) = crash("--store", "file", "--mutation", "append", "--most", "1")
    if "system calls" not in traced["target"]:
        pytest.skip("this system lets no process be traced")
    steps = traced["order"]
    content = steps.index("fsync kept/notes/crash/*/agent/.memory-*.tmp")
    renamed = steps.index("renameat kept/notes/crash/*/agent/notes.md")
    prepared = renamed - steps[renamed::-1].index("fdatasync kept/notes/.memory-store.sqlite3-wal")
    kept = steps.index("fsync kept/notes/crash/*/agent")
    assert content < prepared < renamed < kept < steps.index("acknowledge")


def test_every_new_folder_is_safe_from_a_loss_of_power(empty_database_url: str) -> None:
    """Each folder that the first write makes is on the disk before anything is made in it."""
    (traced, *_) = crash("--store", "file", "--mutation", "create", "--most", "1")
    if "system calls" not in traced["target"]:
        pytest.skip("this system lets no process be traced")
    steps = traced["order"]
    made = [number for number, step in enumerate(steps) if step.startswith("mkdir")]
    folders = ["kept", "kept/notes", "kept/notes/crash", "kept/notes/crash/*"]
    assert [steps[number].split()[1] for number in made] == [*folders, "kept/notes/crash/*/agent"]
    above = [f"fsync {folder}" for folder in (".", *folders)]
    assert [steps[number + 1] for number in made] == above
