"""`durable-memory demo`: crash, take over, reset, prove."""

from .command import run_demo
from .transcript import load_transcript

__all__ = ["load_transcript", "run_demo"]
