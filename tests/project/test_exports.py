"""The names that users import are frozen: changing the list is changing the API."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

FROZEN: dict[str, list[str]] = json.loads(
    Path(__file__).with_name("exported_names.json").read_text(encoding="utf-8")
)
ROOT = Path(__file__).parents[2]


def _packages() -> set[str]:
    """Return the project's package, and every folder of it that has a door."""
    inits = [ROOT / "__init__.py", *ROOT.glob("[a-z]*/**/__init__.py")]
    folders = (init.parent.relative_to(ROOT).parts for init in inits)
    return {".".join(("durable_memory", *parts)) for parts in folders if "build" not in parts}


def test_every_package_is_frozen() -> None:
    """The project's package and each package in it have their names in the list."""
    assert set(FROZEN) == _packages()


@pytest.mark.parametrize("package", sorted(FROZEN))
def test_exported_names_are_those_in_the_list(package: str) -> None:
    """`__all__` is the list, each name exists, and the list is in order."""
    module = importlib.import_module(package)
    assert sorted(module.__all__) == FROZEN[package]
    assert all(hasattr(module, name) for name in module.__all__)
