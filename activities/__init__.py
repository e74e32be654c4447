"""The journaled operations, as Temporal activities."""

from .chat import OpenAIChatModel
from .faults import UNEXPECTED_TYPE
from .gate import StoreResolver
from .memory import MemoryActivities
from .model import ChatModel, ModelActivities
from .scripted import ScriptedModel
from .telemetry import Telemetry

__all__ = [
    "UNEXPECTED_TYPE",
    "ChatModel",
    "MemoryActivities",
    "ModelActivities",
    "OpenAIChatModel",
    "ScriptedModel",
    "StoreResolver",
    "Telemetry",
]
