"""Search in entries: the statement is held equal to the rule, and meaning is added to words."""

from __future__ import annotations

import asyncio
import json
import math
import threading
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import asyncpg
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from measures import embed_all

from durable_memory.activities import OpenAIEmbedder, WordLlamaEmbedder
from durable_memory.notebook import (
    MAX_ENTRY_RESULTS,
    EntryKey,
    IndexedText,
    InvalidMemoryRequest,
    MemoryRefusal,
    index_terms,
    query_terms,
    score_words,
    stored_vector,
)
from durable_memory.stores import (
    EmbeddedTask,
    PostgresEmbeddingQueue,
    PostgresEntryStore,
    Refill,
)

SHARED = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40
)
WORDS = st.sampled_from(
    ["cat", "cats", "the", "running", "john_doe", "가나", "가", "東京", "é", "x" * 70, "-", "\n"]
)
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)


def key(store: str, path: str = "/a.md") -> EntryKey:
    """A key with what does not matter filled in."""
    return EntryKey(store=store, actor="someone", path=path)


def together(content: str, description: str) -> IndexedText:
    """What an entry is indexed by."""
    one, other = index_terms(description), index_terms(content)
    counts = dict(one.counts)
    for term, count in other.counts.items():
        counts[term] = counts.get(term, 0) + count
    return IndexedText(counts=counts, length=one.length + other.length)


@SHARED
@given(
    texts=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6),
    query=TEXTS.filter(lambda text: text.strip()),
)
async def test_statement_scores_as_the_rule(
    entries: PostgresEntryStore, texts: list[tuple[str, str]], query: str
) -> None:
    """What SQL makes of words is what the notebook's formula says, to six digits."""
    store = f"t-{uuid.uuid4().hex[:16]}"
    await entries.create_store(store, creator="USER:someone")
    for n, (content, description) in enumerate(texts):
        await entries.create(key(store, f"/{n}"), content=content, description=description)
    indexed = {f"/{n}": together(*text) for n, text in enumerate(texts)}
    expected = score_words(query_terms(query), indexed)
    matches = await entries.search(store, "someone", query, limit=100)
    assert {match.entry.key.path for match in matches} == set(expected)
    for match in matches:
        assert math.isclose(match.score, expected[match.entry.key.path], abs_tol=2e-5)
    assert [match.score for match in matches] == sorted(
        (match.score for match in matches), reverse=True
    )


async def test_appended_words_score_like_written_ones(
    entries: PostgresEntryStore, store: str
) -> None:
    """An entry made by appends is found as one written at once, many occurrences included."""
    for _ in range(90):
        await entries.append(key(store, "/appended"), content="cat dog")
    appended = await entries.find(key(store, "/appended"))
    assert appended is not None
    await entries.create(key(store, "/other"), content="dog fish")
    (match,) = await entries.search(store, "someone", "cat")
    texts = {
        "/appended": index_terms(appended.content or ""),
        "/other": index_terms("dog fish"),
    }
    expected = score_words(query_terms("cat"), texts)["/appended"]
    assert math.isclose(match.score, expected, abs_tol=1e-6)


async def test_results_are_bounded(entries: PostgresEntryStore, store: str) -> None:
    """A search returns at most what was asked for, and more than 100 cannot be asked for."""
    await asyncio.gather(
        *(entries.create(key(store, f"/{n}"), content="word") for n in range(MAX_ENTRY_RESULTS + 5))
    )
    assert len(await entries.search(store, "someone", "word", limit=100)) == 100
    (match,) = await entries.search(store, "someone", "word", limit=1, content=False)
    assert match.entry.content is None
    for limit in (0, 101):
        with pytest.raises(InvalidMemoryRequest):
            await entries.search(store, "someone", "word", limit=limit)
    with pytest.raises(MemoryRefusal):
        await entries.search(store, "someone", " ")


async def test_query_of_no_words_finds_nothing(entries: PostgresEntryStore, store: str) -> None:
    """Punctuation is not an error, and nothing is found by it."""
    await entries.create(key(store), content="a ' : & | ! word")
    assert await entries.search(store, "someone", "' : & | ! \\ ( )") == []


async def test_large_texts_are_indexed(entries: PostgresEntryStore, store: str) -> None:
    """An entry of nothing but different terms, and appends to it, fit the database's type."""
    text = "".join(chr(0x4E00 + (n * 7919) % 20_900) for n in range(60_000))
    await entries.create(key(store), content=text)
    more = "".join(chr(0xAC00 + (n * 7919) % 11_000) for n in range(5_000))
    await entries.append(key(store), content=more)
    assert len(await entries.search(store, "someone", text[:2])) == 1


