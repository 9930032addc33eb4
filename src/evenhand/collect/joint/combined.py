"""One report for all attributes together: their combination as one value, by GRR or the fairest channel."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from evenhand._validate import integer
from evenhand.collect.fairest.population import dyadic_channel
from evenhand.collect.joint.estimate import MOST_CELLS, JointFrequencies, check_cells, checked_shares
from evenhand.collect.joint.strategy import Strategy, check_column_names, streams
from evenhand.collect.protocols.base import draw_reports
from evenhand.collect.protocols.codes import code_type
from evenhand.collect.protocols.describe import epsilon_literal
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.optimal import Optimal, Unfairness
from evenhand.collect.reports.reports import Reports
from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.privacy.rational import Number, exact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    import numpy.typing as npt

    from evenhand.collect.estimates.frequencies import Frequencies
    from evenhand.collect.joint.strategy import Codes, JointReports, Sent
    from evenhand.collect.protocols.base import Protocol
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.randomness import Source


@dataclass(frozen=True, init=False, repr=False)
class ProductStrategy(Strategy):
    """Number the combinations in row-major order, and report a person's number by one protocol."""

    name: ClassVar[str] = "combined"

    pairs: tuple[tuple[str, int], ...]
    product: Protocol

    def __init__(self, sizes: Mapping[str, int], product: Protocol, *, in_clear: Sequence[str]) -> None:
        clear = check_column_names(in_clear, parameter="in_clear", owner=type(self).__name__)
        self._set(pairs=tuple(sizes.items()), product=product, in_clear=clear)

    @property
    @abstractmethod
    def _laws(self) -> tuple[Protocol, ...]:
        """The law of each column's part of the report."""

    @property
    def protocols(self) -> dict[str, Protocol]:
        """For each column, the law of its part of the report."""
        return dict(zip((column for column, _ in self.pairs), self._laws, strict=True))

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each column has, in order."""
        return tuple(k for _, k in self.pairs)

    @property
    def epsilon(self) -> Fraction:
        """Privacy parameter of a person's whole report."""
        return self.product.epsilon

    def guarantee_for(self, *, in_clear: Sequence[str] = ()) -> Guarantee:
        """Return what a person's whole report promises."""
        return self.product.guarantee_for(protects=self.columns, in_clear=in_clear)

    @property
    def senders(self) -> tuple[Protocol, ...]:
        """The one protocol that makes what is sent."""
        return (self.product,)

    def _privatize(self, codes: Codes, source: Source) -> Sent:
        whole = np.ravel_multi_index([codes[column].astype(np.int64) for column in self.columns], self.shape)
        return [draw_reports(self.product, whole, streams(source, [""])[""])], None

    def decoded(self, sent: Sequence[Reports]) -> dict[str, Reports]:
        """Return the reports of each column: the combination taken apart."""
        parts = np.unravel_index(sent[0].values.astype(np.int64), self.shape)
        return {
            column: Reports(part.astype(code_type(law.k)), protocol=law, simulated=sent[0].simulated)
            for (column, law), part in zip(self.protocols.items(), parts, strict=True)
        }

    def estimate_joint(self, reports: JointReports) -> JointFrequencies:
        """Estimate what share of the people has each combination of values.

        Parameters
        ----------
        reports : JointReports
            Reports of this strategy.
        """
        return self._joint_frequencies(self.product.estimate(self.own(reports).sent[0]))

    def estimate_joint_from_table(self, table: npt.NDArray[Any]) -> JointFrequencies:
        """Estimate from how many people reported each combination."""
        flat = table.reshape(-1)
        return self._joint_frequencies(self.product.estimate_from_counts(flat, int(flat.sum())))

    def _joint_frequencies(self, estimate: Frequencies) -> JointFrequencies:
        values, errors = (
            np.array(array).reshape(self.shape) for array in (estimate.values, estimate.standard_error)
        )
        return JointFrequencies(values, errors, estimate.n, self.columns)

    def _row(self, column: str) -> dict[str, str]:
        return super()._row(column) | {"protocol": f"{type(self.product).__name__}, combined"}


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
        cells = integer("cells", cells, owner="DecodedGRR", low=self.k, high=GRR.most_values)
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
        checked = _check_sizes(sizes, owner="Combined")
        most = integer("most_cells", most_cells, owner="Combined", low=1, high=GRR.most_values)
        cells = check_cells(checked, most, subject="A combined report")
        super().__init__(checked, GRR(cells, amount), in_clear=in_clear)
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

    def __repr__(self) -> str:
        return f"Combined({dict(self.pairs)!r}, epsilon={epsilon_literal(self.epsilon)})"


