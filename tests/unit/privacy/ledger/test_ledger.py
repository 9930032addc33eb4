"""A ledger grants what is left and no more, counts exactly, and refuses what does not compose."""

import copy
import json
import pickle
import threading
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import (
    BudgetExceededError,
    EvenhandError,
    GuaranteeError,
    InvalidParameterError,
    LedgerError,
    PrivacyWarning,
)
from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Amount, Budget, Ledger
from evenhand.privacy.ledger.chain import Chain
from evenhand.privacy.ledger.totals import tighter_totals, total_of
from evenhand.privacy.randomness import SecureSource, SeededSource


def pure(epsilon, unit="replace one", **details):
    return Guarantee.pure(epsilon, unit=unit, trust="central", **details)


def approximate(epsilon, delta):
    return Guarantee.approximate(epsilon, delta, unit="replace one", trust="central")


NONE = Guarantee.no_guarantee(unit="replace one")


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db", epsilon="1", delta="1e-6")


# --- spending -------------------------------------------------------------------------------------


def test_ten_tenths_are_one_and_an_eleventh_is_refused(ledger):
    """Binary fractions would leave a rest, or refuse the tenth."""
    for number in range(10):
        assert ledger.spend(pure("0.1"), purpose=f"table {number}").number == number + 2

    assert ledger.total().spent == Amount(Fraction(1), Fraction(0))
    with pytest.raises(
        BudgetExceededError, match=r"asks for epsilon = 1e-09; ledger 'ledger.db' has 0 left of 1"
    ):
        ledger.spend(pure("1e-9"), purpose="one more")


def test_a_refusal_names_both_amounts_and_spends_nothing(ledger):
    ledger.spend(pure("0.9"), purpose="first")
    with pytest.raises(BudgetExceededError) as refused:
        ledger.spend(pure("1/2"), purpose="county by race")

    assert refused.value.requested == Amount(Fraction(1, 2), Fraction(0))
    assert refused.value.remaining == Amount(Fraction(1, 10), Fraction(1, 10**6))
    assert refused.value.ledger == "ledger.db"
    assert "'county by race' asks for epsilon = 0.5; ledger 'ledger.db' has 0.1 left of 1." in str(
        refused.value
    )
    assert len(ledger.history()) == 2
    assert pickle.loads(pickle.dumps(refused.value)).remaining == refused.value.remaining


def test_what_a_refusal_suggests_would_be_granted(ledger):
    """A third is 0.333334 when it is rounded up, and that would be refused again."""
    ledger.spend(pure("2/3"), purpose="first")
    with pytest.raises(BudgetExceededError, match=r"Hint: ask for 0\.333333 or less"):
        ledger.spend(pure("1/2"), purpose="second")
    ledger.spend(pure("0.333333"), purpose="as suggested")


def test_a_delta_beyond_the_budget_is_refused_too(ledger):
    with pytest.raises(BudgetExceededError, match=r"asks for delta = 1e-05; .* has 1e-06 left of 1e-06"):
        ledger.spend(approximate("0.1", "1e-5"), purpose="table")


def test_every_entry_keeps_what_it_covers(ledger):
    guarantee = pure("1/3", protects=["race"], in_clear=["income"], people=1000)
    entry = ledger.spend(guarantee, purpose="county by race", people="respondents of 2026")

    assert entry.guarantee == guarantee
    assert (entry.purpose, entry.people) == ("county by race", "respondents of 2026")
    assert entry.terms["epsilon"] == "1/3"
    assert entry.terms["invariants"] == []
    assert ledger.history()[-1] == entry


def test_a_second_object_and_a_copy_see_the_same_ledger(ledger):
    others = Ledger(ledger.path), copy.deepcopy(ledger), pickle.loads(pickle.dumps(ledger))
    ledger.spend(pure("1/2"), purpose="first")
    for other in others:
        assert other.total().spent.epsilon == Fraction(1, 2)
        with pytest.raises(BudgetExceededError):
            other.spend(pure("0.6"), purpose="second")


