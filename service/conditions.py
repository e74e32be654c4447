"""`If-Match`, `If-None-Match` and `Idempotency-Key`: what a write is bound to.

A route says in its signature which of them it takes. One that it does not take is refused: a caller
that demands something, and is not told that it was ignored, relies on it.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Request

from ..stores import MemoryOperation, Principal
from .errors import ServiceError

_TAG = re.compile(r'"([A-Za-z0-9._-]{1,100})"', re.ASCII)
_KEY = re.compile(r"[\x21-\x7e]{1,200}", re.ASCII)
_MATCH = "If-Match"
_NONE_MATCH = "If-None-Match"
_IDEMPOTENCY = "Idempotency-Key"
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

    version: str | None = None
    absent: bool = False
    key: str | None = None

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


_IfMatch = Annotated[str | None, Header(description="The `ETag` of the version.")]
_IfNoneMatch = Annotated[str | None, Header(description="`*`: create only.")]
_IdempotencyKey = Annotated[str | None, Header(description="1 to 200 visible ASCII characters.")]


def _key(request: Request, idempotency_key: _IdempotencyKey = None) -> Conditions:
    _refuse(request, _MATCH, _NONE_MATCH)
    return Conditions(key=_named(request, idempotency_key))


def _version_and_key(
    request: Request, if_match: _IfMatch = None, idempotency_key: _IdempotencyKey = None
) -> Conditions:
    _refuse(request, _NONE_MATCH)
    return Conditions(version=_version(request, if_match), key=_named(request, idempotency_key))


def _everything(
    request: Request,
    if_match: _IfMatch = None,
    if_none_match: _IfNoneMatch = None,
    idempotency_key: _IdempotencyKey = None,
) -> Conditions:
    absent = _absent(request, if_none_match)
    if absent and if_match is not None:
        raise ServiceError.invalid(f"{_NONE_MATCH}: excludes {_MATCH}")
    return Conditions(
        version=_version(request, if_match),
        absent=absent,
        key=_named(request, idempotency_key),
    )


def _nothing(request: Request) -> None:
    _refuse(request, _MATCH, _NONE_MATCH, _IDEMPOTENCY)


Repeatable = Annotated[Conditions, Depends(_key)]
"""Conditions of a write that can be sent again, and demands nothing."""

Changing = Annotated[Conditions, Depends(_version_and_key)]
"""Conditions of a write that can demand a version too."""

Conditional = Annotated[Conditions, Depends(_everything)]
"""Conditions of a write that can demand a version or absence."""

UNCONDITIONAL = Depends(_nothing)
"""For routes whose writes have no versions and leave no receipts."""


def _refuse(request: Request, *names: str) -> None:
    for name in names:
        if name in request.headers:
            raise ServiceError.invalid(f"{name}: is not for this route")


def _once(request: Request, name: str) -> None:
    if len(request.headers.getlist(name)) > 1:
        raise ServiceError.invalid(f"{name}: is sent once")


def _absent(request: Request, given: str | None) -> bool:
    _once(request, _NONE_MATCH)
    if given not in {None, "*"}:
        raise ServiceError.invalid(f"{_NONE_MATCH}: may be * only")
    return given is not None


def _named(request: Request, given: str | None) -> str | None:
    _once(request, _IDEMPOTENCY)
    if given is not None and not _KEY.fullmatch(given):
        raise ServiceError.invalid(f"{_IDEMPOTENCY}: 1 to 200 visible ASCII characters")
    return given


def _version(request: Request, given: str | None) -> str | None:
    _once(request, _MATCH)
    if given is None:
        return None
    match = _TAG.fullmatch(given.strip())
    if match is None:
        raise ServiceError.invalid(f'{_MATCH}: one ETag of an entry, such as "17"')
    return match[1]


def _digest(*parts: object) -> str:
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
