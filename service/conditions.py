"""`If-Match`, `If-None-Match` and `Idempotency-Key`: what a write is bound to."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header

from ..stores import MemoryOperation, Principal
from .errors import ServiceError

_TAG = re.compile(r'"([A-Za-z0-9._-]{1,100})"', re.ASCII)
_KEY = re.compile(r"[\x21-\x7e]{1,200}", re.ASCII)
_RECIPE = 1
"""Changes when a fingerprint covers something else, so that a retry across releases is known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Conditions:
    """What a caller demands of a write.

    Attributes:
        version: The version that the entry must have; `None` for any.
        absent: There must be no entry yet.
        key: Names the request: sent again, it is answered by its receipt.
    """

    version: str | None
    absent: bool
    key: str | None

    def operation(
        self, principal: Principal, *, action: str, store: str, arguments: dict[str, object]
    ) -> MemoryOperation | None:
        """Return the identity of the write; keys of two principals or memory stores never meet.

        Args:
            principal: Who calls.
            action: The route's verb.
            store: The memory store.
            arguments: What the caller supplied, and nothing that a release could add.
        """
        if self.key is None:
            return None
        demanded = {"version": self.version, "absent": self.absent}
        return MemoryOperation(
            id=f"rest-{_digest(principal.key, store, self.key)}",
            fingerprint=f"rest-{_RECIPE}-{_digest(action, store, arguments, demanded)}",
        )


def version_tag(version: str) -> str:
    """Return the `ETag` of a version."""
    return f'"{version}"'


def _conditions(
    if_match: Annotated[str | None, Header(description="The `ETag` of the version.")] = None,
    if_none_match: Annotated[str | None, Header(description="`*`: create only.")] = None,
    idempotency_key: Annotated[
        str | None, Header(description="1 to 200 visible ASCII characters.")
    ] = None,
) -> Conditions:
    if if_none_match not in {None, "*"}:
        raise ServiceError.invalid("If-None-Match: may be * only")
    if if_none_match and if_match is not None:
        raise ServiceError.invalid("If-None-Match: excludes If-Match")
    if idempotency_key is not None and not _KEY.fullmatch(idempotency_key):
        raise ServiceError.invalid("Idempotency-Key: 1 to 200 visible ASCII characters")
    version = None if if_match is None else _version(if_match)
    return Conditions(version=version, absent=if_none_match is not None, key=idempotency_key)


Conditional = Annotated[Conditions, Depends(_conditions)]
"""The conditions of a write, as a route's parameter."""


def _version(tag: str) -> str:
    match = _TAG.fullmatch(tag.strip())
    if match is None:
        raise ServiceError.invalid('If-Match: one ETag of an entry, such as "17"')
    return match[1]


def _digest(*parts: object) -> str:
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
