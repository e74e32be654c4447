"""What a memory store is, and the stores."""

from .edits import apply_edit
from .memory import InMemoryStore
from .opening import open_store
from .postgres import (
    MemorySchemaMismatch,
    PostgresConnection,
    PostgresMemoryStore,
    PostgresPool,
    create_pool,
    ensure_compatible,
    migrate,
)
from .protocols import (
    EditingStore,
    HistoryStore,
    MemoryFile,
    MemoryMutation,
    MemoryOperation,
    MemorySearchMatch,
    MemorySearchResult,
    MemoryStore,
    MemoryVersion,
    SearchableMemoryStore,
    SettlingStore,
    SnapshotStore,
)
from .searching import search_notebook
from .settling import settle_operation
from .viewing import view_notebook

__all__ = [
    "EditingStore",
    "HistoryStore",
    "InMemoryStore",
    "MemoryFile",
    "MemoryMutation",
    "MemoryOperation",
    "MemorySchemaMismatch",
    "MemorySearchMatch",
    "MemorySearchResult",
    "MemoryStore",
    "MemoryVersion",
    "PostgresConnection",
    "PostgresMemoryStore",
    "PostgresPool",
    "SearchableMemoryStore",
    "SettlingStore",
    "SnapshotStore",
    "apply_edit",
    "create_pool",
    "ensure_compatible",
    "migrate",
    "open_store",
    "search_notebook",
    "settle_operation",
    "view_notebook",
]
