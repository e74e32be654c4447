"""Scopes, memory files and store paths."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from durable_memory.notebook import (
    MAIN_FILENAME,
    InvalidMemoryRequest,
    MemoryRefusal,
    Scope,
    check_path,
    check_prefix,
    is_memory_filename,
    split_path,
)
from durable_memory.notebook.names import normalize_filename

SEGMENT = st.from_regex(r"[A-Za-z0-9_@:+-][.]?[a-z]?", fullmatch=True)
NAMESPACE = st.lists(SEGMENT, max_size=3).map("/".join)
SCOPE = st.builds(Scope, namespace=NAMESPACE, agent_name=SEGMENT)
LETTERS = st.text("aZ09가é\u0301.md_-", max_size=12).map(lambda text: f"a{text}")
ANY_NAME = st.one_of(
    LETTERS,
    LETTERS,
    st.text(max_size=90),
    st.text("aZ0._- /é\u0301가\u3164Ｍ.md", max_size=90),
    st.sampled_from(["memory.md", "Memory.MD", " MEMORY", "ＭＥＭＯＲＹ.md"]),
)
UNSAFE = st.text("ab./\\ @\0é", max_size=5)


def name_of(raw: str) -> str | None:
    """The name, if it is one."""
    try:
        return normalize_filename(raw)
    except MemoryRefusal:
        return None


@settings(deadline=None)
@given(SCOPE, SCOPE)
def test_scopes_never_collide(one: Scope, two: Scope) -> None:
    """Two different scopes never have the same key, and no file of one is a file of the other."""
    assert (one.key == two.key) == (one == two)
    assert (split_path(one.path("a.md"))[0] == two.key) == (one == two)


@settings(deadline=None, max_examples=150)
@given(NAMESPACE, UNSAFE)
def test_agent_names_never_reach_out(namespace: str, agent_name: str) -> None:
    """No agent name names files outside its namespace, and none in a nested one."""
    try:
        scope = Scope(namespace=namespace, agent_name=agent_name)
    except InvalidMemoryRequest:
        return
    assert scope.key.rpartition("/") == (namespace, "/" if namespace else "", agent_name)
    assert not {"", ".", ".."} & set(scope.key.split("/"))


@settings(deadline=None)
@given(SCOPE, ANY_NAME)
def test_paths_lead_back(scope: Scope, raw: str) -> None:
    """A path names exactly the scope and the file it was made of."""
    name = name_of(raw) or MAIN_FILENAME
    check_path(scope.path(name))
    check_prefix(scope.prefix)
    assert split_path(scope.path(name)) == (scope.key, name)
    assert scope.path(name) == scope.prefix + name


@pytest.mark.parametrize(
    "segment",
    ["", ".", "..", "a..b", "a/", "/a", "a//b", "a b", "é", "a\0", "a\n", "\\", "~", "a" * 201],
)
def test_malformed_scopes(segment: str) -> None:
    """A scope that escapes, is empty in places or too long is refused without being repeated."""
    for parts in ({"agent_name": segment}, {"namespace": f"private/{segment}/b"}):
        with pytest.raises(InvalidMemoryRequest) as error:
            Scope(**parts)
        assert "private" not in str(error.value)


@pytest.mark.parametrize("agent_name", ["a/b", "../a", "/"])
def test_agent_name_is_one_segment(agent_name: str) -> None:
    """An agent name cannot reach into another namespace."""
    with pytest.raises(InvalidMemoryRequest, match="one segment"):
        Scope(namespace="tenant", agent_name=agent_name)


def test_scope_that_is_not_text() -> None:
    """A scope of the wrong type is refused like any malformed one."""
    with pytest.raises(InvalidMemoryRequest, match="must be text"):
        Scope(namespace=None)  # type: ignore[arg-type]


def test_longest_key() -> None:
    """A key may have 1,000 bytes and not one more."""
    namespace = "/".join(["n" * 199] * 4)
    assert len(Scope(namespace=namespace, agent_name="a" * 200).key) == 1_000
    with pytest.raises(InvalidMemoryRequest, match="1000"):
        Scope(namespace=namespace + "n", agent_name="a" * 200)


@pytest.mark.parametrize("namespace", ["you@example.com", "tenant:user", "a/b+c/1.2_3-4", ""])
def test_usual_namespaces(namespace: str) -> None:
    """User ids of the usual kinds are namespaces."""
    assert Scope(namespace=namespace).key == f"{namespace}/main".lstrip("/")


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("notes", "notes.md"),
        ("  notes.md\n", "notes.md"),
        ("메모", "메모.md"),
        (unicodedata.normalize("NFD", "메모"), "메모.md"),
        ("cafe\u0301", "caf\u00e9.md"),
        ("हिन्दी", "हिन्दी.md"),
        ("2024-01_plan.v2", "2024-01_plan.v2.md"),
        ("MEMORY", MAIN_FILENAME),
        (" MEMORY.md ", MAIN_FILENAME),
        ("notes.txt", "notes.txt.md"),
        ("a" * 77, "a" * 77 + ".md"),
    ],
)
def test_spellings(raw: str, name: str) -> None:
    """A name is stripped, composed and completed."""
    assert normalize_filename(raw) == name


@pytest.mark.parametrize(
    "raw",
    [
        "",
        " ",
        ".md",
        "..",
        "a..b",
        "a.",
        "../a",
        "a/b",
        "a\\b",
        "a b",
        "-a",
        "_a",
        ".a",
        "\u0301a",
        "a\0",
        "a\ud800",
        "a\u200bb",
        "a²",
        "<memory>",
        "a" * 78,
        "가" * 66,
        "😀",
    ],
)
def test_not_names(raw: str) -> None:
    """Anything else is refused with advice."""
    with pytest.raises(MemoryRefusal, match="Use a short name") as refusal:
        normalize_filename(raw)
    assert refusal.value.code == "invalid_name"
    assert not is_memory_filename(raw)


def test_longest_spelling() -> None:
    """A name may be spelt in as many characters as it decomposes into, and not in many more."""
    name = "ᾂ" * 65 + ".md"
    assert normalize_filename(unicodedata.normalize("NFD", name)) == name
    assert normalize_filename(f"{' ' * 1_000_000}{name}") == name


def test_endless_name_is_refused_before_it_is_composed() -> None:
    """A name of a million marks, which would take hours to compose, is refused at once."""
    with pytest.raises(MemoryRefusal, match="Use a short name") as refusal:
        normalize_filename("a" + "\u0300\u0316" * 500_000)
    assert refusal.value.code == "invalid_name"
    assert not is_memory_filename("a" + "\u0300\u0316" * 500_000)


@pytest.mark.parametrize(
    "raw",
    ["memory", "memory.md", "Memory.MD", "MEMORY.MD", "mEMORY", "ＭＥＭＯＲＹ", "MEMORY\ufe0f.md"],
)
def test_second_main_notebook(raw: str) -> None:
    """A name that reads like the main notebook's is refused and not a second file."""
    with pytest.raises(MemoryRefusal, match=MAIN_FILENAME) as refusal:
        normalize_filename(raw)
    assert refusal.value.code == "invalid_name"
    assert not is_memory_filename(raw)


