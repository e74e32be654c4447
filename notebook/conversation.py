"""How much of a conversation a model request holds."""

from __future__ import annotations

from collections.abc import Sequence

from .model import Message
from .text import encoded_size

CUT_NOTICE = "[This text is left out: the conversation is too long.]"


def bounded_conversation(
    messages: Sequence[Message], *, max_messages: int, max_bytes: int
) -> tuple[Message, ...]:
    """Return the end of a conversation, within bounds.

    Older prompts go first, each with all that follows it, so that no tool's answer stands without
    its call. Of a single prompt that is still too long in bytes, the oldest long texts are replaced
    by a notice; its messages are all kept.

    Args:
        messages: Oldest first.
        max_messages: How many to keep, unless the latest prompt alone has more.
        max_bytes: Encoded size of all kept messages together.
    """
    kept = list(messages)
    sizes = [encoded_size(message.wire()) for message in kept]
    while len(kept) > max_messages or sum(sizes) > max_bytes:
        later = next((i for i, each in enumerate(kept) if i and each.role == "user"), None)
        if later is None:
            break
        del kept[:later], sizes[:later]
    return tuple(_shortened(kept, sizes, max_bytes))


def _shortened(kept: list[Message], sizes: list[int], max_bytes: int) -> list[Message]:
    excess = sum(sizes) - max_bytes
    for place, message in enumerate(kept):
        if excess <= 0:
            break
        if len(message.content) > len(CUT_NOTICE):
            kept[place] = message.model_copy(update={"content": CUT_NOTICE})
            excess -= sizes[place] - encoded_size(kept[place].wire())
    return kept
