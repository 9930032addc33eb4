"""One report for all attributes together: randomized response over the combinations of their values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand._validate import integer
from evenhand.collect.joint.estimate import MOST_CELLS, check_cells, checked_shares
from evenhand.collect.joint.product import ProductStrategy
from evenhand.collect.joint.strategy import checked_names
from evenhand.collect.protocols.base import shown_epsilon
from evenhand.collect.protocols.grr import GRR
from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import Number, exact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    import numpy.typing as npt


__all__ = ["Combined", "DecodedGRR"]

_LARGEST_DOMAIN = 2**31 - 1


@dataclass(frozen=True, init=False, repr=False)
class DecodedGRR(GRR):
    r"""One column of a report by randomized response over combinations, as the server decodes it.

    .. math:: p' = p + \left(\frac{K}{k} - 1\right) q, \qquad q' = \frac{K}{k}\, q

    where :math:`p, q` are the probabilities of the whole report, :math:`K` is ``cells`` and :math:`k` is
    ``k``. What it promises is what the whole report promises: the column is not sent without the others.

    Parameters
    ----------
    k : int
        How many values the column has.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of the whole report, > 0.
    cells : int
        How many combinations there are, a multiple of `k`.

    Examples
    --------
    >>> column = DecodedGRR(k=2, epsilon=1, cells=6)
    >>> f"{column.p:.4f} {column.q:.4f} {column.variance():.4f}"
    '0.6113 0.3887 4.7942'
    """

    name: ClassVar[str] = "grr-decoded"
    title: ClassVar[str] = "generalized randomized response"

    cells: int

    def __init__(self, k: int, epsilon: Number, *, cells: int) -> None:
        super().__init__(k, epsilon)
        cells = integer("cells", cells, owner="DecodedGRR", low=self.k, high=_LARGEST_DOMAIN)
        if cells % self.k:
            must_be = f"a multiple of {self.k}, the number of values"
            raise InvalidParameterError("cells", owner="DecodedGRR", must_be=must_be, got=cells)
        self._set(cells=cells)

    @classmethod
    def example(cls, k: int = 5, epsilon: Number = 1) -> DecodedGRR:
        """Return the law of a column of `k` values beside one of two."""
        return cls(k, epsilon, cells=2 * k)

    @cached_property
    def whole(self) -> GRR:
        """The protocol that draws the whole report."""
        return GRR(self.cells, self.epsilon)

    @cached_property
    def realised_epsilon(self) -> Fraction:
        """The epsilon of the whole report as drawn, not of the column alone."""
        return self.whole.realised_epsilon

    def _probabilities(self) -> tuple[Fraction, Fraction]:
        p, q, alike = self.whole.p_exact, self.whole.q_exact, self.cells // self.k
        return p + (alike - 1) * q, alike * q


@dataclass(frozen=True, init=False, repr=False)
class Combined(ProductStrategy):
    r"""Report the combination of all attributes as one value, by GRR (combined k-RR).

    With sizes :math:`k_1, \dots, k_d` there are :math:`K = \prod_j k_j` combinations. They are numbered in
    row-major order: the last column changes fastest, as in a C array of shape ``(k_1, ..., k_d)``.

    **Guarantee.** Pure local differential privacy with ``epsilon``; unit: one report of all columns; tight,
    and met also by two people who differ in one attribute alone. If only column :math:`j` were seen, it would
    have :math:`\ln(1 + (e^\varepsilon - 1) k_j / K)`, which is never a guarantee. Numerics: exact. May be
    used for release.

    Parameters
    ----------
    sizes : mapping of str to int
        How many values each column has.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of the whole report, > 0.
    in_clear : sequence of str
        Columns that are sent as they are, for the guarantee.
    most_cells : int
        How many combinations there may be.

    Raises
    ------
    LimitExceededError
        If there are more combinations.
    InvalidParameterError
        If epsilon is so small that the combinations cannot be told apart with probabilities of 53 bits.

    References
    ----------
    .. [1] Makhlouf, Arcolezi, Zhioua, Brahim, Palamidessi (2024). On the impact of multi-dimensional local
           differential privacy on fairness. Data Mining and Knowledge Discovery. Combined k-RR.

    Examples
    --------
    >>> print(Combined({"gender": 2, "region": 3}, epsilon=1))
    column  k  protocol       epsilon within the report  if only this column is seen
    gender  2  GRR, combined  1                          0.452833
    region  3  GRR, combined  1                          0.620115
    whole report: epsilon 1
    """

    product: GRR

    def __init__(
        self,
        sizes: Mapping[str, int],
        epsilon: Number,
        *,
        in_clear: Sequence[str] = (),
        most_cells: int = MOST_CELLS,
    ) -> None:
        amount = exact(epsilon, name="epsilon", owner="Combined", above=0, most=1_000_000)
        checked = _checked_sizes(sizes)
        most = integer("most_cells", most_cells, owner="Combined", low=1, high=_LARGEST_DOMAIN)
        cells = check_cells(checked, most, what="A combined report")
        self._set(
            pairs=tuple(checked.items()),
            product=GRR(cells, amount),
            in_clear=checked_names(in_clear, parameter="in_clear", owner="Combined"),
        )
        try:
            self.product.p_exact  # noqa: B018 - it cannot be had where the grid is too coarse
        except InvalidParameterError:
            shown = " x ".join(f"{column} ({k:,})" for column, k in self.pairs)
            raise InvalidParameterError(
                "epsilon",
                owner="Combined",
                must_be=f"large enough that the {cells:,} combinations of {shown} can be told apart with "
                "probabilities of 53 bits",
                got=str(amount),
                hint="report fewer columns together, or each on its own.",
            ) from None

    @cached_property
    def _laws(self) -> tuple[DecodedGRR, ...]:
        return tuple(DecodedGRR(k, self.epsilon, cells=self.product.k) for _, k in self.pairs)

    def epsilon_if_seen_alone(self, column: str) -> float:
        r"""Return :math:`\ln(1 + (e^\varepsilon - 1) k_j / K)`, the epsilon if only this column is seen.

        This is never a guarantee: whoever gets the report sees the other columns too.
        """
        return math.log1p(float(self._protocol(column).worst_ratio - 1))

    def joint_variance(self, shares: npt.ArrayLike, *, n: int = 1) -> npt.NDArray[Any]:
        """Return the variance of the joint estimates, given the true share of each combination.

        Parameters
        ----------
        shares : array
            The true shares among the people who report, one axis for each column.
        n : int
            How many people report.
        """
        array = checked_shares(shares, self.shape, owner="Combined.joint_variance")
        return np.asarray(self.product.variance(array, integer("n", n, owner="joint_variance", low=1)))

    def _row(self, column: str) -> dict[str, str]:
        return super()._row(column) | {"protocol": "GRR, combined"}

    def __repr__(self) -> str:
        return f"Combined({dict(self.pairs)!r}, epsilon={shown_epsilon(self.epsilon)})"


def _checked_sizes(sizes: Mapping[str, int]) -> dict[str, int]:
    if not hasattr(sizes, "items") or not sizes:
        must_be, got = "a mapping of columns to how many values they have", f"a {type(sizes).__name__}"
        raise InvalidParameterError("sizes", owner="Combined", must_be=must_be, got=got if sizes else "none")
    columns = checked_names(sizes, parameter="sizes", owner="Combined")
    return {each: integer("sizes", sizes[each], owner="Combined", low=2) for each in columns}
