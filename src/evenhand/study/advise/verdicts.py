"""Whether what was expected came true in a study: each prediction against one paired interval.

Which runs a prediction is checked with is fixed beforehand, so that no verdict is picked from many:

- about the gap, the reports, and which group moves: the mean, within each repeat, over all settings that
  protect every sensitive column at the smallest epsilon, by GRR if the study has it: the claims are about it;
- several columns rather than one: GRR, over all epsilons;
- combined or independent: GRR, at the largest epsilon if it is large, and at the smallest if it is small.

A prediction *holds* if the interval lies on its side, *does not hold* if it lies on the other, and else it
*cannot be told*. That reports leave the same gap holds if the whole interval lies within :data:`ALIKE`. The
intervals hold together at the level that is asked for (Bonferroni over the predictions that are made).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.report.words import epsilon_of, epsilon_words, plain
from evenhand.study.advise.predictions import LARGE, NO_GAP, SMALL
from evenhand.study.advise.wording import say
from evenhand.study.page.wording import change
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.study.advise.predictions import Prediction
    from evenhand.study.results.base import ResultData
    from evenhand.study.results.estimates import Estimated

    Runs = NDArray[np.float64]

HOLDS, HOLDS_NOT, UNTOLD = "holds", "does not hold", "cannot be told"
"""The verdicts."""

ALIKE = 0.02
"""Gaps that differ by no more than this are alike."""

_DIGITS = 12


@dataclass(frozen=True)
class Checked:
    """A prediction and what a study says of it.

    Parameters
    ----------
    prediction : Prediction
    verdict : {"holds", "does not hold", "cannot be told"}
    finding : str
        What was seen, in a sentence with its figures.
    estimate : Estimated, optional
        The paired contrast that decides; None where the study has no runs to check it with.
    """

    prediction: Prediction
    verdict: str
    finding: str
    estimate: Estimated | None = None


def checked(predictions: Sequence[Prediction], results: ResultData, *, level: float) -> tuple[Checked, ...]:
    """Return every prediction with its verdict; all of them together hold at `level`."""
    level = 1 - (1 - level) / max(1, sum(each.is_sure for each in predictions))
    checks: dict[str, Callable[[Prediction, ResultData, float], Checked]] = {
        "gap": _gap,
        "reports": _reports,
        "accuracy": _accuracy,
        "rates": _rates,
        "several": _several,
        "combined": _combined,
        "small-epsilon": _small_epsilon,
    }
    return tuple(checks[each.about](each, results, level) for each in predictions)


def full_settings(results: ResultData) -> tuple[Setting, ...]:
    """Return the settings that protect every sensitive column."""
    alone = len(results.facts.schema.sensitive) < 2
    return tuple(
        each
        for each in results.settings
        if each.is_protected and (alone or each.option("strategy") != "single")
    )


# --- what is compared -----------------------------------------------------------------------------


def _at(settings: Sequence[Setting], epsilon: Fraction) -> list[Setting]:
    return [each for each in settings if each.epsilon == epsilon]


def _epsilons(settings: Sequence[Setting]) -> list[Fraction]:
    return sorted({each.epsilon for each in settings if each.epsilon is not None})


def _grr(results: ResultData, *strategies: str) -> list[Setting]:
    return [
        each for each in results.settings if each.mechanism == "grr" and each.option("strategy") in strategies
    ]


def _measure(results: ResultData, settings: Sequence[Setting], name: str = "sp_gap") -> Runs:
    """Return the mean over settings of a measure in each repeat; NaN if one of them has no value."""
    runs = results.arrays.of_measures[_places(results, settings), :, results.arrays.measures.index(name)]
    return np.asarray(runs.mean(axis=0))


def _rate(results: ResultData, settings: Sequence[Setting], group: str, name: str) -> Runs:
    """Return how much a rate of a group changes from unprotected to the mean over settings, by repeat."""
    arrays = results.arrays
    of_rate = arrays.of_groups[:, :, arrays.groups.index(group), arrays.rates.index(name)]
    return np.asarray(of_rate[_places(results, settings)].mean(axis=0) - of_rate[results.place(Setting())])


def _places(results: ResultData, settings: Sequence[Setting]) -> list[int]:
    return [results.place(each) for each in settings]


def _estimate(results: ResultData, runs: Runs, level: float) -> Estimated:
    exact = np.round(runs, _DIGITS)  # means over settings that are equal may differ by rounding
    return estimated(results, exact, level=level, kind="seeds", owner="advise")


def _judge_contrast(found: Estimated, *, wanted: int) -> str:
    """Return the verdict on a contrast that should lie above zero (1) or below it (-1)."""
    if not found.is_clear:
        return UNTOLD
    return HOLDS if (found.value > 0) == (wanted > 0) else HOLDS_NOT


def _check_contrast(
    prediction: Prediction, found: Estimated, sentence: str, *, wanted: int, verdict: str | None = None
) -> Checked:
    """Return a verdict with its sentence; a prediction that was not made has none."""
    if not found.has_interval:
        said = f"{sentence}{say('check.no_interval', note=found.note)}"
        return Checked(prediction, UNTOLD, said, found)
    reached = _judge_contrast(found, wanted=wanted) if verdict is None else verdict
    return Checked(prediction, reached if prediction.is_sure else UNTOLD, sentence, found)


def _where(results: ResultData, settings: Sequence[Setting]) -> str:
    """Return which runs are meant, as the end of a sentence."""
    epsilon = _epsilons(settings)[0]
    slots = {"settings": len(settings), "repeats": results.plan.repeats}
    return say("check.where", at=epsilon_words(epsilon), **slots)


def _strongest(results: ResultData) -> list[Setting]:
    """Return the settings that protect every sensitive column at the smallest epsilon, GRR's if there are."""
    full = full_settings(results)
    grr = [each for each in full if each.mechanism == "grr"] or full
    return _at(grr, _epsilons(grr)[0])


