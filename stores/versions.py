"""Versions of the stores on one host: random, so that none is ever used again.

A counter would begin anew after its file was lost, deleted or restored from a backup.
"""

from __future__ import annotations

import secrets

_BYTES = 16


def new_version() -> str:
    """Return a version that no file ever had."""
    return secrets.token_hex(_BYTES)
