"""Kill stores at every step of every mutation, and print the steps.

Usage: python -m crash [--store NAME] [--mutation NAME] [--most N] [--url URL] [--json] [--steps]

Exits 1 when a promise did not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .mutations import MUTATIONS
from .rounds import Round, run_round
from .targets import STORES, targets


def main(arguments: Sequence[str]) -> int:
    """Run the rounds and return the exit code."""
    options = _parser().parse_args(arguments)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="crash-", dir=_fast_folder()) as folder:
        place = Path(folder).resolve()
        with targets(options.store or [*STORES], place, options.url) as found:
            rounds = [
                run_round(target, name, most=options.most)
                for target in found
                for name in options.mutation or MUTATIONS
            ]
    seconds = round(time.monotonic() - started, 1)
    if options.json:
        json.dump({"seconds": seconds, "rounds": [asdict(each) for each in rounds]}, sys.stdout)
    else:
        _print(rounds, seconds, steps=options.steps)
    return int(any(each.violations for each in rounds))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m crash", description=__doc__.split("\n")[0])
    parser.add_argument("--store", action="append", choices=STORES, help="all by default")
    parser.add_argument("--mutation", action="append", choices=[*MUTATIONS], help="all by default")
    parser.add_argument("--most", type=int, help="kills of one mutation; every step by default")
    parser.add_argument("--url", help="a migrated Postgres database; one of its own by default")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--steps", action="store_true", help="print every step")
    return parser


def _fast_folder() -> str | None:
    """Return a folder in memory: a killed process loses nothing that it has handed to the system.

    That a loss of power loses nothing either is not tried here; the order of the steps shows it.
    """
    memory = Path("/dev/shm")  # noqa: S108  (a folder with a random name is made in it)
    return str(memory) if os.access(memory, os.W_OK) else None


def _print(rounds: Sequence[Round], seconds: float, *, steps: bool) -> None:
    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table("store", "mutation", "steps", "kills", "old after", "new after", "violations")
    for each in rounds:
        numbers = (each.steps, len(each.kills), each.count("old"), each.count("new"))
        table.add_row(each.target, each.mutation, *map(str, numbers), str(len(each.violations)))
        if steps:
            _print_steps(console, each)
    console.print(table)
    for each in rounds:
        for violation in each.violations:
            console.print(violation, markup=False)
    kills = sum(len(each.kills) for each in rounds)
    console.print(
        f"{kills} kills in {seconds} s; {sum(len(r.violations) for r in rounds)} violations"
    )


def _print_steps(console: Console, each: Round) -> None:
    console.print(f"{each.target}: {each.mutation}", style="bold", markup=False)
    for kill in each.kills:
        console.print(f"{kill.number:5} {kill.found:4} {kill.step}", markup=False, highlight=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
