"""The published contract of memory stores, for stores of one's own.

```python
from durable_memory.stores import EditingStore, SettlingStore
from durable_memory.testing import StoreContract, check_against_model

class TestMyStore(StoreContract):
    abilities = frozenset({SettlingStore, EditingStore})

    @pytest.fixture
    async def store(self):
        async with open_my_store() as store:
            yield store

def test_my_store_against_the_model():
    check_against_model(open_my_store)
```

Needs `pytest`, `pytest-asyncio` in its auto mode, and `hypothesis`. Each test works in a scope of
its own, so that one database can serve all. Tests of an ability that `abilities` does not name
are skipped, and say so.
"""

import pytest

# Before the modules are imported, or a failed test says no more than `AssertionError`.
_MODULES = (
    "base",
    "contract",
    "editing",
    "history",
    "listing",
    "machine",
    "operations",
    "searching",
    "settling",
    "sweeping",
    "viewing",
    "writing",
)
pytest.register_assert_rewrite(*(f"{__name__}.{module}" for module in _MODULES))

from .contract import StoreContract  # noqa: E402  (see above)
from .machine import check_against_model  # noqa: E402

__all__ = ["StoreContract", "check_against_model"]
