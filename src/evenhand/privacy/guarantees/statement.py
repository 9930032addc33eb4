"""The terms that a guarantee states, as plain fields: what composition, wording and checks work on."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand.privacy.guarantees.loss import Loss

if TYPE_CHECKING:
    from evenhand.privacy.guarantees.units import Measure, Trust, Unit

__all__ = ["Statement"]


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
