"""The worker's settings: one record, read from `DURABLE_MEMORY_*` environment variables.

The README's table describes each variable for people; a test holds the table to this record.
Temporal's own settings (`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `temporal.toml`) are Temporal's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import timedelta
from importlib.util import find_spec
from ipaddress import ip_address
from typing import Annotated, Literal, Self
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from durable_memory.notebook import (
    EVERY_SCOPE,
    EVERY_STORE,
    InvalidMemoryRequest,
    ScopePolicy,
    StorePolicy,
)
from durable_memory.stores import IN_MEMORY, check_store_url

PREFIX = "DURABLE_MEMORY_"
SCRIPTED_MODEL = "scripted:"
"""In place of the base URL of a model: the scripted one, for trying things out."""

NO_EMBEDDER = "none"
"""Search goes by words."""

WORDLLAMA = "wordllama:"
"""In place of the base URL of an embedder: the model in the package of that name."""

_MIN_KEY = 16
_MAX_PORT = 65_535


class SettingsError(Exception):
    """A variable cannot be used: one line that names it, without its value."""


def _check_store(store: SecretStr) -> SecretStr:
    check_store_url(store.get_secret_value())
    return store


def _check_model(url: str) -> str:
    if url and url != SCRIPTED_MODEL and _split(url).scheme not in {"http", "https"}:
        raise ValueError(f"must be an http:// or https:// URL, or {SCRIPTED_MODEL}")
    return url


def _check_embedder(url: str) -> str:
    if url == WORDLLAMA and find_spec("wordllama") is None:
        raise ValueError("is not installed: in the clone, pip install --editable '.[embedder]'")
    if url not in {NO_EMBEDDER, WORDLLAMA} and _split(url).scheme not in {"http", "https"}:
        raise ValueError(f"must be {NO_EMBEDDER}, {WORDLLAMA}, or an http:// or https:// URL")
    return url


def _split(url: str) -> SplitResult:
    """Split a URL; the messages of the standard library may hold parts of it."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ValueError("is not a URL: look at its host and port") from None
    return parts


def _check_address(address: str) -> str:
    host, _, port = address.rpartition(":")
    try:
        usable = not address or (ip_address(host.strip("[]")) and 0 <= int(port) <= _MAX_PORT)
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("must be an IP address and a port, such as 0.0.0.0:9464")
    return address


def _check_key(key: SecretStr) -> SecretStr:
    if 0 < len(key.get_secret_value()) < _MIN_KEY:
        raise ValueError(f"must have at least {_MIN_KEY} characters")
    return key


def _check_scopes(text: str) -> str:
    parse_scopes(text)
    return text


def _check_stores(text: str) -> str:
    parse_stores(text)
    return text


