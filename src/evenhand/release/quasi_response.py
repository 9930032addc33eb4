"""What swapping at random has in common, be it of cells or of records: randomised quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from evenhand.privacy.rational import Number, exact
from evenhand.release.mechanism import ReleaseMechanism, bound_assumed
from evenhand.release.noise import ASSUMPTIONS
from evenhand.release.quasi_cells import leave_counts, require_quasi
from evenhand.release.response_law import ResponseLaw

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction
    from typing import Self

    import numpy as np
    import numpy.typing as npt

    from evenhand.release.histogram import Histogram

__all__ = ["QuasiResponse"]

_NUMBER_KNOWN = "the number of people and the table of the other columns are public"


@dataclass(frozen=True, repr=False)
class QuasiResponse(ReleaseMechanism):
    """A mechanism in which combinations of quasi-identifiers go through randomised response."""

    takes_sparse: ClassVar[bool] = True
    unlisted: ClassVar[str] = "zero"

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        self._set(epsilon=exact(epsilon, name="epsilon", owner=type(self).__name__, above=0))

    @classmethod
    def example(cls) -> Self:
        """Return a mechanism of this class."""
        return cls(epsilon=1)

    def response(self, histogram: Histogram) -> ResponseLaw:
        """Return the probabilities with which a combination is kept or another is taken."""
        owner = type(self).__name__
        return ResponseLaw(require_quasi(histogram, owner=owner).combinations, self.epsilon, owner=owner)

    @staticmethod
    def _details(histogram: Histogram, others: str) -> dict[str, Any]:
        """Return what a guarantee says besides its amount; `others` is about a change of other columns."""
        protects = histogram.quasi_identifiers
        return {
            "unit": "replace one",
            "trust": "central",
            "protects": protects,
            "in_clear": tuple(name for name in histogram.columns if name not in protects),
            "assumptions": (others, _NUMBER_KNOWN, *ASSUMPTIONS, *bound_assumed(histogram)),
        }

    def _bias(self, histogram: Histogram, post: Sequence[Any]) -> npt.NDArray[np.float64] | None:
        if not leave_counts(post):
            return None
        matrix = self.response(histogram).bias(histogram.as_matrix())
        return histogram.from_matrix(matrix).counts
