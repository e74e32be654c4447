"""Keeping stored text from counterfeiting the markers of a snapshot."""

from __future__ import annotations

import sys
import time
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from durable_memory.notebook.markers import neutralize

Detector = Callable[[str], list[str]]

LOOKALIKES = [
    "<memory>",
    "</memory>",
    "<MEMORY>",
    "< / Memory >",
    "<memory/>",
    '<memory id="1">',
    "<\n/\tmemory>",
    "<mem\u200bory>",
    "<\u200d/\u2060memory>",
    "<m\u00ademory>",
    "<m\u0301emory>",
    "<mem\x08ory>",
    "<mem\x1cory>",
    "<\u3164memory>",
    "＜／ｍｅｍｏｒｙ＞",
    "﹤memory>",
    "<𝐦𝐞𝐦𝐨𝐫𝐲>",
    "<ⓜⓔⓜⓞⓡⓨ>",
    "&lt;memory&gt;",
    "&LT;/memory&gt",
    "&lt/memory>",
    "&ltmemory>",
    "&#60;memory>",
    "&#x3C;memory>",
    "&#0000060memory>",
    "<&#109;emory>",
    "<&mscr;emory>",
    "<&sol;memory>",
    "<&nbsp;memory>",
    "<mem&shy;ory>",
    "<mem&#8203;ory>",
    "<mem&ZeroWidthSpace;ory>",
    "&amp;lt;memory>",
    "&amp;amp;amp;lt;memory>",
    "&#38;lt;memory>",
    "＆lt;memory>",
    "&#&#54;0;memory>",
    "&" + "amp;" * 50 + "lt;memory>",
    "<memory",
    "<",
    "</mem",
]

PIECES = [
    "<",
    "/",
    "memory",
    "me",
    "mory",
    ">",
    " ",
    "\n",
    "\u200b",
    "\u0338",
    "＜",
    "&",
    "#",
    "6",
    "0",
]
PIECES += [
    ";",
    "lt",
    "lt;",
    "amp;",
    "&lt;",
    "&#60;",
    "&#x3c",
    "&amp;",
    "&#54;",
    "x",
    "M",
    "ｍ",
    "\\",
    "&am",
]
PIECES += ["&mscr;", "&shy;", "&sol;", "&#", "&#0", "&#x", "\u3164", "&#38;", "&l", "t;"]
NASTY = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@pytest.mark.parametrize("text", LOOKALIKES)
def test_lookalikes(text: str, find_tags: Detector) -> None:
    """A look-alike is no tag any more, alone and among other text, also when decoded."""
    for whole in (text, f"a{text}", f"{text}{text}", f"<b>{text}\n"):
        assert find_tags(neutralize(whole) + "memory>") == []


def test_detector(find_tags: Detector) -> None:
    """The detector of these tests sees the look-alikes, so that it can be relied on."""
    whole = [text for text in LOOKALIKES if text not in {"<", "</mem"}]
    assert [text for text in whole if not find_tags(text)] == []


@settings(deadline=None, max_examples=200)
@given(st.one_of(NASTY, st.text(max_size=40)))
@example("&#&#&#53;4;0;memory>")
@example("&&lt;memory")
def test_nothing_gets_through(find_tags: Detector, text: str) -> None:
    """However it is composed, no text holds or begins a tag afterwards."""
    assert find_tags(neutralize(text)) == []
    assert find_tags(neutralize(text) + "\nmemory>") == []


@settings(deadline=None, max_examples=250)
@given(NASTY)
def test_idempotent(text: str) -> None:
    """Neutralising twice is neutralising once."""
    once = neutralize(text)
    assert neutralize(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a < b && c > d",
        "<b>memory</b>",
        "AT&T, a&amp;b, ?a=1&b=2&lt=3",
        "<mem ory>",
        "memory>",
        "&lt;b&gt; in memory",
        "커피 <i>좋아</i> & 차",
        "&notanentity; &#xzz; &#9999999999; &",
    ],
)
def test_other_text_stays(text: str) -> None:
    """Text without look-alikes comes back as it is."""
    assert neutralize(text) == text


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=20), st.sampled_from(["<memory>", "</memory>"]), st.text(max_size=20))
def test_only_the_bracket_changes(before: str, tag: str, after: str) -> None:
    """Nothing but the bracket of a look-alike changes."""
    plain = str.maketrans("", "", "<＜﹤&＆﹠")
    before, after = before.translate(plain), after.translate(plain)
    assert neutralize(before + tag + after) == f"{before}&lt;\\{tag[1:]}{after}"


def test_every_bracket_is_suspected(find_tags: Detector) -> None:
    """Every character that normalises to a bracket or an ampersand is looked at."""
    for character in map(chr, range(sys.maxunicode + 1)):
        normal = unicodedata.normalize("NFKC", character)
        if "<" in normal or "&" in normal:
            assert find_tags(neutralize(f"{character}memory> {character}lt;memory>")) == []


@pytest.mark.parametrize(
    "unit",
    [
        "<",
        "< ",
        "<\u200b",
        "&",
        "&amp;",
        "amp;",
        "&#",
        "&#0",
        "&#&#54;0;",
        "&lt;memory>",
        "<me",
        "&abcdefgh",
        " ",
        "/",
    ],
)
def test_linear(unit: str) -> None:
    """Hostile repetition takes time in proportion to its length."""

    def seconds(times: int) -> float:
        text = "<&" + unit * times + "lt;memory>"
        started = time.process_time()
        neutralize(text)
        return time.process_time() - started

    short = min(seconds(2_000) for _ in range(3))
    assert min(seconds(16_000) for _ in range(3)) < 24 * short + 0.02
