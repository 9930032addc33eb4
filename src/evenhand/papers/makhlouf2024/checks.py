"""Checks of the numbers, findings and facts that makhlouf2024 states."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand import datasets
from evenhand.collect import GRR
from evenhand.collect.joint.split import split_budget
from evenhand.errors import DataSetNotFoundError
from evenhand.papers.claims import Checked, agree_if, cannot_check
from evenhand.papers.makhlouf2024.plans import (
    ADULT,
    COMPAS,
    EPSILONS,
    FOLDS,
    NAMES,
    PRECISION,
    REPEATS,
    STRATEGIES,
    SYNTHETIC,
)
from evenhand.papers.rules import (
    MARGIN,
    Control,
    alike,
    check_finding,
    fact,
    group_rates,
    mean_of,
    of_each,
    quoted,
    values,
)
from evenhand.papers.tables import check_published, estimate_measure
from evenhand.study.plan.cells import UNPROTECTED, Setting
from evenhand.study.profile.profiling import profile
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks.shared.report_settings import report_setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.measure.repeat_means import Estimated
    from evenhand.papers.claims import Evidence
    from evenhand.papers.trials import Values
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


def _amount(results: Results, setting: Setting, measure: str) -> Values:
    """Return the size of a disparity in each repeat, whichever group it favours."""
    return np.abs(values(results, setting, measure))


def amount(results: Results, setting: Setting, measure: str) -> Estimated:
    """Return the mean size of a disparity."""
    return mean_of(results, _amount(results, setting, measure))


def reductions(
    results: Results, settings: Sequence[Setting], measures: Sequence[str], *, other: str | None = None
) -> list[Values]:
    """Return by how much disparities are smaller than unprotected, or than under another strategy."""

    def smaller(setting: Setting, measure: str) -> Values:
        against = Setting() if other is None else setting_of(other, setting.epsilon or 0)
        return _amount(results, against, measure) - _amount(results, setting, measure)

    return [smaller(setting, measure) for setting in settings for measure in measures]


def larger_than(results: Results, _: Sequence[Setting], measures: Sequence[str]) -> list[Values]:
    """Return by how much the first disparity of the unprotected model exceeds the second."""
    first, second = (_amount(results, Setting(), each) for each in measures)
    return [first - second]


def left_over(results: Results, settings: Sequence[Setting], measures: Sequence[str]) -> list[Values]:
    """Return what is left of each disparity beyond the margin, at the last setting."""
    return [_amount(results, settings[-1], each) - MARGIN for each in measures]


def _apart(results: Results, setting: Setting, measure: str) -> Values:
    """Return a disparity under indLDP minus that under combLDP at the same epsilon, signs kept."""
    combined = setting_of("combined", setting.epsilon or 0)
    return values(results, setting, measure) - values(results, combined, measure)


def _apart_either_way(results: Results, setting: Setting, measure: str) -> Values:
    """Return the same difference in the direction in which its mean is positive."""
    runs = _apart(results, setting, measure)
    return runs if mean_of(results, runs).value >= 0 else -runs


def rate(results: Results, setting: Setting, group: int, name: str) -> Values:
    """Return a rate of a group, one value per repeat."""
    return group_rates(results, setting, name)[:, group]


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


def _of_changes(measure: Callable[..., Values]) -> Callable[..., list[Values]]:
    """Return a comparison made of one of how far a rate of group 0 and of group 1 is from unprotected."""

    def comparison(
        results: Results, settings: Sequence[Setting], rates: Sequence[str], **options: Any
    ) -> list[Values]:
        changes = [
            [rate(results, setting, group, name) - rate(results, Setting(), group, name) for group in (0, 1)]
            for setting in settings
            for name in rates
        ]
        return [measure(results, both, **options) for both in changes]

    return comparison


def _is_less(first: Values, second: Values) -> bool:
    """Return whether the first is less on average; a group without values counts as 0."""
    means = [np.nanmean(each) if np.isfinite(each).any() else 0.0 for each in (first, second)]
    return bool(means[0] < means[1])


def _is_skewed_to_0(results: Results) -> bool:
    return results.plan.name.split()[-1] in (SYNTHETIC[2], COMPAS[2], ADULT[2])


def _expected_first(results: Results, both: list[Values]) -> list[Values]:
    """Return the group first that the paper expects to be affected more: see its statements."""
    expected = favoured(results) if _is_skewed_to_0(results) else 1 - favoured(results)
    return [both[expected], both[1 - expected]]


def _one_sided(_: Results, both: list[Values], group: int | None = None) -> Values:
    """Return by how much a group, by default the one that moves more, moves more than twice as far."""
    sizes: list[Values] = [np.abs(each) for each in both]
    more = int(_is_less(*sizes)) if group is None else group
    return sizes[more] - 2 * sizes[1 - more]


def _worst_drop(_: Results, both: list[Values]) -> Values:
    """Return what the group that loses more on average loses of its accuracy and precision."""
    return -both[int(_is_less(both[1], both[0]))]


def _drop(results: Results, both: list[Values]) -> Values:
    """Return by how much accuracy and precision of the expected group drop more than the other's."""
    expected, other = _expected_first(results, both)
    return other - expected


