"""Persistent memory for AI agents on Temporal, applied exactly once, whatever crashes.

The names below are loaded when they are first used: Temporal's sandbox runs this module again for
each workflow, and a workflow needs neither the stores nor the plugin.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .plugin import MemoryPlugin
    from .workflows import (
        Entries,
        EntryMemory,
        Memory,
        Notebook,
        Snapshot,
        ToolResult,
        open_memories,
    )

__all__ = [
    "Entries",
    "EntryMemory",
    "Memory",
    "MemoryPlugin",
    "Notebook",
    "Snapshot",
    "ToolResult",
    "open_memories",
]

_PLUGIN = {"MemoryPlugin"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(".plugin" if name in _PLUGIN else ".workflows", __name__), name)
