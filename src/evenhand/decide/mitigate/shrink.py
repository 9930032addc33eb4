"""Modified post-processing: clamp, then lower small counts, by a temperature for counts or the decision."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.exact.noise import noise_of
from evenhand.decide.mitigate.mitigation import Mitigation, plain_release, withdraw_guarantee
from evenhand.decide.mitigate.registry import MitigationKind, MitigationParameter
from evenhand.decide.result.bias import bias
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law
from evenhand.release import postprocess
from evenhand.release.postprocess.steps import Shrink

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evenhand.privacy.guarantees.units import Unit

    Values = NDArray[np.float64]

DECISION = "decision"
"""The temperature that is chosen for the decision at hand, from the true counts."""

_GRID = (0.0, 1e-3, 3e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1.0)  # parts of the data-free temperature
_FEW = (0.0, 0.1, 0.3, 0.6, 1.0)
_FINER = 12


def shrink(
    problem: Any,
    data: Any,
    noise: Any,
    *,
    temperature: float | str | None = None,
    unit: Unit | str | None = None,
    draws: int | None = None,
    rng: Any = None,
    progress: Callable[[int, int], object] | None = None,
) -> Mitigation:
    r"""Clamp noisy counts at 0, then lower small ones: :math:`\hat x = \max(0, \bar x - T / (\bar x + 1))`.

    The data-free :math:`T^*` makes the worst bias of a *count* smallest. For an allotment it can be worse
    than the clamp alone, because it lowers every count and large ones least. So another :math:`T` is offered,
    chosen for the decision at hand.

    **Guarantee.** That of the plain release: post-processing. With a temperature chosen from the true counts
    there is none; choose it on an older or public table to use it.

    Parameters
    ----------
    problem : Allotment or Rule
        What is decided.
    data : Entities, mapping or array
        The true counts.
    noise : Law or mechanism
        The noise on every count, of one law.
    temperature : float or "decision", optional
        :math:`T`, at least 0; :math:`T^*` by default. ``"decision"`` for the one at which the least part of
        the budget goes to the wrong entities, or, for a rule, alpha is smallest.
    unit : {"replace one", "add or remove one"}, optional
        To be given with a law.
    draws, rng, progress
        For what has to be sampled.

    Examples
    --------
    >>> shares, counts = Allotment([1, 2, 1.5]), {"x": [3, 50, 800]}
    >>> data_free = shrink(shares, counts, Laplace(10), unit="add or remove one")
    >>> chosen = shrink(shares, counts, Laplace(10), temperature="decision", unit="add or remove one")
    >>> f"{data_free.moved:.5f} {chosen.moved:.5f}"
    '0.00285 0.00150'
    """
    law = _one_law(problem, noise)
    best = _data_free_temperature(law)
    if temperature is None:
        chosen, choice = best, f"T = {best:.6g}, which depends on the noise alone"
    elif temperature == DECISION:
        chosen = decision_temperature(problem, data, noise, draws=draws, rng=rng)
        choice = f"T = {chosen:.6g}, chosen for this decision from the true counts, which no guarantee covers"
    else:
        chosen = Shrink(temperature).T  # type: ignore[arg-type]
        choice = f"T = {chosen:.6g}"
    name = {None: "shrink", DECISION: "shrink for the decision"}.get(temperature, f"shrink, T = {chosen:.6g}")  # type: ignore[arg-type]
    words = f"Counts below 0 set to 0, and small ones lowered, with {choice}; T* for counts is {best:.6g}."
    release = plain_release(
        problem,
        data,
        noise,
        unit=unit,
        post=[Shrink(chosen)],
        name=name,
        words=words,
        draws=draws,
        rng=rng,
        progress=progress,
    )
    if temperature != DECISION:
        return release
    return replace(release, guarantee=withdraw_guarantee(release.guarantee))


def decision_temperature(
    problem: Any, data: Any, noise: Any, *, draws: int | None = None, rng: Any = None
) -> float:
    """Return the temperature, from 0 to the data-free one, that serves this decision best.

    For an allotment: the least part of the budget moved. Whole-numbered noise is taken for real noise in the
    search, which changes the temperature by less than a part in a thousand. For a rule: the smallest alpha of
    five temperatures.

    Parameters
    ----------
    problem, data, noise, draws, rng
        As for :func:`shrink`.
    """
    law = _one_law(problem, noise)
    best = _data_free_temperature(law)
    if isinstance(problem, Allotment):
        moved = _moved_at(problem, data, law)
        return _minimize(moved, best)
    alphas = [
        bias(problem, data, noise, post=[Shrink(best * part)], draws=draws, rng=rng).alpha for part in _FEW
    ]
    return best * _FEW[int(np.argmin(alphas))]


@functools.lru_cache(maxsize=64)
def _data_free_temperature(law: Law) -> float:
    return postprocess.optimal_temperature(law)


def _minimize(function: Callable[[float], float], most: float) -> float:
    """Return where a function is smallest: on a grid first, then between the neighbours of its best point."""
    grid = [most * point for point in _GRID]
    values = [function(point) for point in grid]
    place = int(np.argmin(values))
    low, high = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
    finer = [*np.linspace(low, high, _FINER).tolist(), grid[place]]
    return float(min(finer, key=function))


def _moved_at(problem: Allotment, data: Any, law: Law) -> Callable[[float], float]:
    """Return the part of the budget that is moved at a temperature, to the second order."""
    plain = bias(problem, data, law)
    counts, truth = plain.counts[problem.count].astype(np.float64), plain.truth.astype(np.float64)
    distinct, back = np.unique(counts, return_inverse=True)
    real = _real_law(law)

    def moved(temperature: float) -> float:
        raised = (
            postprocess.shrink_bias(distinct, real, T=temperature)
            if temperature
            else postprocess.clamp_bias(distinct, real)
        )
        means = problem.weights * (counts + raised[back])
        return float(np.abs(means / means.sum() - truth + plain.bias).sum()) / 2

    return moved


def _real_law(law: Law) -> Law:
    if isinstance(law, DiscreteLaplace):
        return Laplace(law.scale)
    return Gaussian(law.squared_scale) if isinstance(law, DiscreteGaussian) else law


def _one_law(problem: Any, noise: Any) -> Law:
    laws = set(noise_of(noise, inputs=problem.inputs).values())
    if len(laws) > 1:
        must_be = "of one law for all inputs, for which one temperature is meant"
        raise InvalidParameterError("noise", owner="shrink", must_be=must_be, got="several laws")
    return laws.pop()


MITIGATION = MitigationKind(
    name="shrink",
    title="Cut of small counts",
    decide=shrink,
    problems=("rule", "allotment"),
    does="clamps, then lowers small counts",
    guarantee="the same",
    cost="shares may be further off than after the clamp",
    parameters=(MitigationParameter("temperature", "how much small counts are lowered"),),
    variants=({"temperature": None}, {"temperature": DECISION}),
)
