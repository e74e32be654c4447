"""Tokens: high entropy, kept as digests, valid until they are revoked."""

from __future__ import annotations

import hashlib

import asyncpg
import pytest
from services import STORES, Caller, Service, code

from durable_memory.notebook import InvalidMemoryRequest
from durable_memory.stores import (
    PostgresTokenStore,
    Principal,
    PrincipalType,
    authenticate,
    issue_token,
)

USER = Principal(type=PrincipalType.USER, name="tokens@example.com")


@pytest.fixture
def tokens(service_pool: asyncpg.Pool) -> PostgresTokenStore:
    """The service's tokens."""
    return PostgresTokenStore(service_pool)


async def test_a_token_is_kept_as_a_digest(
    tokens: PostgresTokenStore, service_pool: asyncpg.Pool
) -> None:
    """The database holds the SHA-256 of a token, and its text nowhere."""
    text, token = issue_token(USER)
    await tokens.add_token(token)
    row = await service_pool.fetchrow(
        "SELECT t::text AS all, digest FROM durable_memory.tokens t WHERE id = $1", token.id
    )
    assert row["digest"] == hashlib.sha256(text.encode()).digest()
    assert text.split("_", 2)[2] not in row["all"]
    found = await authenticate(tokens, text)
    assert found is not None
    assert (found.principal, found.admin) == (USER, False)


async def test_near_misses_are_no_tokens(tokens: PostgresTokenStore) -> None:
    """The public id with another secret, and every text that is malformed, lets nobody in."""
    text, token = issue_token(USER)
    other, _ = issue_token(USER)
    await tokens.add_token(token)
    near = [
        text[:-1] + ("A" if text[-1] != "A" else "B"),
        text[:19] + other[19:],
        text + "A",
        text[:-1],
        text.upper(),
        f" {text}",
        f"{text}\n",
        token.id,
        "",
    ]
    assert [await authenticate(tokens, each) for each in near] == [None] * len(near)


async def test_a_revoked_token_ends_at_once(
    service: Service, alice: Caller, bob: Caller, tokens: PostgresTokenStore
) -> None:
    """A revoked token opens nothing from its next request on; others of its principal go on."""
    text, token = issue_token(Principal(type=PrincipalType.USER, name=bob.name))
    await tokens.add_token(token)
    headers = {"Authorization": f"Bearer {text}"}
    assert alice.http.get(STORES, headers=headers).status_code == 200
    assert await tokens.revoke_token(token.id)
    assert not await tokens.revoke_token(token.id)
    assert code(alice.http.get(STORES, headers=headers)) == (401, "UNAUTHENTICATED")
    assert bob.http.get(STORES).status_code == 200
    listed = {each.id: each for each in await tokens.list_tokens()}
    assert listed[token.id].revoked_at is not None


def test_tokens_are_random() -> None:
    """Two tokens of one principal have nothing in common, and at least 256 random bits."""
    texts = {issue_token(USER)[0] for _ in range(100)}
    assert len(texts) == 100
    assert all(len(text.split("_", 2)[2]) == 43 for text in texts)


@pytest.mark.parametrize("key", ["", "USER", "GROUP:x", "USER:", "USER: x", "user:x", "USER:\x1b"])
def test_principals_have_a_form(key: str) -> None:
    """A key that names no principal is refused."""
    with pytest.raises(InvalidMemoryRequest):
        Principal.of_key(key)


def test_a_principals_key_is_unambiguous() -> None:
    """A name with a colon stays itself."""
    program = Principal(type=PrincipalType.SERVICE_PRINCIPAL, name="USER:x")
    assert Principal.of_key(program.key) == program
