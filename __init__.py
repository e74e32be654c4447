"""Persistent memory for AI agents on Temporal, applied exactly once, whatever crashes."""
