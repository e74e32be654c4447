"""`durable-memory token`, `stores` and `entries`, as one types them."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from typing import Any

import pytest
import typer

from durable_memory.cli import entries, memory_stores, tokens
from durable_memory.cli.embedded import free_port

PROGRAM = """
import json, sys
from durable_memory.cli import main
for line in sys.stdin:
    code = main(json.loads(line))
    sys.stdout.flush()
    print(json.dumps({"code": code}), flush=True)
"""


class Terminal:
    """Runs commands on one database, in a process of their own."""

    def __init__(self, database: str) -> None:
        self._environment = {**os.environ, "DURABLE_MEMORY_STORE": database, "COLUMNS": "80"}

    def run(self, *commands: tuple[str, ...]) -> list[tuple[int, list[str]]]:
        """Run commands one after the other; return each one's exit code and lines."""
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=self._environment,
            input="".join(json.dumps(command) + "\n" for command in commands),
            capture_output=True,
            text=True,
            check=True,
        )
        said: list[tuple[int, list[str]]] = []
        lines: list[str] = []
        for line in done.stdout.splitlines():
            if line.startswith('{"code": '):
                said.append((json.loads(line)["code"], lines))
                lines = []
            else:
                lines.append(line)
        self.errors = done.stderr
        return said


@pytest.fixture
def terminal(empty_database_url: str) -> Terminal:
    """A terminal on a new database."""
    return Terminal(empty_database_url)


def _json(said: tuple[int, list[str]]) -> Any:
    code, lines = said
    assert code == 0
    return json.loads(lines[0])


def test_tokens(terminal: Terminal) -> None:
    """A token is shown once; the list has its principal and never its secret."""
    made, plain, listed, table = terminal.run(
        ("token", "create", "app-1", "--type", "service-principal", "--admin", "--json"),
        ("token", "create", "you@example.com"),
        ("token", "list", "--json"),
        ("token", "list"),
    )
    token = _json(made)
    assert token["token"].startswith(f"dm_{token['id']}_")
    assert len(plain[1]) == 1
    (first, second) = _json(listed)
    assert (first["principal"], first["type"], first["admin"]) == (
        "app-1",
        "SERVICE_PRINCIPAL",
        True,
    )
    assert (second["principal"], second["admin"], second["revoked"]) == (
        "you@example.com",
        False,
        None,
    )
    shown = "\n".join(table[1])
    assert token["id"] in shown
    secrets = [token["token"].split("_", 2)[2], plain[1][0].split("_", 2)[2]]
    assert not [secret for secret in secrets if secret in shown or secret in str(listed)]
    ended, again, after = terminal.run(
        ("token", "revoke", token["id"], "--json"),
        ("token", "revoke", token["id"]),
        ("token", "list", "--json"),
    )
    assert _json(ended) == {"revoked": token["id"]}
    assert again == (1, [])
    assert _json(after)[0]["revoked"] is not None


def test_stores_and_their_grants(terminal: Terminal) -> None:
    """Memory stores are made for a principal, listed, changed, granted and deleted."""
    said = terminal.run(
        ("stores", "create", "my-store", "--creator", "you@example.com", "--json"),
        ("stores", "create", "my-store", "--creator", "you@example.com"),
        ("stores", "update", "my-store", "--description", "for [notes]"),
        ("stores", "list"),
        ("stores", "grant", "my-store", "app-1", "READ", "--type", "service-principal"),
        ("stores", "grants", "my-store", "--json"),
        ("stores", "revoke", "my-store", "app-1", "--type", "service-principal"),
        ("stores", "revoke", "my-store", "app-1", "--type", "service-principal"),
        ("stores", "delete", "my-store"),
        ("stores", "delete", "my-store", "--yes"),
        ("stores", "get", "my-store"),
        ("stores", "get", "My Store"),
    )
    assert [code for code, _ in said] == [0, 1, 0, 0, 0, 0, 0, 1, 2, 0, 1, 2]
    assert _json(said[0])["creator"] == "USER:you@example.com"
    assert "for [notes]" in said[3][1][1]
    (grant,) = _json(said[5])
    assert (grant["principal"]["name"], grant["permission"]) == ("app-1", "READ")
    assert terminal.errors.count("\n") == 5


