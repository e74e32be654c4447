"""What is done to the processes and stores beneath the workflows."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field

import asyncpg

from .fleet import Fleet
from .plan import Options

_END_CONNECTIONS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'durable-memory'
"""
_LOCK_ROWS = "SELECT id FROM durable_memory.documents FOR UPDATE"


@dataclass(kw_only=True)
class Chaos:
    """Carries out process faults, and counts them by store and fault."""

    fleet: Fleet
    options: Options
    urls: Mapping[str, str]
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    async def do(self, fault: str) -> None:
        """Do one of `PROCESS_FAULTS`."""
        match fault:
            case "killed":
                await self.fleet.kill()
                self._count(fault, self.urls)
            case "stopped":
                await self.fleet.pause(self.options.mutation_seconds + 1)
                self._count(fault, self.urls)
            case "disconnected":
                await self._disconnect()
            case "held":
                await asyncio.gather(*(self._hold(store) for store in self.urls))
                self._count(fault, self.urls)

    def _count(self, fault: str, stores: Mapping[str, str]) -> None:
        self.counts.update((store, fault) for store in stores)

    async def _disconnect(self) -> None:
        """End the connections; only Postgres has any."""
        if "postgres" not in self.urls:
            return
        connection = await asyncpg.connect(self.urls["postgres"])
        try:
            ended = await connection.fetch(_END_CONNECTIONS)
        finally:
            await connection.close()
        self.counts["postgres", "disconnected"] += len(ended)

    async def _hold(self, store: str) -> None:
        seconds = self.options.attempt_seconds * 1.5
        if store == "postgres":
            await _hold_rows(self.urls[store], seconds)
            return
        hold = _hold_database if store == "sqlite" else _hold_folder
        path = self.urls[store].removeprefix(f"{store}://")
        await asyncio.to_thread(hold, path, seconds)


async def _hold_rows(url: str, seconds: float) -> None:
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            await connection.fetch(_LOCK_ROWS)
            await asyncio.sleep(seconds)
    finally:
        await connection.close()


def _hold_database(path: str, seconds: float) -> None:
    with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        time.sleep(seconds)
        connection.execute("ROLLBACK")


def _hold_folder(path: str, seconds: float) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        time.sleep(seconds)
    finally:
        os.close(folder)
