"""The workflow side: the memory's configuration, its handle, and the reference agent.

Safe inside Temporal's workflow sandbox. Activities are called by name, so a workflow worker needs
no store, no driver and no database credentials.
"""

from .agent import AGENT, AgentRequest, AgentResult, AgentState, AgentWorkflow
from .handle import Notebook, NotebookState
from .memory import Memory, Timeouts
from .results import Snapshot, ToolResult
from .several import Notebooks, open_memories

__all__ = [
    "AGENT",
    "AgentRequest",
    "AgentResult",
    "AgentState",
    "AgentWorkflow",
    "Memory",
    "Notebook",
    "NotebookState",
    "Notebooks",
    "Snapshot",
    "Timeouts",
    "ToolResult",
    "open_memories",
]
