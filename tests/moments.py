"""Waiting for a moment of the clock."""

from __future__ import annotations

from datetime import UTC, datetime

from durable_memory.cli.faults import until


async def until_after(moment: datetime) -> None:
    """Wait until a moment has passed."""

    async def passed() -> bool:
        return datetime.now(UTC) > moment

    await until(passed, "a deadline")