# --- one check for each prediction ----------------------------------------------------------------


def _gap(prediction: Prediction, results: ResultData, level: float) -> Checked:
    settings = _strongest(results)
    runs = _measure(results, settings) - _measure(results, [Setting()])
    found = _estimate(results, runs, level)
    sentence = say("check.gap", change=change(found, unit=" points"), where=_where(results, settings))
    return _check_contrast(prediction, found, sentence, wanted=-1 if prediction.expects == "narrower" else 1)


def _reports(prediction: Prediction, results: ResultData, level: float) -> Checked:
    settings = _strongest(results)
    arrays = results.arrays
    true, reported = (
        np.abs(arrays.of_data[_places(results, settings), :, arrays.data.index(name)]).mean(axis=0)
        for name in ("true", "reported")
    )
    found = _estimate(results, reported - true, level)
    sentence = say("check.reports", change=change(found, unit=" points"), where=_where(results, settings))
    known = true[np.isfinite(true)]
    if known.size and known.mean() <= NO_GAP:  # the size of a difference of noise is above zero
        return Checked(prediction, UNTOLD, f"{sentence}{say('check.reports_small')}", found)
    return _check_contrast(prediction, found, sentence, wanted=-1)


def _accuracy(prediction: Prediction, results: ResultData, level: float) -> Checked:
    settings = _strongest(results)
    ahead, behind = prediction.groups
    losses = [-_rate(results, settings, group, "accuracy") for group in (ahead, behind)]
    found = _estimate(results, losses[0] - losses[1], level)
    lost = [change(_estimate(results, -each, level), unit=" points") for each in losses]
    names = {"ahead": plain(ahead), "behind": plain(behind), "where": _where(results, settings)}
    difference = change(found, unit=" points")
    sentence = say("check.accuracy", first=lost[0], second=lost[1], difference=difference, **names)
    return _check_contrast(prediction, found, sentence, wanted=1 if prediction.expects == "ahead" else -1)


