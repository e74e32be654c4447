"""Whether a URL is one of PostgreSQL, found out before anything is connected."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import SplitResult, parse_qs, urlsplit

from ...notebook import InvalidMemoryRequest

POSTGRES_SCHEMES = ("postgres", "postgresql")

_MAX_PORT = 65_535


def check_url(url: str) -> None:
    """Check that `url` is a `postgresql://` URL; several hosts have commas between.

    Raises:
        InvalidMemoryRequest: It is not; it is not repeated, since it may hold a password.
    """
    scheme = url.partition(":")[0]
    if scheme not in POSTGRES_SCHEMES:
        raise InvalidMemoryRequest("the database's URL must begin with postgresql://")
    if not url.startswith(f"{scheme}://"):
        raise InvalidMemoryRequest(f"the database's URL must go on with // after {scheme}:")
    try:
        fits = all(_is_port(port) for port in _ports(urlsplit(url)))
    except ValueError:
        fits = False
    if not fits:
        raise InvalidMemoryRequest("the database's URL has a host or a port that is none")


def _ports(url: SplitResult) -> Iterator[str]:
    for host in url.netloc.rpartition("@")[2].split(","):
        # An IPv6 address has colons of its own, and brackets around them.
        yield host.rpartition("]")[2].partition(":")[2]
    for named in parse_qs(url.query).get("port", ()):
        yield from named.split(",")


def _is_port(text: str) -> bool:
    return not text or (text.isascii() and text.isdigit() and int(text) <= _MAX_PORT)