def test_threads_do_not_spend_twice(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", epsilon=10)
    granted = []

    def attempt():
        for _ in range(5):
            with suppress(BudgetExceededError):
                granted.append(ledger.spend(pure(1), purpose="table").number)

    threads = [threading.Thread(target=attempt) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(granted) == list(range(2, 12))


def test_preview_says_the_cost_and_spends_nothing(ledger):
    fits, too_much = ledger.preview(pure("1/2")), ledger.preview(pure(2))

    assert (fits.fits, too_much.fits) == (True, False)
    assert str(too_much).startswith("Costs epsilon = 2, and would be refused:")
    assert len(ledger.history()) == 1


# --- what composes --------------------------------------------------------------------------------


def test_a_charge_is_read_for_the_unit_of_the_budget(ledger):
    """Replacing a person is removing one and adding another."""
    entry = ledger.spend(pure("1/4", unit="add or remove one"), purpose="table")

    assert entry.epsilon == Fraction(1, 2)
    assert entry.guarantee.epsilon == Fraction(1, 4)


def test_local_reports_count_by_the_person(ledger):
    local = Guarantee.pure("1/4", unit="one report", trust="local")

    assert ledger.spend(local, purpose="survey").epsilon == Fraction(1, 4)


def test_a_unit_that_cannot_be_read_is_refused_with_the_reason(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", epsilon=1, unit="add or remove one")
    with pytest.raises(GuaranteeError, match="the number of people may show under 'replace one'"):
        ledger.spend(pure("0.1"), purpose="table")

    assert ledger.total().charges == 0


def test_a_guarantee_for_a_group_is_refused(ledger):
    with pytest.raises(GuaranteeError, match="for 4 people at once is not added to a budget for one"):
        ledger.spend(pure("0.1").group(4), purpose="table")


def test_zcdp_is_charged_at_a_delta(ledger):
    """Without one it has no epsilon."""
    gaussian = Guarantee.zcdp("1/1000", unit="replace one", trust="central")
    by_default = ledger.spend(gaussian, purpose="table")
    chosen = ledger.spend(gaussian, purpose="table", delta="5e-7")

    assert (by_default.delta, chosen.delta) == (Fraction(1, 10**7), Fraction(5, 10**7))
    assert chosen.epsilon == gaussian.to_approximate(delta="5e-7").epsilon < by_default.epsilon
    with pytest.raises(InvalidParameterError, match="left out unless a zCDP guarantee is charged"):
        ledger.spend(pure("0.1"), purpose="table", delta="1e-9")


def test_zcdp_does_not_go_with_a_pure_budget(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", epsilon=1)
    with pytest.raises(GuaranteeError, match="no epsilon at delta = 0"):
        ledger.spend(Guarantee.zcdp("1/100", unit="replace one", trust="central"), purpose="table")


def test_invariants_are_refused(ledger):
    with pytest.raises(InvalidParameterError, match="must be empty"):
        ledger.spend(pure("0.1"), purpose="table", invariants=["state totals"])


def test_seeded_draws_cannot_charge(ledger):
    with pytest.raises(GuaranteeError, match="Draws with a seed are not charged"):
        ledger.spend(pure("0.1"), purpose="table", source=SeededSource(7))
    ledger.spend(pure("0.1"), purpose="table", source=SecureSource())

    assert ledger.total().charges == 1


@pytest.mark.filterwarnings("ignore::evenhand.errors.PrivacyWarning")
@pytest.mark.parametrize("guarantee", [NONE, approximate(1, "0.01"), approximate(0, 1)])
def test_no_meaningful_guarantee_is_entered_as_unbounded(ledger, guarantee):
    entry = ledger.spend(guarantee, purpose="k-anonymous table")

    assert entry.is_unbounded
    assert ledger.total().unbounded == (2,)
    assert str(ledger.total()).startswith("Unbounded: entry 2 has no meaningful guarantee.")
    assert ledger.total().spent.epsilon == 0


def test_a_total_is_unbounded_until_the_data_is_retired(ledger):
    ledger.spend(NONE, purpose="k-anonymous table")
    ledger.spend(pure("1/2"), purpose="noisy table")
    ledger.retire(2, purpose="the rows of 2019 were deleted")

    assert ledger.total().unbounded == ()
    assert ledger.total().spent.epsilon == Fraction(1, 2)
    for number in (2, 3, 9):  # retired already, has a bound, is not there
        with pytest.raises(LedgerError, match="is not unbounded, so there is nothing to retire"):
            ledger.retire(number, purpose="again")


# --- tighter totals -------------------------------------------------------------------------------


def test_tighter_totals_are_named_and_below_the_sum():
    budget = Budget.checked(epsilon=100, delta="1e-6", unit="replace one", people="", period="")
    entries = _entries(budget, [pure("1/4")] * 40)
    by_name = {total.name: total.amount for total in tighter_totals(entries, budget, period="")}

    assert set(by_name) == {"zCDP", "PLD"}
    assert by_name["PLD"].epsilon < by_name["zCDP"].epsilon < 10
    assert by_name["PLD"].delta == Fraction(1, 10**6)
    # the optimal composition of 40 times 1/4 at delta 1e-6, by the sum over its binomial law
    assert _delta_of_pure(Fraction(1, 4), 40, float(by_name["PLD"].epsilon)) <= 1e-6


def _delta_of_pure(epsilon, times, total):
    """Return delta of the worst pure mechanisms together: the slow way, one loss after the other."""
    from math import comb, exp

    eps = float(epsilon)
    weight = (1 + exp(eps)) ** times
    terms = (
        comb(times, ups) * max(0.0, exp(eps * ups) - exp(total) * exp(eps * (times - ups)))
        for ups in range(times + 1)
    )
    return sum(terms) / weight


def test_charges_with_a_delta_add_to_the_zcdp_of_the_others():
    budget = Budget.checked(epsilon=100, delta="1e-6", unit="replace one", people="", period="")
    charges = [pure("1/4")] * 40 + [approximate(1, "5e-7")]
    entries = _entries(budget, charges)
    tighter = {total.name: total.amount.epsilon for total in tighter_totals(entries, budget, period="")}
    rho = 40 * Fraction(1, 32)
    alone = Guarantee.zcdp(rho, unit="replace one", trust="central").to_approximate(delta="5e-7")

    assert tighter["zCDP"] == 1 + alone.epsilon


def test_nothing_is_tighter_than_a_pure_budget(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", epsilon=100)
    for _ in range(3):
        ledger.spend(pure("1/4"), purpose="table")

    assert ledger.tighter() == []


def _entries(budget, guarantees):
    """Return a chain with these charges, without a file."""
    chain = Chain((Chain().next_entry({"kind": "open", "time": "2026-01-01T00:00:00Z"}),))
    for guarantee in guarantees:
        charge = budget.charge_for(guarantee)
        amounts = {"epsilon": str(charge.epsilon), "delta": str(charge.delta)}
        terms = {"kind": "spend", "guarantee": guarantee.to_dict(), "time": "2026-01-01T00:00:00Z", **amounts}
        chain = Chain((*chain.entries, chain.next_entry(terms)))
    return chain.entries


@given(st.lists(st.fractions(min_value=Fraction(1, 10**6), max_value=5, max_denominator=10**9), max_size=12))
def test_sums_are_exact(epsilons):
    """Once an entry is rounded down, budget appears from nowhere."""
    budget = Budget.checked(epsilon=1000, delta=0, unit="replace one", people="", period="")
    total = total_of(_entries(budget, [pure(epsilon) for epsilon in epsilons]), budget, period="")

    assert total.spent.epsilon == sum(epsilons, Fraction(0))


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "amounts",
    [
        {"epsilon": "a lot"}, {"epsilon": -1}, {"epsilon": 0}, {"epsilon": float("nan")}, {"epsilon": True},
        {"epsilon": float("inf")}, {"epsilon": 1, "delta": 1}, {"epsilon": 1, "delta": "-1e-6"},
        {"epsilon": 1, "delta": "0.01"}, {"epsilon": 1, "unit": "a household"},
        {"epsilon": 1, "period": "week"}, {"epsilon": 1, "people": "two\nlines"},
    ],
)  # fmt: skip
def test_a_budget_that_cannot_be_is_refused_and_nothing_is_made(tmp_path, amounts):
    with pytest.raises(InvalidParameterError, match=r"of Ledger must be"):
        Ledger(tmp_path / "ledger.db", **amounts)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("purpose", ["", "  ", "two\nlines", "x" * 501, None])
def test_a_purpose_is_one_line_of_text(ledger, purpose):
    with pytest.raises(InvalidParameterError, match=r"'purpose' parameter of Ledger.spend"):
        ledger.spend(pure("0.1"), purpose=purpose)

    assert ledger.total().charges == 0


def test_what_is_no_guarantee_is_refused(ledger):
    with pytest.raises(InvalidParameterError, match="must be a Guarantee"):
        ledger.spend(0.5, purpose="table")


def test_another_budget_than_the_ledger_has_is_refused(ledger):
    """The budget was promised: it does not grow because somebody typed another number."""
    assert Ledger(ledger.path, epsilon=1.0, delta="1/1000000").budget == ledger.budget
    for other in ({"epsilon": 2}, {"delta": 0}, {"unit": "one person"}, {"period": "year"}):
        with pytest.raises(LedgerError, match="has another budget: epsilon = 1, delta = 1e-06"):
            Ledger(ledger.path, **other)


def test_a_ledger_that_is_not_there_is_not_made_by_accident(tmp_path):
    with pytest.raises(LedgerError, match=r"There is no ledger 'ledger.db'"):
        Ledger(tmp_path / "ledger.db")

    assert list(tmp_path.iterdir()) == []


def test_warnings_of_a_weak_guarantee_reach_the_caller(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", epsilon=100)
    with pytest.warns(PrivacyWarning, match="epsilon = 12"):
        ledger.spend(pure(6, unit="add or remove one"), purpose="table")


def test_messages_hold_no_folder(tmp_path, ledger):
    """The place of a file tells who works on what."""
    for act in (
        lambda: ledger.spend(pure(5), purpose="table"),
        lambda: Ledger(tmp_path / "other.db"),
        lambda: Ledger(ledger.path, epsilon=3),
        lambda: Ledger(tmp_path, epsilon=3),
    ):
        with pytest.raises(EvenhandError) as refused:
            act()
        assert str(tmp_path) not in str(refused.value)


def test_it_shows_itself(ledger):
    ledger.spend(pure("1/4"), purpose="table")

    assert repr(ledger) == "<Ledger 'ledger.db' of epsilon = 1, delta = 1e-06, unit 'replace one'>"
    assert "0.75" in ledger._repr_html_()
    assert json.loads(json.dumps(ledger.history()[1].to_dict()))["purpose"] == "table"
