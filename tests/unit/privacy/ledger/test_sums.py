"""Sums are exact: they equal the sum of the fractions, whatever the fractions are."""

import random
from fractions import Fraction
from functools import reduce
from operator import add

import pytest

from evenhand.errors import BudgetExceededError
from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Budget, Ledger
from evenhand.privacy.ledger.budget import Amount
from evenhand.privacy.ledger.chain import Entry, canonical_text
from evenhand.privacy.ledger.totals import amounts_by_purpose, running_sums, total_of

BUDGET = Budget.checked(epsilon=1, delta="1e-3", unit="replace one", people="", period="")


def draw_amount(draws):
    """Return a rational: a short decimal, a ratio, or one with many digits."""
    kind = draws.randrange(3)
    if kind == 0:
        return Fraction(draws.randrange(1, 1000), 10 ** draws.randrange(1, 9))
    if kind == 1:
        return Fraction(draws.randrange(1, 100), draws.randrange(1, 10_000))
    return Fraction(draws.getrandbits(80) + 1, draws.getrandbits(90) + 1)


def entries_of(amounts):
    """Return charges as they stand in a file, without the file."""
    made = []
    for number, (epsilon, delta) in enumerate(amounts, start=1):
        terms = {"kind": "spend", "purpose": f"p{number % 2}", "time": "2026-01-31T12:00:00Z"}
        text = canonical_text({**terms, "epsilon": str(epsilon), "delta": str(delta)})
        made.append(Entry(number, text, ""))
    return made


@pytest.mark.parametrize(
    "sequences",
    [
        1_000,
        pytest.param(10_000, marks=pytest.mark.figures),
        pytest.param(100_000, marks=pytest.mark.nightly),  # minutes where lines are traced
    ],
)
def test_the_total_of_any_sequence_is_the_sum_of_its_fractions(sequences):
    """A float would grant a charge too many, or refuse one that is paid for."""
    draws, other_in_floats = random.Random(sequences), 0
    for _ in range(sequences):
        pairs = [(draw_amount(draws), draw_amount(draws)) for _ in range(draws.randrange(1, 9))]
        pairs += pairs[:1] * draws.randrange(3)  # equal amounts are added at once
        entries = entries_of(pairs)
        expected = Amount(sum(epsilon for epsilon, _ in pairs), sum(delta for _, delta in pairs))

        assert total_of(entries, BUDGET, period="").spent == expected
        assert running_sums(entries, BUDGET)[-1] == expected
        assert sum(amount.epsilon for amount in amounts_by_purpose(entries, BUDGET, period="").values()) == (
            expected.epsilon
        )
        other_in_floats += Fraction(sum(float(epsilon) for epsilon, _ in pairs)) != expected.epsilon

    assert other_in_floats > sequences / 2  # so the test can see


def test_ten_tenths_are_one_and_an_eleventh_is_refused(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", epsilon=1)
    for _ in range(10):
        ledger.spend(Guarantee.pure("1/10", unit="replace one", trust="central"), purpose="a tenth")
    with pytest.raises(BudgetExceededError):
        ledger.spend(Guarantee.pure("1e-300", unit="replace one", trust="central"), purpose="more")

    assert ledger.total().spent.epsilon == 1
    assert reduce(add, [0.1] * 10) != 1  # as floats they are not; `sum` hides it from Python 3.12 on


@pytest.mark.parametrize("sequences", [3, pytest.param(100, marks=pytest.mark.nightly)])
def test_the_budget_is_spent_to_the_last_digit_through_the_database(tmp_path, sequences):
    draws = random.Random(sequences)
    for number in range(sequences):
        amounts = [draw_amount(draws) % 1 + Fraction(1, 10**6) for _ in range(6)]
        ledger = Ledger(tmp_path / f"{number}.db", epsilon=sum(amounts))
        for amount in amounts:
            ledger.spend(Guarantee.pure(amount, unit="replace one", trust="central"), purpose="part")
        with pytest.raises(BudgetExceededError):
            ledger.spend(Guarantee.pure("1e-200", unit="replace one", trust="central"), purpose="more")

        assert Ledger(ledger.path).total().spent.epsilon == sum(amounts)
        assert Ledger(ledger.path).total().remaining.epsilon == 0
