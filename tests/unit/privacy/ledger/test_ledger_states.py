"""Whatever is done to a ledger in whatever order, it counts as a plain list of fractions does."""

import json
import pathlib
import shutil
import tempfile
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from evenhand.errors import BudgetExceededError, LedgerError
from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Ledger

AMOUNTS = st.fractions(min_value=Fraction(1, 1000), max_value=1, max_denominator=1000)
NONE = Guarantee.no_guarantee(unit="replace one")


class History(RuleBasedStateMachine):
    """Two objects on one ledger, crashes before an anchor, old copies, and a list that knows better."""

    def __init__(self):
        super().__init__()
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.ledgers = [Ledger(self.folder / "ledger.db", epsilon=3)]
        self.ledgers.append(Ledger(self.folder / "ledger.db"))
        self.spent, self.unbounded, self.entries = [], set(), 1

    def teardown(self):
        shutil.rmtree(self.folder)

    @rule(amount=AMOUNTS, which=st.integers(0, 1))
    def spend(self, amount, which):
        guarantee = Guarantee.pure(amount, unit="replace one", trust="central")
        granted = sum(self.spent) + amount <= 3
        assert self.ledgers[which].preview(guarantee).fits == granted
        if granted:
            self.ledgers[which].spend(guarantee, purpose="table")
            self.spent.append(amount)
            self.entries += 1
            return
        with pytest.raises(BudgetExceededError) as refused:
            self.ledgers[which].spend(guarantee, purpose="table")
        assert refused.value.remaining.epsilon == 3 - sum(self.spent)

    @rule(which=st.integers(0, 1))
    def spend_without_bound(self, which):
        self.unbounded.add(self.ledgers[which].spend(NONE, purpose="table").number)
        self.entries += 1

    @rule(number=st.integers(1, 60), which=st.integers(0, 1))
    def retire(self, number, which):
        if number in self.unbounded:
            self.ledgers[which].retire(number, purpose="deleted")
            self.unbounded.remove(number)
            self.entries += 1
        else:
            with pytest.raises(LedgerError):
                self.ledgers[which].retire(number, purpose="deleted")

    @rule()
    def crash_before_the_anchor(self):
        before = self.ledgers[0].anchor.read_bytes()
        self.spend_without_bound(0)
        self.ledgers[0].anchor.write_bytes(before)

    @rule(which=st.integers(0, 1))
    def open_again(self, which):
        self.ledgers[which] = Ledger(self.folder / "ledger.db")

    @rule()
    def put_an_old_copy_back(self):
        path = self.folder / "ledger.db"
        older = path.read_bytes()
        self.spend_without_bound(1)
        self.ledgers[1].total()  # which copies the log into the file
        newest = path.read_bytes()
        path.write_bytes(older)
        with pytest.raises(LedgerError):
            Ledger(path)
        path.write_bytes(newest)

    @rule(charges=st.integers(0, 3))
    def put_an_old_copy_beside_the_log(self, charges):
        """What the copy lacks is in the log, or the two do not fit and are refused."""
        path, log = self.folder / "ledger.db", self.folder / "ledger.db-wal"
        older = path.read_bytes()
        for _ in range(charges):
            self.spend_without_bound(0)
        self.ledgers[0].total()  # which copies the log into the file
        self.spend_without_bound(1)
        newest = path.read_bytes(), log.read_bytes()
        path.write_bytes(older)
        with suppress(LedgerError):
            assert set(Ledger(path).total().unbounded) == self.unbounded
        for file in self.folder.glob("ledger.db-*"):
            file.unlink()
        path.write_bytes(newest[0])
        log.write_bytes(newest[1])

    @invariant()
    def counts_as_the_list_does(self):
        for ledger in self.ledgers:
            total = ledger.total()
            assert total.spent.epsilon == sum(self.spent)
            assert set(total.unbounded) == self.unbounded
            assert ledger.verify() == self.entries
        assert json.loads(self.ledgers[0].anchor.read_text())["entries"] <= self.entries


@pytest.mark.parametrize(
    ("runs", "steps"),
    [
        pytest.param(20, 50, marks=pytest.mark.figures),
        pytest.param(100, 50, marks=pytest.mark.nightly),
        pytest.param(1000, 50, marks=pytest.mark.nightly),
    ],
)
def test_any_history_is_consistent(runs, steps):
    health = [HealthCheck.too_slow, HealthCheck.data_too_large]
    chosen = settings(
        max_examples=runs, stateful_step_count=steps, deadline=None, suppress_health_check=health
    )
    run_state_machine_as_test(History, settings=chosen)
