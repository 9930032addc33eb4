"""What all fits of a model together promise: fitting again spends again."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from evenhand.collect.privatizer.spent import Act, KeepsSpending
from evenhand.collect.reports.streams import stream_for
from evenhand.errors import PrivacyWarning
from evenhand.privacy.guarantees.units import Trust
from evenhand.privacy.rational import text_above

if TYPE_CHECKING:
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.randomness import Source

__all__ = ["CountsFits"]


class CountsFits(KeepsSpending):
    """A model that counts its fits and those of its copies, and states what they promise together."""

    def _next_stream(self, rng: Any) -> Source:
        """Return the source of the next fit: with a seed each fit of this object has its own."""
        return stream_for(rng, f"fit {len(self._spending.own)}")

    def _count_fit(self, guarantee: Guarantee, *, simulated: bool) -> None:
        """Count a fit, before anything is drawn for it; the second one of the family warns."""
        place = self._spending.add(Act((guarantee,), simulated))
        if place.warns:
            spent = text_above(self._spending.amount)
            told = f"has spent epsilon = {spent} by now, and each further fit adds to it"
            if any(fit.trust is Trust.NONE for fit in self._spending.guarantees()):
                told = "has no guarantee, since the published noise gives none"
            warnings.warn(
                "This model, or a copy or clone of it, is fitted a second time: a person whose row was in "
                f"both fits {told}; see guarantee_. Hint: make a new model for rows of other people, with "
                "type(model)(**model.get_params(deep=False)).",
                PrivacyWarning,
                stacklevel=3,
            )

    @property
    def guarantee_(self) -> Guarantee:
        """What all fits of this model, its copies and clones promise to a person who was in every one."""
        check_is_fitted(self)
        total: Guarantee = sum(self._spending.guarantees())  # type: ignore[assignment]
        return total

    @property
    def guarantee_per_fit_(self) -> Guarantee:
        """What the last fit of this model alone promises."""
        check_is_fitted(self)
        return list(self._spending.own.values())[-1].guarantees[0]

    @property
    def simulated_(self) -> bool:
        """Whether a seed was given in any of these fits, or noise was not exact: then nothing is released."""
        check_is_fitted(self)
        return self._spending.simulated
