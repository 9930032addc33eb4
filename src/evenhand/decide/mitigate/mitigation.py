"""Tell what all mitigations have in common, and the plain release that each is set beside."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.exact.noise import guarantee_of, noise_of, with_terms
from evenhand.decide.exact.sampled import apply_steps
from evenhand.decide.language.rule import Rule
from evenhand.decide.result.bias import bias
from evenhand.errors import InvalidParameterError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law
from evenhand.privacy.randomness import SeededSource, source_from
from evenhand.privacy.scales import representable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from evenhand.decide.result.decided import Decided

    Values = NDArray[np.float64]

Problem = TypeVar("Problem", Allotment, Rule)

_CELLS = 4_000_000  # noisy counts drawn for a mean absolute error
_FEWEST = 50


@dataclass(frozen=True, eq=False, repr=False)
class Mitigation:
    """One way to decide from protected data, and what it does to everybody.

    Parameters
    ----------
    name : str
        Short, such as ``"linear proxy"``.
    words : str
        What it does, in one or two sentences, with what it costs.
    guarantee : Guarantee
        What one person is promised.
    decided : Decided
        Bias and variance by entity, from the true data.
    mean_absolute_error : float
        The expected distance of a share, or a decision, from the true one, averaged over entities.
    standard_error : float
        That of the mean absolute error where it was sampled, else 0.
    """

    name: str
    words: str
    guarantee: Guarantee
    decided: Decided
    mean_absolute_error: float
    standard_error: float = 0.0

    @property
    def bias(self) -> Values:
        """Expected minus true, by entity."""
        return self.decided.bias

    @property
    def alpha(self) -> float:
        """The greatest disparity, see :attr:`Decided.alpha`; 0 means that noise treats all entities alike."""
        return self.decided.alpha

    @property
    def moved(self) -> float:
        """Return what goes wrong on average, in all.

        For shares, half the sum of absolute biases, as a part of the budget. Where biases add up to 0 that is
        what goes to other entities than it should. A way that pays more than the budget, or less, has half of
        that in it too; `overspent` is by how much. For a rule, the expected number of wrong decisions.
        """
        whole = float(np.abs(self.bias).sum())
        return whole / 2 if self.decided.kind == "allotment" else whole

    @property
    def overspent(self) -> float:
        """Return what is paid beyond the budget on average, as a part of it; below 0 if some is left over."""
        return math.fsum(self.bias) if self.decided.kind == "allotment" else 0.0

    def __repr__(self) -> str:
        error = f"mean absolute error {self.mean_absolute_error:.3g}"
        return f"<Mitigation {self.name!r}: alpha {self.alpha:.3g}, {error}>"


def build_mitigation(
    name: str, words: str, guarantee: Guarantee, decided: Decided, error: tuple[float, float], **changed: Any
) -> Mitigation:
    """Return a mitigation whose figures by entity are those of a result with some of them changed.

    With another bias releases pay something else, which is known only if `payments` are given too.
    """
    if "bias" in changed:
        changed.setdefault("payments", None)
    return Mitigation(name, words, guarantee, replace(decided, **changed) if changed else decided, *error)


def require_problem(problem: object, kind: type[Problem], *, owner: str) -> Problem:
    """Return the allotment or the rule, or refuse what is not of this kind."""
    if not isinstance(problem, kind):
        must_be = "an Allotment" if kind is Allotment else "a Rule"
        got = f"a {type(problem).__name__}"
        raise InvalidParameterError("problem", owner=owner, must_be=must_be, got=got)
    return problem


def law_of(problem: Any, noise: Any) -> Law:
    """Return the law of the noise on the one count of an allotment."""
    return noise_of(noise, inputs=problem.inputs)[problem.inputs[0]]


def scaled_law(law: Law, *, part: float, factor: float = 1.0, whole: bool | None = None) -> Law:
    """Return noise for a part of the budget on a figure `factor` times as sensitive.

    Parameters
    ----------
    law : Law
        The noise that spends the whole budget.
    part : float
        The part that is spent.
    factor : float
        How sensitive the figure is, over what the noise was made for: in L1 for Laplace noise, in L2 for
        Gaussian noise.
    whole : bool, optional
        Whether the noise is whole-numbered; as before by default.
    """
    integers = law.support == "integers" if whole is None else whole
    if isinstance(law, Laplace | DiscreteLaplace):
        if integers:
            return DiscreteLaplace(representable(Fraction(law.scale) * Fraction(factor) / Fraction(part)))
        return Laplace(float(law.scale) * factor / part)
    squared = law.squared_scale  # type: ignore[attr-defined]
    if integers:
        return DiscreteGaussian(representable(Fraction(squared) * Fraction(factor) ** 2 / Fraction(part)))
    return Gaussian(float(squared) * factor**2 / part)


def draw_error(
    draw: Callable[[int, SeededSource], Values], truth: Values, *, source: SeededSource
) -> tuple[float, float]:
    """Return the mean absolute error over all entities and its standard error.

    Parameters
    ----------
    draw : callable
        Returns shares of this many releases, in rows, from a source.
    truth : array
        The true shares.
    source : SeededSource
        What is drawn from.
    """
    draws = max(_FEWEST, min(2_000, _CELLS // truth.size))
    rows = max(1, min(draws, (1 << 20) // truth.size))
    means: list[float] = []
    for first in range(0, draws, rows):
        errors = np.abs(draw(min(rows, draws - first), source) - truth)
        means += errors[np.isfinite(errors).all(axis=1)].mean(axis=1).tolist()  # a total of 0 has no shares
    if len(means) <= 1:
        return math.nan, math.nan
    values = np.array(means)
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(values.size))


def start_release(
    problem: Any, data: Any, noise: Any, unit: Unit | str | None, *, owner: str, rng: Any, **how: Any
) -> tuple[SeededSource, Guarantee, Decided]:
    """Return what simulations draw from, what the plain release promises, and what its noise does.

    Parameters
    ----------
    problem, data, noise, unit
        As for :func:`plain_release`.
    owner : str
        Whose parameters they are.
    rng : int, Generator or SeededSource, optional
        What is drawn from; seed 0 by default.
    **how
        Passed on to :func:`~evenhand.decide.bias`.
    """
    source = source_from(0 if rng is None else rng)
    if not isinstance(source, SeededSource):
        must_be = "a seed or a seeded source: this is a simulation, not a release"
        raise InvalidParameterError("rng", owner=owner, must_be=must_be, got="the secure source")
    own = getattr(noise, "unit", None)
    chosen = unit if own is None else own
    if chosen not in (Unit.REPLACE_ONE, Unit.ADD_OR_REMOVE_ONE):
        must_be = "'replace one' or 'add or remove one', and given with a law, which knows none"
        raise InvalidParameterError("unit", owner=owner, must_be=must_be, got=unit)
    guarantee = guarantee_of(problem, noise, unit=Unit(chosen))
    return source, guarantee, bias(problem, data, noise, rng=source, **how)


def restate_guarantee(
    guarantee: Guarantee, *, law: Law, proof: str, assumptions: Sequence[str] = ()
) -> Guarantee:
    """Return the same loss under another proof; that of Gaussian noise as rho, which is what adds up."""
    cells = 2 if guarantee.unit is Unit.REPLACE_ONE else 1
    amount: dict[str, Any] = {"epsilon": guarantee.epsilon, "delta": guarantee.delta}
    if isinstance(law, Gaussian | DiscreteGaussian):
        amount = {"rho": cells / (2 * Fraction(law.squared_scale))}
    return Guarantee(
        **amount,
        unit=guarantee.unit,
        trust=guarantee.trust,
        protects=guarantee.protects,
        proof=proof,
        assumptions=(*guarantee.assumptions, *assumptions),
    )


def add_assumption(guarantee: Guarantee, assumed: str) -> Guarantee:
    """Return the same guarantee with one more thing that it assumes."""
    return with_terms(guarantee, assumptions=(*guarantee.assumptions, assumed))


def withdraw_guarantee(guarantee: Guarantee) -> Guarantee:
    """Return that there is no guarantee, where a figure of the true counts is used that no noise covers."""
    return type(guarantee).no_guarantee(unit=guarantee.unit, in_clear=guarantee.protects)


def plain_release(
    problem: Any,
    data: Any,
    noise: Any,
    *,
    unit: Unit | str | None = None,
    post: Sequence[Any] | None = None,
    name: str = "plain release",
    words: str = "Noise on every count; the decision is made from the noisy counts as they are.",
    draws: int | None = None,
    rng: Any = None,
    progress: Callable[[int, int], object] | None = None,
) -> Mitigation:
    """Return what the plain release does, which every mitigation is set beside.

    Parameters
    ----------
    problem : Allotment or Rule
        What is decided.
    data : Entities, mapping or array
        The true counts, as for :func:`~evenhand.decide.bias`.
    noise : Law or mechanism
        The noise on every count.
    unit : {"replace one", "add or remove one"}, optional
        To be given with a law; a mechanism has its own.
    post : sequence of Step, optional
        What is done to the noisy counts.
    name, words : str
        How it is shown.
    draws, rng, progress
        For what has to be sampled, as for :func:`~evenhand.decide.bias`.

    Examples
    --------
    >>> from evenhand.privacy.laws import DiscreteLaplace
    >>> shares = Allotment([1, 2, 1.5])
    >>> plain_release(shares, {"x": [30, 50, 80]}, DiscreteLaplace(2), unit="add or remove one")
    <Mitigation 'plain release': alpha 0.000294, mean absolute error 0.00994>
    """
    how: dict[str, Any] = {"post": post, "draws": draws, "rng": rng, "progress": progress}
    source, guarantee, decided = start_release(problem, data, noise, unit, owner="plain_release", **how)
    error = release_error(problem, decided, noise, post, source)
    return build_mitigation(name, words, guarantee, decided, error)


def release_error(
    problem: Any, decided: Decided, noise: Any, post: Sequence[Any] | None, source: SeededSource
) -> tuple[float, float]:
    """Return the mean absolute error of decisions from noisy counts, and its standard error."""
    if not isinstance(problem, Allotment):
        return float(np.abs(decided.bias).mean()), 0.0
    counts, law = decided.counts[problem.count].astype(np.float64), law_of(problem, noise)

    def shares(rows: int, source: SeededSource) -> Any:
        noisy = counts + law.draw(size=(rows, counts.size), source=source)
        if post:
            noisy = np.concatenate([apply_steps(row[np.newaxis], post, source) for row in noisy])
        return problem.shares(noisy)

    return draw_error(shares, decided.truth, source=source)
