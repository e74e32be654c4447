"""The workflow side: the memory's configuration, its handle, and the reference agent.

Safe inside Temporal's workflow sandbox. Activities are called by name, so a workflow worker needs
no store, no driver and no database credentials.
"""

from .agent import AGENT, AgentRequest, AgentResult, AgentState, AgentWorkflow
from .calls import NotebookState
from .embedding import (
    EmbeddingResult,
    EmbeddingRun,
    EmbeddingWorkflow,
)
from .entries import Entries, EntryMemory
from .handle import Notebook
from .memory import Memory
from .options import Timeouts
from .results import Snapshot, ToolResult
from .several import Notebooks, open_memories

__all__ = [
    "AGENT",
    "AgentRequest",
    "AgentResult",
    "AgentState",
    "AgentWorkflow",
    "EmbeddingResult",
    "EmbeddingRun",
    "EmbeddingWorkflow",
    "Entries",
    "EntryMemory",
    "Memory",
    "Notebook",
    "NotebookState",
    "Notebooks",
    "Snapshot",
    "Timeouts",
    "ToolResult",
    "open_memories",
]
