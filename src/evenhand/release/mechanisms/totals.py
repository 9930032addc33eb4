"""Noise on every count and, with a part of epsilon, on sums of groups, which counts then add up to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.privacy.rational import Number, exact
from evenhand.privacy.scales import LaplaceNoise, laplace_noise
from evenhand.release.mechanisms.mechanism import Published, checked_unit
from evenhand.release.mechanisms.noise import (
    NoiseForPeople,
    cells_moved,
    central_terms,
    checked_rows,
    clip_counts,
)
from evenhand.release.postprocess.rounding import stochastic_round
from evenhand.release.postprocess.sums import KeepSums, share_rest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from evenhand.privacy.randomness import Source
    from evenhand.release.table.histogram import Histogram

    Values = npt.NDArray[np.float64]


@dataclass(frozen=True, init=False, repr=False)
class LaplaceTotals(NoiseForPeople):
    r"""Add discrete Laplace noise to every count and to the sums of groups, and make them agree.

    Cells get :math:`(1 - p)\,\varepsilon` and sums :math:`p\,\varepsilon`. A group's sum is then the mean of
    the noisy sum and of what its noisy cells add up to, weighted by their precision; all of its cells move by
    the same to add up to it. So sums of groups of many cells have less noise, and cells have more.

    **Guarantee.** Pure central differential privacy with ``epsilon``, which is what both take together; unit:
    as given. Assumes that each person is in one cell and the cells are public. Proof: a person who is
    replaced changes two cells and at most two sums by 1; the losses of both add up, and the rest is
    post-processing. Numerics: exact, as for :class:`~evenhand.release.mechanisms.noise.Laplace`. May be used
    for release.

    Parameters
    ----------
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of cells and sums together, > 0.
    by : sequence of int, default (1,)
        The places of the columns that make the groups, from 1.
    part : int, float, str, Fraction or Decimal, default 1/5
        The part of epsilon that the sums get, above 0 and below 1.
    unit : {"replace one", "add or remove one"}
        What may change between two tables that are to look alike.
    rows_per_person : int, default 1
        How many rows one person may have in the table.

    Examples
    --------
    >>> from evenhand.release.table.histogram import Histogram
    >>> from evenhand.schema import Column, Domain, Schema
    >>> towns = Column("town", Domain.categorical(["Ash", "Birch"]))
    >>> ages = Column("age", Domain.categorical([str(age) for age in range(40)]))
    >>> table = Histogram.of(np.full((2, 40), 9), Schema([towns, ages]))
    >>> totals = LaplaceTotals(epsilon=1, unit="replace one")
    >>> float(totals.guarantee_for(table).epsilon), totals.release(table, rng=1).values.shape
    (1.0, (2, 40))
    """

    name: ClassVar[str] = "laplace-totals"
    title: ClassVar[str] = "discrete Laplace noise on cells and on sums of groups"
    example_parameters: ClassVar[Mapping[str, Any]] = {"epsilon": 1, "unit": Unit.REPLACE_ONE}
    label: ClassVar[str] = "Noise on cells and sums"
    defaults: ClassVar[Mapping[str, Any]] = {"by": [1], "part": "1/5"}
    may_be_negative: ClassVar[bool] = True

    epsilon: Fraction
    unit: Unit
    by: tuple[int, ...] = (1,)
    part: Fraction = Fraction(1, 5)
    rows_per_person: int = field(default=1, kw_only=True)

    def __init__(
        self,
        epsilon: Number,
        *,
        unit: Unit | str,
        by: Sequence[int] = (1,),
        part: Number = "1/5",
        rows_per_person: int = 1,
    ) -> None:
        owner = "LaplaceTotals"
        share = exact(part, name="part", owner=owner, above=0, most=1)
        if share == 1:
            raise InvalidParameterError("part", owner=owner, must_be="above 0 and below 1", got=part)
        self._set(
            epsilon=exact(epsilon, name="epsilon", owner=owner, above=0, most=1_000_000),
            unit=checked_unit(unit, owner=owner),
            by=KeepSums(*by).columns,
            part=share,
            rows_per_person=checked_rows(rows_per_person, owner=owner),
        )
        _ = self.noises  # refuses an epsilon whose noise cannot be drawn

    @cached_property
    def noises(self) -> tuple[LaplaceNoise, LaplaceNoise]:
        """The scales of the noise on cells and on sums as they are drawn, and their epsilons."""
        moved = cells_moved(self.unit) * self.rows_per_person
        parts = (self.epsilon * (1 - self.part), self.epsilon * self.part)
        cells, sums = (laplace_noise(each, sensitivity=moved) for each in parts)
        return cells, sums

    def guarantee_for(
        self,
        histogram: Histogram,
        *,
        epsilon: Any = None,  # noqa: ARG002 - of the two together only the whole is known
        as_printed: bool = False,  # noqa: ARG002 - nothing is printed
    ) -> Guarantee:
        """Return what a release of this table promises: what cells and sums take together."""
        mechanism = self.for_table(histogram)
        return Guarantee(
            epsilon=sum((each.epsilon for each in mechanism.noises), Fraction(0)),
            delta=Fraction(0),
            tight=False,
            proof=self.title,
            **central_terms(histogram, self.unit),
        )

    def _check(self, histogram: Any, *, dense: bool = False) -> None:
        super()._check(histogram, dense=dense)
        if max(self.by) > len(histogram.columns):
            must_be = "places of columns of the table"
            raise InvalidParameterError("by", owner="LaplaceTotals", must_be=must_be, got=self.by)

    def _publish(self, histogram: Histogram, source: Source) -> Published:
        laws = [DiscreteLaplace(each.scale) for each in self.noises]
        counts = clip_counts(histogram.require_dense(owner="LaplaceTotals"))
        rows, back = KeepSums(*self.by).to_rows(counts)
        noisy = rows + laws[0].draw(size=rows.shape, source=source)
        sums = rows.sum(axis=1, keepdims=True)
        measured = sums + laws[1].draw(size=sums.shape, source=source)
        together = noisy.sum(axis=1, keepdims=True)
        spread = laws[0].variance * rows.shape[1]
        trust = spread / (spread + laws[1].variance)
        moved = stochastic_round((measured - together) * trust, source=source)
        each = moved // rows.shape[1]
        rest = moved - each * rows.shape[1]
        return Published(histogram.with_counts(back(share_rest(noisy + each, rest, source))))

    def _bias(self, histogram: Histogram, post: Sequence[Any]) -> Values | None:
        return None if post else np.zeros(histogram.shape)


def measures_sums_better(cells: int, part: Fraction | float = Fraction(1, 5)) -> bool:
    """Return whether sums over so many cells have less noise if measured apart than if they are added up.

    >>> measures_sums_better(16), measures_sums_better(17)
    (False, True)
    """
    return math.sqrt(cells) > (1 - part) / part
