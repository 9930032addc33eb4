"""The amount in a guarantee and its arithmetic, and the plain fields that a guarantee states."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand.errors import GuaranteeError
from evenhand.privacy.guarantees.units import Measure
from evenhand.privacy.rational import (
    LARGEST_AMOUNT,
    SMALLEST_AMOUNT,
    exp_bounds,
    leading_zeros,
    log_below,
    longest_part,
    round_up,
)
from evenhand.privacy.zcdp import STATED_DIGITS, delta_from_zcdp, epsilon_from_zcdp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.privacy.guarantees.units import Trust, Unit

_WORKING_DIGITS = 50
_LONGEST_EXACT = 1_000
_SHORT_DIGITS = 60


@dataclass(frozen=True)
class Loss:
    """An amount of privacy lost: epsilon with delta, or rho when `concentrated`.

    Amounts are exact while their numerators and denominators have at most 1,000 digits. Longer ones are
    rounded up to 60 significant digits, and those below 10**-400 to that, so that every loss can be written.
    """

    amount: Fraction
    delta: Fraction = Fraction(0)
    concentrated: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "amount", _short(self.amount))
        object.__setattr__(self, "delta", _short(self.delta))

    @property
    def measure(self) -> Measure:
        """Pure, approximate or zCDP."""
        if self.concentrated:
            return Measure.ZCDP
        return Measure.APPROXIMATE if self.delta else Measure.PURE

    def amounts(self) -> dict[str, Fraction | None]:
        """Return the loss as the three fields of a guarantee."""
        if self.concentrated:
            return {"epsilon": None, "delta": Fraction(0), "rho": self.amount}
        return {"epsilon": self.amount, "delta": self.delta, "rho": None}

    def plus(self, other: Loss) -> Loss:
        """Return what two mechanisms lose that see the same change, one after the other."""
        first, second = in_one_measure((self, other))
        delta = min(Fraction(1), first.delta + second.delta)
        return Loss(first.amount + second.amount, delta, first.concentrated)

    def within(self, other: Loss) -> bool:
        """Whether neither the amount nor delta is above the other's, in the same measure."""
        return self.amount <= other.amount and self.delta <= other.delta

    def repeated(self, times: int) -> Loss:
        """Return what so many uses lose, each with fresh randomness."""
        return Loss(times * self.amount, min(Fraction(1), times * self.delta), self.concentrated)

    def for_group(self, size: int) -> Loss:
        """Return what is lost when `size` of the changes happen at once."""
        if self.concentrated:
            return Loss(size * size * self.amount, concentrated=True)
        return Loss(size * self.amount, group_delta(self.amount, self.delta, size))

    def at_epsilon(self, epsilon: Fraction) -> Loss:
        """Return the loss with this epsilon and the delta that then goes with it."""
        if not self.concentrated:
            return self._unless_above("epsilon", self.amount, epsilon)
        return Loss(epsilon, delta_from_zcdp(self.amount, epsilon)) if self.amount else Loss(Fraction(0))

    def at_delta(self, delta: Fraction) -> Loss:
        """Return the loss with this delta and the epsilon that then goes with it."""
        if not self.concentrated:
            return self._unless_above("delta", self.delta, delta)
        return Loss(epsilon_from_zcdp(self.amount, delta), delta) if self.amount else Loss(Fraction(0))

    def _unless_above(self, name: str, own: Fraction, given: Fraction) -> Loss:
        if own > given:
            raise GuaranteeError(
                f"A guarantee that is {self.measure} has one {name}, and it is larger than the one given. "
                "Hint: only a zCDP guarantee can be read at a smaller one."
            )
        return self


def _short(value: Fraction) -> Fraction:
    if value > LARGEST_AMOUNT:
        raise GuaranteeError(
            "An amount above 10**400 is not stated. Hint: .no_guarantee(...) says that there is no guarantee."
        )
    if 0 < value < SMALLEST_AMOUNT:
        return SMALLEST_AMOUNT
    return round_up(value, digits=_SHORT_DIGITS) if longest_part(value) > _LONGEST_EXACT else value


def in_one_measure(losses: Sequence[Loss]) -> tuple[Loss, ...]:
    """Return the losses in the measure they share: pure ones become zCDP beside a zCDP one.

    Pure epsilon is zCDP with rho = epsilon**2 / 2 (Bun and Steinke 2016, Proposition 1.4).
    """
    if not any(loss.concentrated for loss in losses):
        return tuple(losses)
    if any(loss.measure is Measure.APPROXIMATE for loss in losses):
        raise GuaranteeError(
            "A zCDP guarantee and one with delta > 0 have no common measure. "
            "Hint: convert the zCDP one first, with .to_approximate(delta=...)."
        )
    return tuple(
        loss if loss.concentrated else Loss(loss.amount**2 / 2, concentrated=True) for loss in losses
    )


def largest_two(losses: Sequence[Loss]) -> tuple[Loss, Loss]:
    """Return the largest and the second largest, amounts and deltas each for themselves.

    Whichever two different parts a person touches, their amounts sum to at most the sum of the two returned
    amounts, and so do their deltas. One part alone stands beside a loss of zero.
    """
    shared = in_one_measure(losses)
    concentrated = shared[0].concentrated
    amounts = [*sorted((loss.amount for loss in shared), reverse=True), Fraction(0)]
    deltas = [*sorted((loss.delta for loss in shared), reverse=True), Fraction(0)]
    return Loss(amounts[0], deltas[0], concentrated), Loss(amounts[1], deltas[1], concentrated)


def group_delta(epsilon: Fraction, delta: Fraction, size: int) -> Fraction:
    r"""Return :math:`\delta \sum_{i < m} e^{i\varepsilon}` rounded up, at most 1.

    A chain of m neighbouring steps multiplies by :math:`e^\varepsilon` and adds :math:`\delta` at each step.

    >>> group_delta(Fraction(0), Fraction(1, 1000), 3)
    Fraction(3, 1000)
    """
    if epsilon == 0 or delta == 0 or size == 1:
        return min(Fraction(1), size * delta)
    if (size - 1) * epsilon >= log_below(1 / delta):  # the last term alone makes it 1
        return Fraction(1)
    digits = _WORKING_DIGITS + leading_zeros(epsilon)
    rise = exp_bounds(size * epsilon, digits=digits)[1] - 1
    run = exp_bounds(epsilon, digits=digits)[0] - 1
    return min(Fraction(1), round_up(delta * rise / run, digits=STATED_DIGITS))


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Statement:
    """The fields of a guarantee; :class:`~evenhand.privacy.Guarantee` says what they mean."""

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None
    unit: Unit
    trust: Trust
    protects: tuple[str, ...]
    in_clear: tuple[str, ...]
    tight: bool
    proof: str
    assumptions: tuple[str, ...]
    people: int | None
    group_size: int
    blocks: tuple[Loss, ...] = field(init=False)

    @property
    def measure(self) -> Measure:
        """Pure, approximate or zCDP."""
        return self.loss.measure

    @property
    def loss(self) -> Loss:
        """The amount alone: epsilon with delta, or rho."""
        if self.rho is not None:
            return Loss(self.rho, concentrated=True)
        return Loss(self.epsilon or Fraction(0), self.delta)
