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
from evenhand.papers.comparisons import check_finding
from evenhand.papers.makhlouf2024.comparisons import COMPARISONS, amount, chosen, positive_rate, setting_of
from evenhand.papers.makhlouf2024.plans import ADULT, COMPAS, EPSILONS, FOLDS, REPEATS, SYNTHETIC
from evenhand.papers.makhlouf2024.published import NAMES, PRECISION
from evenhand.papers.rules import Control, alike, fact, quoted
from evenhand.papers.tables import check_published, estimate_measure
from evenhand.study.plan.cells import Setting
from evenhand.study.profile.profiling import profile
from evenhand.study.run.prepare import prepare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.papers.claims import Evidence

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
    rates = [positive_rate(evidence.studies[name]) for name in studies]
    return agree_if([_skew(rate) for rate in rates] == paper, case=case, rates=rates, near=_BALANCED)


def quarters(evidence: Evidence, studies: Sequence[str], paper: Sequence[float]) -> Checked:
    rates = [positive_rate(evidence.studies[name]) for name in studies]
    exact = all(abs(rate - part) <= _NEAR for rate, part in zip(rates, paper, strict=True))
    return agree_if(exact, paper=", ".join(f"{part:g}" for part in paper), rates=rates)


def score(evidence: Evidence) -> Checked:
    rate = positive_rate(evidence.studies[COMPAS[2]])
    return agree_if(rate <= 0, paper="[0, 1]", rate=rate)


def thirty_days(evidence: Evidence, paper: int) -> Checked:
    people = evidence.studies[COMPAS[0]].facts.rows
    if people != paper:
        return cannot_check(case="other", people=people)
    data = evidence.studies[COMPAS[0]].plan.data
    options: dict[str, Any] = {} if data is None else dict(data.options)
    try:
        within = datasets.load("compas", backend="pyarrow", **{**options, "filter": "and"}).frame.num_rows
    except DataSetNotFoundError:
        return cannot_check(case="lost")
    return agree_if(within == paper, paper=f"{paper:,}", within=within, people=people)


def features(evidence: Evidence, paper: Sequence[str]) -> Checked:
    schema = evidence.studies[ADULT[1]].facts.schema
    ours = {name for name in schema.names if name != schema.target}
    return agree_if(ours == set(paper), more=sorted(ours - set(paper)) or "nothing")


def middle(evidence: Evidence, paper: int) -> Checked:
    data = evidence.studies[ADULT[1]].plan.data
    ours = None if data is None else data.options.get("threshold")
    return agree_if(ours == paper, paper=f"{paper // 1000}K", found=ours)


def listed_epsilons(_: Evidence, paper: Sequence[str]) -> Checked:
    return agree_if(list(EPSILONS) == list(paper), more=[each for each in EPSILONS if each not in paper])


def mediator(evidence: Evidence) -> Checked:
    data = evidence.studies[SYNTHETIC[0]].plan.data
    options: dict[str, Any] = {} if data is None else dict(data.options)
    try:
        rows = datasets.load("causal", backend="pyarrow", **options).frame
    except DataSetNotFoundError:
        return cannot_check(case="lost")
    group, between = (np.asarray(rows[name]) for name in ("A", "M"))
    shares = [np.bincount(between[group == each], minlength=3) / (group == each).sum() for each in (0, 1)]
    printed = np.abs(shares[0] - (0.35, 0.4, 0.25)).max() < 0.02
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
