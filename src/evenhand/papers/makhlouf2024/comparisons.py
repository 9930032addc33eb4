"""Comparisons behind the claims of makhlouf2024: which settings, which group, which difference."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand.papers.comparisons import group_rates, mean_of, of_each, values
from evenhand.papers.makhlouf2024.plans import ADULT, COMPAS, STRATEGIES, SYNTHETIC
from evenhand.papers.rules import MARGIN
from evenhand.study.plan.cells import UNPROTECTED, Setting
from evenhand.study.tasks.shared.report_settings import report_setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evenhand.papers.comparisons import Runs
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

LIMITS = {
    "all": (0.0, np.inf),
    "strong": (0.0, 2.0),
    "strict": (0.0, 0.5),
    "strictest": (0.0, 0.1),
    "weak": (3.0, np.inf),
}
"""Epsilons by how private they are.

The paper sees disparity gone at 2 under combLDP. Up to 0.5 are its "strict" guarantees, where indLDP and
combLDP are to be alike; from 3 on its "low" guarantees, where the two are to differ. At 0.1, the strictest,
disparity is gone under sLDP too.
"""


def setting_of(strategy: str, epsilon: str | float | Fraction) -> Setting:
    """Return a setting as the paper's plans have it.

    >>> str(setting_of("combined", 4)), str(setting_of("independent", "0.5"))
    ('GRR, combined, ε = 4', 'GRR, k-based split, ε = 0.5')
    """
    split = "k-based" if strategy == "independent" else UNPROTECTED
    return report_setting("grr", Fraction(str(epsilon)), split, strategy)


def chosen(
    results: Results, strategies: Sequence[str] = STRATEGIES, epsilons: str = "strong"
) -> list[Setting]:
    """Return the protected settings of some strategies with epsilons of one of :data:`LIMITS`."""
    least, most = LIMITS[epsilons]
    return [
        each
        for each in results.settings
        if each.epsilon is not None
        and each.option("strategy") in strategies
        and least <= each.epsilon <= most
    ]


def _amount(results: Results, setting: Setting, measure: str) -> Runs:
    """Return the size of a disparity in each repeat, whichever group it favours."""
    return np.abs(values(results, setting, measure))


def amount(results: Results, setting: Setting, measure: str) -> Estimated:
    """Return the mean size of a disparity."""
    return mean_of(results, _amount(results, setting, measure))


def reductions(
    results: Results, settings: Sequence[Setting], measures: Sequence[str], *, other: str | None = None
) -> list[Runs]:
    """Return by how much disparities are smaller than unprotected, or than under another strategy."""

    def smaller(setting: Setting, measure: str) -> Runs:
        against = Setting() if other is None else setting_of(other, setting.epsilon or 0)
        return _amount(results, against, measure) - _amount(results, setting, measure)

    return [smaller(setting, measure) for setting in settings for measure in measures]


def larger_than(results: Results, _: Sequence[Setting], measures: Sequence[str]) -> list[Runs]:
    """Return by how much the first disparity of the unprotected model exceeds the second."""
    first, second = (_amount(results, Setting(), each) for each in measures)
    return [first - second]


def left_over(results: Results, settings: Sequence[Setting], measures: Sequence[str]) -> list[Runs]:
    """Return what is left of each disparity beyond the margin, at the last setting."""
    return [_amount(results, settings[-1], each) - MARGIN for each in measures]


def _apart(results: Results, setting: Setting, measure: str) -> Runs:
    """Return a disparity under indLDP minus that under combLDP at the same epsilon, signs kept."""
    combined = setting_of("combined", setting.epsilon or 0)
    return values(results, setting, measure) - values(results, combined, measure)


def _apart_either_way(results: Results, setting: Setting, measure: str) -> Runs:
    """Return the same difference in the direction in which its mean is positive."""
    runs = _apart(results, setting, measure)
    return runs if mean_of(results, runs).value >= 0 else -runs


def rate(results: Results, setting: Setting, group: int, name: str) -> Runs:
    """Return a rate of a group, one value per repeat."""
    return group_rates(results, setting, name)[:, group]


def change(results: Results, setting: Setting, group: int, name: str) -> Runs:
    """Return how far a rate of a group is from its unprotected value."""
    return rate(results, setting, group, name) - rate(results, Setting(), group, name)


def favoured(results: Results) -> int:
    """Return the group with more positive labels: what the paper's statements call privileged."""
    return int(np.argmax([np.nanmean(rate(results, Setting(), group, "base_rate")) for group in (0, 1)]))


