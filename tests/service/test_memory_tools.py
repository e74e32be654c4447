"""The memory tools of databricks-agentbricks for the OpenAI Agents SDK, unmodified."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from services import PATIENCE, STORES, Caller, Service, environment

PROGRAM = Path(__file__).parents[1] / "memory_tools_program.py"


def _call(
    service: Service, caller: Caller, actor: str, store: str, calls: list[tuple[str, object]]
) -> list[str]:
    done = subprocess.run(
        [sys.executable, PROGRAM, actor, store],
        env=environment(DATABRICKS_HOST=service.url, DATABRICKS_TOKEN=caller.token),
        input=json.dumps(calls),
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    said: list[str] = json.loads(done.stdout)
    return said


@pytest.fixture
def program_store(store: str) -> str:
    """A memory store of alice's."""
    return store


def test_an_agent_remembers_recalls_lists_and_forgets(
    service: Service, alice: Caller, program_store: str
) -> None:
    """All four tools work, and what one actor remembers no other recalls."""
    tea, dog = "Drinks green tea in the morning", "Has a dog called Rex"
    said = _call(
        service,
        alice,
        "user-1",
        program_store,
        [
            ("remember", {"fact": tea, "topic": "Café"}),
            ("remember", {"fact": tea, "topic": "Café"}),
            ("remember", {"fact": dog, "topic": "pets"}),
            ("recall", {"query": "which tea do they drink"}),
            ("list_memories", {}),
            ("forget", {"fact": dog, "topic": "pets"}),
            ("recall", {"query": "dog"}),
            ("list_memories", {}),
        ],
    )
    assert said[:3] == [
        "Remembered in /cafe.md.",
        "Remembered in /cafe.md.",
        "Remembered in /pets.md.",
    ]
    assert said[3].splitlines()[:2] == ["/cafe.md:", f"  {tea}"]
    assert said[4].splitlines() == ["/cafe.md (1 fact)", "/pets.md (1 fact)"]
    assert said[5] == "Forgot 1 fact in /pets.md."
    assert dog not in said[6]
    assert said[7] == "/cafe.md (1 fact)"
    other = _call(service, alice, "user-2", program_store, [("recall", {"query": "tea"})])
    assert other == ["No relevant memories."]
    listed = alice.http.get(f"{STORES}/{program_store}/entries", params={"actor_id": "user-1"})
    assert [each["content"] for each in listed.json()["managed_memory_entries"]] == [tea]
