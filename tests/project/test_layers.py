"""Dependencies point one way."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Who may use whom; a place that is not named here must not exist.
ALLOWED: dict[str, set[str]] = {
    "notebook": set(),
    "logs": set(),
    "exits": set(),
    "settings": {"notebook", "stores"},
    "connection": {"settings"},
    "tracing": set(),
    "stores": {"notebook"},
    "testing": {"notebook", "stores"},
    "activities": {"notebook", "stores"},
    "workflows": {"notebook"},
    "service": {"notebook", "stores", "settings", "logs"},
    "plugin": {"notebook", "stores", "activities"},
    "__init__": {"workflows", "plugin"},
    "embedding": {"notebook", "stores", "activities", "settings", "connection"},
    "worker": {
        *("notebook", "stores", "activities", "workflows", "plugin"),
        *("settings", "connection", "embedding", "tracing", "logs", "exits"),
    },
    "cli": {
        *("notebook", "stores", "workflows", "service"),
        *("settings", "embedding", "logs", "exits", "worker"),
    },
}

# What would make a rule impure: input and output, clocks, randomness, drivers.
IMPURE = {
    *("asyncio", "datetime", "io", "logging", "os", "pathlib", "random", "secrets", "shutil"),
    *("socket", "sqlite3", "subprocess", "tempfile", "threading", "time", "urllib", "uuid"),
    *("asyncpg", "httpx", "opentelemetry", "rich", "temporalio", "typer"),
}
FORBIDDEN: dict[str, set[str]] = {
    "notebook": IMPURE,
    "stores": {"temporalio", "httpx", "typer", "rich"},
    # Temporal's `asyncio` and `datetime` are deterministic inside a workflow.
    "workflows": IMPURE - {"asyncio", "datetime", "temporalio"},
    "activities": {"asyncpg", "typer", "rich"},
}


def _place(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def _sources() -> list[Path]:
    folders = [ROOT / place for place in ALLOWED if (ROOT / place).is_dir()]
    return [*ROOT.glob("*.py"), *(file for folder in folders for file in folder.rglob("*.py"))]


def _imports(source: str, module: str) -> Iterator[str]:
    """Yield the full names of what a module imports; `module` is its own full name.

    What is imported from a package is a name of it or a module in it: both are yielded.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(module.split(".")[: -node.level]) if node.level else ""
            origin = ".".join(part for part in (base, node.module) if part)
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("durable_memory", *parts))


def _used(source: str, module: str) -> set[str]:
    """Return the other places of the project that a module imports from."""
    names = (name.split(".") for name in _imports(source, module))
    places = {rest[0] for top, *rest in names if top == "durable_memory" and rest}
    return (places & set(ALLOWED)) - {module.split(".")[1]}


def _faults(source: str, module: str) -> set[str]:
    """Return what a module imports and must not."""
    place = module.split(".")[1]
    others = {name.split(".")[0] for name in _imports(source, module)}
    return (_used(source, module) - ALLOWED[place]) | (others & FORBIDDEN.get(place, set()))


def test_every_place_has_its_dependencies_named() -> None:
    """No package or root module exists beside those whose dependencies are stated here."""
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    modules = {path.stem for path in ROOT.glob("*.py")}
    assert packages | modules == set(ALLOWED)


@pytest.mark.parametrize("path", _sources(), ids=_module)
def test_imports_point_one_way(path: Path) -> None:
    """No module imports from a layer above it, or what its layer has no business with."""
    assert _faults(path.read_text(encoding="utf-8"), _module(path)) == set()


@pytest.mark.parametrize("place", ALLOWED)
def test_nothing_is_allowed_that_nobody_uses(place: str) -> None:
    """Each dependency stated above is one that some module of the place has."""
    modules = [path for path in _sources() if _place(path) == place]
    used = [_used(path.read_text(encoding="utf-8"), _module(path)) for path in modules]
    assert set().union(*used) == ALLOWED[place]


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from ..stores import MemoryStore", "durable_memory.notebook.edits"),
        ("from ...activities.memory import x", "durable_memory.stores.postgres.pool"),
        ("import durable_memory.worker", "durable_memory.plugin"),
        ("from durable_memory import stores", "durable_memory.workflows.agent"),
        ("def f():\n    import time", "durable_memory.notebook.text"),
        ("import temporalio.client", "durable_memory.stores.memory"),
    ],
)
def test_an_import_that_points_the_wrong_way_is_found(source: str, module: str) -> None:
    """The check above sees relative, absolute and nested imports."""
    assert _faults(source, module) != set()


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("durable_memory", ("pydantic", "temporalio", "asyncpg", "httpx")),
        ("durable_memory.notebook", ("temporalio", "asyncpg", "httpx", "asyncio")),
        ("durable_memory.workflows", ("asyncpg", "httpx", "opentelemetry.trace")),
        ("durable_memory.stores", ("temporalio", "asyncpg", "httpx")),
    ],
)
def test_importing_a_layer_stays_light(module: str, absent: tuple[str, ...]) -> None:
    """Importing a layer does not load what it has no use for: the sandbox imports it often."""
    program = f"import sys, {module}; print(*sorted(set({absent!r}) & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert loaded.stdout.decode().split() == []