def _rates(prediction: Prediction, results: ResultData, level: float) -> Checked:
    """Check which group moved more.

    A gap narrows as the one rises and the other falls; the sum of both changes says which did more.
    """
    settings = _strongest(results)
    ahead, behind = prediction.groups
    moved = [_rate(results, settings, group, "selection") for group in (ahead, behind)]
    nearer = _estimate(results, moved[1] - moved[0], level)
    found = _estimate(results, moved[0] + moved[1], level)
    told = [change(_estimate(results, each, level), unit=" points") for each in moved]
    names = {"ahead": plain(ahead), "behind": plain(behind), "where": _where(results, settings)}
    total = change(found, unit=" points")
    sentence = say("check.rates", first=told[0], second=told[1], sum=total, **names)
    verdict = None
    if nearer.is_clear and nearer.value < 0:
        verdict = HOLDS_NOT
        sentence += say("check.rates_apart")
    elif not nearer.is_clear:
        verdict = UNTOLD
        sentence += say("check.rates_unclear")
    return _check_contrast(
        prediction, found, sentence, wanted=-1 if prediction.expects == "ahead" else 1, verdict=verdict
    )


def _several(prediction: Prediction, results: ResultData, level: float) -> Checked:
    all_, one = _grr(results, "independent", "combined"), _grr(results, "single")
    shared = sorted(set(_epsilons(all_)) & set(_epsilons(one)))
    if not shared:
        return Checked(prediction, UNTOLD, say("check.untried_single"))
    contrasts = [
        _measure(results, _at(all_, epsilon)) - _measure(results, _at(one, epsilon)) for epsilon in shared
    ]
    found = _estimate(results, np.mean(contrasts, axis=0), level)
    epsilons = ", ".join(epsilon_of(each) for each in shared)
    slots = {"change": change(found, unit=" points"), "repeats": results.plan.repeats}
    sentence = say("check.several", epsilons=epsilons, **slots)
    return _check_contrast(prediction, found, sentence, wanted=-1)


def _strategies(results: ResultData, epsilon: Fraction, level: float) -> tuple[Estimated, str]:
    """Return combined minus independent, and the sentence."""
    both = [_at(_grr(results, each), epsilon) for each in ("combined", "independent")]
    found = _estimate(results, _measure(results, both[0]) - _measure(results, both[1]), level)
    slots = {"change": change(found, unit=" points"), "repeats": results.plan.repeats}
    return found, say("check.strategies", at=epsilon_words(epsilon), **slots)


def _both_epsilons(results: ResultData) -> list[Fraction]:
    combined, independent = (_epsilons(_grr(results, each)) for each in ("combined", "independent"))
    return sorted(set(combined) & set(independent))


def _combined(prediction: Prediction, results: ResultData, level: float) -> Checked:
    tried = [each for each in _both_epsilons(results) if each >= LARGE]
    if not tried:
        return Checked(prediction, UNTOLD, say("check.untried_large", large=LARGE))
    found, sentence = _strategies(results, tried[-1], level)
    return _check_contrast(prediction, found, sentence, wanted=-1 if prediction.expects == "combined" else 1)


def _small_epsilon(prediction: Prediction, results: ResultData, level: float) -> Checked:
    tried = [each for each in _both_epsilons(results) if each <= SMALL]
    if not tried:
        return Checked(prediction, UNTOLD, say("check.untried_small", small=SMALL))
    found, sentence = _strategies(results, tried[0], level)
    verdict = UNTOLD
    if found.low is not None and found.high is not None:
        if found.low >= -ALIKE and found.high <= ALIKE:
            verdict = HOLDS
            sentence += say("check.within", alike=100 * ALIKE)
        elif found.low > ALIKE or found.high < -ALIKE:
            verdict = HOLDS_NOT
    return _check_contrast(prediction, found, sentence, wanted=0, verdict=verdict)
