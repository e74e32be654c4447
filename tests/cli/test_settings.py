"""The worker's settings: read from the environment, refused in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from durable_memory.notebook import MemoryPermissionDenied, Scope, StorePolicy
from durable_memory.settings import PREFIX, Settings, SettingsError, parse_scopes, variables

Environment = Callable[..., None]


@pytest.fixture
def environment() -> Iterator[Environment]:
    """Sets `DURABLE_MEMORY_*` variables for one test, and takes all of them away after it."""
    before = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}

    def assign(**values: str) -> None:
        os.environ.update({f"{PREFIX}{name}": value for name, value in values.items()})

    _clear()
    yield assign
    _clear()
    os.environ.update(before)


def _clear() -> None:
    for name in [name for name in os.environ if name.upper().startswith(PREFIX)]:
        del os.environ[name]


def test_everything_has_a_default(environment: Environment) -> None:
    """A worker starts without any variable, on memory that is not durable."""
    environment()
    settings = Settings.load()
    assert not settings.durable
    assert settings.task_queue == "memory"
    assert settings.graceful_shutdown > 0


def test_variables_are_read(environment: Environment) -> None:
    """Each value arrives in its field, with its type."""
    environment(
        STORE="postgresql://db/memory", POOL_MAX_SIZE="3", MIGRATE="false", LOG_LEVEL="debug"
    )
    settings = Settings.load()
    assert settings.durable
    assert settings.store.get_secret_value() == "postgresql://db/memory"
    assert (settings.pool_max_size, settings.migrate, settings.log_level) == (3, False, "debug")


@pytest.mark.parametrize(
    "url", ["file:///var/lib/memory", "sqlite:///var/lib/memory.db", "postgres://db/memory"]
)
def test_every_durable_store_has_a_url(environment: Environment, url: str) -> None:
    """One variable says which store it is."""
    environment(STORE=url)
    settings = Settings.load()
    assert settings.durable
    assert settings.store.get_secret_value() == url


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STORE", "banana"),
        ("STORE", "mysql://user:hunter2@db/memory"),
        ("STORE", "postgresql:db"),
        ("STORE", "postgresql://user:hunter2@db:port/memory"),
        ("STORE", "postgresql://user:hunter2@[db/memory"),
        ("STORE", "memory:somewhere"),
        ("STORE", "file:hunter2"),
        ("STORE", "file://hunter2/memory"),
        ("STORE", "file:///"),
        ("STORE", "sqlite://hunter2.db"),
        ("STORE", "sqlite:///hunter2.db?mode=ro"),
        ("STORE", ""),
        ("TASK_QUEUE", ""),
        ("ALLOWED_SCOPES", ""),
        ("ALLOWED_SCOPES", " , ;"),
        ("ALLOWED_SCOPES", "hunter2*"),
        ("ALLOWED_SCOPES", "hunter2/*/x"),
        ("ALLOWED_SCOPES", "a=x;a=y"),
        ("ALLOWED_SCOPES", "a=b=c"),
        ("ALLOWED_STORES", ""),
        ("ALLOWED_STORES", "hunter2*"),
        ("ALLOWED_STORES", "a=x-y;a=y-z"),
        ("POOL_MAX_SIZE", "many"),
        ("POOL_MAX_SIZE", "0"),
        ("POOL_MIN_SIZE", "11"),
        ("TRANSACTION_POOLING", "perhaps"),
        ("GRACEFUL_SHUTDOWN", "-1"),
        ("GRACEFUL_SHUTDOWN", "inf"),
        ("METRICS_ADDRESS", "hunter2"),
        ("METRICS_ADDRESS", "localhost:9464"),
        ("METRICS_ADDRESS", "127.0.0.1"),
        ("METRICS_ADDRESS", "127.0.0.1:99999"),
        ("TELEMETRY_KEY", "hunter2"),
        ("LOG_LEVEL", "loud"),
        ("LOG_FORMAT", "xml"),
        ("MIGRATE", "hunter2"),
        ("MODEL_BASE_URL", "hunter2"),
        ("MODEL_BASE_URL", "ftp://hunter2"),
        ("EMBEDDER", ""),
        ("EMBEDDER", "hunter2"),
        ("EMBEDDER", "wordllama:hunter2"),
        ("EMBEDDER", "ftp://hunter2"),
        ("EMBEDDER", "http://hunter2:port"),
    ],
)
def test_a_wrong_value_is_one_line_without_the_value(
    environment: Environment, name: str, value: str
) -> None:
    """The message names the variable and says what it must be, and holds no secret."""
    environment(**{name: value})
    with pytest.raises(SettingsError) as caught:
        Settings.load()
    message = str(caught.value)
    assert message.startswith(f"DURABLE_MEMORY_{name}: ")
    assert "\n" not in message
    assert "hunter2" not in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("address", ["0.0.0.0:9464", "127.0.0.1:0", "[::1]:9464"])
def test_metrics_are_served_at_an_address(environment: Environment, address: str) -> None:
    """An address of either family with a port is taken as it is."""
    environment(METRICS_ADDRESS=address)
    assert Settings.load().metrics_address == address


def test_a_model_needs_a_name(environment: Environment) -> None:
    """An endpoint alone does not say what to ask for."""
    environment(MODEL_BASE_URL="http://localhost:8000/v1")
    with pytest.raises(SettingsError, match="DURABLE_MEMORY_MODEL_NAME: "):
        Settings.load()


@pytest.mark.parametrize("embedder", ["none", "wordllama:"])
def test_an_embedder_without_an_endpoint_needs_no_name(
    environment: Environment, embedder: str
) -> None:
    """None, and the one in a package, are taken as they are."""
    environment(EMBEDDER=embedder)
    assert Settings.load().embedder == embedder


def test_an_endpoint_that_embeds_needs_a_name(environment: Environment) -> None:
    """An endpoint alone does not say which model embeds."""
    environment(EMBEDDER="http://localhost:8000/v1")
    with pytest.raises(SettingsError, match="DURABLE_MEMORY_EMBEDDER_MODEL: "):
        Settings.load()


def test_an_embedder_that_is_not_installed_is_one_line() -> None:
    """Without its package the worker does not start, and says what to install."""
    code = "import sys; sys.modules['wordllama'] = None; from durable_memory.worker import main; "
    done = subprocess.run(
        [sys.executable, "-c", code + "sys.exit(main())"],
        env={**os.environ, "DURABLE_MEMORY_EMBEDDER": "wordllama:"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("durable-memory: DURABLE_MEMORY_EMBEDDER: is not installed")
    assert done.stderr.count("\n") == 1


def test_a_misspelt_variable_is_refused(environment: Environment) -> None:
    """A misspelt allow-list must not become an open one."""
    environment(ALLOWED_SCOPE="acme/*")
    with pytest.raises(SettingsError, match="DURABLE_MEMORY_ALLOWED_SCOPE: no such variable"):
        Settings.load()


def test_no_secret_shows_in_the_record(environment: Environment) -> None:
    """Printing the settings prints neither the database's password nor a key."""
    secret = "hunter2" * 3
    environment(
        STORE=f"postgresql://user:{secret}@db/memory",
        TELEMETRY_KEY=secret,
        MODEL_API_KEY=secret,
        EMBEDDER_API_KEY=secret,
    )
    settings = Settings.load()
    assert secret not in repr(settings)
    assert secret not in str(settings.model_dump())
    assert settings.telemetry_key.get_secret_value() == secret


