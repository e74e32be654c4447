"""A store with the base protocol and nothing else, as someone else might write one."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from durable_memory.stores import InMemoryStore, MemoryFile, MemoryMutation, MemoryOperation


@dataclass(kw_only=True)
class BareStore:
    """Hides the abilities of the in-memory store.

    Attributes:
        inner: Where the files are.
        listings: The limits that listings were asked for.
        reads: The bounds that reads were asked for.
        before_write: What other writers do just before the next writes, as texts.
    """

    inner: InMemoryStore = field(default_factory=InMemoryStore)
    listings: list[int] = field(default_factory=list)
    reads: list[int] = field(default_factory=list)
    before_write: list[str] = field(default_factory=list)

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """Read."""
        self.reads.append(max_chars)
        return await self.inner.read(path, max_chars=max_chars)

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """Return a receipt."""
        return await self.inner.get_operation(operation)

    async def write(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """Write, after what others write in between."""
        if self.before_write:
            await self._interfere(path, self.before_write.pop(0))
        return await self.inner.write(
            path,
            content,
            expected_version=expected_version,
            operation=operation,
            deadline=deadline,
        )

    async def delete(
        self,
        path: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """Delete."""
        return await self.inner.delete(
            path, expected_version=expected_version, operation=operation, deadline=deadline
        )

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """List."""
        self.listings.append(limit)
        return await self.inner.list_paths(prefix, limit=limit)

    async def _interfere(self, path: str, text: str) -> None:
        found = await self.inner.read(path, max_chars=1)
        version = found.version if found else None
        await self.inner.write(path, text, expected_version=version)
