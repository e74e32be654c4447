"""Page tokens: where a list goes on, sealed.

A token holds the key of the last row that was shown, so that rows which come or go between two
pages never shift or repeat one. It is signed together with what was listed (route, memory store,
actor, filters): with another of them, or made up, it is no token, and a list never goes on in
someone else's.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass

from .errors import ServiceError

Part = str | None

_MAC_BYTES = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Pages:
    """Makes page tokens and reads them.

    Attributes:
        key: The same in all processes of the service on one database.
    """

    key: bytes

    def seal(self, listed: Sequence[Part], place: Sequence[Part]) -> str:
        """Return the token for the page behind `place` of what is `listed`."""
        body = json.dumps(place, separators=(",", ":")).encode()
        sealed = self._mac(listed, body) + body
        return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()

    def open(self, listed: Sequence[Part], token: str) -> list[Part]:
        """Return the place of a token; an error that says so when it is none of this list."""
        try:
            padded = token.encode("ascii") + b"=" * (-len(token) % 4)
            sealed = base64.b64decode(padded, altchars=b"-_", validate=True)
        except (UnicodeEncodeError, binascii.Error):
            raise _not_ours() from None
        mac, body = sealed[:_MAC_BYTES], sealed[_MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(listed, body)):
            raise _not_ours()
        place: list[Part] = json.loads(body)
        return place

    def _mac(self, listed: Sequence[Part], body: bytes) -> bytes:
        message = json.dumps(listed).encode() + b"\0" + body
        return hmac.digest(self.key, message, hashlib.sha256)[:_MAC_BYTES]


def _not_ours() -> ServiceError:
    return ServiceError.invalid("page_token: is not a token of this list")
