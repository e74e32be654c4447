"""A store of entries whose saves can be held up inside the process."""

from __future__ import annotations

import asyncio
from typing import Any

from durable_memory.notebook import EntryKey
from durable_memory.stores import EntryMutation, PostgresEntryStore


class HeldEntries(PostgresEntryStore):
    """Holds saves of one content until it is told to go on, and notes what became of each."""

    def __init__(self, *arguments: Any, held: str, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.held = held
        self.arrived = asyncio.Event()
        self.release = asyncio.Event()
        self.ended = asyncio.Event()
        self.outcomes: list[str] = []

    async def put(self, key: EntryKey, *, content: str, **options: Any) -> EntryMutation:
        """Put, after the wait."""
        if content == self.held and not self.release.is_set():
            self.arrived.set()
            # An activity that its worker gives up is not told: it goes on.
            await asyncio.shield(asyncio.ensure_future(self.release.wait()))
        try:
            mutation = await super().put(key, content=content, **options)
        except Exception as error:
            self.outcomes.append(f"{content}: {type(error).__name__}")
            raise
        else:
            self.outcomes.append(f"{content}: {'replayed' if mutation.replayed else 'applied'}")
            return mutation
        finally:
            if content == self.held:
                self.ended.set()
