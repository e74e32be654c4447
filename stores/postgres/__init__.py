"""The store on PostgreSQL, its pools and its migrations."""

from .pool import PostgresConnection, PostgresPool, create_pool
from .schema import MemorySchemaMismatch, ensure_compatible, migrate
from .store import PostgresMemoryStore

__all__ = [
    "MemorySchemaMismatch",
    "PostgresConnection",
    "PostgresMemoryStore",
    "PostgresPool",
    "create_pool",
    "ensure_compatible",
    "migrate",
]
