"""The store in a directory of Markdown files."""

from .store import FileMemoryStore

__all__ = ["FileMemoryStore"]
