"""Embedders: a small static model that ships in its wheel, and any OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from functools import cache
from importlib.resources import as_file, files
from types import TracebackType
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from ..notebook import InvalidMemoryRequest


class WordLlamaEmbedder:
    """The static model of the package `wordllama` (extra `embedder`): no network, no accelerator.

    A word's vector does not depend on its neighbours, so a text costs about as much as its
    tokenisation. It knows English well, and other languages a little.

    Raises:
        InvalidMemoryRequest: On first use, when the package is not installed.
    """

    name = "wordllama:l2_supercat:256"

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """See `Embedder.embed`; in a thread, as it works the processor."""
        return await asyncio.to_thread(self._embed, list(texts))

    def _embed(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = _wordllama().embed(texts, norm=True).tolist()
        return vectors


_LOADING = threading.Lock()


def _wordllama() -> Any:
    """Return the model, loaded once for the process."""
    with _LOADING:
        return _load_wordllama()


@cache
def _load_wordllama() -> Any:
    try:
        from wordllama import WordLlama  # noqa: PLC0415  (an optional dependency)
    except ImportError:
        raise InvalidMemoryRequest(
            "the embedder needs the package wordllama: install the extra 'embedder'"
        ) from None
    # Its own folder holds the weights of this model: nothing is looked for elsewhere.
    with as_file(files("wordllama")) as folder:
        return WordLlama.load(cache_dir=folder, disable_download=True)


class _Item(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    index: int
    embedding: list[float]


class _Embeddings(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    data: list[_Item]


class OpenAIEmbedder:
    """Asks `POST {base_url}/embeddings`.

    Args:
        base_url: For example `http://127.0.0.1:8000/v1`.
        model: The model's name.
        dimensions: Components of a vector, for models that can shorten theirs.
        api_key: Sent as a bearer token when set.
        timeout: Seconds for one request.

    Errors are `httpx`'s and Pydantic's; none of them holds a text.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        dimensions: int | None = None,
        api_key: str | None = None,
        timeout: float = 30.0,
    ) -> None:
        # Not at the top, for the reason given in `chat.py`.
        import httpx  # noqa: PLC0415

        self._model = model
        self._dimensions = dimensions
        self._client = httpx.AsyncClient(
            base_url=base_url.rstrip("/") + "/",
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=timeout,
        )

    @property
    def name(self) -> str:
        """See `Embedder.name`."""
        return f"openai:{self._model}:{self._dimensions or 'full'}"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """See `Embedder.embed`."""
        body: dict[str, object] = {"model": self._model, "input": list(texts)}
        if self._dimensions is not None:
            body["dimensions"] = self._dimensions
        response = await self._client.post("embeddings", json=body)
        response.raise_for_status()
        items = _Embeddings.model_validate_json(response.content).data
        vectors = {item.index: item.embedding for item in items}
        return [vectors[index] for index in range(len(texts))]
