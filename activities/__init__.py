"""The journaled operations, as Temporal activities."""

from .chat import OpenAIChatModel
from .embedders import (
    OpenAIEmbedder,
    WordLlamaEmbedder,
)
from .embedding import (
    EmbeddingActivities,
)
from .entries import EntryActivities
from .faults import UNEXPECTED_TYPE
from .gate import EntryStoreResolver, StoreResolver
from .memory import MemoryActivities
from .model import ChatModel, ModelActivities
from .nudges import EmbeddingNudger, EmbeddingNudges
from .schedules import (
    ensure_embedding_schedule,
    nudge_embedding,
)
from .scripted import ScriptedModel
from .telemetry import Telemetry

__all__ = [
    "UNEXPECTED_TYPE",
    "ChatModel",
    "EmbeddingActivities",
    "EmbeddingNudger",
    "EmbeddingNudges",
    "EntryActivities",
    "EntryStoreResolver",
    "MemoryActivities",
    "ModelActivities",
    "OpenAIChatModel",
    "OpenAIEmbedder",
    "ScriptedModel",
    "StoreResolver",
    "Telemetry",
    "WordLlamaEmbedder",
    "ensure_embedding_schedule",
    "nudge_embedding",
]