class Meanings:
    """An embedder that knows some words: each stands for a direction."""

    name = "meanings:3"
    directions: ClassVar = {"animal": 0, "zebra": 0, "drink": 1, "tea": 1, "city": 2, "seoul": 2}

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Count the words of each direction."""
        return [
            [
                float(sum(self.directions.get(word) == axis for word in text.lower().split()))
                for axis in range(3)
            ]
            for text in texts
        ]


@pytest_asyncio.fixture
async def meaning(pool: asyncpg.Pool) -> PostgresEntryStore:
    """The store with an embedder."""
    return PostgresEntryStore(pool, embedder=Meanings())


async def test_meaning_finds_what_words_do_not(
    entries: PostgresEntryStore,
    meaning: PostgresEntryStore,
    queue: PostgresEmbeddingQueue,
    store: str,
) -> None:
    """With an embedder an entry is found that shares no word with the query."""
    for name, text in (("zebra", "a zebra"), ("tea", "some tea"), ("seoul", "in seoul")):
        await entries.create(key(store, f"/{name}"), content=text)
    assert await meaning.search(store, "someone", "animal") == []
    assert await embed_all(queue, Meanings()) == 3
    (match,) = await meaning.search(store, "someone", "animal")
    assert match.entry.key.path == "/zebra"
    assert await entries.search(store, "someone", "animal") == []
    both = await meaning.search(store, "someone", "drink seoul")
    assert [each.entry.key.path for each in both] == ["/seoul", "/tea"]


@pytest.mark.usefixtures("clean")
async def test_vectors_of_another_embedder_are_not_compared(
    entries: PostgresEntryStore,
    meaning: PostgresEntryStore,
    queue: PostgresEmbeddingQueue,
    store: str,
) -> None:
    """A vector of another model or length never takes part, and its entry is queued again."""
    await entries.create(key(store, "/zebra"), content="zebra")
    (task,) = await queue.claim()
    await queue.keep("other:2", [EmbeddedTask(task=task, vector=stored_vector([1.0, 1.0]))])
    assert await meaning.search(store, "someone", "animal") == []
    assert (await queue.refill(Meanings.name)).queued >= 1
    await embed_all(queue, Meanings())
    assert len(await meaning.search(store, "someone", "animal")) == 1
    assert await queue.refill(Meanings.name) == Refill(queued=0, next=None)


class Failing:
    """An embedder that is down, or hangs."""

    name = "failing:1"

    def __init__(self, *, hangs: bool) -> None:
        self._hangs = hangs

    async def embed(self, _texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Never return."""
        if self._hangs:
            await asyncio.Event().wait()
        raise ConnectionError


@pytest.mark.parametrize("hangs", [False, True])
async def test_failing_embedder_leaves_words_to_search_by(
    pool: asyncpg.Pool, store: str, hangs: bool
) -> None:
    """An embedder that fails or hangs fails no write and no search."""
    entries = PostgresEntryStore(pool, embedder=Failing(hangs=hangs), embed_timeout=0.05)
    await entries.create(key(store), content="zebra")
    (match,) = await entries.search(store, "someone", "zebra")
    assert match.entry.content == "zebra"


async def test_claim_comes_up_again_later_each_time(
    entries: PostgresEntryStore, queue: PostgresEmbeddingQueue, store: str, pool: asyncpg.Pool
) -> None:
    """A claim is passed over, comes up again after its lease, and then has a longer one."""
    await entries.create(key(store), content="zebra")
    assert len(await queue.claim()) == 1
    assert await queue.claim() == []
    lease = (
        "SELECT extract(epoch FROM due_at - clock_timestamp()) FROM durable_memory.entry_embeddings"
    )
    first = await pool.fetchval(lease)
    await pool.execute("UPDATE durable_memory.entry_embeddings SET due_at = clock_timestamp()")
    assert len(await queue.claim()) == 1
    assert float(await pool.fetchval(lease)) > float(first) * 1.5


async def test_embedded_model_needs_no_network() -> None:
    """The static model gives vectors of length 1 that tell near from far."""
    embedder = WordLlamaEmbedder()
    cat, kitten, tax = await embedder.embed(["a cat", "a kitten", "tax return"])
    assert len(cat) == 256
    near, far = (sum(a * b for a, b in zip(cat, other, strict=True)) for other in (kitten, tax))
    assert near > far
    assert math.isclose(math.hypot(*cat), 1, abs_tol=1e-3)


class _Endpoint(BaseHTTPRequestHandler):
    """An endpoint that answers out of order, as it may."""

    def do_POST(self) -> None:
        """Answer."""
        length = int(self.headers["Content-Length"])
        asked = json.loads(self.rfile.read(length))
        data = [
            {"index": n, "embedding": [float(len(text)), float(asked.get("dimensions", 0))]}
            for n, text in enumerate(asked["input"])
        ]
        good = self.path == "/v1/embeddings" and self.headers["Authorization"] == "Bearer key"
        body = json.dumps({"data": data[::-1]}).encode()
        self.send_response(200 if good else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    """Base URL of a server of embeddings."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Endpoint)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest_asyncio.fixture
async def openai(endpoint: str) -> AsyncIterator[OpenAIEmbedder]:
    """A client of it."""
    async with OpenAIEmbedder(endpoint, "small", dimensions=2, api_key="key") as embedder:
        yield embedder


async def test_any_openai_compatible_endpoint_embeds(openai: OpenAIEmbedder, endpoint: str) -> None:
    """Vectors come back in the order of the texts; a refusal is an error that quotes none."""
    assert await openai.embed(["a", "bbb"]) == [[1.0, 2.0], [3.0, 2.0]]
    assert openai.name == "openai:small:2"
    async with OpenAIEmbedder(endpoint, "small") as other:
        with pytest.raises(Exception, match="401") as error:
            await other.embed(["secret text"])
    assert "secret" not in str(error.value)
