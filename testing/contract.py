"""The whole contract of a store."""

from __future__ import annotations

from ..stores import MemoryStore
from .base import ABILITIES
from .editing import EditingContract
from .history import HistoryContract
from .listing import ListingContract
from .operations import OperationContract
from .searching import SearchContract
from .settling import SettlingContract
from .sweeping import SweepingContract
from .viewing import ViewContract
from .writing import WritingContract


class StoreContract(
    WritingContract,
    OperationContract,
    ListingContract,
    SettlingContract,
    EditingContract,
    SearchContract,
    ViewContract,
    HistoryContract,
    SweepingContract,
):
    """Every test that a store must pass: subclass it and override the fixture `store`."""

    def test_store_has_the_abilities_it_declares(self, store: MemoryStore) -> None:
        """What a store declares and what it has are the same."""
        assert isinstance(store, MemoryStore)
        found = {ability for ability in ABILITIES if isinstance(store, ability)}
        assert found == set(self.abilities)