def _check_sizes(sizes: Mapping[str, int], *, owner: str) -> dict[str, int]:
    if not hasattr(sizes, "items") or not sizes:
        must_be, got = "a mapping of columns to how many values they have", f"a {type(sizes).__name__}"
        raise InvalidParameterError("sizes", owner=owner, must_be=must_be, got=got if sizes else "none")
    columns = check_column_names(sizes, parameter="sizes", owner=owner)
    return {column: integer("sizes", sizes[column], owner=owner, low=2) for column in columns}


MOST_PRODUCT_CELLS = 64
"""Most combinations for which an optimal channel is made: it has as many unknowns as their square."""

_OWNER = "CombinedOptimal"


def check_product(sizes: Mapping[str, int]) -> int:
    """Return how many combinations there are, if an optimal channel of them can be made in little time."""
    cells = math.prod(sizes.values())
    if cells > MOST_PRODUCT_CELLS:
        shown = " x ".join(f"{column} ({k:,})" for column, k in list(sizes.items())[:20])
        many = f"{cells:,}" if cells < 10**15 else "too many"
        raise LimitExceededError(
            f"An optimal report of {shown} together has {many} combinations, more than {MOST_PRODUCT_CELLS}. "
            "Hint: the strategy 'independent' reports the protected column by the optimal channel and the "
            "others on their own; 'single' reports the protected column alone.",
            limit="combinations",
        )
    return cells


def _not_together(owner: str, got: str) -> InvalidParameterError:
    must_be = "inverted together, since what a column's part says depends on the other columns"
    hint = "estimate_joint(reports).values summed over the other columns gives the shares of one."
    return InvalidParameterError("reports", owner=owner, must_be=must_be, got=got, hint=hint)


class _Part(Optimal):
    """What a column's part of the report says on average; how it is mixed up depends on the others."""

    @property
    def channel(self) -> NoReturn:
        """Refuse: the averaged channel has no inverse."""
        raise _not_together(_OWNER, "one column by itself")


