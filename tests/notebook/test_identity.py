"""The identity of a mutation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from durable_memory.notebook import fingerprint, operation_id

CALL: dict[str, Any] = {
    "temporal_namespace": "default",
    "workflow_id": "agent-1",
    "run": "run-1",
    "scope": "you@example.com/main",
    "tool": "write_memory",
    "fingerprint": fingerprint("write_memory", {"content": "tea"}),
}


def test_recipe_is_frozen() -> None:
    """The digests of this release stay what they are, or a retry across releases writes twice."""
    supplied = {"content": "tea", "file": "a.md", "old_text": None}
    assert fingerprint("write_memory", supplied) == (
        "6a3cd5b51c71fde68be5d9a98ccdfba1010661c4973f6486e05e8e8059fc4dd7"
    )
    assert operation_id(**CALL, n=1) == (
        "a4f8ec1fa81df8ade9c7873519bb45b5b5399c3f491c4719351e5bb9e052d440"
    )
    assert operation_id(**CALL, tool_call_id="call_0") == (
        "ac900bf6a497824d7762637593cb82df09e8619e7544e9e9230103e459d3fe3b"
    )


def test_only_supplied_fields_count() -> None:
    """A field that was not supplied leaves the fingerprint as it is; one that was changes it."""
    bare = fingerprint("write_memory", {"content": "tea"})
    assert fingerprint("write_memory", {"content": "tea", "old_text": None}) == bare
    assert fingerprint("write_memory", {"content": "tea", "old_text": ""}) != bare


def test_order_of_fields_does_not_count() -> None:
    """Arguments are the same in whatever order a provider sends them."""
    one = fingerprint("write_memory", {"content": "tea", "file": "a"})
    assert fingerprint("write_memory", {"file": "a", "content": "tea"}) == one


@pytest.mark.parametrize("part", [*CALL, "n"])
def test_every_part_counts(part: str) -> None:
    """An operation is another one when any of its parts differs."""
    call = {**CALL, "n": 1}
    changed = {**call, part: 2 if part == "n" else call[part] + "x"}
    assert operation_id(**changed) != operation_id(**call)


def test_call_id_names_the_operation_without_its_arguments() -> None:
    """A call id reused with other arguments is the same operation, so that it can conflict."""
    other = {**CALL, "fingerprint": fingerprint("write_memory", {"content": "milk"})}
    assert operation_id(**other, tool_call_id="c") == operation_id(**CALL, tool_call_id="c")
    assert operation_id(**CALL, tool_call_id="d") != operation_id(**CALL, tool_call_id="c")


def test_counted_operations_ignore_the_call_id() -> None:
    """A counted call keeps its identity when the model gives it a new id after a reset."""
    ids = {operation_id(**CALL, n=1, tool_call_id=name) for name in ("a", "b")}
    assert len(ids) == 1


@pytest.mark.parametrize("name", [None, ""])
def test_an_operation_needs_a_name(name: str | None) -> None:
    """Without a count and without a call id there is no identity."""
    with pytest.raises(ValueError, match="needs n or a tool_call_id"):
        operation_id(**CALL, tool_call_id=name)


PART = st.text("ab", max_size=3)


@settings(deadline=None)
@given(st.lists(st.tuples(PART, PART), min_size=2, max_size=2))
@example([("ab", "c"), ("a", "bc")])
def test_parts_do_not_run_together(pairs: list[tuple[str, str]]) -> None:
    """Moving text from one part to its neighbour makes another operation."""
    one, two = (
        operation_id(**{**CALL, "workflow_id": workflow_id, "run": run}, n=1)
        for workflow_id, run in pairs
    )
    assert (one == two) == (pairs[0] == pairs[1])