@settings(deadline=None, max_examples=150)
@given(ANY_NAME)
def test_names_keep_the_rule(raw: str) -> None:
    """A name is composed, bounded in characters and bytes, stable, and of allowed characters."""
    name = name_of(raw)
    assert is_memory_filename(raw) == (name == raw)
    if name is None:
        return
    assert normalize_filename(name) == name == unicodedata.normalize("NFC", name)
    assert name.endswith(".md")
    assert 4 <= len(name) <= 80
    assert len(name.encode()) <= 200
    assert ".." not in name
    assert all(c in "._-" or unicodedata.category(c)[0] in "LM" or c.isdecimal() for c in name)
    assert name[0].isalnum()


@pytest.mark.parametrize(
    "path",
    [
        "",
        "a.md",
        "/a.md",
        "main/",
        "main/.",
        "main/..",
        "../a.md",
        "main/../a.md",
        "a//b.md",
        "main/a\0",
        "main/\ud800",
        "main/" + "a" * 201,
        "main/" + "가" * 67,
        "a b/c.md",
    ],
)
def test_malformed_paths(path: str) -> None:
    """A path that is not a scope and a file name is refused without being repeated."""
    with pytest.raises(InvalidMemoryRequest) as error:
        check_path(path)
    assert not path or path not in str(error.value)


@pytest.mark.parametrize("name", ["Photo of a cat.png", "a b", "...", "memory.md", "가" * 66])
def test_names_of_applications(name: str) -> None:
    """Applications may store names the tools cannot spell."""
    assert split_path(f"tenant/main/{name}") == ("tenant/main", name)
    assert Scope(namespace="tenant").path(name) == f"tenant/main/{name}"


@pytest.mark.parametrize("name", ["", "a/b", "..", "\0"])
def test_names_nobody_can_store(name: str) -> None:
    """A scope makes no path of a name that cannot be stored."""
    with pytest.raises(InvalidMemoryRequest, match="stored file name"):
        Scope().path(name)


@pytest.mark.parametrize("prefix", ["main", "/", "a//", "../", "a/../", "a b/", "\0/"])
def test_malformed_prefixes(prefix: str) -> None:
    """A prefix is a whole scope key and a slash, so that it never cuts a segment."""
    with pytest.raises(InvalidMemoryRequest, match="a prefix is"):
        check_prefix(prefix)


def test_empty_prefix() -> None:
    """The empty prefix stands for everything."""
    check_prefix("")
