"""Pages: every row once, whatever comes and goes between them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from services import STORES, Caller, code

from durable_memory.service.errors import ServiceError
from durable_memory.service.pages import Pages

MANY = 10_000
TEXTS = st.lists(st.none() | st.text(max_size=20), max_size=4)


@given(listed=TEXTS, place=TEXTS)
def test_a_token_holds_its_place(listed: list[str | None], place: list[str | None]) -> None:
    """What is sealed for a list is what is opened for it."""
    pages = Pages(key=b"k" * 32)
    assert pages.open(listed, pages.seal(listed, place)) == place


@given(listed=TEXTS, other=TEXTS, place=TEXTS)
def test_a_token_is_of_one_list(
    listed: list[str | None], other: list[str | None], place: list[str | None]
) -> None:
    """It opens for no other list, and with no other key."""
    token = Pages(key=b"k" * 32).seal(listed, place)
    with pytest.raises(ServiceError):
        Pages(key=b"l" * 32).open(listed, token)
    if listed != other:
        with pytest.raises(ServiceError):
            Pages(key=b"k" * 32).open(other, token)


@given(text=st.text(max_size=60))
def test_text_is_no_token(text: str) -> None:
    """Whatever is sent for a token is refused, and nothing else happens."""
    with pytest.raises(ServiceError):
        Pages(key=b"k" * 32).open(["entries"], text)


def _all(caller: Caller, url: str, rows: str, **query: str | int) -> list[str]:
    found: list[str] = []
    while True:
        page = caller.http.get(url, params=query).json()
        found.extend(str(row.get("path") or row.get("name") or row) for row in page[rows])
        if "next_page_token" not in page:
            return found
        query["page_token"] = page["next_page_token"]


async def test_ten_thousand_entries_come_once_each(
    alice: Caller, store: str, fill: Callable[[str, str, int], Awaitable[None]]
) -> None:
    """A partition of 10,000 entries is listed whole, in order, without a row twice."""
    await fill(store, "u", MANY)
    found = _all(
        alice,
        f"{STORES}/{store}/entries",
        "managed_memory_entries",
        actor_id="u",
        page_size=100,
        view="MANAGED_MEMORY_ENTRY_VIEW_BASIC",
    )
    assert len(found) == MANY
    assert found == sorted(set(found))


def test_rows_that_come_and_go_shift_no_page(alice: Caller, store: str) -> None:
    """Rows deleted or added between two pages neither repeat nor hide the others."""
    url = f"{STORES}/{store}/entries"
    names = {}
    for letter in "bdfhj":
        made = alice.http.post(url, json={"actor_id": "u", "path": f"/{letter}"}).json()
        names[letter] = made["name"].rpartition("/")[2]
    first = alice.http.get(url, params={"actor_id": "u", "page_size": 2}).json()
    assert [each["path"] for each in first["managed_memory_entries"]] == ["/b", "/d"]
    alice.http.delete(f"{url}/{names['d']}")
    alice.http.delete(f"{url}/{names['f']}")
    for letter in "ae":
        alice.http.post(url, json={"actor_id": "u", "path": f"/{letter}"})
    rest = _all(
        alice,
        url,
        "managed_memory_entries",
        actor_id="u",
        page_size=2,
        page_token=first["next_page_token"],
    )
    assert rest == ["/e", "/h", "/j"]


def test_the_last_page_has_no_token(alice: Caller, store: str) -> None:
    """A page that ends the list says so, also when it is exactly full."""
    url = f"{STORES}/{store}/entries"
    for number in range(2):
        alice.http.post(url, json={"actor_id": "u", "path": f"/{number}"})
    for size in (2, 3):
        page = alice.http.get(url, params={"actor_id": "u", "page_size": size}).json()
        assert "next_page_token" not in page


def test_grants_come_in_pages(alice: Caller, store: str) -> None:
    """Grants are listed whole over pages, of at most a thousand."""
    url = f"{STORES}/{store}/permissions"
    for number in range(5):
        principal = {"name": f"p{number}", "type": "USER"}
        body = {"principal": principal, "permission": "READ"}
        alice.http.post(f"{url}:grant", json=body)
    found = _all(alice, url, "memory_store_permissions", page_size=2)
    assert len(found) == len(set(found)) == 5
    assert alice.http.get(url, params={"page_size": 1000}).status_code == 200
    refused = alice.http.get(url, params={"page_size": 1001})
    assert code(refused) == (400, "INVALID_PARAMETER_VALUE")


def test_stores_come_in_pages(alice: Caller, bob: Caller, store: str) -> None:
    """Every caller lists every memory store, by id."""
    assert store
    found = _all(bob, STORES, "managed_memory_stores", page_size=3)
    assert f"memory-stores/{store}" in found
    assert found == sorted(set(found))
    assert found == _all(alice, STORES, "managed_memory_stores", page_size=100)
