"""What the charges of a ledger come to: the sum that is promised, and tighter compositions beside it.

The sums of all epsilons and deltas hold whatever was chosen after seeing earlier results. The two tighter
compositions hold for charges whose amounts did not depend on earlier results:

- *zCDP*: a pure epsilon is zCDP with rho = epsilon**2 / 2, rhos add up, and the sum is read at what is left
  of the budget's delta once the charges that have a delta are added (Bun and Steinke 2016).
- *PLD*: the loss of the worst mechanism with each epsilon and delta, composed by dp-accounting.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, cast

from evenhand.errors import MissingExtraError
from evenhand.privacy.accounting import allowance
from evenhand.privacy.guarantees.units import Measure
from evenhand.privacy.ledger.budget import ZERO, Amount
from evenhand.privacy.ledger.chain import RETIRE, SPEND
from evenhand.privacy.one_step import load_dp_accounting
from evenhand.privacy.rational import decimal_text, float_above, float_below
from evenhand.privacy.zcdp import epsilon_from_zcdp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.ledger.budget import Budget
    from evenhand.privacy.ledger.chain import Entry

_LARGEST_EPSILON = 50  # of all charges; beyond it nothing is tighter that is worth having
_INTERVAL = 1e-4


@dataclass(frozen=True)
class Total:
    """What was spent, in a period or in all time.

    Attributes
    ----------
    spent : Amount
        The sums of all charges, which is what is promised where nothing is unbounded.
    budget : Amount
    unbounded : tuple of int
        The numbers of entries without a meaningful guarantee whose data is not retired. While there is one,
        nothing is promised to the people in it.
    charges : int
    period : str
        Such as ``"2026"``; ``""`` for all time.
    """

    spent: Amount
    budget: Amount
    unbounded: tuple[int, ...]
    charges: int
    period: str

    @property
    def remaining(self) -> Amount:
        """What is left."""
        return self.budget.minus(self.spent)

    def __str__(self) -> str:
        when = f" in {self.period}" if self.period else ""
        total = f"Spent{when}: {self.spent}, of {self.budget}."
        if not self.unbounded:
            return total
        numbers = ", ".join(map(str, self.unbounded))
        which = f"entry {numbers} has" if len(self.unbounded) == 1 else f"entries {numbers} have"
        return f"Unbounded: {which} no meaningful guarantee. {total}"


@dataclass(frozen=True)
class Composition:
    """A total that is smaller than the sum, and how it was found.

    >>> str(Composition("zCDP", Amount(Fraction(1, 2), Fraction(1, 1000))))
    'epsilon = 0.5, delta = 0.001 by zCDP, if no amount was chosen after seeing earlier results'
    """

    name: str
    amount: Amount

    def __str__(self) -> str:
        return f"{self.amount} by {self.name}, if no amount was chosen after seeing earlier results"


def total_of(entries: Sequence[Entry], budget: Budget, *, period: str) -> Total:
    """Return the total of the charges of a period, or with ``""`` of all time."""
    charges = [entry for entry in charges_of(entries) if _in_period(entry, budget, period)]
    retired = {entry.terms["entry"] for entry in entries if entry.kind == RETIRE}
    unbounded = tuple(e.number for e in entries if e.is_unbounded and e.number not in retired)
    return Total(_sum_of(charges), budget.amount, unbounded, len(charges), period)


def amounts_by_purpose(entries: Sequence[Entry], budget: Budget, *, period: str) -> dict[str, Amount]:
    """Return what each purpose cost in a period, or with ``""`` in all time, the largest epsilon first."""
    sums: dict[str, Amount] = {}
    for entry in charges_of(entries):
        if _in_period(entry, budget, period):
            amount = Amount(entry.epsilon, entry.delta)
            sums[entry.purpose] = sums.get(entry.purpose, ZERO).plus(amount)
    return dict(sorted(sums.items(), key=lambda pair: pair[1], reverse=True))


def running_sums(entries: Sequence[Entry], budget: Budget) -> list[Amount]:
    """Return for each entry the sum of all charges of its period up to it, itself included."""
    sums: list[Amount] = []
    spent, period = ZERO, ""
    for entry in entries:
        now = budget.period_of(entry.time)
        spent = (spent if now == period else ZERO).plus(Amount(entry.epsilon, entry.delta))
        period = now
        sums.append(spent)
    return sums


def charges_of(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries that spend."""
    return [entry for entry in entries if entry.kind == SPEND]


