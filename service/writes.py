"""What a store is told of a write beside its arguments: who asks for it, where it comes from."""

from __future__ import annotations

from pydantic import BaseModel

from ..notebook import Provenance
from ..stores import EntryWrite
from .callers import Caller
from .conditions import Conditions
from .resources import OptionalSourceType, SourceType


class Sourced(BaseModel):
    """A body whose text comes from somewhere; whoever does not say is an agent."""

    source_type: OptionalSourceType = None

    def provenance(self) -> Provenance:
        """Return it in the words of the stores."""
        return Provenance(source_type=(self.source_type or SourceType.AGENT).provenance)


class Traced(Sourced):
    """A body that says too what its text was taken from."""

    origin: str = ""

    def provenance(self) -> Provenance:
        """Return it in the words of the stores."""
        return Provenance(source_type=super().provenance().source_type, origin=self.origin)


def entry_write(
    caller: Caller,
    wanted: Conditions,
    *,
    action: str,
    store: str,
    body: BaseModel | None = None,
    **query: str | None,
) -> EntryWrite:
    """Return what a store is told of a write.

    Args:
        caller: Who asks for it.
        wanted: What it is bound to.
        action: The route's verb, with the entry if the URL names one.
        store: The memory store.
        body: The request's.
        query: The request's; what is missing is `None`.
    """
    asked = {name: value for name, value in query.items() if value is not None}
    arguments = body.model_dump(mode="json", exclude_unset=True) if body else {}
    return EntryWrite(
        operation=wanted.operation(
            caller.principal, action=action, store=store, arguments={**asked, **arguments}
        ),
        provenance=body.provenance() if isinstance(body, Sourced) else Provenance(),
    )
