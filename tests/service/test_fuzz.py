"""Fuzzing from the service's own OpenAPI page: whatever comes, it is answered as the page says."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from service_operations import OPERATIONS, PAGE, Operation, good_call
from services import STORES, Caller, Service

CASES = 6
"""Requests of each operation, of each kind."""

DESCRIBED = {"page_size", "view", "source_type", "description", "origin"}
"""Fields of which the page says all: what fits it is a good request."""

CHECKS: list[Any] = [status_code_conformance, content_type_conformance, response_schema_conformance]
SCHEMA = schemathesis.openapi.from_dict(PAGE)

_SETTINGS = settings(
    max_examples=CASES,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
_operations = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.label)


@pytest.fixture(scope="module")
def fuzzed_store(alice: Caller) -> str:
    """A memory store that takes what comes."""
    name = f"fuzzed-{uuid.uuid4().hex[:12]}"
    assert alice.http.post(STORES, params={"managed_memory_store_id": name}).status_code == 200
    return name


@pytest.fixture(scope="module")
def ask(service: Service, alice: Caller) -> Iterator[Callable[[Any], int]]:
    """Sends a case, checks its answer by the page, and gives its status."""
    session = requests.Session()
    headers = {"Authorization": f"Bearer {alice.token}"}

    def send(case: Any) -> int:
        response = case.call(base_url=service.url, session=session, headers=headers)
        case.validate_response(response, checks=CHECKS)
        assert response.headers["content-type"] == ["application/json"]
        if response.status_code >= 400:
            assert set(response.json()) == {"error_code", "message"}
        return int(response.status_code)

    with session:
        yield send


def _cases(operation: Operation, mode: GenerationMode) -> Any:
    return SCHEMA[operation.path][operation.method].as_strategy(generation_mode=mode)


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@_operations
def test_nothing_is_unforeseen(
    ask: Callable[[Any], int], fuzzed_store: str, operation: Operation, mode: GenerationMode
) -> None:
    """No request makes the service fail, and every answer has a status and a body of the page."""

    @seed(20261130)
    @_SETTINGS
    @given(case=_cases(operation, mode), here=st.booleans())
    def check(case: Any, here: bool) -> None:
        if here and "store" in (case.path_parameters or {}) and operation.method != "DELETE":
            case.path_parameters["store"] = fuzzed_store
        ask(case)

    check()


@_operations
def test_good_requests_succeed(
    ask: Callable[[Any], int], alice: Caller, fuzzed_store: str, operation: Operation
) -> None:
    """Every operation succeeds for things that are there, and its answer is what the page says."""
    statuses: list[int] = []

    @seed(20261130)
    @_SETTINGS
    @given(case=_cases(operation, GenerationMode.POSITIVE))
    def check(case: Any) -> None:
        _aim(case, operation, alice, fuzzed_store)
        statuses.append(ask(case))

    check()
    assert set(statuses) <= {200, 400}
    assert 200 in statuses


def _aim(case: Any, operation: Operation, caller: Caller, store: str) -> None:
    """Give a case values where the page does not say what a good one is."""
    call = good_call(operation, caller, store)
    case.path_parameters = {name: call.names[name] for name in case.path_parameters or {}}
    case.query = _kept(case.query) | call.query
    case.headers = {}
    if isinstance(case.body, dict):
        case.body = _kept(case.body) | (call.body or {})


def _kept(fields: Any) -> dict[str, Any]:
    return {name: value for name, value in (fields or {}).items() if name in DESCRIBED}
