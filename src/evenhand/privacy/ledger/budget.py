"""The budget of a ledger: how much, for which change, in which period, and what a guarantee costs of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand._validate import one_of, refuse
from evenhand.errors import BudgetExceededError, GuaranteeError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import Measure, Trust, Unit
from evenhand.privacy.rational import Number, as_text, decimal_text, exact, text_below

if TYPE_CHECKING:
    from collections.abc import Mapping

_OWNER = "Ledger"
_NO_GUARANTEE = Fraction(1, 100)  # from this delta on there is no meaningful guarantee
_SHARE_OF_DELTA = 10
LONGEST_TEXT = 500
"""How many letters a purpose may have."""

PERIODS = {"": 0, "year": 4, "month": 7}
"""The periods of a budget, with how many characters of a time name one; '' is a budget for all time."""


class Amount(NamedTuple):
    """An epsilon and a delta.

    >>> str(Amount(Fraction(1, 2), Fraction(1, 10**6)))
    'epsilon = 0.5, delta = 1e-06'
    """

    epsilon: Fraction
    delta: Fraction

    def __str__(self) -> str:
        return f"epsilon = {decimal_text(self.epsilon)}, delta = {decimal_text(self.delta)}"

    def plus(self, other: Amount) -> Amount:
        """Return the sum, exactly."""
        return Amount(self.epsilon + other.epsilon, self.delta + other.delta)

    def minus(self, other: Amount) -> Amount:
        """Return what is left, exactly, and not below 0."""
        return Amount(
            max(self.epsilon - other.epsilon, Fraction(0)), max(self.delta - other.delta, Fraction(0))
        )

    def is_within(self, other: Amount) -> bool:
        """Whether neither epsilon nor delta is above the other's."""
        return self.epsilon <= other.epsilon and self.delta <= other.delta


ZERO = Amount(Fraction(0), Fraction(0))


@dataclass(frozen=True)
class Budget:
    """What may be spent in all, or in each period.

    Attributes
    ----------
    epsilon, delta : Fraction
        The most that the sums of all charges may be.
    unit : Unit
        The change for which this is promised. Charges are read for it before they are added.
    people : str
        Whom it is about, in the curator's words.
    period : str
        ``""`` for all time, ``"year"`` or ``"month"``. What is left at the end of a period is not carried on.
    """

    epsilon: Fraction
    delta: Fraction
    unit: Unit
    people: str
    period: str

    @classmethod
    def checked(cls, *, epsilon: Number, delta: Number, unit: Unit | str, people: str, period: str) -> Budget:
        """Return the budget, or refuse what cannot be."""
        stray = exact(delta, name="delta", owner=_OWNER, least=0, most=1)
        if stray >= _NO_GUARANTEE:
            refuse("delta", _OWNER, "below 0.01, from which on nothing meaningful is promised", delta)
        return cls(
            exact(epsilon, name="epsilon", owner=_OWNER, above=0),
            stray,
            one_of("unit", unit, tuple(Unit), owner=_OWNER),
            checked_text("people", people),
            one_of("period", period, tuple(PERIODS), owner=_OWNER),
        )

    @classmethod
    def from_terms(cls, terms: Mapping[str, Any]) -> Budget:
        """Return the budget that the first entry of a ledger states."""
        names = ("epsilon", "delta", "unit", "people", "period")
        return cls.checked(**{name: terms[name] for name in names})

    def to_terms(self) -> dict[str, str]:
        """Return plain values for the first entry of a ledger."""
        return {
            "epsilon": as_text(self.epsilon),
            "delta": as_text(self.delta),
            "unit": str(self.unit),
            "people": self.people,
            "period": self.period,
        }

    @property
    def amount(self) -> Amount:
        """Epsilon and delta."""
        return Amount(self.epsilon, self.delta)

    def period_of(self, time: str) -> str:
        """Return the period that a time falls in, such as ``"2026"``; ``""`` where there are none."""
        return time[: PERIODS[self.period]]

    def read_guarantee(self, guarantee: Guarantee) -> Guarantee:
        """Return the guarantee for the unit of this budget, or refuse what does not compose with it.

        >>> once = Guarantee.pure(1, unit="add or remove one", trust="central")
        >>> budget = Budget.checked(epsilon=4, delta=0, unit="replace one", people="", period="")
        >>> budget.read_guarantee(once).epsilon
        Fraction(2, 1)
        """
        if not isinstance(guarantee, Guarantee):
            refuse("guarantee", "Ledger.spend", "a Guarantee", f"a value of type {type(guarantee).__name__}")
        if guarantee.group_size != 1:
            raise GuaranteeError(
                f"A guarantee for {guarantee.group_size:,} people at once is not added to a budget for one. "
                "Hint: charge the guarantee as it was before .group(...)."
            )
        return guarantee.as_unit(self.unit)

    def charge_for(self, guarantee: Guarantee, *, delta: Number | None = None) -> Amount | None:
        """Return what a guarantee costs of this budget; None if it is no meaningful guarantee.

        Parameters
        ----------
        guarantee : Guarantee
        delta : number, optional
            The delta at which a zCDP guarantee is charged; a tenth of the budget's by default.
        """
        read = self.read_guarantee(guarantee)
        if read.measure is Measure.ZCDP:
            read = read.to_approximate(delta=self._conversion_delta(delta))
        elif delta is not None:
            refuse("delta", "Ledger.spend", "left out unless a zCDP guarantee is charged", delta)
        if read.trust is Trust.NONE or read.delta >= _NO_GUARANTEE:
            return None
        return Amount(read.loss.amount, read.delta)

    def _conversion_delta(self, delta: Number | None) -> Fraction:
        wanted = (
            self.delta / _SHARE_OF_DELTA
            if delta is None
            else exact(delta, name="delta", owner="Ledger.spend", least=0, most=1)
        )
        if not wanted:
            raise GuaranteeError(
                "A zCDP guarantee has no epsilon at delta = 0, so it cannot be charged to this ledger. "
                "Hint: use a mechanism with a pure guarantee, or a ledger with a delta above 0."
            )
        return wanted

    def refuse_excess(self, charge: Amount, spent: Amount, *, purpose: str, ledger: str) -> None:
        """Refuse a charge that is more than is left."""
        remaining = self.amount.minus(spent)
        if charge.is_within(remaining):
            return
        many = charge.epsilon > remaining.epsilon
        asked, left, whole = (
            decimal_text(amount.epsilon if many else amount.delta)
            for amount in (charge, remaining, self.amount)
        )
        name, when = "epsilon" if many else "delta", f" for this {self.period}" if self.period else ""
        enough = remaining.epsilon if many else remaining.delta
        hint = (
            f"ask for {text_below(enough)} or less"
            if enough
            else "nothing more can be released about these people"
        )
        raise BudgetExceededError(
            f"'{purpose}' asks for {name} = {asked}; ledger '{ledger}' has {left} left of {whole}{when}. "
            f"Nothing was spent. Hint: {hint}.",
            requested=charge,
            remaining=remaining,
            ledger=ledger,
        )


def checked_text(name: str, value: object, *, owner: str = _OWNER, needed: bool = False) -> str:
    """Return a text that may stand in a ledger: one line, not too long."""
    good = isinstance(value, str) and len(value) <= LONGEST_TEXT and (value.isprintable() or not value)
    if not good or (needed and not str(value).strip()):
        kind = "a text in one line, with something in it" if needed else "a text in one line"
        refuse(name, owner, f"{kind}, {LONGEST_TEXT} characters at most", value)
    return str(value)
