"""Swapping at random, as zhu2023 defines it: whole cells take another combination of quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.rational import exact
from evenhand.release.mechanisms.mechanism import Published
from evenhand.release.mechanisms.quasi_cells import Tally, filled_cells, require_people, require_quasi
from evenhand.release.mechanisms.quasi_response import QuasiResponse, printed_delta

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.privacy.randomness import Source
    from evenhand.release.table.histogram import Histogram

__all__ = ["RandomSwapping"]

_CHUNK = 1 << 20  # cells
_OTHERS_FIXED = "only quasi-identifiers of the person change; where another column changes, delta is 1"


@dataclass(frozen=True, repr=False, init=False)
class RandomSwapping(QuasiResponse):
    r"""Give each cell's whole count to a random combination of quasi-identifiers (zhu2023, "DP swapping").

    Every cell keeps its combination of quasi-identifiers with probability

    .. math:: \gamma = \frac{e^\varepsilon}{e^\varepsilon + n_Q - 1}

    and otherwise takes a uniform other one, independently; counts that land on one cell are added.
    Here :math:`n_Q` is the number of combinations of quasi-identifiers and :math:`\varepsilon` is `epsilon`.

    **Guarantee.** Next to none. For two tables that differ in the quasi-identifiers of one person it is
    :math:`(0, \delta)`-differentially private with

    .. math:: \delta = 1 - \frac{2\gamma(1-\gamma)}{n_Q - 1} - (n_Q - 2)\left(\frac{1-\gamma}{n_Q-1}\right)^2

    and no epsilon makes that smaller: where the two cells land together the tables agree, elsewhere the
    counts tell them apart. It is attained, so it is exact for every epsilon. If any other column of the
    person changes, delta is 1, because the table of the other columns is published as it is.
    Unit: replace one. If the table has a bound, no count may be above it: counts are lowered to it, so
    otherwise the number of people published could change. For the same reason a table is refused if a rule
    may leave people out for a quasi-identifier.
    Numerics: exact; the probabilities are multiples of 2**-64 rounded toward privacy, and delta is that of
    the probabilities drawn. May be used for release; :class:`~evenhand.release.RecordSwapping` moves each
    person instead, which has a guarantee and far smaller errors.

    Parameters
    ----------
    epsilon : int, float, str, Fraction or Decimal
        Above 0. It sets how many cells move and is no guarantee.

    Notes
    -----
    The published bias is :math:`(\sum_j x_j - n_Q x_i)/(e^\varepsilon + n_Q - 1)`, the sum being over the
    cells that share the other columns (Proposition 1 of [1]_). Theorem 3 of [1]_ has a wrong sign, prints a
    smaller delta, and takes for granted that no other column changes; ``as_printed=True`` gives its number.

    References
    ----------
    .. [1] Zhu, Fioretto, Van Hentenryck, Das, Task (2023). Privacy and bias analysis of disclosure avoidance
           systems. Equation 4, Theorem 3, Proposition 1.

    Examples
    --------
    >>> from evenhand.release.table.histogram import Histogram
    >>> from evenhand.schema import Column, Domain, Schema
    >>> race = Column("race", Domain.categorical(["a", "b", "c"]))
    >>> table = Histogram.of([5, 1, 0], Schema([race], quasi_identifiers="race"))
    >>> swapping = RandomSwapping(epsilon=1)
    >>> f"{float(swapping.guarantee_for(table).delta):.4f}"
    '0.7109'
    >>> swapping.bias(table).values.round(3)
    array([-1.907,  0.636,  1.272])
    """

    name: ClassVar[str] = "random-swapping"
    title: ClassVar[str] = "random swapping of cells"
    label: ClassVar[str] = "Random swapping of cells"

    def guarantee_for(
        self, histogram: Histogram, *, epsilon: Any = None, as_printed: bool = False
    ) -> Guarantee:
        """Return what a release promises about the quasi-identifiers of one person; see the base class.

        Delta is the same for every epsilon; without one it is stated at 0.
        """
        law = self.response(histogram)
        details = self._details(histogram, _OTHERS_FIXED)
        if as_printed:
            return Guarantee(
                epsilon=self.epsilon,
                delta=printed_delta(law.values, self.epsilon),
                proof="Theorem 3 of zhu2023 as printed, which does not hold: the sign of its last term is "
                "wrong and its delta too small",
                **details,
            )
        at = 0 if epsilon is None else exact(epsilon, name="epsilon", owner="guarantee_for", least=0)
        delta, proof = law.together_delta, "coupling of the two changed cells"
        return Guarantee(epsilon=at, delta=delta, tight=True, proof=proof, **details)

    def _publish(self, histogram: Histogram, source: Source) -> Published:
        require_people(histogram, owner="RandomSwapping")
        law, numbering = self.response(histogram), require_quasi(histogram, owner="RandomSwapping")
        tally = Tally(histogram)
        if histogram.counts is None:  # an empty cell has nothing to move, and there are too many of them
            cells, counts = filled_cells(histogram)
        else:
            cells, counts = np.arange(histogram.size), histogram.counts.reshape(-1)
        for start in range(0, cells.size, _CHUNK):
            part, held = cells[start : start + _CHUNK], counts[start : start + _CHUNK]
            places, combinations = law.draw_moves(numbering.of(part), source=source)
            tally.add(part[places], -held[places])
            tally.add(numbering.replace_combinations(part[places], combinations), held[places])
        return Published(tally.histogram())

    def _variance(self, histogram: Histogram) -> npt.NDArray[np.float64] | None:
        matrix = self.response(histogram).cell_variance(histogram.as_matrix())
        return histogram.from_matrix(matrix).counts
