"""Partitions of entries, and which memory stores a worker serves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from durable_memory.notebook import (
    InvalidMemoryRequest,
    MemoryPermissionDenied,
    Partition,
    Scope,
    StorePolicy,
)

STORE = st.from_regex(r"[a-z][a-z0-9-]{1,8}[a-z0-9]", fullmatch=True)
ACTOR = st.text(st.sampled_from("ab/:@. "), min_size=1, max_size=12).filter(str.strip)
SEGMENT = st.text(st.sampled_from("ab:@"), min_size=1, max_size=6)


@given(st.tuples(STORE, ACTOR), st.tuples(STORE, ACTOR))
def test_two_partitions_have_two_keys(one: tuple[str, str], other: tuple[str, str]) -> None:
    """The key tells partitions apart, whatever the actors' names hold."""
    keys = [Partition(store=store, actor=actor).key for store, actor in (one, other)]
    assert (keys[0] == keys[1]) == (one == other)


@given(STORE, ACTOR, st.lists(SEGMENT, min_size=1, max_size=4))
def test_no_scope_has_a_partitions_key(store: str, actor: str, segments: list[str]) -> None:
    """A notebook's scope and a partition never share order, counters or identity."""
    *namespace, agent = segments
    scope = Scope(namespace="/".join(namespace), agent_name=agent)
    assert scope.key != Partition(store=store, actor=actor).key


@pytest.mark.parametrize(
    ("store", "actor"),
    [
        *[("", "ann"), ("_notebooks", "ann"), ("Support", "ann"), ("a/b", "ann"), ("ab", "ann")],
        *[("support", ""), ("support", "  "), ("support", "a\0b"), ("support", "x" * 513)],
    ],
)
def test_malformed_partitions_are_refused(store: str, actor: str) -> None:
    """A store that is none, or an actor that is missing, is refused; neither is repeated."""
    with pytest.raises(InvalidMemoryRequest) as refusal:
        Partition(store=store, actor=actor)
    assert "ann" not in str(refusal.value)


@pytest.mark.parametrize(
    ("namespace", "store", "admitted"),
    [
        ("default", "support", True),
        ("default", "support-eu", False),
        ("default", "sales", False),
        ("test", "sales", True),
        ("test", "support", True),
        ("empty", "support", False),
    ],
)
def test_allow_list(namespace: str, store: str, admitted: bool) -> None:
    """A store is admitted by its whole id or `*`, from the Temporal namespace's own list."""
    policy = StorePolicy(patterns=["support"], by_temporal_namespace={"test": ["*"], "empty": []})
    partition = Partition(store=store, actor="ann")
    if admitted:
        assert policy.admit(namespace, partition) is partition
    else:
        with pytest.raises(MemoryPermissionDenied):
            policy.admit(namespace, partition)


@pytest.mark.parametrize("pattern", ["support*", "support/*", "Support", ""])
def test_patterns_are_ids(pattern: str) -> None:
    """Nothing but `*` and ids may stand in the list: a typo must not open it."""
    with pytest.raises(InvalidMemoryRequest):
        StorePolicy(patterns=[pattern])
