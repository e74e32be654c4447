"""How much of a conversation a model request holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from durable_memory.notebook.conversation import CUT_NOTICE, bounded_conversation
from durable_memory.notebook.model import Message
from durable_memory.notebook.text import encoded_size

ROLES = st.sampled_from(["user", "assistant", "tool"])
MESSAGES = st.lists(
    st.builds(Message, role=ROLES, content=st.text("a가\U0001f600", max_size=400)), max_size=12
)


def size(messages: tuple[Message, ...]) -> int:
    """Encoded size of messages."""
    return sum(encoded_size(message.wire()) for message in messages)


@given(MESSAGES, st.integers(1, 12), st.integers(2_000, 20_000))
def test_what_is_kept_is_bounded(messages: list[Message], count: int, max_bytes: int) -> None:
    """What is kept fits the bytes, and the count unless the latest prompt alone has more."""
    kept = bounded_conversation(messages, max_messages=count, max_bytes=max_bytes)
    assert size(kept) <= max_bytes
    prompts = [i for i, each in enumerate(messages) if i and each.role == "user"]
    latest = len(messages) - (prompts[-1] if prompts else 0)
    assert len(kept) <= max(count, latest)


@given(MESSAGES, st.integers(1, 12))
def test_the_end_is_kept_as_it_is(messages: list[Message], count: int) -> None:
    """Without a shortage of bytes the kept messages are the conversation's own end."""
    kept = bounded_conversation(messages, max_messages=count, max_bytes=10**9)
    assert list(kept) == messages[len(messages) - len(kept) :]
    if len(kept) < len(messages):
        assert kept[0].role == "user"


def test_oldest_texts_go_first() -> None:
    """Of one prompt that is too long the oldest long texts go, and every message stays."""
    messages = [Message(role="user", content="x" * 100)]
    messages += [Message(role="tool", content="y" * 1_000, tool_call_id=str(i)) for i in range(4)]
    kept = bounded_conversation(messages, max_messages=40, max_bytes=2_700)
    contents = [each.content for each in kept]
    assert contents == [CUT_NOTICE, CUT_NOTICE, CUT_NOTICE, "y" * 1_000, "y" * 1_000]
