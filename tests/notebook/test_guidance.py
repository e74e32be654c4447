"""The trusted text that tells a model how to use its memory."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from durable_memory.notebook import InvalidMemoryRequest, render_guidance, tool_definitions
from durable_memory.notebook.snapshot import guidance_room


def render(
    guidance: str | None, *, heading: str = "", max_tokens: int = 2_000, prefix: str = ""
) -> str:
    """Guidance with the usual options, unless others are given."""
    return render_guidance(guidance, heading=heading, max_tokens=max_tokens, tool_prefix=prefix)


@settings(deadline=None)
@given(
    st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"], min_codepoint=1))),
    st.sampled_from(["", "Notes", "h" * 100]),
    st.integers(128, 400),
)
def test_room(guidance: str | None, heading: str, max_tokens: int) -> None:
    """Guidance never takes more than its room, and is cut only for that."""
    text = render(guidance, heading=heading, max_tokens=max_tokens)
    whole = render(guidance, heading=heading, max_tokens=20_000)
    assert len(text) <= guidance_room(max_tokens)
    assert text == whole or (text.endswith("...") and whole.startswith(text[:-3]))
    assert text == whole or len(text) == guidance_room(max_tokens)


@pytest.mark.parametrize("prefix", ["", "org"])
def test_default_names_the_tools(prefix: str) -> None:
    """The default text names tools as they are offered, and no others."""
    text = render(None, prefix=prefix)
    offered = {tool.name for tool in tool_definitions(prefix)}
    named = {word.strip(".,;:") for word in text.split() if "_memory" in word}
    assert named
    assert named <= offered
    assert "{" not in text


def test_default_is_no_counterfeit() -> None:
    """The default text has no markers of its own."""
    assert "<" not in render(None)


@pytest.mark.parametrize("heading", ["", "Notes"])
def test_none_at_all(heading: str) -> None:
    """An empty text is no guidance, not even a heading."""
    assert render("", heading=heading) == ""


def test_heading() -> None:
    """The heading stands above the text."""
    assert render("Use it.", heading="Team notes") == "## Team notes\n\nUse it."


def test_own_text_is_verbatim() -> None:
    """An application's own text is not touched."""
    assert (
        render("Use {write_memory} & <b>it</b>.", prefix="org") == "Use {write_memory} & <b>it</b>."
    )


@pytest.mark.parametrize(
    "options",
    [
        {"guidance": "\0"},
        {"guidance": "\ud800"},
        {"guidance": "x", "heading": "a\nb"},
        {"guidance": "x", "max_tokens": 1},
        {"guidance": "x", "prefix": "a b"},
        {"guidance": "", "prefix": "a b"},
    ],
)
def test_malformed_options(options: dict[str, str]) -> None:
    """Options that cannot be kept are refused, also when there is nothing to render."""
    with pytest.raises(InvalidMemoryRequest):
        render(**options)  # type: ignore[arg-type]