ON_A_STORE = (
    ("stores", "get"),
    ("stores", "update", "--description", "d"),
    ("stores", "delete", "--yes"),
    ("stores", "grants"),
    ("stores", "grant", "app-1", "READ"),
    ("stores", "revoke", "app-1"),
    ("entries", "list", "--actor", "u"),
    ("entries", "get", "0a"),
    ("entries", "search", "tea", "--actor", "u"),
    ("entries", "put", "/tea", "Green.", "--actor", "u"),
    ("entries", "append", "/tea", "Green.", "--actor", "u"),
    ("entries", "update", "0a", "--content", "x"),
    ("entries", "delete", "0a", "--yes"),
    ("entries", "forget", "/tea", "--actor", "u", "--yes"),
    ("entries", "history", "0a"),
)


def _verbs(name: str, group: typer.Typer) -> set[tuple[str, str]]:
    return {
        (name, command.name or command.callback.__name__)
        for command in group.registered_commands
        if command.callback
    }


def test_a_store_that_is_not_there_is_named_as_such(terminal: Terminal) -> None:
    """Every command on a memory store says that there is none, prints nothing, and fails."""
    every = _verbs("stores", memory_stores.app) | _verbs("entries", entries.app)
    assert {(group, verb) for group, verb, *_ in ON_A_STORE} == every - {
        ("stores", "list"),
        ("stores", "create"),
    }
    said = terminal.run(*((group, verb, "absent", *rest) for group, verb, *rest in ON_A_STORE))
    assert said == [(1, [])] * len(ON_A_STORE)
    assert set(terminal.errors.splitlines()) == {"durable-memory: No such memory store."}


def test_an_entry_that_is_not_there_is_named_as_such(terminal: Terminal) -> None:
    """In a memory store that exists, what is not found is an entry."""
    commands = [
        (group, verb, "my-store", *rest) for group, verb, *rest in ON_A_STORE if "0a" in rest
    ]
    terminal.run(("stores", "create", "my-store", "--creator", "you"))
    assert [code for code, _ in terminal.run(*commands)] == [1] * len(commands)
    assert set(terminal.errors.splitlines()) == {"durable-memory: No such entry."}


def test_what_is_there_or_cannot_be_is_said_plainly(terminal: Terminal) -> None:
    """A memory store made twice, a permission that is none and a name with blanks are named."""
    said = terminal.run(
        ("stores", "create", "my-store", "--creator", "you"),
        ("stores", "create", "my-store", "--creator", "you"),
        ("stores", "grant", "my-store", "app-1", "admin"),
        ("token", "create", "bad name"),
        ("stores", "grant", "my-store", "app-1", "read", "--json"),
    )
    assert [code for code, _ in said] == [0, 1, 2, 2, 0]
    there, permission, name = terminal.errors.splitlines()
    assert there == "durable-memory: There is a memory store of that id already."
    assert "'admin' is not one of" in permission
    assert name.startswith("durable-memory: a name has no blanks")
    assert _json(said[4])["granted"]["permission"] == "READ"


def test_an_operator_says_whose_words_they_are(terminal: Terminal) -> None:
    """What is put, appended or updated carries the source type that is given."""
    put = ("entries", "put", "my-store", "/tea", "x", "--actor", "u", "--json")
    append = ("entries", "append", "my-store", "/tea", "y", "--actor", "u", "--json")
    _, *written = terminal.run(
        ("stores", "create", "my-store", "--creator", "you"),
        (*put, "--source-type", "dreamer"),
        append,
        (*append, "--source-type", "DREAMER"),
    )
    entry = _json(written[0])["entry"]["id"]
    changed, refused = terminal.run(
        ("entries", "update", "my-store", entry, "--content", "z", "--json"),
        (*put, "--source-type", "me"),
    )
    sources = [_json(each)["entry"]["provenance"]["source_type"] for each in (*written, changed)]
    assert sources == ["DREAMER", "AGENT", "DREAMER", "AGENT"]
    assert refused == (2, [])


