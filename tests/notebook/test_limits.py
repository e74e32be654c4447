"""Limits, and the bounds no limit may pass."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from durable_memory.notebook import (
    CHARS_PER_TOKEN,
    MAX_RECORD_BYTES,
    MAX_TASK_BYTES,
    InvalidMemoryRequest,
    Limits,
    SearchMatch,
    check_limit,
    encoded_size,
)

NAMES = sorted(asdict(Limits()))


def test_defaults() -> None:
    """The defaults are those of the reference document."""
    assert asdict(Limits()) == {
        "max_tokens": 2_000,
        "max_lines": 200,
        "max_memory_size": 65_536,
        "max_search_results": 10,
        "max_search_result_chars": 4_000,
        "max_search_files": 1_000,
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [-1, True, 1.0, "10", None, float("inf"), 10**9])
def test_unusable_values(name: str, value: object) -> None:
    """Negative, unbounded and non-integer limits are refused by an error that names the limit."""
    with pytest.raises(InvalidMemoryRequest, match=name):
        Limits(**{name: value})  # type: ignore[arg-type]
    with pytest.raises(InvalidMemoryRequest, match=name):
        check_limit(name, value)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"max_lines"}))
def test_zero(name: str) -> None:
    """Only the number of lines may be zero."""
    with pytest.raises(InvalidMemoryRequest, match=name):
        check_limit(name, 0)
    assert check_limit("max_lines", 0) == 0


def largest(name: str) -> int:
    """The largest value a limit may have."""
    low, high = 1, 10**9
    while low < high:
        middle = (low + high + 1) // 2
        try:
            check_limit(name, middle)
            low = middle
        except InvalidMemoryRequest:
            high = middle - 1
    return low


def test_largest_snapshot_fits_a_record() -> None:
    """A snapshot of the largest budget fits into one record, whatever its characters."""
    text = "😀" * (largest("max_tokens") * CHARS_PER_TOKEN)
    assert encoded_size({"text": text, "token": "0" * 64}) <= MAX_RECORD_BYTES


def test_largest_search_result_fits_a_record() -> None:
    """The results of a search with the largest limits fit into one record."""
    count, chars = largest("max_search_results"), largest("max_search_result_chars")
    snippet = "😀" * (chars // count)
    match = SearchMatch(name="", snippet=snippet, score=0.123456789)
    assert encoded_size({"matches": [asdict(match)] * count}) <= MAX_RECORD_BYTES


def test_records_fit_a_task() -> None:
    """One record is never more than one workflow task may hold."""
    assert MAX_RECORD_BYTES <= MAX_TASK_BYTES