def _rise_or_fall(results: Results, both: list[Values]) -> Values:
    """Return by how much the expected group rises, or falls if skewed to 0, more than the other moves."""
    expected, other = _expected_first(results, both)
    return (-expected if _is_skewed_to_0(results) else expected) - np.abs(other)


def _expected_moves_more(results: Results, both: list[Values]) -> Values:
    """Return by how much further the expected group moves than the other."""
    expected, other = _expected_first(results, both)
    return np.abs(expected) - np.abs(other)


COMPARISONS: dict[str, Callable[..., list[Values]]] = {
    "reductions": reductions,
    "growth": of_each(lambda results, own, each: -reductions(results, [own], [each])[0]),
    "larger_than": larger_than,
    "left_over": left_over,
    "apart": of_each(_apart),
    "apart_either_way": of_each(_apart_either_way),
    "one_sided": _of_changes(_one_sided),
    "worst_drops": _of_changes(_worst_drop),
    "drops": _of_changes(_drop),
    "rises_or_falls": _of_changes(_rise_or_fall),
    "expected_moves_more": _of_changes(_expected_moves_more),
}
"""The comparisons by the name that claims have for them: results, settings and measures or rates."""


_BALANCED = 0.1
_NEAR = 0.005
_CLOSE = 1e-6
_READ = {("independent", "4"): -0.09, ("combined", "4"): -0.27}


def number(
    evidence: Evidence, study: str, measure: str, paper: float, *, at: Sequence[str] = (), signed: bool = True
) -> Checked:
    """Check a number, printed with two decimals; some are printed without their sign.

    `at` has the strategy and its epsilon; without it nothing is protected. EOD and PED are printed from the
    last fold of each run; where published runs do not tell their spread, 20 folds count as two runs of ten.
    """
    results, setting = evidence.studies[study], setting_of(*at) if at else Setting()
    if setting not in results.settings:
        return cannot_check(case="none", epsilon=float(setting.epsilon or 0))
    of = estimate_measure if signed else amount
    ours, none = (of(results, each, measure) for each in (setting, Setting()))
    known = evidence.published
    spread = None if known is None else known.spread(study, setting, measure)
    control = None if setting == Setting() else Control(none.value)
    last_fold = spread is None and measure in {"eod", "ped"}
    trials = REPEATS / FOLDS if last_fold else None
    found = quoted(ours, paper, decimals=2, spread=spread, control=control, trials=trials)
    return replace(found, values={"reading": _reading(evidence)})


def _reading(evidence: Evidence) -> float:
    """Return how far the quotes of Figure 4b are off the means that the authors published, at most."""
    known = evidence.published
    means = {at: known.mean(COMPAS[1], setting_of(*at), "eod") if known else None for at in _READ}
    return max((abs(mean - _READ[at]) for at, mean in means.items() if mean is not None), default=math.nan)


def gone(evidence: Evidence, study: str, at: Sequence[str], measures: Sequence[str]) -> Checked:
    results, setting = evidence.studies[study], setting_of(*at)
    if setting not in results.settings:
        return cannot_check(case="none", epsilon=at[1])
    return alike([estimate_measure(results, setting, each) for each in measures], what="disparities")


def published(evidence: Evidence, study: str, *, precision: bool) -> Checked:
    measures = [measure for measure in NAMES if (measure in PRECISION) == precision]
    return check_published(evidence, study, measures)


finding = partial(check_finding, COMPARISONS, chosen)


def dependence(evidence: Evidence) -> Checked:
    means = []
    for name in (COMPAS[1], ADULT[1]):
        try:
            pairs = profile(prepare(evidence.studies[name].plan)).among_sensitive
        except DataSetNotFoundError:
            return cannot_check(case="lost")
        means.append(sum(pair.v.value for pair in pairs) / len(pairs))
    return agree_if(means[1] > means[0], compas=means[0], adult=means[1])


