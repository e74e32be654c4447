"""The wire records of embedding: an activity that embeds a batch, a workflow that repeats it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from .records import Record, Whole

EMBED = "memory.embed_entries"
"""Name of the activity."""

EMBEDDING = "durable_memory.Embedding"
"""Name of the workflow."""

EMBEDDING_SCHEDULE = "durable-memory-embedding"
"""Id of the schedule that starts the workflow."""

MAX_EMBED_BATCH = 1_000
"""Entries of one batch at most."""


class EmbedRequest(Record):
    """How many entries a batch has at most."""

    limit: Annotated[Whole, Field(ge=1, le=MAX_EMBED_BATCH)] = 64


class EmbedResponse(Record):
    """What a batch did.

    Attributes:
        claimed: Entries that were due; 0 when all is done.
        kept: Vectors that were kept: the others' entries changed meanwhile, or could not be
            embedded.
    """

    claimed: int = 0
    kept: int = 0