def test_every_variable_has_the_prefix() -> None:
    """Names are those of the record's fields, in capitals."""
    assert all(name.startswith(PREFIX) and name == name.upper() for name in variables())


def _serves(text: str, namespace: str, scope: Scope) -> bool:
    try:
        parse_scopes(text).admit(namespace, scope)
    except MemoryPermissionDenied:
        return False
    return True


ACME = Scope(namespace="acme/mina", agent_name="support")
OTHER = Scope(namespace="acmee", agent_name="support")


@pytest.mark.parametrize(
    ("text", "namespace", "scope", "served"),
    [
        ("*", "default", ACME, True),
        ("acme/*", "default", ACME, True),
        ("acme/*", "default", OTHER, False),
        ("acme/mina/support", "default", ACME, True),
        ("globex/*, acme/*", "default", ACME, True),
        ("production=acme/*", "production", ACME, True),
        ("production=acme/*", "default", ACME, False),
        ("production=acme/*; *", "default", OTHER, True),
        ("production=acme/*; *", "production", OTHER, False),
        ("production=; *", "production", ACME, False),
    ],
)
def test_scopes_are_allowed_by_temporal_namespace(
    text: str, namespace: str, scope: Scope, *, served: bool
) -> None:
    """A namespace's own list stands in place of the list without a name."""
    assert _serves(text, namespace, scope) is served


def test_allowed_stores(environment: Environment) -> None:
    """The allow-list of memory stores has ids, and lists for Temporal namespaces, as scopes do."""
    environment(ALLOWED_STORES="support, sales; test=*")
    policy = Settings.load().entry_policy
    assert policy == StorePolicy(
        patterns=("support", "sales"), by_temporal_namespace={"test": ("*",)}
    )
