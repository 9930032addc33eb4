r"""Bias and flips by simulation, for what no formula covers; always with standard errors.

Releases are drawn from a seeded source, in chunks, so memory stays bounded whatever the number of draws. They
are simulations: a release itself is drawn once, from the secure source, elsewhere.

Shares are drawn in pairs, noise and its opposite, since every law here is symmetric. What is odd in the noise
then cancels in each pair, above all the first-order term, which is far larger than the bias and hides it in
independent draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._validate import integer
from evenhand.decide.allotment.allotment import Allotment
from evenhand.errors import InvalidParameterError
from evenhand.privacy.randomness import SeededSource, source_from
from evenhand.release.mechanisms.noise import clip_counts
from evenhand.release.postprocess.steps import Cut, Integral, Nonnegative, Shrink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from evenhand.decide.allotment.allotment import Formula
    from evenhand.decide.language.rule import Rule
    from evenhand.privacy.laws import Law

    Values = NDArray[np.float64]
    Progress = Callable[[int, int], object]

DRAWS = 10_000
"""How many releases are drawn by default."""

MOST_DRAWS = 10**9
"""The most releases that may be drawn."""

_CELLS = 1 << 18  # numbers of one input drawn at a time


@dataclass(frozen=True, eq=False)
class SampledFigures:
    """Hold what draws say about each entity.

    Parameters
    ----------
    bias, variance, standard_error : array
        Average decision or share minus the true one; the variance of one draw; the standard error of the
        bias. That of a rule is never 0: one more flip and one more draw without are added.
    draws : int
        How many releases were drawn.
    unpaid : int
        In how many of them there were no shares, because the total was 0.
    nonpositive : int
        In how many of them the total was 0 or below.
    """

    bias: Values
    variance: Values
    standard_error: Values
    draws: int
    unpaid: int = 0
    nonpositive: int = 0


def sampled_rule(
    rule: Rule,
    columns: Mapping[str, NDArray[Any]],
    laws: Mapping[str, Law],
    *,
    post: Any = None,
    draws: int | None = None,
    rng: Any = None,
    progress: Progress | None = None,
) -> SampledFigures:
    """Draw releases of the counts and count how often the rule comes out other than on the true ones.

    Parameters
    ----------
    rule : Rule
        The decision.
    columns : mapping of str to array
        The true counts by input.
    laws : mapping of str to Law
        The noise by input.
    post : steps, or mapping of str to steps, optional
        What is done to the noisy counts of every input, or of each.
    draws : int, optional
        How many releases; 10,000 by default.
    rng : int, Generator or SeededSource, optional
        What the draws come from; seed 0 by default.
    progress : callable, optional
        Called with the number of draws done and that of all, after each chunk.

    Examples
    --------
    >>> from evenhand.decide.language.terms import threshold
    >>> from evenhand.privacy.laws import DiscreteLaplace
    >>> rule = threshold("x", 10)
    >>> drawn = sampled_rule(rule, {"x": np.array([12, 9])}, {"x": DiscreteLaplace(2)}, draws=4_000)
    >>> bool(abs(drawn.bias[0] + 0.1389) < 4 * drawn.standard_error[0])
    True
    """
    number, source = _check_draws(draws, rng)
    steps = {name: steps_for_input(post, name) for name in rule.inputs}
    counts = {name: clip_counts(np.asarray(columns[name])) for name in rule.inputs}
    truth = rule.holds(counts)
    flips = np.zeros(truth.size, dtype=np.int64)
    for rows in _chunks(number, truth.size, progress):
        noisy = {
            name: apply_steps(
                laws[name].draw(size=(rows, truth.size), source=source) + counts[name], steps[name], source
            )
            for name in rule.inputs
        }
        flips += (rule.holds(noisy) != truth).sum(axis=0)
    flip, padded = flips / number, (flips + 1) / (number + 2)
    return SampledFigures(
        bias=np.where(truth, -flip, flip),
        variance=flip * (1 - flip),
        standard_error=np.sqrt(padded * (1 - padded) / number),
        draws=number,
    )


def sampled_shares(
    problem: Allotment | Formula,
    counts: NDArray[Any],
    law: Law,
    *,
    post: Any = None,
    draws: int | None = None,
    rng: Any = None,
    progress: Progress | None = None,
) -> SampledFigures:
    """Draw releases of the counts in pairs and average what each entity gets; parameters as `sampled_rule`.

    In a draw whose weighted total is 0, or whose formula has no finite value, there are no shares. After a
    step that counts as shares of 0: nobody is paid. Without steps it counts as no error, since exact figures
    leave a total of 0 out. An odd number of draws is made even.

    Examples
    --------
    >>> from evenhand.decide.allotment.allotment import Allotment
    >>> from evenhand.privacy.laws import Laplace
    >>> shares = Allotment([1, 2, 1.5])
    >>> drawn = sampled_shares(shares, np.array([30, 50, 80]), Laplace(2), draws=4_000)
    >>> exact = np.array([-1.6604364767317e-05, -1.4155275772298e-04, 1.5815712249151e-04])
    >>> bool((abs(drawn.bias - exact) < 4 * drawn.standard_error).all())
    True
    """
    number, source = _check_draws(draws, rng)
    pairs = (number + 1) // 2
    steps = steps_for_input(post, problem.count)
    true = clip_counts(np.asarray(counts))
    truth = problem.shares(true)
    instead = 0.0 if steps else truth
    total, squares, spread = np.zeros(true.size), np.zeros(true.size), np.zeros(true.size)
    unpaid = nonpositive = 0
    for rows in _chunks(pairs, 2 * true.size, progress, draws_per_row=2):
        noise = law.draw(size=(rows, true.size), source=source)
        errors = []
        for draw in (noise, -noise):
            published = apply_steps(true + draw, steps, source)
            shares, lost = shares_of_rows(problem, published, instead)
            errors.append(shares - truth)
            unpaid += lost
            if isinstance(problem, Allotment):
                nonpositive += int((np.asarray(problem.total(published)) <= 0).sum())
        means = (errors[0] + errors[1]) / 2
        total += means.sum(axis=0)
        squares += (means**2).sum(axis=0)
        spread += (errors[0] ** 2 + errors[1] ** 2).sum(axis=0)
    bias = total / pairs
    of_pairs = np.maximum(squares / pairs - bias**2, 0.0) * pairs / max(1, pairs - 1)
    variance = np.maximum(spread / (2 * pairs) - bias**2, 0.0)
    return SampledFigures(bias, variance, np.sqrt(of_pairs / pairs), 2 * pairs, unpaid, nonpositive)


def steps_for_input(post: Any, name: str) -> tuple[Any, ...]:
    """Return the steps for the counts of one input.

    Parameters
    ----------
    post : None, a step, a sequence of steps, or a mapping of str to one of these
        What is done to noisy counts: for every input, or by input; an input left out is left as it is.
    name : str
        The input.
    """
    chosen = post.get(name) if isinstance(post, Mapping) else post
    if chosen is None:
        return ()
    steps = tuple(chosen) if isinstance(chosen, list | tuple) else (chosen,)
    if not all(callable(getattr(step, "apply", None)) and hasattr(step, "words") for step in steps):
        must_be = "post-processing steps, such as [Nonnegative()], for all inputs or by input"
        raise InvalidParameterError("post", owner="bias", must_be=must_be, got="something else")
    return steps


def _check_draws(draws: object, rng: Any) -> tuple[int, SeededSource]:
    number = DRAWS if draws is None else integer("draws", draws, owner="bias", low=4, high=MOST_DRAWS)
    source = SeededSource(0) if rng is None else source_from(rng)
    if not isinstance(source, SeededSource):
        must_be = "a seed or a seeded source, because a release is drawn once and not in order to measure it"
        raise InvalidParameterError("rng", owner="bias", must_be=must_be, got=source)
    return number, source


def _chunks(
    number: int, size: int, progress: Progress | None = None, *, draws_per_row: int = 1
) -> Iterator[int]:
    """Yield how many rows to draw at a time; it depends on the sizes alone, so that reruns are the same."""
    rows = max(1, _CELLS // max(1, size))
    for start in range(0, number, rows):
        yield min(rows, number - start)
        if progress is not None:
            progress(draws_per_row * min(start + rows, number), draws_per_row * number)


def apply_steps(noisy: NDArray[Any], steps: Sequence[Any], source: SeededSource) -> NDArray[Any]:
    """Apply the steps to each release; those that look at one count at a time take all at once."""
    for step in steps:
        if type(step) in (Nonnegative, Integral, Shrink, Cut):
            noisy = step.apply(noisy, source=source)
        else:
            noisy = np.stack([step.apply(row, source=source) for row in noisy])
    return noisy


def shares_of_rows(problem: Allotment | Formula, rows: NDArray[Any], instead: Any) -> tuple[Values, int]:
    """Return the shares of each row, others where there are no finite ones, and in how many rows that is."""
    with np.errstate(all="ignore"):
        shares = np.array(problem.shares(rows))
    unpaid = ~np.isfinite(shares).all(axis=1)
    shares[unpaid] = instead
    return shares, int(unpaid.sum())
