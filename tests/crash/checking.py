"""What must hold of a store after a crash, as a fresh process finds it."""

from __future__ import annotations

from durable_memory.notebook import Append, MemoryOperationAbandonedError, apply_splice
from durable_memory.stores import HistoryStore, MemoryFile, MemoryMutation

from .mutations import MAX_CHARS, Case, Mutation, TriedStore


class Violation(Exception):  # noqa: N818  (it is what was looked for)
    """A store broke its promise."""


def must(held: object, promise: str) -> None:
    """Raise `Violation` if a promise did not hold."""
    if not held:
        raise Violation(promise)


async def check(store: TriedStore, mutation: Mutation, case: Case) -> str:
    """Check a file after a crash in a mutation; return `old` or `new`, whichever was found.

    Raises:
        Violation: A promise did not hold; the message says which.
    """
    found = await store.read(case.path, max_chars=MAX_CHARS)
    receipt = await store.get_operation(case.operation)
    if mutation.old == mutation.new:
        must(content_of(found) == mutation.old, "to settle changes no file")
        must(receipt is None or receipt.abandoned, "nothing was applied")
        await _check_settled(store, mutation, case)
        return "old" if receipt is None else "new"
    state = "new" if receipt is not None else "old"
    expected = mutation.old if receipt is None else mutation.new
    must(content_of(found) in (mutation.old, mutation.new), "the content is old or new")
    must(content_of(found) == expected, "receipt and content agree")
    if receipt is None:
        must((found and found.version) == case.version, "without a receipt the version is the old")
    else:
        _check_receipt(receipt, found, mutation)
    await check_history(store, case, content_of(found), applied=receipt is not None)
    await _check_replay(store, mutation, case, receipt)
    return state


def content_of(found: MemoryFile | None) -> str | None:
    """Return a file's text; `None` for no file."""
    return None if found is None else found.content


def _check_receipt(receipt: MemoryMutation, found: MemoryFile | None, mutation: Mutation) -> None:
    must(receipt.replayed, "a receipt says that it is one")
    must(receipt.version == (found and found.version), "the receipt names the file's version")
    must(receipt.existed == (mutation.old is not None), "the receipt says what was there before")


async def check_history(
    store: TriedStore, case: Case, content: str | None, *, applied: bool
) -> None:
    """Check that the history leads to the content, and that every version rebuilds."""
    if not isinstance(store, HistoryStore):
        return
    steps = (await store.history(case.path, limit=100))[::-1]
    before = 0 if case.version is None else 2
    must(len(steps) == before + applied, "one step of history for each mutation")
    made = [step for step in steps if step.operation_id == case.operation.id]
    must(len(made) == applied, "the operation made one step, or none")
    text: str | None = None
    for step in steps:
        must(step.existed_before == (text is not None), "each step goes on from the one before")
        after = apply_splice(text or "", step.change)
        text = after if step.exists else None
        rebuilt = await store.read_version(case.path, step.version)
        must(content_of(rebuilt) == text, "every version rebuilds")
    must(text == content, "the history leads to the content")


async def _check_replay(
    store: TriedStore, mutation: Mutation, case: Case, receipt: MemoryMutation | None
) -> None:
    """The operation arrives again, twice: it is applied once in all.

    Without a receipt a store may still carry out what it was told before it was killed: then the
    first of these arrivals is answered as a replay.
    """
    again = await mutation.apply(store, case)
    must(receipt is None or again.replayed, "a replay is answered by the receipt")
    must(receipt is None or again.version == receipt.version, "a replay gives the same version")
    third = await mutation.apply(store, case)
    must((third.replayed, third.version) == (True, again.version), "and so does the next")
    found = await store.read(case.path, max_chars=MAX_CHARS)
    must(content_of(found) == mutation.new, "after a replay the content is the new one")
    must((found and found.version) == again.version, "and has the version of the receipt")
    await check_history(store, case, mutation.new, applied=True)
    settled = await store.settle(case.operation)
    must(not settled.abandoned, "an applied operation is not abandoned")


async def _check_settled(store: TriedStore, mutation: Mutation, case: Case) -> None:
    """The case is closed again, and stays closed."""
    settled = await store.settle(case.operation)
    must(settled.abandoned, "what was never applied is abandoned")
    edit = Append(content="too late")
    try:
        await store.edit(case.path, edit, max_chars=MAX_CHARS, operation=case.operation)
    except MemoryOperationAbandonedError:
        pass
    else:
        raise Violation("an abandoned operation is never applied")
    await check_history(store, case, mutation.old, applied=False)