def test_tables_are_never_folded(terminal: Terminal) -> None:
    """Ids, principals and times stand whole on the line of their row, however long they are."""
    store, creator, path = "s" * 56, f"{'c' * 90}@example.com", f"/{'p' * 90}"
    said = terminal.run(
        ("stores", "create", store, "--creator", creator, "--description", "d " * 60),
        ("entries", "put", store, path, "x", "--actor", "u", "--description", "e " * 60),
        ("token", "create", creator),
        ("stores", "list"),
        ("entries", "list", store, "--actor", "u"),
        ("token", "list"),
    )
    for (code, shown), whole in zip(said[3:], (creator, path, creator), strict=True):
        assert code == 0
        assert len(shown) == 2
        assert whole in shown[1]
        assert [line.rstrip() for line in shown] == shown


@pytest.mark.parametrize(
    ("fault", "code", "sentence"),
    [("absent", 2, "create it"), ("login", 2, "check the role"), ("down", 1, "did not answer")],
)
def test_a_fault_of_the_database_has_one_exit_code(
    postgres_url: str, fault: str, code: int, sentence: str
) -> None:
    """Every command ends alike by a fault of the database, and none speaks of a worker."""
    urls = {
        "absent": postgres_url.replace("/postgres?", "/absent?"),
        "login": postgres_url.replace("//postgres", "//nobody"),
        "down": f"postgresql://nobody@127.0.0.1:{free_port()}/none",
    }
    terminal = Terminal(urls[fault])
    commands = (
        ("migrate",),
        ("token", "list"),
        ("stores", "list"),
        ("entries", "list", "my-store", "--actor", "u"),
        ("serve",),
    )
    assert [code for code, _ in terminal.run(*commands)] == [code] * len(commands)
    (line,) = set(terminal.errors.splitlines())
    assert line.startswith("durable-memory: DURABLE_MEMORY_STORE: ")
    assert sentence in line
    assert "worker" not in line


def test_entries(terminal: Terminal) -> None:
    """Entries are put, appended, found, listed, read and deleted, for people and for programs."""
    actor = ("--actor", "you@example.com")
    terminal.run(("stores", "create", "my-store", "--creator", "you@example.com"))
    said = terminal.run(
        ("entries", "put", "my-store", "/tea", "Drinks green tea.", *actor, "--json"),
        ("entries", "append", "my-store", "/tea", "No sugar.", *actor),
        ("entries", "put", "my-store", "/pets", "Has a dog.", *actor, "--session", "s1"),
        ("entries", "list", "my-store", *actor, "--json"),
        ("entries", "list", "my-store", *actor),
        ("entries", "search", "my-store", "green tea", *actor, "--json"),
        ("entries", "put", "my-store", "no-slash", "x", *actor),
        ("entries", "list", "my-store", "--actor", ""),
    )
    assert [code for code, _ in said] == [0, 0, 0, 0, 0, 0, 2, 2]
    entry = _json(said[0])["entry"]["id"]
    assert [each["key"]["path"] for each in _json(said[3])] == ["/pets", "/tea"]
    assert len(said[4][1]) == 3
    assert _json(said[5])[0]["entry"]["id"] == entry
    got, steps, gone, after = terminal.run(
        ("entries", "get", "my-store", entry),
        ("entries", "history", "my-store", entry, "--json"),
        ("entries", "delete", "my-store", entry, "--yes"),
        ("entries", "get", "my-store", entry),
    )
    assert got[1] == ["Drinks green tea.", "No sugar."]
    assert len(_json(steps)) == 2
    assert (gone[0], after[0]) == (0, 1)


