"""Tell what a classifier does to each group, in people of 1,000: selected, refused or judged wrongly."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand.answer.effects import EVERYBODY, EffectTable, read_matters
from evenhand.datasets.registry import describe
from evenhand.study.tasks.effects.options import BASELINE, group_runs, mean_of, measure_runs, see

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from evenhand.answer.effects import Observation, Option
    from evenhand.measure.repeat_means import Spread
    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.plan import Plan
    from evenhand.study.results.base import ResultData

    Runs = NDArray[np.float64]

SPREADS: Mapping[str, Spread] = {
    "selected": "selection, change",
    "wrongly_refused": "wrongly refused, change",
    "wrongly_selected": "wrongly selected, change",
    "wrong": "accuracy, change",
}
"""How the changes of each effect are spread over repeats, see :mod:`evenhand.measure.repeat_means`."""


def classifier_effects(
    results: ResultData, options: Iterable[Option], page: Setting, *, test: float | None
) -> EffectTable:
    """Return the table of effects of a study of classifiers; for `test` see :func:`observe_classifiers`.

    To be selected hurts where the plan says so, or where it is known of the data set.
    """
    return EffectTable(
        tuple(options),
        tuple(observe_classifiers(results, test=test)),
        str(page),
        margins=results.facts.group_margins,
        unwanted=is_unwanted(results.plan),
        matters=read_matters(results.plan.matters, owner="Plan"),
    )


def is_unwanted(plan: Plan) -> bool:
    """Return whether to be selected hurts, as the plan says, or as is known of its data set."""
    data = plan.data
    known = data is not None and data.dataset is not None and describe(data.dataset).unwanted
    return bool(plan.task.unwanted) or known  # type: ignore[attr-defined] # a classifier's


def observe_classifiers(results: ResultData, *, test: float | None) -> Iterator[Observation]:
    """Yield what every setting does to every group and to everybody; `test` is the share of rows of a test.

    Without `test` every person is tested in each repeat, as by folds.
    """
    sizes = _sizes(results)
    seen_share = 1.0 if test is None else 1 - (1 - test) ** results.plan.repeats
    everybody = results.facts.groups
    for setting in results.settings:
        for group in sizes:
            yield from _observe(results, setting, group, (group,), sizes[group], tested=seen_share)
        people = float(sum(sizes[group] for group in everybody))
        yield from _observe(results, setting, EVERYBODY, everybody, people, tested=seen_share)
        yield _in_all(results, setting, people)
        yield from _discrimination(results, setting, people)


def _observe(
    results: ResultData, setting: Setting, name: str, groups: tuple[str, ...], people: float, *, tested: float
) -> Iterator[Observation]:
    after, due = (_people_of_1000(results, each, groups) for each in (setting, BASELINE))
    base = np.nan_to_num(mean_of(due["qualified"])) / 1000
    for effect, spread in SPREADS.items():
        behind = people * base if effect == "wrongly_refused" else people
        rate, due_rate = (
            mean_of(each[effect]) / base if effect == "wrongly_refused" and base > 0 else math.nan
            for each in (after, due)
        )
        yield see(
            setting, name, effect, after[effect], due[effect], behind,
            tested=behind * tested, spread=spread, rate=rate, due_rate=due_rate,
        )  # fmt: skip


def _people_of_1000(results: ResultData, setting: Setting, groups: tuple[str, ...]) -> dict[str, Runs]:
    """Return, by repeat, how many of 1,000 tested people of some groups are treated in each way."""
    people, base, selection, tpr, fpr = (
        np.array([group_runs(results, setting, group, rate) for group in groups])
        for rate in ("people", "base_rate", "selection", "tpr", "fpr")
    )
    missed = base * np.where(base > 0, 1 - tpr, 0.0)
    flagged = (1 - base) * np.where(base < 1, fpr, 0.0)
    known = np.where(people > 0, people, 0.0)
    with np.errstate(invalid="ignore"):
        return {
            name: 1000 * np.where(known > 0, known * share, 0.0).sum(axis=0) / known.sum(axis=0)
            for name, share in {
                "selected": selection,
                "wrongly_refused": missed,
                "wrongly_selected": flagged,
                "wrong": missed + flagged,
                "qualified": base,
            }.items()
        }


def _in_all(results: ResultData, setting: Setting, people: float) -> Observation:
    """Return how many people of the file are selected in all."""
    after, due = (
        people / 1000 * _people_of_1000(results, each, results.facts.groups)["selected"]
        for each in (setting, BASELINE)
    )
    return see(setting, EVERYBODY, "in_all", after, due, people)


def _discrimination(results: ResultData, setting: Setting, people: float) -> Iterator[Observation]:
    """Yield how well a classifier tells people apart, in points."""
    if "auc" in results.arrays.measures:
        after, due = (100 * measure_runs(results, each, "auc") for each in (setting, BASELINE))
        yield see(setting, EVERYBODY, "auc", after, due, people, spread="tailed")
    after, due = (_separation(results, each) for each in (setting, BASELINE))
    yield see(setting, EVERYBODY, "separation", after, due, people)


def _separation(results: ResultData, setting: Setting) -> Runs:
    """Return the true minus the false positive rate of everybody, in points."""
    shares = _people_of_1000(results, setting, results.facts.groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        missed = shares["wrongly_refused"] / shares["qualified"]
        flagged = shares["wrongly_selected"] / (1000 - shares["qualified"])
    points: Runs = 100 * (1 - missed - flagged)
    return points


def _sizes(results: ResultData) -> dict[str, float]:
    """Return how many people of the file are in each group and in each margin of a crossing."""
    facts = results.facts
    sizes = {group: float(size) for group, size in zip(facts.groups, facts.people, strict=True)}
    for group, margins in facts.group_margins.items():
        for margin in margins:
            sizes[margin] = sizes.get(margin, 0.0) + sizes[group]
    return sizes
