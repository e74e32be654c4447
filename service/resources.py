"""What goes over the wire, by the names of the public clients, and the projections of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from ..notebook import SOURCE_AGENT, SOURCE_DREAMER
from ..stores import Entry, EntryMatch, EntryStoreInfo, Principal, PrincipalType
from .errors import ServiceError


def _absent(value: object) -> object:
    """Take an empty text for a missing one: the clients send either."""
    return None if value == "" else value


EMPTY_IS_MISSING = BeforeValidator(_absent)
"""For optional fields."""

OptionalText = Annotated[str | None, EMPTY_IS_MISSING]
"""Text that is missing when it is empty."""


class SourceType(StrEnum):
    """Who wrote an entry."""

    UNSPECIFIED = "MANAGED_MEMORY_ENTRY_SOURCE_TYPE_UNSPECIFIED"
    AGENT = "MANAGED_MEMORY_ENTRY_SOURCE_TYPE_AGENT"
    DREAMER = "MANAGED_MEMORY_ENTRY_SOURCE_TYPE_DREAMER"

    @property
    def provenance(self) -> str:
        """The same in the words of the stores."""
        return SOURCE_DREAMER if self is SourceType.DREAMER else SOURCE_AGENT


OptionalSourceType = Annotated[SourceType | None, EMPTY_IS_MISSING]
"""Who wrote an entry; missing when it is empty."""


class View(StrEnum):
    """How much of an entry is returned: BASIC leaves the content out."""

    UNSPECIFIED = "MANAGED_MEMORY_ENTRY_VIEW_UNSPECIFIED"
    BASIC = "MANAGED_MEMORY_ENTRY_VIEW_BASIC"
    FULL = "MANAGED_MEMORY_ENTRY_VIEW_FULL"


OptionalView = Annotated[View | None, EMPTY_IS_MISSING]
"""How much of an entry is returned; missing when it is empty."""


class Error(BaseModel):
    """Why a request was refused."""

    error_code: str
    message: str


class StorageBackend(BaseModel):
    """What keeps a memory store; the clients know one type only."""

    backend_type: str = "STORAGE_BACKEND_TYPE_LAKEBASE"
    backend_id: str = "postgres"


class StoreResource(BaseModel):
    """A memory store."""

    name: str
    display_name: str
    description: str
    workspace_id: int = 1
    creator_user_id: str
    owner_user_id: str
    storage_backend: StorageBackend = Field(default_factory=StorageBackend)
    create_time: str
    update_time: str

    @classmethod
    def of(cls, info: EntryStoreInfo) -> StoreResource:
        """Return the resource of a memory store."""
        creator = Principal.of_key(info.creator).name
        return cls(
            name=f"memory-stores/{info.id}",
            display_name=info.id,
            description=info.description,
            creator_user_id=creator,
            owner_user_id=creator,
            create_time=time_text(info.created_at),
            update_time=time_text(info.updated_at),
        )


class EntryResource(BaseModel):
    """An entry; what was not asked for, or is not there, is missing."""

    name: str
    actor_id: str
    path: str
    session_id: str | None = None
    content: str | None = None
    description: str | None = None
    source_type: SourceType | None = None
    create_time: str | None = None
    update_time: str | None = None


class MatchResource(BaseModel):
    """An entry that search found."""

    managed_memory_entry: EntryResource
    score: float


class PrincipalResource(BaseModel):
    """Who was granted something; the clients differ in what they call its type."""

    name: str
    type: PrincipalType
    principal_type: PrincipalType

    @classmethod
    def of(cls, principal: Principal) -> PrincipalResource:
        """Return the resource of a principal."""
        return cls(name=principal.name, type=principal.type, principal_type=principal.type)


_FIELDS = frozenset(EntryResource.model_fields)
_ALWAYS = frozenset({"name", "actor_id", "path"})
"""What the clients cannot do without."""


class Projection:
    """Which fields of an entry are returned.

    Args:
        read_mask: Names of fields with commas between; all when there is none.
        view: BASIC leaves the content out.

    Raises:
        ServiceError: The mask names a field that entries do not have.
    """

    def __init__(self, read_mask: str | None, view: View | None) -> None:
        asked = frozenset(split_mask(read_mask, "read_mask", _FIELDS)) if read_mask else _FIELDS
        hidden = {"content"} if view is View.BASIC else set[str]()
        self._fields = (asked | _ALWAYS) - hidden

    @property
    def content(self) -> bool:
        """Whether the content is asked for."""
        return "content" in self._fields

    def entry(self, entry: Entry) -> EntryResource:
        """Return the resource of an entry."""
        key = entry.key
        whole = EntryResource(
            name=f"memory-stores/{key.store}/entries/{entry.id}",
            actor_id=key.actor,
            path=key.path,
            session_id=key.session,
            content=entry.content,
            description=entry.description or None,
            source_type=SourceType[entry.provenance.source_type],
            create_time=time_text(entry.created_at),
            update_time=time_text(entry.updated_at),
        )
        return whole.model_copy(update=dict.fromkeys(_FIELDS - self._fields))

    def match(self, match: EntryMatch) -> MatchResource:
        """Return the resource of an entry that was found."""
        return MatchResource(managed_memory_entry=self.entry(match.entry), score=match.score)


EVERYTHING_SHOWN = Projection(None, None)


def split_mask(mask: str, parameter: str, known: Iterable[str]) -> list[str]:
    """Return the fields that a mask names.

    Raises:
        ServiceError: It names none, or one that is not `known`.
    """
    names = [name.strip() for name in mask.split(",")]
    if not set(names) <= set(known):
        raise ServiceError.invalid(f"{parameter}: may name {', '.join(sorted(known))}")
    return names


def time_text(moment: datetime) -> str:
    """Return a time in UTC with six digits of fractions: the clients read no more."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
