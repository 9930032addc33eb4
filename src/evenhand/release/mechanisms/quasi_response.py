"""What swapping at random has in common, be it of cells or of records: randomised quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import Number, exact
from evenhand.release.mechanisms.mechanism import ReleaseMechanism, bound_assumed
from evenhand.release.mechanisms.noise import assumptions_of
from evenhand.release.mechanisms.quasi_cells import leave_counts, require_quasi
from evenhand.release.mechanisms.response_law import ResponseLaw
from evenhand.schema.text import brief

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction
    from typing import Self

    import numpy as np
    import numpy.typing as npt

    from evenhand.release.table.histogram import Histogram

__all__ = ["QuasiResponse", "refuse_varying_total"]

_NUMBER_KNOWN = "the number of people and the table of the other columns are public"


def refuse_varying_total(may_drop: Sequence[str], in_clear: Sequence[str], *, owner: str) -> None:
    """Refuse to publish how many people are counted where that may depend on a column that is protected.

    Whoever is replaced by a person that a rule leaves out changes the total, which swapping publishes as it
    is: with certainty, whatever epsilon is. Where the rule is that of a column in the clear nothing is
    promised about that column anyway.

    Parameters
    ----------
    may_drop : sequence of str
        The columns whose rules may leave people out; only what is declared counts, not what happened.
    in_clear : sequence of str
        The columns of the table that are published as they are.
    owner : str
        The mechanism, for the message.
    """
    hidden = [name for name in may_drop if name not in in_clear]
    if hidden:
        raise InvalidParameterError(
            "histogram",
            owner=owner,
            must_be=f"a table from which no rule leaves people out for column '{brief(hidden[0])}', for the "
            "number of people is published as it is",
            got="one with the rule 'drop'",
            hint="declare 'other' for the column, or publish by laplace or discrete-gaussian, which hide it.",
        )


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

    @classmethod
    def _details(cls, histogram: Histogram, others: str) -> dict[str, Any]:
        """Return what a guarantee says besides its amount; `others` is about a change of other columns."""
        protects = histogram.quasi_identifiers
        in_clear = tuple(name for name in histogram.columns if name not in protects)
        refuse_varying_total(histogram.may_drop, in_clear, owner=cls.__name__)
        return {
            "unit": "replace one",
            "trust": "central",
            "protects": protects,
            "in_clear": in_clear,
            "assumptions": (others, _NUMBER_KNOWN, *assumptions_of(histogram), *bound_assumed(histogram)),
        }

    def _bias(self, histogram: Histogram, post: Sequence[Any]) -> npt.NDArray[np.float64] | None:
        if not leave_counts(post):
            return None
        matrix = self.response(histogram).bias(histogram.as_matrix())
        return histogram.from_matrix(matrix).counts