def _sum_of(charges: Sequence[Entry]) -> Amount:
    """Return the exact sum; of many charges few amounts differ, and equal ones are added at once."""
    counts = Counter((entry.terms["epsilon"], entry.terms["delta"]) for entry in charges)
    epsilon = sum((Fraction(amount or 0) * times for (amount, _), times in counts.items()), Fraction(0))
    delta = sum((Fraction(amount or 0) * times for (_, amount), times in counts.items()), Fraction(0))
    return Amount(epsilon, delta)


def _in_period(entry: Entry, budget: Budget, period: str) -> bool:
    return not period or budget.period_of(entry.time) == period


def tighter_totals(entries: Sequence[Entry], budget: Budget, *, period: str) -> list[Composition]:
    """Return the compositions that are valid for these charges and smaller than their sum."""
    charges = [entry for entry in charges_of(entries) if _in_period(entry, budget, period)]
    charges = [entry for entry in charges if not entry.is_unbounded]
    spent = _sum_of(charges)
    if len(charges) < 2 or not budget.delta or spent.epsilon > _LARGEST_EPSILON:
        return []
    totals = {"zCDP": _by_zcdp(charges, budget), "PLD": _by_pld(charges, budget)}
    return [
        Composition(name, Amount(epsilon, budget.delta))
        for name, epsilon in totals.items()
        if epsilon is not None and epsilon < spent.epsilon
    ]


def _by_zcdp(charges: Sequence[Entry], budget: Budget) -> Fraction | None:
    """Return the epsilon at the budget's delta: of the rhos, plus the epsilons that come with a delta."""
    rho, epsilon, left = Fraction(0), Fraction(0), budget.delta
    for entry in charges:
        read = budget.read_guarantee(cast("Guarantee", entry.guarantee))
        if read.measure is Measure.APPROXIMATE:
            epsilon, left = epsilon + entry.epsilon, left - entry.delta
        else:
            rho += read.rho if read.rho is not None else read.loss.amount**2 / 2
    return epsilon + epsilon_from_zcdp(rho, left) if rho and left > 0 else None


def _by_pld(charges: Sequence[Entry], budget: Budget) -> Fraction | None:
    """Return the epsilon of the worst mechanisms of these amounts together; None without dp-accounting."""
    try:
        losses: Any = load_dp_accounting().privacy_loss_distribution
    except MissingExtraError:
        return None
    left = float_below(budget.delta) - allowance(len(charges))
    if left <= 0:
        return None
    amounts = Counter((float_above(entry.epsilon), float_above(entry.delta)) for entry in charges)
    parts = [
        losses.from_privacy_parameters(
            losses.common.DifferentialPrivacyParameters(*amount), value_discretization_interval=_INTERVAL
        ).self_compose(times)
        for amount, times in amounts.items()
    ]
    whole = reduce(lambda one, other: one.compose(other), parts)
    epsilon = float(whole.get_epsilon_for_delta(left))
    return Fraction(epsilon) * (1 + Fraction(1, 10**9)) if epsilon < _LARGEST_EPSILON else None


def amount_words(amount: Amount | None) -> str:
    """Return a charge in words.

    >>> amount_words(None), amount_words(Amount(Fraction(1), Fraction(0)))
    ('unbounded', 'epsilon = 1')
    """
    if amount is None:
        return "unbounded"
    return f"epsilon = {decimal_text(amount.epsilon)}" if not amount.delta else str(amount)