def table_1(
    evidence: Evidence, study: str, people: int, protected: str, sensitive: Sequence[str], more: str = ""
) -> Checked:
    facts = evidence.studies[study].facts
    ours = (facts.rows, facts.schema.protected, set(facts.schema.sensitive))
    why = f"Ours: {facts.rows:,} rows; sensitive {', '.join(facts.schema.sensitive)}.{more}"
    return fact(ours, (people, protected, set(sensitive)), why=why, printed=f"{people:,}")


def _skew(rate: float) -> str:
    """Return the word for a share of positive labels.

    >>> _skew(0.76), _skew(0.47), _skew(0.26)
    ('skewed to 1', 'balanced', 'skewed to 0')
    """
    if abs(rate - 0.5) <= _BALANCED:
        return "balanced"
    return "skewed to 1" if rate > 0.5 else "skewed to 0"


def skew(evidence: Evidence, studies: Sequence[str], paper: Sequence[str], case: str = "") -> Checked:
    found = list(map(_skew, rates := [positive_rate(evidence.studies[name]) for name in studies]))
    return agree_if(found == paper, case=case, rates=rates, found=found, near=_BALANCED)


def quarters(evidence: Evidence, studies: Sequence[str], paper: Sequence[float]) -> Checked:
    rates = [positive_rate(evidence.studies[name]) for name in studies]
    exact = all(abs(rate - part) <= _NEAR for rate, part in zip(rates, paper, strict=True))
    return agree_if(exact, paper=", ".join(f"{part:g}" for part in paper), rates=rates)


def score(evidence: Evidence) -> Checked:
    rate = positive_rate(evidence.studies[COMPAS[2]])
    return agree_if(rate <= 0, paper="[0, 1]", rate=rate)


def _load_rows(evidence: Evidence, study: str, **more: str) -> Any:
    """Return the rows of a study, with further options, or None if they are not on this machine."""
    data: Any = evidence.studies[study].plan.data
    try:
        return datasets.load(data.dataset, backend="pyarrow", **{**data.options, **more}).frame
    except DataSetNotFoundError:
        return None


def thirty_days(evidence: Evidence, paper: int) -> Checked:
    people = evidence.studies[COMPAS[0]].facts.rows
    if people != paper:
        return cannot_check(case="other", people=people)
    rows = _load_rows(evidence, COMPAS[0], filter="and")
    if rows is None:
        return cannot_check(case="lost")
    within = rows.num_rows
    return agree_if(within == paper, paper=f"{paper:,}", within=within, people=people)


def features(evidence: Evidence, paper: Sequence[str]) -> Checked:
    schema = evidence.studies[ADULT[1]].facts.schema
    ours = {name for name in schema.names if name != schema.target}
    return agree_if(ours == set(paper), more=sorted(ours - set(paper)) or "nothing")


def middle(evidence: Evidence, paper: int) -> Checked:
    data: Any = evidence.studies[ADULT[1]].plan.data
    ours = data.options["threshold"]
    return agree_if(ours == paper, paper=f"{paper // 1000}K", found=ours)


def listed_epsilons(_: Evidence, paper: Sequence[str]) -> Checked:
    return agree_if(list(EPSILONS) == list(paper), more=[each for each in EPSILONS if each not in paper])


def mediator(evidence: Evidence) -> Checked:
    rows = _load_rows(evidence, SYNTHETIC[0])
    if rows is None:
        return cannot_check(case="lost")
    group, between = (np.asarray(rows[name]) for name in ("A", "M"))
    shares = [[float((between[group == each] == value).mean()) for value in range(3)] for each in (0, 1)]
    printed = np.abs(np.subtract(shares[0], (0.35, 0.4, 0.25))).max() < 0.02
    return agree_if(printed, case="" if printed else "swapped", shares=shares)


def ratio(_: Evidence) -> Checked:
    off = 0.0
    for size in (2, 3, 12, 32):
        for epsilon in (0.1, 1, 4):
            made = GRR(size, epsilon)
            off = max(off, abs(made.p / made.q / math.exp(epsilon) - 1))
    return agree_if(off < _CLOSE, factor=1 + off)


def split(_: Evidence) -> Checked:
    shares = split_budget(1, {"A": 2, "C": 2, "M": 3}, how="k-based", exact=True)
    paper = {"A": Fraction(2, 7), "C": Fraction(2, 7), "M": Fraction(3, 7)}
    return agree_if(dict(shares) == paper, told=[f"{name} {part}" for name, part in shares.items()])


def combined(evidence: Evidence, paper: Mapping[str, int]) -> Checked:
    sizes = {}
    for name in paper:
        schema = evidence.studies[name].facts.schema
        sizes[name] = math.prod(schema[column].size for column in schema.sensitive)
    return agree_if(sizes == paper, told=[f"{name.partition('-')[0]} {k}" for name, k in sizes.items()])