def positive_rate(results: Results) -> float:
    """Return the share of people with a positive label."""
    people, rates = (
        np.array([np.nanmean(rate(results, Setting(), group, name)) for group in (0, 1)])
        for name in ("people", "base_rate")
    )
    return float((people * rates).sum() / people.sum())


def _changes(results: Results, settings: Sequence[Setting], rates: Sequence[str]) -> Iterator[list[Runs]]:
    """Yield the changes of group 0 and group 1, by setting and rate."""
    for setting in settings:
        for name in rates:
            yield [change(results, setting, group, name) for group in (0, 1)]


def _is_less(first: Runs, second: Runs) -> bool:
    """Return whether the first is less on average; a group without values counts as 0."""
    means = [np.nanmean(each) if np.isfinite(each).any() else 0.0 for each in (first, second)]
    return bool(means[0] < means[1])


def one_sided(
    results: Results, settings: Sequence[Setting], rates: Sequence[str], *, group: int | None = None
) -> list[Runs]:
    """Return by how much a group, by default the one that moves more, moves more than twice as far."""
    found = []
    for changes in _changes(results, settings, rates):
        sizes = [np.abs(each) for each in changes]
        more = int(_is_less(*sizes)) if group is None else group
        found.append(sizes[more] - 2 * sizes[1 - more])
    return found


def worst_drops(results: Results, settings: Sequence[Setting], rates: Sequence[str]) -> list[Runs]:
    """Return what the group that loses more on average loses of its accuracy and precision."""
    return [-both[int(_is_less(both[1], both[0]))] for both in _changes(results, settings, rates)]


def _is_skewed_to_0(results: Results) -> bool:
    return results.plan.name.split()[-1] in (SYNTHETIC[2], COMPAS[2], ADULT[2])


def _expected(results: Results) -> int:
    """Return the group that the paper expects to be affected more: see its statements."""
    return favoured(results) if _is_skewed_to_0(results) else 1 - favoured(results)


def drops(results: Results, settings: Sequence[Setting], rates: Sequence[str]) -> list[Runs]:
    """Return by how much accuracy and precision of the expected group drop more than the other's."""
    group = _expected(results)
    return [both[1 - group] - both[group] for both in _changes(results, settings, rates)]


def rises_or_falls(results: Results, settings: Sequence[Setting], rates: Sequence[str]) -> list[Runs]:
    """Return by how much rates of the expected group rise more than those of the other move at all.

    Where the outcome is skewed to 0, by how much they fall.
    """
    sign, group = -1 if _is_skewed_to_0(results) else 1, _expected(results)
    every = _changes(results, settings, rates)
    return [sign * both[group] - np.abs(both[1 - group]) for both in every]


def expected_moves_more(results: Results, settings: Sequence[Setting], rates: Sequence[str]) -> list[Runs]:
    """Return by how much further rates of the expected group move than those of the other."""
    group = _expected(results)
    return [np.abs(both[group]) - np.abs(both[1 - group]) for both in _changes(results, settings, rates)]


COMPARISONS: dict[str, Callable[..., list[Runs]]] = {
    "reductions": reductions,
    "growth": of_each(lambda results, own, each: -reductions(results, [own], [each])[0]),
    "larger_than": larger_than,
    "left_over": left_over,
    "apart": of_each(_apart),
    "apart_either_way": of_each(_apart_either_way),
    "one_sided": one_sided,
    "worst_drops": worst_drops,
    "drops": drops,
    "rises_or_falls": rises_or_falls,
    "expected_moves_more": expected_moves_more,
}
"""The comparisons by the name that claims have for them: results, settings and measures or rates."""