def test_entries_are_changed(terminal: Terminal) -> None:
    """An entry's fields are changed one by one, and its earlier versions can be read."""
    actor = ("--actor", "you@example.com")
    _, made = terminal.run(
        ("stores", "create", "my-store", "--creator", "you@example.com"),
        ("entries", "put", "my-store", "/tea", "Green.\n", *actor, "--json"),
    )
    entry, version = _json(made)["entry"]["id"], _json(made)["version"]
    said = terminal.run(
        ("entries", "append", "my-store", "/tea", "Hot.", *actor, "--description", "d", "--json"),
        ("entries", "update", "my-store", entry, "--content", "Black.", "--json"),
        ("entries", "update", "my-store", entry, "--description", "e", "--json"),
        ("entries", "update", "my-store", entry),
        ("entries", "update", "my-store", "missing", "--content", "x"),
        ("entries", "get", "my-store", entry, "--version", version),
        ("entries", "get", "my-store", entry, "--version", version, "--json"),
        ("entries", "get", "my-store", entry, "--version", "none"),
    )
    assert [code for code, _ in said] == [0, 0, 0, 2, 1, 0, 0, 1]
    changed = [_json(each)["entry"] for each in said[:3]]
    assert [(each["content"], each["description"]) for each in changed] == [
        ("Green.\nHot.\n", "d"),
        ("Black.", "d"),
        ("Black.", "e"),
    ]
    assert said[5][1] == ["Green."]
    assert (_json(said[6])["version"], _json(said[6])["content"]) == (version, "Green.\n")


def test_paths_are_forgotten(terminal: Terminal) -> None:
    """A path is forgotten in every session of one actor, after a question, and nothing else is."""
    actor = ("--actor", "you@example.com")
    terminal.run(
        ("stores", "create", "my-store", "--creator", "you@example.com"),
        ("entries", "put", "my-store", "/tea", "Green.", *actor),
        ("entries", "put", "my-store", "/tea", "Black.", *actor, "--session", "s"),
        ("entries", "put", "my-store", "/tea", "White.", "--actor", "other"),
        ("entries", "put", "my-store", "/pets", "A dog.", *actor),
    )
    asked, gone, again, mine, others = terminal.run(
        ("entries", "forget", "my-store", "/tea", *actor),
        ("entries", "forget", "my-store", "/tea", *actor, "--yes", "--json"),
        ("entries", "forget", "my-store", "/tea", *actor, "--yes"),
        ("entries", "list", "my-store", *actor, "--json"),
        ("entries", "list", "my-store", "--actor", "other", "--json"),
    )
    assert asked[0] == 2
    assert len(_json(gone)["entry_ids"]) == 2
    assert again == (0, ["0 deleted."])
    assert [each["key"]["path"] for each in _json(mine)] == ["/pets"]
    assert len(_json(others)) == 1


def test_every_command_prints_json() -> None:
    """Each command of `token`, `stores` and `entries` has `--json`."""
    for group in (tokens.app, memory_stores.app, entries.app):
        for command in group.registered_commands:
            assert command.callback is not None
            assert "as_json" in inspect.signature(command.callback).parameters, command.callback


def test_what_deletes_and_grants_says_so_as_json(terminal: Terminal) -> None:
    """Commands that print nothing for people print JSON that names what they changed."""
    put = ("entries", "put", "my-store", "/tea", "Green.", "--actor", "u", "--json")
    _, made = terminal.run(("stores", "create", "my-store", "--creator", "you"), put)
    entry = _json(made)["entry"]["id"]
    granted, revoked, deleted, gone = terminal.run(
        ("stores", "grant", "my-store", "app-1", "READ", "--json"),
        ("stores", "revoke", "my-store", "app-1", "--json"),
        ("entries", "delete", "my-store", entry, "--yes", "--json"),
        ("stores", "delete", "my-store", "--yes", "--json"),
    )
    principal = {"type": "USER", "name": "app-1"}
    assert _json(granted) == {"granted": {"principal": principal, "permission": "READ"}}
    assert _json(revoked) == {"revoked": principal}
    assert _json(deleted)["entry_ids"] == [entry]
    assert _json(gone) == {"deleted": "my-store"}


def test_a_store_that_is_no_database_is_said() -> None:
    """Commands on another store than PostgreSQL name the variable, in one line."""
    terminal = Terminal("memory:")
    assert terminal.run(("token", "list"))[0][0] == 2
    assert terminal.errors.count("\n") == 1
    assert "DURABLE_MEMORY_STORE" in terminal.errors
