"""Suppression of small counts, as agencies do it and with the noise that was proposed for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from evenhand._validate import integer, one_of
from evenhand.errors import InvalidParameterError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.privacy.rational import Number, exact
from evenhand.privacy.scales import laplace_noise
from evenhand.release.delta.suppression import (
    NOISES,
    Noise,
    count_noise_delta,
    diagnostic_delta,
    printed_delta,
    threshold_noise_delta,
)
from evenhand.release.mechanisms.mechanism import Published, ReleaseMechanism, bound_assumed, checked_unit
from evenhand.release.mechanisms.noise import assumptions_of
from evenhand.release.mechanisms.suppression_bias import (
    MOST_THRESHOLD,
    Moments,
    count_noise_moments,
    suppression_bias,
    threshold_noise_moments,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    import numpy.typing as npt

    from evenhand.privacy.randomness import Source
    from evenhand.release.table.histogram import Histogram

    Values = npt.NDArray[np.float64]

Fill = Literal["blank", "zero", "half-threshold"]
FILLS: tuple[Fill, ...] = ("blank", "zero", "half-threshold")
"""What may stand in a suppressed cell."""

_NO_BOUND = (
    "a large count that is published as it is for certain, since no public bound on counts is declared "
    "(declare one that is known without the rows: Histogram.count(..., bound=...))"
)
_PRINTED = {
    "count": "Theorem 1 of zhu2023 as printed, which holds for continuous noise: for the integer noise drawn "
    "its delta is too small",
    "threshold": "Theorem 1 of zhu2023 as printed, for noise on every count: valid for a noisy threshold, "
    "and far from tight",
}
"""What is said beside the printed number."""


@dataclass(frozen=True, repr=False)
class Suppression(ReleaseMechanism):
    r"""Publish counts of at least a threshold as they are, and leave the others blank.

    .. math:: \tilde x_i = \begin{cases} x_i & x_i \ge k \\ \text{blank} & x_i < k \end{cases}

    where :math:`k` is ``threshold``. A column ``suppressed`` of the published table marks the blank cells.

    **Guarantee.** None: nothing is random, so one person's move between two large cells is seen for certain.
    Unit: replace one. Proof: two tables whose outputs differ with certainty. Numerics: exact. For studies and
    comparisons; :class:`~evenhand.release.ThresholdedLaplace` has the same look and a guarantee.

    Parameters
    ----------
    threshold : int
        From 0 to 1,000,000; 0 suppresses nothing.
    fill : {"blank", "zero", "half-threshold"}, default "blank"
        What stands in a suppressed cell: no number, 0, or :math:`\lfloor k/2 \rfloor`. The last two are
        invented and look like counts, in cells of nobody too.

    Notes
    -----
    Where bias and variance are computed, a blank cell counts as 0.

    With ``fill="half-threshold"`` it is Algorithm 1 of [1]_. Equation (1) of [1]_ prints
    :math:`\max(x, k/2)` instead, which differs for :math:`k/2 < x < k`: it would publish small counts as they
    are.

    References
    ----------
    .. [1] Zhu, Fioretto, Van Hentenryck, Das, Task (2023). Privacy and bias analysis of disclosure
           avoidance systems. Algorithm 1.

    Examples
    --------
    >>> from evenhand.release.table.histogram import Histogram
    >>> from evenhand.schema import Column, Domain, Schema
    >>> schema = Schema([Column("tenure", Domain.categorical(["own", "rent", "free"]))])
    >>> table = Histogram.of([4, 6, 0], schema)
    >>> print(Suppression(threshold=6).release(table).to_frame("pyarrow")["count"].to_pylist())
    [None, 6, None]
    >>> Suppression(threshold=6, fill="half-threshold").release(table).histogram.counts
    array([3, 6, 3])
    """

    name: ClassVar[str] = "suppression"
    title: ClassVar[str] = "suppression of small counts"
    example_parameters: ClassVar[Mapping[str, Any]] = {"threshold": 6}
    label: ClassVar[str] = "Suppression"
    suppresses: ClassVar[bool] = True
    defaults: ClassVar[Mapping[str, Any]] = {"threshold": 6}

    threshold: int
    fill: Fill = "blank"

    def __init__(self, threshold: int, *, fill: Fill = "blank") -> None:
        owner = type(self).__name__
        self._set(
            threshold=_checked_threshold(threshold, owner), fill=one_of("fill", fill, FILLS, owner=owner)
        )

    @property
    def fill_value(self) -> int | None:
        """The number that stands in place of a suppressed count; None where none does."""
        return {"blank": None, "zero": 0, "half-threshold": self.threshold // 2}[self.fill]

    def guarantee_for(
        self,
        histogram: Histogram,
        *,
        epsilon: Any = None,  # noqa: ARG002 - the same for every epsilon
        as_printed: bool = False,  # noqa: ARG002 - nobody prints another
    ) -> Guarantee:
        """Return the statement that nothing is guaranteed."""
        return Guarantee.no_guarantee(unit=Unit.REPLACE_ONE, in_clear=histogram.columns)

    def _publish(self, histogram: Histogram, source: Source) -> Published:  # noqa: ARG002 - nothing is drawn
        counts = whole_counts(histogram, owner=type(self).__name__)
        return _fill_cells(histogram, counts, counts < self.threshold, self.fill_value)

    def _bias(self, histogram: Histogram, post: Sequence[Any]) -> Values | None:
        if post:
            return None
        counts = whole_counts(histogram, owner=type(self).__name__)
        return suppression_bias(counts, self.threshold, fill=self.fill_value or 0)

    def _variance(self, histogram: Histogram) -> Values:
        return np.zeros(histogram.shape)

    def _absolute_error(self, histogram: Histogram, post: Sequence[Any]) -> Values | None:
        bias = self._bias(histogram, post)
        return None if bias is None else np.abs(bias)

    def _blank_chances(self, histogram: Histogram) -> Values:
        return (whole_counts(histogram, owner=type(self).__name__) < self.threshold).astype(np.float64)


@dataclass(frozen=True, repr=False)
class NoisySuppression(ReleaseMechanism):
    r"""Suppress counts that look small through noise, and publish the others as they are.

    With ``noise="count"`` (equation 2 of [1]_) every count has noise of its own, which decides and is then
    thrown away:

    .. math:: \tilde x_i = \begin{cases} x_i & x_i + \eta_i \ge k \\ \text{blank} & \text{else} \end{cases}

    With ``noise="threshold"`` (Algorithm 2 of [1]_) one noisy threshold serves all counts:

    .. math:: \tilde x_i = \begin{cases} x_i & x_i \ge t \\ \text{blank} & x_i < t \end{cases},
              \qquad t = k + \eta

    where :math:`k` is ``threshold`` and :math:`\eta` is discrete Laplace noise of scale
    :math:`2/\varepsilon`. A column ``suppressed`` of the published table marks the blank cells. These are two
    mechanisms: they have different deltas, and with ``fill="half-threshold"`` different biases.

    **Guarantee.** Next to none: delta is near 1, because a count that is published is the true one. With a
    public bound :math:`B` on counts it is :math:`(0, \delta)`-differentially private with

    .. math:: \delta = 1 - G(B)\,G(B-1) \text{ (replace one)}, \quad 1 - G(B) \text{ (add or remove one)},
              \quad G(x) = \Pr[x + \eta < k]

    for ``noise="count"`` and :math:`\delta = \Pr[k + \eta \le B]` for ``noise="threshold"`` (both units). It
    is attained by two tables with counts :math:`B` and :math:`B - 1`, for every epsilon: epsilon sets the
    noise and is no promise. Without a public bound delta is 1. A table of one cell changes under *replace
    one* only if a rule may leave people out, and then as when one is removed. Proof: the two tables agree
    only where all changed cells are suppressed. Numerics: exact; delta is that of the integer noise drawn,
    and is rounded up. For studies and comparisons; :class:`~evenhand.release.ThresholdedLaplace` publishes
    noisy counts and has the pure guarantee that this one lacks.

    Parameters
    ----------
    epsilon : int, float, str, Fraction or Decimal
        Above 0. It sets the scale of the noise, 2 / epsilon for either unit.
    threshold : int
        From 0 to 1,000,000.
    noise : {"count", "threshold"}
        Where the noise is.
    unit : {"replace one", "add or remove one"}
        The change that delta is about.
    fill : {"blank", "zero", "half-threshold"}, default "blank"
        What stands in a suppressed cell: no number, 0, or half the threshold, which is :math:`k/2` with noise
        on counts and :math:`\lfloor t/2 \rfloor` with a noisy threshold. It changes no delta.

    Notes
    -----
    Where bias and variance are computed, a blank cell counts as 0.

    Theorem 1 of [1]_ prints :math:`1 - e^{-\varepsilon(B-k)}/4` for both, with :math:`B > k` and continuous
    noise; ``as_printed=True`` gives that number. For continuous noise on counts it is valid and not tight;
    for the integer noise that a computer draws exactly it is too small, because a noisy count that equals
    the threshold has a chance of its own. For a noisy threshold it is valid and loose. With noise on counts
    and an odd threshold, half the threshold is no whole number.

    References
    ----------
    .. [1] Zhu, Fioretto, Van Hentenryck, Das, Task (2023). Privacy and bias analysis of disclosure
           avoidance systems. Equation 2, Algorithm 2, Theorems 1 and 2.

    Examples
    --------
    >>> from evenhand.release.table.histogram import Histogram
    >>> from evenhand.schema import Column, Domain, Schema
    >>> schema = Schema([Column("tenure", Domain.categorical(["own", "rent", "free"]))])
    >>> table = Histogram.of([4, 8, 0], schema, bound=8)
    >>> counted = NoisySuppression(epsilon=1, threshold=5)
    >>> once = NoisySuppression(epsilon=1, threshold=5, noise="threshold")
    >>> [f"{float(each.guarantee_for(table).delta):.4f}" for each in (counted, once)]
    ['0.9883', '0.9158']
    >>> counted.bias(table).values.round(3)
    array([-2.49 , -0.674,  0.   ])
    >>> NoisySuppression(epsilon=1, threshold=5, fill="half-threshold").bias(table).values.round(3)
    array([-0.934, -0.463,  2.372])
    """

    name: ClassVar[str] = "noisy-suppression"
    title: ClassVar[str] = "suppression with noise"
    example_parameters: ClassVar[Mapping[str, Any]] = {"epsilon": 1, "threshold": 6}
    label: ClassVar[str] = "Noisy suppression"
    suppresses: ClassVar[bool] = True
    defaults: ClassVar[Mapping[str, Any]] = {"threshold": 6, "noise": "count"}

    epsilon: Fraction
    threshold: int
    noise: Noise = "count"
    unit: Unit = Unit.REPLACE_ONE
    fill: Fill = "blank"

    def __init__(
        self,
        epsilon: Number,
        threshold: int,
        *,
        noise: Noise = "count",
        unit: Unit | str = Unit.REPLACE_ONE,
        fill: Fill = "blank",
    ) -> None:
        owner = type(self).__name__
        self._set(
            epsilon=exact(epsilon, name="epsilon", owner=owner, above=0),
            threshold=_checked_threshold(threshold, owner),
            noise=one_of("noise", noise, NOISES, owner=owner),
            unit=checked_unit(unit, owner=owner),
            fill=one_of("fill", fill, FILLS, owner=owner),
        )
        self.scale  # noqa: B018 - refuses an epsilon whose noise cannot be drawn

    @property
    def scale(self) -> Fraction:
        """The scale of the noise: 2 / epsilon, rounded up to one that is drawn exactly."""
        return laplace_noise(self.epsilon, sensitivity=2).scale

    @property
    def fill_value(self) -> float | None:
        """The number in place of a suppressed count with noise on counts; None where there is none."""
        half = self.threshold // 2 if self.threshold % 2 == 0 else self.threshold / 2
        return {"blank": None, "zero": 0, "half-threshold": half}[self.fill]

    def guarantee_for(
        self, histogram: Histogram, *, epsilon: Any = None, as_printed: bool = False
    ) -> Guarantee:
        """Return the guarantee for a table with this public bound; see the base class.

        Delta is the same for every epsilon; without one it is stated at 0. Without a bound it is 1.
        """
        details: dict[str, Any] = {"unit": self.unit}
        if histogram.bound is None:
            details |= {"trust": "central", "in_clear": histogram.columns, "tight": True}
            return Guarantee(epsilon=0, delta=1, proof=_NO_BOUND, **details)
        details |= {
            "trust": "central",
            "protects": histogram.columns,
            "assumptions": (*bound_assumed(histogram), *assumptions_of(histogram)),
        }
        if as_printed:
            delta = printed_delta(self.threshold, histogram.bound, epsilon=self.epsilon)
            return Guarantee(epsilon=self.epsilon, delta=delta, proof=_PRINTED[self.noise], **details)
        at = 0 if epsilon is None else exact(epsilon, name="epsilon", owner="guarantee_for", least=0)
        unit = self.unit
        if histogram.size == 1 and unit is Unit.REPLACE_ONE:
            if not histogram.may_drop:  # replacing a person changes nothing
                return Guarantee(epsilon=at, tight=True, proof="a table of one cell", **details)
            unit = Unit.ADD_OR_REMOVE_ONE  # which is all that replacing a person by one left out does
        proof = "telling tables apart by a changed count that is published"
        delta = self._delta(histogram.bound, unit)
        return Guarantee(epsilon=at, delta=delta, tight=True, proof=proof, **details)

    def diagnostic(self, histogram: Histogram) -> float:
        """Return delta as if the largest counts of this table were the bound.

        A diagnostic for the holder of the data and not a guarantee: it is computed from the counts.
        """
        counts = whole_counts(histogram, owner=f"{type(self).__name__}.diagnostic")
        return diagnostic_delta(counts, threshold=self.threshold, scale=self.scale, noise=self.noise)

    def _delta(self, bound: int, unit: Unit) -> Fraction:
        if self.noise == "threshold":
            return threshold_noise_delta(self.threshold, bound, scale=self.scale)
        return count_noise_delta(self.threshold, bound, scale=self.scale, unit=unit)

    def _publish(self, histogram: Histogram, source: Source) -> Published:
        counts = whole_counts(histogram, owner=type(self).__name__)
        law = DiscreteLaplace(self.scale)
        if self.noise == "count":
            noise = law.draw(size=counts.shape, source=source)
            small, fill = noise < self.threshold - counts, self.fill_value
        else:
            threshold = self.threshold + int(law.draw(size=1, source=source)[0])
            small = counts < threshold
            fill = threshold // 2 if self.fill == "half-threshold" else self.fill_value
        return _fill_cells(histogram, counts, small, fill if small.any() else None)  # unmet, it stays unsaid

    def _bias(self, histogram: Histogram, post: Sequence[Any]) -> Values | None:
        return None if post else self._moments(histogram).bias

    def _variance(self, histogram: Histogram) -> Values:
        return self._moments(histogram).variance

    def _absolute_error(self, histogram: Histogram, post: Sequence[Any]) -> Values | None:
        if self.noise == "threshold" and self.fill == "half-threshold":  # errs both ways in one cell
            return None
        bias = self._bias(histogram, post)
        return None if bias is None else np.abs(bias)

    def _blank_chances(self, histogram: Histogram) -> Values:
        counts = whole_counts(histogram, owner=type(self).__name__)
        chances: Values = DiscreteLaplace(self.scale).cdf(self.threshold - counts - 1)
        return chances

    def _moments(self, histogram: Histogram) -> Moments:
        counts = whole_counts(histogram, owner=type(self).__name__)
        if self.noise == "threshold" and self.fill == "half-threshold":
            return threshold_noise_moments(counts, self.threshold, scale=self.scale)
        # a cell is suppressed with one chance under either noise, so that with one fill the moments are one
        return count_noise_moments(counts, self.threshold, scale=self.scale, fill=self.fill_value or 0)


def whole_counts(histogram: Histogram, *, owner: str) -> npt.NDArray[np.int64]:
    """Return the counts of a table of people: whole numbers, none below 0."""
    counts = histogram.filled if histogram.is_sparse else histogram.counts
    if counts is None or counts.dtype.kind != "i" or (counts.size and int(counts.min()) < 0):
        must_be = "a table of people: whole numbers, none below 0"
        raise InvalidParameterError("histogram", owner=owner, must_be=must_be, got="another table")
    return counts


def _fill_cells(
    histogram: Histogram, counts: npt.NDArray[np.int64], small: npt.NDArray[np.bool_], fill: float | None
) -> Published:
    """Return the counts with a number, or none, in place of those that are small."""
    published = histogram.with_counts(np.where(small, 0 if fill is None else fill, counts))
    return Published(published, small, fill=fill)


def _checked_threshold(threshold: int, owner: str) -> int:
    return integer("threshold", threshold, owner=owner, low=0, high=MOST_THRESHOLD)