@dataclass(frozen=True, init=False, repr=False)
class CombinedOptimal(ProductStrategy):
    r"""Report the combination of all attributes as one value, by the channel that tells least of an outcome.

    Combinations are numbered in row-major order: the last column changes fastest, as in a C array of shape
    ``(k_1, ..., k_d)``. There may be 64 of them.

    **Guarantee.** That of the channel: pure local differential privacy with its ``epsilon``; unit: one report
    of all columns, also for two people who differ in one attribute alone. Numerics: exact. May be used for
    release.

    Parameters
    ----------
    sizes : mapping of str to int
        How many values each column has.
    product : Optimal
        The channel of the combinations, with a weight and a rate for each of them in row-major order.
    in_clear : sequence of str
        Columns that are sent as they are, for the guarantee.

    Notes
    -----
    What a column's part of the report says depends on the other columns too, so there is no estimate of a
    column by itself: sum :meth:`estimate_joint` over the others. :attr:`protocols` has the law of each part
    on average over people of the channel's weights.

    Examples
    --------
    >>> weights, rates = [0.3, 0.2, 0.3, 0.2], [0.2, 0.3, 0.4, 0.6]
    >>> both = CombinedOptimal({"gender": 2, "union": 2}, Optimal(weights, rates, epsilon=1))
    >>> both.epsilon, both.privatize({"gender": [0, 1], "union": [1, 1]}, rng=7)
    (Fraction(1, 1), <2 joint reports of gender, union, simulated>)
    """

    product: Optimal

    def __init__(self, sizes: Mapping[str, int], product: Optimal, *, in_clear: Sequence[str] = ()) -> None:
        checked = _check_sizes(sizes, owner=_OWNER)
        cells = check_product(checked)
        if not isinstance(product, Optimal) or product.k != cells:
            must_be = f"an Optimal of {cells:,} groups, one for each combination"
            got = f"one of {product.k:,}" if isinstance(product, Optimal) else f"a {type(product).__name__}"
            raise InvalidParameterError("product", owner=_OWNER, must_be=must_be, got=got)
        super().__init__(checked, product, in_clear=in_clear)

    @cached_property
    def _laws(self) -> tuple[Optimal, ...]:
        return tuple(self._law(place) for place in range(len(self.pairs)))

    def _law(self, place: int) -> Optimal:
        """Return what a part of the report says, given the value of its column, on average over the others.

        A mean of rows keeps the ratio of a column's entries, so the law keeps epsilon as the whole does.
        """
        k = self.shape[place]
        weights, rates = (  # one row for each value, one entry for each combination of the others
            np.moveaxis(np.reshape(numbers, self.shape), place, 0).reshape(k, -1)
            for numbers in (self.product.weights, self.product.rates)
        )
        totals = weights.sum(axis=1)
        within = np.where(totals[:, None] > 0, weights, 1.0)
        within /= within.sum(axis=1, keepdims=True)
        rows = np.moveaxis(self._parts(place).reshape(*self.shape, k), place, 0).reshape(k, -1, k)
        law = np.einsum("ac,acz->az", within, rows)
        record = {
            "k": k,
            "epsilon": self.epsilon,
            "weights": totals.tolist(),
            "rates": np.clip((within * rates).sum(axis=1), 0, 1).tolist(),
            "kind": "difference",  # under which every rate is possible; the law is given, not solved
            "origin": self.product.origin,
            "law": dyadic_channel(law, self.epsilon),
        }
        part = _Part.from_record(record)
        part._set(unfairness=self._unfairness_of_part(place))  # noqa: SLF001 - of its own kind
        return part

    def _unfairness_of_part(self, place: int) -> Unfairness:
        """Return the largest difference of rates by one column: of the true values and of those reported.

        A part's law on average does not tell: how a value is reported and how often it has the outcome both
        depend on the other columns.
        """
        weights, rates = np.asarray(self.product.weights), np.asarray(self.product.rates)
        own = np.unravel_index(np.arange(self.product.k), self.shape)[place]
        spreads = []
        for law in (np.eye(self.shape[place])[own], self._parts(place)):
            people = weights @ law
            reported = ((weights * rates) @ law)[people > 0] / people[people > 0]
            spreads.append(float(reported.max() - reported.min()))
        return Unfairness(*spreads)

    @property
    def unfairness(self) -> Unfairness:
        """How unequal the outcome rates are, of the true combinations and of the reported ones."""
        return self.product.unfairness

    def _parts(self, place: int) -> npt.NDArray[np.float64]:
        """Return the probability of each value of a part of the report (column) under each combination."""
        whole = self.product.matrix().reshape(-1, *self.shape)
        others = tuple(axis for axis in range(1, len(self.shape) + 1) if axis != place + 1)
        return np.asarray(whole.sum(axis=others))

    def epsilon_if_seen_alone(self, column: str) -> float:
        """Return the epsilon of one column if only this column is seen, whatever the others are.

        This is never a guarantee: whoever gets the report sees the other columns too.
        """
        self._protocol(column)
        parts = self._parts(self.columns.index(column))
        return min(float(self.epsilon), math.log(float((parts.max(axis=0) / parts.min(axis=0)).max())))

    def estimate(self, reports: JointReports) -> NoReturn:
        """Refuse: how a column is mixed up depends on the others, so only all can be inverted together."""
        self.own(reports)
        raise _not_together(f"{_OWNER}.estimate", "columns one by one")

    def __repr__(self) -> str:
        return f"{_OWNER}({dict(self.pairs)!r}, {self.product!r})"
