r"""The calibration of private training: noise on a public grid, and the guarantee of the trained model.

The noise is discrete Gaussian, and this says what it costs more than the continuous noise behind it.

Vectors of length at most :math:`C` are rounded to whole multiples of :math:`g = C / 2^m`, their length held
at :math:`2^m` steps in whole numbers, and summed exactly. The noise is discrete Gaussian on the same grid,
with :math:`\sigma^2` from :math:`2^{29}` to below :math:`2^{31}` in squared steps. Were it a normal draw
*rounded* to the grid, the result would be the rounded result of the continuous mechanism, and cost no more.
For the masses :math:`P` of the discrete and :math:`R` of the rounded law, at every whole :math:`k`,

.. math:: -\frac{k^2}{24\sigma^4} - \ln(1 + \theta) \le \ln\frac{P(k)}{R(k)} \le \frac{1}{24\sigma^2},
          \quad 1 + \theta = \sum_j e^{-2\pi^2\sigma^2 j^2}

because :math:`R(k)/P(k) = (1 + \theta) \int_{-1/2}^{1/2} \cosh(ku/\sigma^2)\, e^{-u^2/2\sigma^2}\,du`: the
integral is at least :math:`e^{-1/24\sigma^2}` (Jensen, and :math:`\cosh \ge 1`) and at most
:math:`\sinh(a)/a \le e^{a^2/6}` with :math:`a = k/2\sigma^2`. So :math:`N` draws change every probability by
a factor of at most :math:`e^u` in one direction and, unless :math:`\sum k^2 > r`, of at most :math:`e^v` in
the other,

.. math:: u = \frac{N}{24\sigma^2}, \quad v = \frac{r}{24\sigma^4} + N\theta, \quad
          \Pr\Big[\sum k^2 > r\Big] \le e^{-x} = \tau, \quad
          \sqrt r = \sigma\sqrt{N + 2\sqrt{Nx} + 2x} + \tfrac12\sqrt N

by the tail of the chi-square law [1]_, and what costs :math:`(\varepsilon, \delta)` with continuous noise
costs :math:`(\varepsilon + u + v,\; e^u(\delta + e^\varepsilon\tau))` with the noise that is drawn.

References
----------
.. [1] Laurent, Massart (2000). Adaptive estimation of a quadratic functional by model selection. Annals of
       Statistics 28(5), Lemma 1.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from evenhand._validate import integer, one_of
from evenhand.errors import InvalidParameterError
from evenhand.privacy.accounting import (
    LARGEST_EPSILON,
    MOST_STEPS,
    USUAL_DELTA,
    SampledGaussian,
    check_rows_per_person,
    check_sampling,
    checked_delta,
    checked_noise,
    noise_for,
)
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import ONE_ROW, Trust, Unit
from evenhand.privacy.rational import Number, exact, exp_bounds, round_down, round_up
from evenhand.privacy.sampling import discrete_gaussian
from evenhand.privacy.scales import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    import numpy.typing as npt

    from evenhand.privacy.randomness import Source

__all__ = ["Block", "GridCost", "GridNoise", "TrainingGuarantee", "training_guarantee"]

PROOF = "Poisson-sampled discrete Gaussian, privacy loss distribution"
"""Name of the proof in a guarantee."""

SMALLEST_VARIANCE = 1 << 29
"""In squared steps of the grid; the largest is below 2**31."""

MOST_DRAWS = 10**12

MOST_DIMENSIONS = 1 << 20

_TAIL = 700  # the rare event has probability e**-700 at most, small beside any delta times e**-epsilon
_DIGITS = 12
_ROOT_BITS = 40
_SHARES_MISS = Fraction(1, 10**9)
_DUAL = Fraction(1, 10**400)  # above theta, which is below e**-(10**9)


class Block(NamedTuple):
    """One of the vectors that get noise in a step.

    Parameters
    ----------
    dimensions : int
        How many coordinates it has.
    clip : number
        Its largest length for one row.
    share : number
        Its share of a step's loss; all shares add up to 1. The noise multiplier of the block is that of the
        step divided by the square root of its share.
    """

    dimensions: int
    clip: Number = 1
    share: Number = 1


class GridCost(NamedTuple):
    """What discrete noise on a grid costs more than continuous noise: u, v and tau of the module's text."""

    rise: Fraction
    fall: Fraction
    tail: Fraction

    @property
    def epsilon(self) -> Fraction:
        """What is added to epsilon."""
        return self.rise + self.fall

    def total(self, epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
        """Return epsilon and delta of the discrete noise where continuous noise has these; rounded up."""
        above = exp_bounds(self.rise)[1] * (delta + exp_bounds(epsilon)[1] * self.tail)
        stated = round_up(epsilon + self.epsilon, digits=_DIGITS)
        return stated, min(Fraction(1), round_up(above, digits=_DIGITS))

    def room(self, epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
        """Return what is left for continuous noise so that :meth:`total` stays within these; rounded down.

        Where either is 0, nothing is left.
        """
        left = epsilon - self.epsilon
        if left <= 0:
            return Fraction(0), Fraction(0)
        below = delta / exp_bounds(self.rise)[1] - exp_bounds(left)[1] * self.tail
        return round_down(left, digits=_DIGITS), round_down(max(Fraction(0), below), digits=_DIGITS)


@dataclass(frozen=True)
class GridNoise:
    r"""Discrete Gaussian noise for sums of vectors that lie on a public grid.

    Parameters
    ----------
    clip : int, float, str, Fraction or Decimal
        Largest length :math:`C` of one row's vector, > 0.
    noise : int, float, str, Fraction or Decimal
        Noise multiplier :math:`z`: the standard deviation is at least :math:`zC`.
    draws : int
        How many numbers are drawn in all, coordinates times steps.

    Attributes
    ----------
    exponent : int
        The grid has :math:`2^m` steps per clip, as many as leave the variance below :math:`2^{31}`.
    variance : int
        The parameter of the discrete Gaussian, in squared steps.

    Examples
    --------
    >>> grid = GridNoise(clip=1, noise=2, draws=1_000_000)
    >>> grid.exponent, grid.variance, grid.longest
    (14, 1073741824, 16384)
    >>> f"{float(grid.cost.epsilon):.1e}"
    '8.0e-05'
    """

    clip: Fraction
    noise: Fraction
    draws: int

    def __init__(self, clip: Number, noise: Number, draws: int) -> None:
        owner = "GridNoise"
        object.__setattr__(self, "clip", exact(clip, name="clip", owner=owner, above=0))
        object.__setattr__(self, "noise", checked_noise(noise, owner=owner))
        object.__setattr__(self, "draws", integer("draws", draws, owner=owner, low=1, high=MOST_DRAWS))

    @cached_property
    def exponent(self) -> int:
        """The m of the grid."""
        return _exponent(self.noise**2)

    @cached_property
    def variance(self) -> int:
        """The parameter of the noise in squared steps, a whole number."""
        return math.ceil(self.noise**2 * self.longest**2)

    @property
    def spacing(self) -> Fraction:
        """The distance g of the grid's points."""
        return self.clip / self.longest

    @property
    def longest(self) -> int:
        """The largest length of one row's vector in steps, a power of two."""
        return 1 << self.exponent

    @cached_property
    def cost(self) -> GridCost:
        """What the draws cost more than continuous noise."""
        return _cost(self.draws, self.variance)

    @property
    def extra_epsilon(self) -> Fraction:
        """What the draws add to epsilon."""
        return self.cost.epsilon

    @property
    def extra_delta(self) -> Fraction:
        r"""The probability :math:`\tau` of the event that is set aside; delta takes it times e to epsilon."""
        return self.cost.tail

    def draw(self, size: int | tuple[int, ...], source: Source) -> npt.NDArray[np.int64]:
        """Draw noise in steps of the grid, exactly; add it to the sums in whole numbers."""
        return discrete_gaussian(self.variance, size=size, source=source)


@dataclass(frozen=True)
class TrainingGuarantee:
    r"""Noise for training, and what it guarantees; made by :func:`training_guarantee`.

    Attributes
    ----------
    noise : Fraction
        The multiplier of a step: together its blocks are one Gaussian query with at least this.
    grids : tuple of GridNoise
        The noise of each block.
    epsilon, delta : Fraction
        What is guaranteed, the grid's cost included: as asked where the noise was looked for, and rounded
        up where it was given.
    """

    noise: Fraction
    grids: tuple[GridNoise, ...]
    epsilon: Fraction
    delta: Fraction
    sampling: Fraction
    steps: int
    unit: Unit
    rows_per_person: int = 1

    @property
    def grid(self) -> GridNoise:
        """The noise of the first block, which is all there is unless there are several."""
        return self.grids[0]

    @property
    def proof(self) -> str:
        """Name of the proof."""
        return PROOF

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the proof assumes of the training."""
        alone = (ONE_ROW,) if self.rows_per_person == 1 else ()
        return (
            *alone,
            f"every row joins each of {self.steps:,} steps with the same public probability, independently",
        )

    def guarantee(
        self,
        *,
        protects: Sequence[str] = (),
        in_clear: Sequence[str] = (),
        assumptions: Sequence[str] = (),
        people: int | None = None,
    ) -> Guarantee:
        """Return the statement about a training that draws this noise; the arguments add to it."""
        return Guarantee(
            epsilon=self.epsilon,
            delta=self.delta,
            unit=self.unit,
            trust=Trust.CENTRAL,
            protects=protects,
            in_clear=in_clear,
            proof=self.proof,
            assumptions=(*self.assumptions, *assumptions),
            people=people,
        )


def training_guarantee(
    epsilon: Number | None = None,
    delta: Number = "1e-5",
    *,
    noise: Number | None = None,
    sampling: Number,
    steps: int,
    unit: Unit | str,
    rows_per_person: int = 1,
    dimensions: int | None = None,
    clip: Number = 1,
    blocks: Sequence[Block | tuple[int, Number, Number]] | None = None,
) -> TrainingGuarantee:
    r"""Return the noise that keeps a training within (epsilon, delta), or the epsilon of noise that is given.

    Each step sums clipped vectors of the rows that join it, on a grid, and adds discrete Gaussian noise. The
    cost of the grid is part of the statement: it is taken off the budget *before* the noise is looked for.

    Parameters
    ----------
    epsilon : int, float, str, Fraction or Decimal, optional
        Above 0. Left out when `noise` is given.
    delta : int, float, str, Fraction or Decimal
        Above 0 and below 1.
    noise : int, float, str, Fraction or Decimal, optional
        Noise multiplier of a step; then `epsilon` is what comes out.
    sampling : int, float, str, Fraction or Decimal
        Probability with which a row joins a step.
    steps : int
        How many steps there are, at most.
    unit : {"add or remove one", "replace one"}
        What may change between two tables.
    rows_per_person : int, default 1
        How many rows are of one person at most. Whoever calls sees to that, and says so in the guarantee.
    dimensions : int, optional
        How many numbers get noise in a step, with one `clip` for all of them.
    clip : int, float, str, Fraction or Decimal
        Largest length of one row's vector.
    blocks : sequence of Block or of (dimensions, clip, share), optional
        Several vectors in a step, each with its own clip and its share of the loss, in place of `dimensions`
        and `clip`. With shares :math:`f_b` that add up to 1, block :math:`b` gets noise of multiplier
        :math:`z / \sqrt{f_b}`, and the step as a whole is one Gaussian query of multiplier :math:`z`.

    Raises
    ------
    InvalidParameterError
        If the grid's cost alone is above the budget, or a parameter is out of range.

    Examples
    --------
    >>> made = training_guarantee(3, "1e-5", sampling="0.034", steps=1500, unit="add or remove one",
    ...                           dimensions=100)
    >>> f"{float(made.noise):.3f}", made.epsilon, made.grid.exponent
    ('1.996', Fraction(3, 1), 14)
    >>> given = training_guarantee(noise=2, sampling="0.034", steps=1500, unit="add or remove one",
    ...                            dimensions=100)
    >>> f"{float(given.epsilon):.4f}"
    '2.9920'
    >>> halves = training_guarantee(3, "1e-5", sampling="0.034", steps=1500, unit="add or remove one",
    ...                             blocks=[(100, 1, "4/5"), (4, 4, "1/5")])
    >>> [f"{float(grid.noise):.3f}" for grid in halves.grids]
    ['2.232', '4.464']
    """
    owner = "training_guarantee"
    rate = check_sampling(sampling, owner=owner)
    times = integer("steps", steps, owner=owner, low=1, high=MOST_STEPS)
    checked = one_of("unit", unit, (Unit.ADD_OR_REMOVE_ONE, Unit.REPLACE_ONE), owner=owner)
    most = check_rows_per_person(rows_per_person, owner=owner)
    parts = _checked_blocks(dimensions, clip, blocks, owner=owner)
    allowed = exact(delta, name="delta", owner=owner, above=0, most=1)
    if (epsilon is None) == (noise is None):
        must_be = "given, or else 'noise', but not both"
        raise InvalidParameterError("epsilon", owner=owner, must_be=must_be, got=epsilon)
    if noise is None:
        asked = exact(epsilon, name="epsilon", owner=owner, above=0, most=LARGEST_EPSILON)
        left = _sum_of(_cost(part.dimensions * times, SMALLEST_VARIANCE) for part in parts).room(
            asked, allowed
        )
        if not left[0]:
            must_be = "above the cost of drawing so many numbers on a grid"
            hint = "fewer steps or fewer coordinates make it cheaper."
            raise InvalidParameterError("epsilon", owner=owner, must_be=must_be, got=epsilon, hint=hint)
        with _blaming("delta", delta, owner=owner, hint=USUAL_DELTA):
            checked_delta(left[1] or _DUAL, steps=times, owner=owner)
        with _blaming("epsilon", epsilon, owner=owner):
            multiplier = Fraction(
                noise_for(*left, sampling=rate, steps=times, unit=checked, rows_per_person=most)
            )
        grids = _grids(multiplier, parts, times)
        return TrainingGuarantee(multiplier, grids, asked, allowed, rate, times, checked, most)
    multiplier = checked_noise(noise, owner=owner)
    grids = _grids(multiplier, parts, times)
    cost = _sum_of(grid.cost for grid in grids)
    _, reduced = cost.room(LARGEST_EPSILON + cost.epsilon, allowed)
    with _blaming("delta", delta, owner=owner, hint=USUAL_DELTA):
        checked_delta(reduced or _DUAL, steps=times, owner=owner)
    steps_of_noise = SampledGaussian(multiplier, rate, times, rows_per_person=most)
    continuous = steps_of_noise.epsilon(reduced, unit=checked)
    if continuous > LARGEST_EPSILON:
        must_be = f"large enough for an epsilon of at most {LARGEST_EPSILON}"
        raise InvalidParameterError("noise", owner=owner, must_be=must_be, got=noise)
    stated = cost.total(continuous, reduced)[0]
    return TrainingGuarantee(multiplier, grids, stated, allowed, rate, times, checked, most)


@contextmanager
def _blaming(name: str, given: object, *, owner: str, hint: str = "") -> Iterator[None]:
    """Refuse what the caller gave where a number that follows from it is refused."""
    try:
        yield
    except InvalidParameterError as error:
        raise InvalidParameterError(name, owner=owner, must_be=error.must_be, got=given, hint=hint) from None


def _checked_blocks(
    dimensions: int | None,
    clip: Number,
    blocks: Sequence[Block | tuple[int, Number, Number]] | None,
    *,
    owner: str,
) -> tuple[_Part, ...]:
    """Return the blocks with exact numbers, or refuse them."""
    if (dimensions is None) == (blocks is None):
        must_be = "given, or else 'blocks', but not both"
        raise InvalidParameterError("dimensions", owner=owner, must_be=must_be, got=dimensions)
    given = [Block(*block) for block in blocks] if blocks is not None else [Block(dimensions or 0, clip)]
    parts = tuple(
        _Part(
            integer("dimensions", block.dimensions, owner=owner, low=1, high=MOST_DIMENSIONS),
            exact(block.clip, name="clip", owner=owner, above=0),
            exact(block.share, name="share", owner=owner, above=0, most=1),
        )
        for block in given
    )
    if not 1 - _SHARES_MISS <= sum(part.share for part in parts) <= 1:
        raise InvalidParameterError(
            "blocks", owner=owner, must_be="one or more blocks whose shares add up to 1", got=blocks
        )
    return parts


class _Part(NamedTuple):
    dimensions: int
    clip: Fraction
    share: Fraction


def _grids(noise: Fraction, parts: Sequence[_Part], steps: int) -> tuple[GridNoise, ...]:
    return tuple(
        GridNoise(part.clip, _divided_by_root(noise, part.share), part.dimensions * steps) for part in parts
    )


def _divided_by_root(noise: Fraction, share: Fraction) -> Fraction:
    """Return noise / sqrt(share), rounded up unless the share is 1."""
    if share == 1:
        return noise
    return Fraction(_root_above(math.ceil(noise**2 / share * (1 << 2 * _ROOT_BITS))), 1 << _ROOT_BITS)


def _exponent(squared: Fraction) -> int:
    """Return the largest m with ``ceil(squared * 4**m)`` below 2**31."""
    return (math.floor(LARGEST / squared).bit_length() - 1) // 2


def _cost(draws: int, variance: int) -> GridCost:
    """Return u, v and tau for so many draws, each rounded up."""
    length = draws + 2 * _root_above(draws * _TAIL) + 2 * _TAIL
    root = _root_above(variance * length) + Fraction(_root_above(draws), 2)
    rise = Fraction(draws, 24 * variance)
    fall = root**2 / (24 * variance**2) + draws * _DUAL
    tail = exp_bounds(Fraction(-_TAIL))[1]
    return GridCost(*(round_up(cost, digits=_DIGITS) for cost in (rise, fall, tail)))


def _sum_of(costs: Iterable[GridCost]) -> GridCost:
    rises, falls, tails = zip(*costs, strict=True)
    return GridCost(sum(rises, Fraction(0)), sum(falls, Fraction(0)), sum(tails, Fraction(0)))


def _root_above(value: int) -> int:
    return math.isqrt(value - 1) + 1
