"""Torture: workflows on every durable store, all faults mixed at random, and a checker outside.

Usage: python -m torture [--workflows N] [--seed S] [--json]
                         [--store NAME ...] [--scopes N] [--fault NAME ...]

Starts PostgreSQL and Temporal, runs the workflows, and holds what the files say against what the
surviving runs were told. Exits 1 when anything is lost, doubled or out of order.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from durable_memory.cli.embedded import postgres_server, temporal_server
from durable_memory.exits import leave

from .plan import FAULTS, STORES, Options
from .report import Report
from .runner import torture
from .workflow import OUTCOMES


def main(arguments: Sequence[str]) -> int:
    """Run, print, and return the exit code."""
    given = _parser().parse_args(arguments)
    options = Options(
        workflows=given.workflows,
        seed=secrets.randbelow(1_000_000) if given.seed is None else given.seed,
        stores=given.store or STORES,
        scopes=given.scopes,
        faults=given.fault or tuple(FAULTS),
    )
    sys.stderr.write(f"seed {options.seed}\n")
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        report = asyncio.run(_run(options, Path(folder).resolve()))
    if given.json:
        json.dump(asdict(report), sys.stdout)
    else:
        _print(report)
    return int(bool(report.violations))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m torture")
    parser.add_argument("--workflows", type=int, default=1_000)
    parser.add_argument("--seed", type=int, help="of all that chance decides; new by default")
    parser.add_argument("--store", action="append", choices=STORES, help="all by default")
    parser.add_argument("--scopes", type=int, default=8, help="of each store")
    parser.add_argument("--fault", action="append", choices=[*FAULTS], help="all by default")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


async def _run(options: Options, folder: Path) -> Report:
    async with temporal_server() as temporal:
        if "postgres" not in options.stores:
            return await torture(options, client=temporal.client, folder=folder, postgres=None)
        with postgres_server(folder / "postgres", keep=False) as url:
            return await torture(options, client=temporal.client, folder=folder, postgres=url)


def _print(report: Report) -> None:
    console = Console(width=None if sys.stdout.isatty() else 120)
    stores = [*report.faults]
    table = Table("", *stores, title=f"{report.workflows} workflows, seed {report.seed}")
    for fault, what in FAULTS.items():
        if fault in report.faults[stores[0]]:
            counts = (_count(store, fault, report) for store in stores)
            table.add_row(f"{fault}: {what}", *counts)
    table.add_section()
    for outcome in OUTCOMES:
        told = (str(report.told[store][outcome]) for store in stores)
        table.add_row(f"told: {outcome}", *told)
    table.add_row("told by a receipt", *(str(report.replayed[store]) for store in stores))
    left_over = (str(report.left_over[store]) for store in stores)
    table.add_row("other wordings from before a reset", *left_over)
    table.add_section()
    wrong = (str(sum(each.startswith(store) for each in report.violations)) for store in stores)
    table.add_row("lost, doubled or out of order", *wrong)
    console.print(table)
    for violation in report.violations:
        console.print(violation, markup=False)
    console.print(f"{report.seconds} s; python -m torture --seed {report.seed}", highlight=False)


def _count(store: str, fault: str, report: Report) -> str:
    """A store without connections cannot lose them."""
    if fault == "disconnected" and store != "postgres":
        return "-"
    return str(report.faults[store][fault])


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
