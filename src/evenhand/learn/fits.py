"""What all fits of a model together promise: fitting again spends again."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from evenhand.errors import PrivacyWarning
from evenhand.privacy.rational import text_above
from evenhand.privacy.units import Trust

if TYPE_CHECKING:
    from evenhand.privacy.guarantee import Guarantee

__all__ = ["CountsFits"]


class CountsFits:
    """A model that counts its fits, and states what they promise together."""

    _fits: tuple[Guarantee, ...]
    _simulated: bool

    def _count_fit(self, guarantee: Guarantee, *, simulated: bool) -> None:
        """Count a fit, before anything is drawn for it; the second one warns."""
        before = getattr(self, "_fits", ())
        self._fits = (*before, guarantee)
        self._simulated = getattr(self, "_simulated", False) or simulated
        if len(before) == 1:
            spent = text_above(sum((each.loss.amount for each in self._fits), Fraction(0)))
            told = f"has spent epsilon = {spent} by now, and each further fit adds to it"
            if any(each.trust is Trust.NONE for each in self._fits):
                told = "is promised nothing, since the published noise guarantees nothing"
            warnings.warn(
                f"This model is fitted a second time: a person whose row was in both fits {told}; see "
                "guarantee_. Hint: clone the model for rows of other people.",
                PrivacyWarning,
                stacklevel=3,
            )

    @property
    def guarantee_(self) -> Guarantee:
        """What all fits so far promise together to a person whose row was in every one of them."""
        check_is_fitted(self)
        total: Guarantee = sum(self._fits)  # type: ignore[assignment]
        return total

    @property
    def guarantee_per_fit_(self) -> Guarantee:
        """What the last fit alone promises."""
        check_is_fitted(self)
        return self._fits[-1]

    @property
    def simulated_(self) -> bool:
        """Whether a seed was given in any fit, or noise was not exact: such a model must not be released."""
        check_is_fitted(self)
        return self._simulated
