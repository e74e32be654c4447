"""Embedding as the settings ask for it: the embedder, the schedule, and its nudges."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from temporalio.client import Client
from temporalio.service import RPCError

from durable_memory.activities import (
    EmbeddingNudger,
    OpenAIEmbedder,
    WordLlamaEmbedder,
    ensure_embedding_schedule,
)
from durable_memory.connection import connect
from durable_memory.notebook import EMBEDDING_SCHEDULE
from durable_memory.settings import NO_EMBEDDER, WORDLLAMA, Settings
from durable_memory.stores import Embedder

_log = logging.getLogger("durable_memory.embedding")


@asynccontextmanager
async def open_embedder(settings: Settings) -> AsyncIterator[Embedder | None]:
    """Open the embedder of the settings; `None` without one, or on a store without vectors."""
    if settings.embedder == NO_EMBEDDER or not settings.has_vectors:
        yield None
    elif settings.embedder == WORDLLAMA:
        yield WordLlamaEmbedder()
    else:
        api_key = settings.embedder_api_key.get_secret_value() or None
        async with OpenAIEmbedder(
            settings.embedder, settings.embedder_model, api_key=api_key
        ) as embedder:
            yield embedder


def schedule_id(settings: Settings) -> str:
    """Name the schedule by its queue: those who share one share a database."""
    return f"{EMBEDDING_SCHEDULE}-{settings.task_queue}"


async def try_schedule(settings: Settings, client: Client) -> None:
    """Make the schedule of embedding; where that is not allowed, someone else has to."""
    try:
        await ensure_embedding_schedule(
            client, task_queue=settings.task_queue, schedule_id=schedule_id(settings)
        )
    except RPCError as error:
        _log.warning("the schedule of embedding could not be made (%s)", error.status.name)


@asynccontextmanager
async def open_nudger(settings: Settings) -> AsyncIterator[EmbeddingNudger]:
    """Open a nudger for a process that is no worker; Temporal need not answer.

    Raises:
        SettingsError: Temporal's configuration cannot be used.
    """
    nudger = EmbeddingNudger(await connect(lazy=True), schedule_id=schedule_id(settings))
    try:
        yield nudger
    finally:
        await nudger.close()
