"""Fuzzing from the service's own OpenAPI page: whatever comes, it is answered in order."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from services import Caller, Service

from durable_memory.service import routes

CASES = 10
"""Requests of each operation, of each kind: those that fit the page, and those that do not."""

SCHEMA = schemathesis.openapi.from_dict(routes().openapi())
OPERATIONS = [
    operation
    for operation in (found.ok() for found in SCHEMA.get_all_operations())  # type: ignore[union-attr]
    # The others take nothing that could be wrong.
    if "/memory-stores" in operation.path
]

_SETTINGS = settings(
    max_examples=CASES,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_nothing_is_unforeseen(
    service: Service,
    alice: Caller,
    fuzzed_store: str,
    operation: Any,
    mode: GenerationMode,
) -> None:
    """No request makes the service fail, and every answer is what the page says, or an error."""

    @seed(20261130)
    @_SETTINGS
    @given(case=operation.as_strategy(generation_mode=mode), here=st.booleans())
    def check(case: Any, here: bool) -> None:
        if here and "store" in (case.path_parameters or {}) and operation.method != "delete":
            case.path_parameters["store"] = fuzzed_store
        headers = {"Authorization": f"Bearer {alice.token}"}
        response = case.call(base_url=service.url, headers=headers)
        assert response.status_code < 500, response.text
        assert response.headers["content-type"] == ["application/json"]
        if response.status_code >= 400:
            assert set(response.json()) == {"error_code", "message"}

    check()


@pytest.fixture(scope="module")
def fuzzed_store(alice: Caller) -> str:
    """A memory store that takes what comes."""
    params = {"managed_memory_store_id": "fuzzed-store"}
    alice.http.post("/api/2.0/agents/memory-stores", params=params, json={})
    return "fuzzed-store"
