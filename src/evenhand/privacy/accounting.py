r"""What many steps of Gaussian noise on random samples of the rows cost, and how much noise a budget needs.

The cost is the privacy loss distribution of the sampled Gaussian, composed by dp-accounting and rounded
against us. The losses of one step are placed on a line of points, each rounded so that no delta becomes
smaller ("connect the dots"), and the steps are composed by a Fourier transform in double precision. Two
errors are left, and :func:`allowance` is more than both together:

* The delta of one step is off by at most :math:`\eta` at every point. Writing the composition as one step
  after the others, :math:`\delta_T(\varepsilon) = E[\delta_1(\varepsilon - L)]` with :math:`L` the loss of
  the others, shows that delta of :math:`T` steps is then off by at most :math:`T\eta`.
* The transform itself: its error grows like :math:`T` too, because a coefficient near 1 is raised to
  the power :math:`T`.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand._validate import integer, one_of
from evenhand.errors import InvalidParameterError
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.one_step import (
    LOG_TAIL,
    MOST_ROWS,
    NoisySteps,
    least_mean_loss,
    load_dp_accounting,
    one_step,
    size_of_losses,
)
from evenhand.privacy.rational import Number, exact, float_above, float_below, round_up

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LARGEST_NOISE", "SMALLEST_NOISE", "SampledGaussian", "noise_for", "sampling_rate"]

SMALLEST_NOISE, LARGEST_NOISE = Fraction(1, 20), Fraction(20_000)
"""Noise multipliers that are accounted for."""

MOST_STEPS = 10_000_000
USUAL_DELTA = "1e-5, or a tenth of one over the number of people, is usual."
LARGEST_EPSILON = 500

_UNITS = (Unit.ADD_OR_REMOVE_ONE, Unit.REPLACE_ONE)
_DIGITS = 12
_LEAST_STRIDE = 0.05
_LAST_TOLERANCE = 1e-9
_ALLOWED = 2.0**-48  # per step; each of the two errors was measured to be below 2**-50
_FURTHER = 100  # steps' worth of allowance for the sums over the composed losses
_FINE, _COARSE = 100, 10  # points per standard deviation of one step's loss, at least
_FEWER, _NEAR = 20, 1e-5  # points so near to each other get masses that are mostly rounding
_MOST_POINTS = 200_000  # for one step; all steps have ten times as many
_ROUNDING = 1e-13  # over all points and steps, rounding then adds about a thousandth to the mass
_HOPELESS = 1_000.0
_SPARE = 1 + 1e-12  # for the logarithm and the exponentials behind an epsilon


@dataclass(frozen=True)
class SampledGaussian:
    r"""Gaussian noise on sums over random samples of the rows, many times over.

    Each of :math:`T` steps takes every row with probability :math:`q`, independently, sums vectors of length
    at most :math:`C` that belong to the rows taken, and adds independent normal noise of standard deviation
    :math:`zC` to every coordinate; :math:`T` is ``steps``, :math:`q` is ``sampling`` and :math:`z` is
    ``noise``. A step may depend on the results of those before.

    **Guarantee.** :math:`(\varepsilon, \delta)` for adding or removing one person, or replacing one, who has
    ``rows_per_person`` rows at most; proof: the privacy loss distribution of the pair of normal mixtures that
    is worst for one step, see :mod:`~evenhand.privacy.one_step`, composed [1]_, with every discretisation
    rounded up. The noise is continuous, so this alone is *idealized*;
    :func:`~evenhand.privacy.grid_noise.training_guarantee` makes it a statement about noise that is drawn.

    Parameters
    ----------
    noise : int, float, str, Fraction or Decimal
        Noise multiplier :math:`z`, from 1/20 to 20,000.
    sampling : int, float, str, Fraction or Decimal
        Probability :math:`q` with which a row joins a step, above 0 and at most 1.
    steps : int
        How many steps :math:`T`, from 1 to 10,000,000.
    rows_per_person : int, default 1
        How many rows are of one person at most, from 1 to 100. Each of them joins a step by itself.

    Notes
    -----
    A sample of fixed size, or shuffled batches, are another mechanism: nothing here applies to them.

    References
    ----------
    .. [1] Doroshenko, Ghazi, Kamath, Kumar, Manurangsi (2022). Connect the dots: tighter discrete
           approximations of privacy loss distributions. PoPETs.

    Examples
    --------
    >>> thesis = SampledGaussian(noise=1, sampling="0.01", steps=1000)
    >>> f"{float(thesis.epsilon('1e-5', unit='add or remove one')):.4f}"
    '1.8282'
    >>> f"{float(thesis.epsilon('1e-5', unit='replace one')):.4f}"
    '2.8434'
    >>> twice = SampledGaussian(noise=1, sampling="0.01", steps=1000, rows_per_person=2)
    >>> f"{float(twice.epsilon('1e-5', unit='add or remove one')):.4f}"
    '3.9791'
    """

    noise: Fraction
    sampling: Fraction
    steps: int
    rows_per_person: int

    def __init__(self, noise: Number, sampling: Number, steps: int, *, rows_per_person: int = 1) -> None:
        owner = "SampledGaussian"
        object.__setattr__(self, "noise", checked_noise(noise, owner=owner))
        object.__setattr__(self, "sampling", check_sampling(sampling, owner=owner))
        object.__setattr__(self, "steps", integer("steps", steps, owner=owner, low=1, high=MOST_STEPS))
        object.__setattr__(self, "rows_per_person", check_rows_per_person(rows_per_person, owner=owner))

    def epsilon(self, delta: Number, *, unit: Unit | str) -> Fraction:
        """Return an epsilon that goes with `delta`, rounded up.

        Parameters
        ----------
        delta : int, float, str, Fraction or Decimal
            Above 0 and below 1, and large enough to be told from the rounding of double precision: for a
            thousand steps about 1e-11.
        unit : {"add or remove one", "replace one"}
            What may change between two tables.
        """
        owner = "SampledGaussian.epsilon"
        allowed = checked_delta(delta, steps=self.steps, owner=owner)
        epsilon = epsilon_at(self._for(unit, owner), float_below(allowed))
        if not math.isfinite(epsilon):
            raise InvalidParameterError(
                "noise", owner=owner, must_be="large enough for a finite epsilon", got=float(self.noise)
            )
        return round_up(Fraction(epsilon), digits=_DIGITS)

    def delta(self, epsilon: Number, *, unit: Unit | str) -> Fraction:
        """Return a delta that goes with `epsilon`, rounded up; never below what double precision can tell.

        >>> noise = SampledGaussian(noise=5, sampling=1, steps=1)
        >>> f"{float(noise.delta('0.72552', unit='add or remove one')):.3e}"
        '1.000e-05'
        """
        owner = "SampledGaussian.delta"
        spent = exact(epsilon, name="epsilon", owner=owner, least=0, most=LARGEST_EPSILON)
        delta = delta_at(self._for(unit, owner), float_below(spent))
        return min(Fraction(1), round_up(Fraction(delta), digits=_DIGITS))

    def _for(self, unit: Unit | str, owner: str) -> NoisySteps:
        checked = one_of("unit", unit, _UNITS, owner=owner)
        rate = float_above(self.sampling)
        return NoisySteps(float_below(self.noise), rate, self.steps, checked, self.rows_per_person)


def noise_for(
    epsilon: Number,
    delta: Number,
    *,
    sampling: Number,
    steps: int,
    unit: Unit | str,
    rows_per_person: int = 1,
    tolerance: float = 1e-4,
) -> float:
    r"""Return the smallest noise multiplier that keeps all steps within (epsilon, delta), rounded up.

    Parameters
    ----------
    epsilon : int, float, str, Fraction or Decimal
        Above 0 and at most 500.
    delta : int, float, str, Fraction or Decimal
        Above 0 and below 1; see :meth:`SampledGaussian.epsilon`.
    sampling : int, float, str, Fraction or Decimal
        Probability with which a row joins a step, above 0 and at most 1.
    steps : int
        How many steps, from 1 to 10,000,000.
    unit : {"add or remove one", "replace one"}
        What may change between two tables.
    rows_per_person : int, default 1
        How many rows are of one person at most, from 1 to 100.
    tolerance : float
        How much more than the smallest it may be, relative to it: from 1e-9 to 0.1. The search looks at
        losses on a line of points that is coarser than that of :meth:`SampledGaussian.epsilon` and overstates
        epsilon by some hundredths of a percent.

    Raises
    ------
    InvalidParameterError
        If no multiplier from 1/20 to 20,000 does it.

    Examples
    --------
    >>> f"{noise_for('2.9', '1e-5', sampling='0.034', steps=1500, unit='add or remove one'):.3f}"
    '2.049'
    """
    owner = "noise_for"
    spent = exact(epsilon, name="epsilon", owner=owner, above=0, most=LARGEST_EPSILON)
    times = integer("steps", steps, owner=owner, low=1, high=MOST_STEPS)
    allowed = checked_delta(delta, steps=times, owner=owner)
    rate = check_sampling(sampling, owner=owner)
    checked = one_of("unit", unit, _UNITS, owner=owner)
    most = check_rows_per_person(rows_per_person, owner=owner)
    if not isinstance(tolerance, float) or not _LAST_TOLERANCE <= tolerance <= 0.1:
        raise InvalidParameterError(
            "tolerance", owner=owner, must_be="a float from 1e-9 to 0.1", got=tolerance
        )
    return _search(
        float_below(spent),
        float_below(allowed),
        NoisySteps(1.0, float_above(rate), times, checked, most),
        tolerance,
    )


def sampling_rate(batch: int, rows: int) -> Fraction:
    """Return the largest dyadic probability, of 53 bits, that is not above `batch` / `rows`.

    It can be drawn exactly; see :func:`~evenhand.privacy.sampling.bernoulli`.

    Parameters
    ----------
    batch : int
        How many rows a step takes on average, at least 1. With `rows` of them or more the rate is 1.
    rows : int
        The public number of rows, at least 1.

    Examples
    --------
    >>> sampling_rate(1, 4)
    Fraction(1, 4)
    >>> float(sampling_rate(1024, 33_916))
    0.0301922396...
    """
    expected = integer("batch", batch, owner="sampling_rate", low=1)
    total = integer("rows", rows, owner="sampling_rate", low=1, high=1 << 48)
    return min(Fraction(1), Fraction((expected << 53) // total, 1 << 53))


def checked_noise(noise: Number, *, owner: str) -> Fraction:
    """Return the multiplier if it is one that is accounted for."""
    given = exact(noise, name="noise", owner=owner, above=0)
    if not SMALLEST_NOISE <= given <= LARGEST_NOISE:
        must_be = f"a number from {SMALLEST_NOISE} to {LARGEST_NOISE}"
        raise InvalidParameterError("noise", owner=owner, must_be=must_be, got=noise)
    return given


def check_sampling(sampling: Number, *, owner: str) -> Fraction:
    """Return the sampling probability if it is from 2**-40 to 1."""
    given = exact(sampling, name="sampling", owner=owner, above=0, most=1)
    if given * (1 << 40) < 1:
        must_be = "a number from 2**-40 to 1"
        raise InvalidParameterError("sampling", owner=owner, must_be=must_be, got=sampling)
    return given


def check_rows_per_person(rows: int, *, owner: str) -> int:
    """Return how many rows are of one person if so many are accounted for."""
    return integer("rows_per_person", rows, owner=owner, low=1, high=MOST_ROWS)


def checked_delta(delta: Number, *, steps: int, owner: str) -> Fraction:
    """Return delta if it is below 1 and above what rounding may hide."""
    given = exact(delta, name="delta", owner=owner, above=0, most=1)
    if given == 1 or given <= 2 * Fraction(allowance(steps)):
        raise InvalidParameterError(
            "delta",
            owner=owner,
            must_be="below 1 and well above the rounding of double precision over so many steps",
            got=delta,
            hint=USUAL_DELTA,
        )
    return given


# --- the search: epsilon falls as noise grows, and in logarithms it is nearly a straight line ----------


@functools.lru_cache(maxsize=256)
def _search(epsilon: float, delta: float, of: NoisySteps, tolerance: float) -> float:
    def excess(place: float) -> float:
        reached = epsilon_at(of._replace(noise=math.exp(place)), delta, coarse=True)
        return math.log(min(max(reached, epsilon / 1e6), epsilon * 1e6) / epsilon)

    guess = of.sampling * math.sqrt(2 * of.steps * math.log(1 / delta)) / epsilon
    place = min(max(math.log(guess), math.log(0.5)), math.log(LARGEST_NOISE) - 1)
    enough = _narrow(excess, place, math.log1p(tolerance))
    if enough is None:
        raise InvalidParameterError(
            "epsilon",
            owner="noise_for",
            must_be="large enough for noise of at most 20,000 times the clip",
            got=epsilon,
        )
    return math.exp(enough)


def _narrow(excess: Callable[[float], float], place: float, width: float) -> float | None:
    """Return a place where the excess is not above 0 though it is at most `width` further down.

    None says that it is above 0 everywhere; the lowest place is returned where it is nowhere above 0.
    """
    bracket = _bracket(excess, place)
    if bracket is None:
        return None
    low, high, at_low, at_high = bracket
    while high - low > width:
        root = high - at_high * (high - low) / (at_high - at_low)
        for probe in (root + width / 3, root - width / 3, (low + high) / 2):
            if not low < probe < high:
                continue
            value = excess(probe)
            if value > 0:
                low, at_low = probe, value
            else:
                high, at_high = probe, value
            if high - low <= width:
                break
    return high


def _bracket(excess: Callable[[float], float], place: float) -> tuple[float, float, float, float] | None:
    """Walk from `place` until the sign changes; return the two places, and the excess at each.

    Both are the lowest multiplier where the excess is above 0 nowhere, and None says that it is everywhere.

    Epsilon falls at least in proportion to noise, almost everywhere, so a stride of the excess goes past 0.
    """
    least, most = math.log(SMALLEST_NOISE), math.log(LARGEST_NOISE)
    value = excess(place)
    up = value > 0
    while place != (most if up else least):
        stride = max(_LEAST_STRIDE, abs(value))
        following = min(place + stride, most) if up else max(place - stride, least)
        reached = excess(following)
        if (reached > 0) is not up:
            if up:
                return place, following, value, reached
            return following, place, reached, value
        place, value = following, reached
    return None if up else (place, place, value, value)


# --- the privacy loss of all steps ------------------------------------------------------------------


def allowance(steps: int) -> float:
    """Return what is added to every delta for the rounding of double precision.

    >>> f"{allowance(1500):.1e}"
    '5.7e-12'
    """
    return (steps + _FURTHER) * _ALLOWED


@functools.lru_cache(maxsize=256)
def epsilon_at(of: NoisySteps, delta: float, *, coarse: bool = False) -> float:
    """Return an epsilon that goes with `delta`, infinite where there is none.

    With `coarse` the points are ten times as far apart: some hundredths of a percent more, in a tenth of
    the time.
    """
    left = delta - allowance(of.steps)
    if left <= 0 or _is_hopeless(of):
        return math.inf
    losses = _compose_steps(of, _interval(of, coarse=coarse))
    return max(0.0, float(losses.get_epsilon_for_delta(left))) * _SPARE


def delta_at(of: NoisySteps, epsilon: float) -> float:
    """Return a delta that goes with `epsilon`."""
    if _is_hopeless(of):
        return 1.0
    delta = float(_compose_steps(of, _interval(of, coarse=False)).get_delta_for_epsilon(epsilon / _SPARE))
    return min(1.0, max(0.0, delta) * _SPARE + allowance(of.steps))


def _is_hopeless(of: NoisySteps) -> bool:
    """Whether the mean loss is so large that there is no guarantee, which then need not be computed."""
    return of.steps * least_mean_loss(of) > _HOPELESS


def _interval(of: NoisySteps, *, coarse: bool) -> float:
    """Return the distance of the points: a power of ten that fits the loss of one step, and of all."""
    spread, reach, heavy = size_of_losses(of)
    wanted = spread / _COARSE if coarse else max(spread / _FINE, min(spread / _FEWER, _NEAR))
    total = 2 * LOG_TAIL * heavy * math.sqrt(of.steps)
    rounding = math.sqrt(of.steps * reach * _ROUNDING)
    nearest = max(reach / _MOST_POINTS, total / (10 * _MOST_POINTS), rounding)
    power = max(math.floor(math.log10(wanted)), math.ceil(math.log10(nearest)))
    return float(10.0 ** min(power, -2))


@functools.lru_cache(maxsize=8)
def _compose_steps(of: NoisySteps, interval: float) -> Any:
    """Return dp-accounting's distribution of the loss of all steps."""
    changes = (
        ["REPLACE"] if of.unit is Unit.REPLACE_ONE else ["REMOVE"] if of.sampling == 1 else ["REMOVE", "ADD"]
    )
    losses = load_dp_accounting().privacy_loss_distribution
    return losses.PrivacyLossDistribution(
        *(one_step(of, change, interval) for change in changes)
    ).self_compose(of.steps)
