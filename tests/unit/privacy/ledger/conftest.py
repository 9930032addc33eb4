"""A ledger with some charges, which several tests begin with."""

import pytest

from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Ledger


@pytest.fixture
def ledger(tmp_path):
    """Return a ledger of epsilon 1 with three charges of a tenth, all of it in its file."""
    made = Ledger(tmp_path / "ledger.db", epsilon=1)
    for number in range(3):
        made.spend(Guarantee.pure("1/10", unit="replace one", trust="central"), purpose=f"table {number}")
    made.total()  # which copies the log into the file
    return made
