"""The store in a SQLite database."""

from .store import SqliteMemoryStore

__all__ = ["SqliteMemoryStore"]
