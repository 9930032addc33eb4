"""A clock that was moved is refused, so that no period of a budget is spent twice or begins too early."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from evenhand.errors import BudgetExceededError, LedgerError
from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Ledger, clock

TENTH = Guarantee.pure("1/10", unit="replace one", trust="central")


def test_a_clock_that_is_behind_the_last_entry_is_refused(ledger, monkeypatch):
    """A budget per year could be spent twice."""
    now = clock._wall_seconds()
    monkeypatch.setattr(clock, "_wall_seconds", lambda: now - 3600)
    again = Ledger(ledger.path)
    with pytest.raises(LedgerError, match=r"before the last entry of ledger 'ledger.db'"):
        again.spend(TENTH, purpose="table")

    assert len(again.history()) == 4


DAY = 86_400
JUMPS = [61, 600, 3_600, DAY, 2 * DAY, 31 * DAY, 61 * DAY, 366 * DAY, 731 * DAY, 3_653 * DAY]
"""Seconds: over the ends of an hour, a day, a month, a year and of ten years."""


@pytest.mark.parametrize("jump", [sign * jump for jump in JUMPS for sign in (1, -1)])
@pytest.mark.parametrize("moved", ["_wall_seconds", "_running_seconds"])
def test_a_clock_that_jumps_while_a_ledger_is_open_is_refused(ledger, tmp_path, monkeypatch, moved, jump):
    """Both clocks count: the one that can be set, and the one that only runs on."""
    now, before = getattr(clock, moved)(), ledger.anchor.read_bytes()
    monkeypatch.setattr(clock, moved, lambda: now + jump)
    with pytest.raises(LedgerError, match=r"was moved while ledger 'ledger.db' was open"):
        ledger.spend(TENTH, purpose="table")

    assert len(ledger.history()) == 4
    assert ledger.anchor.read_bytes() == before


@pytest.mark.parametrize("jump", JUMPS)
def test_a_clock_that_was_set_back_before_a_ledger_is_opened_is_refused(tmp_path, monkeypatch, jump):
    """Otherwise the budget of a period that is over could be spent again."""
    made = Ledger(tmp_path / "ledger.db", epsilon=1, period="month")
    made.spend(TENTH, purpose="table")
    before, now = made.anchor.read_bytes(), clock._wall_seconds()
    monkeypatch.setattr(clock, "_wall_seconds", lambda: now - jump - 1)
    again = Ledger(made.path)
    for act in (lambda: again.spend(TENTH, purpose="again"), again.total):
        with pytest.raises(LedgerError, match=r"before the last entry of ledger 'ledger.db'"):
            act()

    assert len(again.history()) == 2
    assert made.anchor.read_bytes() == before


YEAR = 366 * DAY


@pytest.fixture
def charged_a_century_ahead(tmp_path, monkeypatch):
    """Return the path of a ledger for all time that was charged once while the clock was 100 years ahead."""
    now = clock._wall_seconds()
    made = Ledger(tmp_path / "ledger.db", epsilon=1)
    made.spend(TENTH, purpose="table")
    with monkeypatch.context() as moved:
        moved.setattr(clock, "_wall_seconds", lambda: now + 100 * YEAR)
        Ledger(made.path).spend(TENTH, purpose="a century ahead")
    return made.path


def test_what_was_spent_of_a_budget_for_all_time_is_told_by_any_clock(charged_a_century_ahead):
    """After one charge by a clock that was ahead nobody could see what is left, for a century."""
    again = Ledger(charged_a_century_ahead)

    assert again.total() == again.total(period="")
    assert again.total().spent.epsilon == Fraction(2, 10)
    assert again.verify() == 3


def test_a_clock_that_was_ahead_once_is_refused_with_a_way_out(charged_a_century_ahead):
    """Whoever reads only that the clock is to be set right cannot do it: it is right."""
    again = Ledger(charged_a_century_ahead)
    with pytest.raises(LedgerError, match=r"If it is right, it was ahead at that entry: make a new ledger"):
        again.spend(TENTH, purpose="table")

    assert again.verify() == 3


def test_a_clock_that_is_corrected_by_a_second_is_fine(ledger, monkeypatch):
    now = clock._wall_seconds()
    monkeypatch.setattr(clock, "_wall_seconds", lambda: now - 2)
    entry = ledger.spend(TENTH, purpose="table")

    assert entry.time >= ledger.history()[-2].time


def test_a_budget_begins_anew_with_its_period(tmp_path, monkeypatch):
    made = Ledger(tmp_path / "ledger.db", epsilon="1/5", period="year")
    for _ in range(2):
        made.spend(TENTH, purpose="this year")
    with pytest.raises(BudgetExceededError, match=r"has 0 left of 0.2 for this year"):
        made.spend(TENTH, purpose="this year")
    now = clock._wall_seconds()
    monkeypatch.setattr(clock, "_wall_seconds", lambda: now + 366 * 86_400)
    later = Ledger(made.path)
    later.spend(TENTH, purpose="next year")

    assert later.total().spent.epsilon == Fraction(1, 10)
    assert later.total(period="").spent.epsilon == Fraction(3, 10)
    assert later.total(period=made.history()[1].time[:4]).spent.epsilon == Fraction(2, 10)


@pytest.mark.parametrize("there", [("CLOCK_BOOTTIME", "CLOCK_MONOTONIC"), ("CLOCK_MONOTONIC",), ()])
def test_the_time_that_a_machine_slept_counts_where_the_system_knows_it(monkeypatch, there):
    """On macOS a ledger that was open while the machine slept was refused, as if the clock had been moved."""
    clocks = SimpleNamespace(monotonic=lambda: "awake", clock_gettime=lambda name: name)
    for name in there:
        setattr(clocks, name, name)
    monkeypatch.setattr(clock, "time", clocks)

    assert clock._running_seconds() == (there[0] if there else "awake")