class Settings(BaseSettings):
    """What a worker is told by its environment.

    Raises:
        ValidationError: A value does not fit; `Settings.load` says it in one line.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="ignore", hide_input_in_errors=True
    )

    store: Annotated[SecretStr, AfterValidator(_check_store)] = SecretStr(IN_MEMORY)
    migrate: bool = True
    task_queue: str = Field(default="memory", min_length=1, max_length=1_000)
    allowed_scopes: Annotated[str, AfterValidator(_check_scopes)] = EVERY_SCOPE
    allowed_stores: Annotated[str, AfterValidator(_check_stores)] = EVERY_STORE
    pool_min_size: int = Field(default=1, ge=0, le=1_000)
    pool_max_size: int = Field(default=10, ge=1, le=1_000)
    transaction_pooling: bool = False
    graceful_shutdown: float = Field(default=30.0, ge=0, le=86_400, allow_inf_nan=False)
    host: str = Field(default="127.0.0.1", min_length=1, max_length=255)
    port: int = Field(default=8080, ge=0, le=_MAX_PORT)
    metrics_address: Annotated[str, AfterValidator(_check_address)] = ""
    telemetry_key: Annotated[SecretStr, AfterValidator(_check_key)] = SecretStr("")
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "text"] = "json"
    model_base_url: Annotated[str, AfterValidator(_check_model)] = ""
    model_api_key: SecretStr = SecretStr("")
    model_name: str = ""
    embedder: Annotated[str, AfterValidator(_check_embedder)] = NO_EMBEDDER
    embedder_api_key: SecretStr = SecretStr("")
    embedder_model: str = ""

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if self.pool_min_size > self.pool_max_size:
            raise ValueError("POOL_MIN_SIZE: must not be more than POOL_MAX_SIZE")
        if self.model_base_url.startswith("http") and not self.model_name:
            raise ValueError("MODEL_NAME: must be set when MODEL_BASE_URL is")
        if self.embedder.startswith("http") and not self.embedder_model:
            raise ValueError("EMBEDDER_MODEL: must be set when EMBEDDER is a URL")
        return self

    @classmethod
    def load(cls) -> Self:
        """Read the environment.

        Raises:
            SettingsError: Names the first variable that cannot be used, never its value.
        """
        _check_names(os.environ)
        try:
            return cls()
        except ValidationError as error:
            raise SettingsError(_line(error.errors(include_url=False)[0])) from None

    @property
    def durable(self) -> bool:
        """Whether memory outlives the process."""
        return self.store.get_secret_value() != IN_MEMORY

    @property
    def has_vectors(self) -> bool:
        """Whether the store can search by meaning."""
        return self.store.get_secret_value().partition(":")[0] in {"postgres", "postgresql"}

    @property
    def policy(self) -> ScopePolicy:
        """The allow-list of scopes."""
        return parse_scopes(self.allowed_scopes)

    @property
    def entry_policy(self) -> StorePolicy:
        """The allow-list of memory stores of entries."""
        return parse_stores(self.allowed_stores)

    @property
    def shutdown_timeout(self) -> timedelta:
        """How long running activities may go on after SIGTERM."""
        return timedelta(seconds=self.graceful_shutdown)


def variables() -> Iterator[str]:
    """Return the name of every variable, in the record's order."""
    return (f"{PREFIX}{name.upper()}" for name in Settings.model_fields)


def parse_scopes(text: str) -> ScopePolicy:
    """Parse an allow-list of scopes.

    The text is a list of patterns with commas between. A list may be for one Temporal namespace
    only, written before it with `=`; several lists have `;` between. Once one list names its
    namespace, other namespaces are served by the list without a name, if there is one.

    Raises:
        ValueError: The text is not such a list.
    """
    others, lists = _lists(text, what="scope")
    try:
        return ScopePolicy(patterns=others, by_temporal_namespace=lists)
    except InvalidMemoryRequest:
        raise ValueError(
            f"has a pattern that is not {EVERY_SCOPE}, a scope, or the beginning of one and /*"
        ) from None


def parse_stores(text: str) -> StorePolicy:
    """Parse an allow-list of memory stores of entries: as `parse_scopes`, with ids for patterns.

    Raises:
        ValueError: The text is not such a list.
    """
    others, lists = _lists(text, what="store")
    try:
        return StorePolicy(patterns=others, by_temporal_namespace=lists)
    except InvalidMemoryRequest:
        raise ValueError(f"has a pattern that is not {EVERY_STORE} or a store's id") from None


def _lists(text: str, *, what: str) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Return the patterns of the list without a name, and those of each Temporal namespace."""
    lists: dict[str, tuple[str, ...]] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        before, _, patterns = part.rpartition("=")
        namespace = before.strip()
        if "=" in namespace:
            raise ValueError("has two = in one list; lists have ; between")
        if namespace in lists:
            raise ValueError("has two lists for one Temporal namespace")
        lists[namespace] = tuple(filter(None, map(str.strip, patterns.split(","))))
    if not any(lists.values()):
        raise ValueError(f"allows no {what}; {EVERY_SCOPE} allows all")
    return lists.pop("", ()), lists


def _check_names(environment: Mapping[str, str]) -> None:
    """Refuse unknown variables: a misspelt allow-list must not be an open one."""
    known = set(variables())
    for name in sorted(environment):
        if name.upper().startswith(PREFIX) and name.upper() not in known:
            raise SettingsError(f"{name}: no such variable")


def _line(fault: ErrorDetails) -> str:
    message = fault["msg"].removeprefix("Value error, ")
    if not fault["loc"]:
        return f"{PREFIX}{message}"
    return f"{PREFIX}{str(fault['loc'][0]).upper()}: {message}"
