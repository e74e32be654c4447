"""What a memory store is, and the stores."""

from ..notebook import MemorySchemaMismatch
from .backend import Backend, open_backend
from .checks import check_bound, check_deadline, check_operation, refuse_late
from .edits import apply_edit
from .embedding import (
    CLAIM_LEASE,
    CLAIM_LIMIT,
    EmbeddedTask,
    Embedder,
    EmbeddingQueue,
    EmbeddingTask,
    Refill,
)
from .entries import EntryStore
from .entryrecords import (
    EVERYTHING,
    PLAIN_WRITE,
    Entry,
    EntryCursor,
    EntryMatch,
    EntryMutation,
    EntryPage,
    EntryStoreInfo,
    EntryStorePage,
    EntryVersion,
    EntryWrite,
)
from .file import FileMemoryStore
from .grants import (
    Access,
    Grant,
    GrantPage,
    GrantStore,
    Permission,
    Principal,
    PrincipalType,
)
from .listing import listing_order
from .memory import InMemoryStore
from .opening import IN_MEMORY, check_store_url, open_store
from .postgres import (
    PostgresConnection,
    PostgresEmbeddingQueue,
    PostgresEntryStore,
    PostgresGrantStore,
    PostgresMemoryStore,
    PostgresPool,
    PostgresTokenStore,
    create_pool,
    ensure_compatible,
    migrate,
)
from .protocols import (
    EditingStore,
    HistoryStore,
    MemoryStore,
    SearchableMemoryStore,
    SettlingStore,
    SnapshotStore,
    SweepingStore,
)
from .records import (
    MemoryFile,
    MemoryMutation,
    MemoryOperation,
    MemorySearchMatch,
    MemorySearchResult,
    MemoryVersion,
)
from .searching import search_notebook
from .serving import EntryServingStore, entries_of
from .settling import settle_operation
from .sqlite import SqliteMemoryStore
from .tokens import Token, TokenStore, authenticate, issue_token
from .viewing import view_notebook

__all__ = [
    "CLAIM_LEASE",
    "CLAIM_LIMIT",
    "EVERYTHING",
    "IN_MEMORY",
    "PLAIN_WRITE",
    "Access",
    "Backend",
    "EditingStore",
    "EmbeddedTask",
    "Embedder",
    "EmbeddingQueue",
    "EmbeddingTask",
    "Entry",
    "EntryCursor",
    "EntryMatch",
    "EntryMutation",
    "EntryPage",
    "EntryServingStore",
    "EntryStore",
    "EntryStoreInfo",
    "EntryStorePage",
    "EntryVersion",
    "EntryWrite",
    "FileMemoryStore",
    "Grant",
    "GrantPage",
    "GrantStore",
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
    "Permission",
    "PostgresConnection",
    "PostgresEmbeddingQueue",
    "PostgresEntryStore",
    "PostgresGrantStore",
    "PostgresMemoryStore",
    "PostgresPool",
    "PostgresTokenStore",
    "Principal",
    "PrincipalType",
    "Refill",
    "SearchableMemoryStore",
    "SettlingStore",
    "SnapshotStore",
    "SqliteMemoryStore",
    "SweepingStore",
    "Token",
    "TokenStore",
    "apply_edit",
    "authenticate",
    "check_bound",
    "check_deadline",
    "check_operation",
    "check_store_url",
    "create_pool",
    "ensure_compatible",
    "entries_of",
    "issue_token",
    "listing_order",
    "migrate",
    "open_backend",
    "open_store",
    "refuse_late",
    "search_notebook",
    "settle_operation",
    "view_notebook",
]
