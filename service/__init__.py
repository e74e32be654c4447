"""The memory service: memory stores, entries, search and grants over HTTP."""

from .app import create_app, routes
from .server import serve

__all__ = ["create_app", "routes", "serve"]
