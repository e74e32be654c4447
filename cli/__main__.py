"""`python -m durable_memory.cli`."""

from . import entry

entry()
