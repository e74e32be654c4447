"""The store on PostgreSQL, its pools and its migrations."""

from .entries import PostgresEntryStore
from .grants import PostgresGrantStore
from .pool import PostgresConnection, PostgresPool, create_pool
from .schema import ensure_compatible, migrate
from .store import PostgresMemoryStore
from .tokens import PostgresTokenStore
from .urls import POSTGRES_SCHEMES, check_url
from .vectors import PostgresEmbeddingQueue

__all__ = [
    "POSTGRES_SCHEMES",
    "PostgresConnection",
    "PostgresEmbeddingQueue",
    "PostgresEntryStore",
    "PostgresGrantStore",
    "PostgresMemoryStore",
    "PostgresPool",
    "PostgresTokenStore",
    "check_url",
    "create_pool",
    "ensure_compatible",
    "migrate",
]
