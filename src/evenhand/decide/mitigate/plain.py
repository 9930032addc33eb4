"""The plain release: noise on the counts, and the decision made from them as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.mitigate.mitigation import Mitigation, error_of, law_of, mitigated, promise, seeded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.decide.result.decided import Decided
    from evenhand.privacy.guarantees.units import Unit
    from evenhand.privacy.randomness import SeededSource

__all__ = ["plain_release", "release_error"]


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
    from evenhand.decide.result.bias import bias  # noqa: PLC0415 - brings the tables

    guarantee = promise(problem, noise, unit, owner="plain_release")
    source = seeded(rng, owner="plain_release")
    decided = bias(problem, data, noise, post=post, draws=draws, rng=source, progress=progress)
    return mitigated(name, words, guarantee, decided, release_error(problem, decided, noise, post, source))


def release_error(
    problem: Any, decided: Decided, noise: Any, post: Sequence[Any] | None, source: SeededSource
) -> tuple[float, float]:
    """Return the mean absolute error of decisions from noisy counts, and its standard error."""
    if not isinstance(problem, Allotment):
        return float(np.abs(decided.bias).mean()), 0.0
    counts, law = decided.counts[problem.count].astype(np.float64), law_of(problem, noise)

    def shares(rows: int, source: SeededSource) -> Any:
        noisy = counts + law.draw(size=(rows, counts.size), source=source)
        return problem.shares(np.array([_after(row, post, source) for row in noisy]) if post else noisy)

    return error_of(shares, decided.truth, source=source)


def _after(row: Any, post: Sequence[Any], source: SeededSource) -> Any:
    for step in post:
        row = step.apply(row, source=source)
    return row
