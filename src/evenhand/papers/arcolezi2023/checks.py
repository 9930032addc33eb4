"""Checks of the numbers and findings that arcolezi2023 states."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from evenhand.collect import GRR, SS
from evenhand.collect.joint.split import split_budget
from evenhand.papers import rules
from evenhand.papers.arcolezi2023.plans import DATA, EPSILONS, SEEDS, SPLITS, plan_for
from evenhand.papers.claims import AGREES, CONTRADICTED, NOT_SHOWN, Checked, agree_if, cannot_check
from evenhand.papers.published import results_of
from evenhand.papers.rules import MARGIN, Control, check_finding, majority, mean_of, of_each, quoted, values
from evenhand.papers.tables import check_published
from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.measure import CLASSIFIER_MEASURES
from evenhand.study.tasks.shared.report_settings import protocol_parameters, report_setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.measure.repeat_means import Estimated
    from evenhand.papers.claims import Evidence
    from evenhand.papers.published import Published
    from evenhand.papers.trials import Values
    from evenhand.study.results.results import Results

FAIRNESS = ("di", "spd", "eod", "oad")
_MORE = [SEEDS * 2**times for times in range(1, 10)]  # seeds that could decide

LIMITS: dict[str, Callable[[float], bool]] = {
    "all": lambda _: True,
    "first": lambda epsilon: epsilon == 0.25,
    "private": lambda epsilon: epsilon < 20,
    "low": lambda epsilon: epsilon >= 20,
}
"""Epsilons by how private they are; from 20 on are the paper's "low privacy regimes"."""


def chosen(
    results: Results, *, split: str | None = None, protocol: str | None = None, epsilons: str = "all"
) -> list[Setting]:
    """Return the protected settings of a split, a protocol and some epsilons."""
    return [
        each
        for each in results.settings
        if each.epsilon is not None
        and LIMITS[epsilons](float(each.epsilon))
        and split in (None, each.option("split"))
        and protocol in (None, each.mechanism)
    ]


def _better(results: Results, first: Setting, second: Setting, measure: str) -> Values:
    """Return by how much better a measure is in one setting than in another: closer to no disparity."""
    goodness = CLASSIFIER_MEASURES[measure].goodness
    gain: Values = goodness(values(results, first, measure)) - goodness(values(results, second, measure))
    return gain


def _apart(results: Results, first: Setting, second: Setting, measure: str) -> Values:
    return values(results, first, measure) - values(results, second, measure)


def _other_split(setting: Setting) -> Setting:
    split = next(split for split in SPLITS if split != setting.option("split"))
    strategy, parameters = setting.option("strategy"), protocol_parameters(setting)
    return report_setting(setting.mechanism, setting.epsilon, split, strategy, parameters)


def _rivals(results: Results, own: Setting) -> list[Setting]:
    """Return the settings of other protocols with the same split and epsilon."""
    return [
        each
        for each in chosen(results)
        if (each.option("split"), each.epsilon) == (own.option("split"), own.epsilon)
        and each.mechanism != own.mechanism
    ]


def against_rivals(
    results: Results, settings: Sequence[Setting], measures: Sequence[str], *, sign: int
) -> list[Values]:
    """Return by how much settings of a protocol beat each other one, or with sign -1 are beaten."""
    return [
        sign * _better(results, own, other, measure)
        for own in settings
        for other in _rivals(results, own)
        for measure in measures
    ]


NONE = Setting()

COMPARISONS: dict[str, Callable[..., list[Values]]] = {
    "improvements": of_each(lambda results, own, each: _better(results, own, NONE, each)),
    "worsenings": of_each(lambda results, own, each: _better(results, NONE, own, each)),
    "against": of_each(lambda results, own, each: _apart(results, own, NONE, each)),
    "losses": of_each(lambda results, own, each: _apart(results, NONE, own, each)),
    "splits_apart": of_each(lambda results, own, each: _apart(results, own, _other_split(own), each)),
    "better_split": of_each(lambda results, own, each: _better(results, own, _other_split(own), each)),
    "ahead": partial(against_rivals, sign=1),
    "behind": partial(against_rivals, sign=-1),
}
"""The comparisons by the name that claims have for them: results, settings and measures."""


def average(results: Results, settings: Sequence[Setting], measure: str, *, loss: bool = False) -> Estimated:
    """Return the mean of a measure over settings, repeat by repeat, or how far it is below unprotected."""
    mean = np.mean([values(results, each, measure) for each in settings], axis=0)
    return mean_of(results, values(results, NONE, measure) - mean if loss else mean)


def average_spread(
    published: Published | None, study: str, settings: Sequence[Setting], measure: str, *, loss: bool = False
) -> float | None:
    """Return the published spread of such a mean, or of such a loss; None without published runs."""
    if published is None:
        return None
    found = [published.runs(study, each, measure) for each in settings]
    known = [each for each in found if each is not None]
    base = published.runs(study, NONE, measure)
    if len(known) < len(found) or not known or base is None:
        return None
    mean = np.mean(known, axis=0)
    return float(np.std(base - mean if loss else mean, ddof=1))


def dominations(results: Results) -> dict[str, int]:
    """Return how often each protocol is dominated by another with the same split and epsilon.

    One protocol dominates another if it is clearly better in accuracy or in the parity gap and not clearly
    worse in the other of the two.
    """
    found = dict.fromkeys((each.mechanism for each in chosen(results)), 0)
    for own in chosen(results):
        for other in _rivals(results, own):
            found[own.mechanism] += _dominates(results, other, own)
    return found


def dominate(results: Results, protocols: Sequence[str], repeats: int = 0) -> tuple[int, int, int]:
    """Return how often some protocols dominate the others and are dominated by them, of how many pairs.

    Pairs that have no repeat in common do not count. So many `repeats` are supposed, if spreads stay.
    """
    done = results.arrays.done
    pairs = [
        (own, other)
        for protocol in protocols
        for own in chosen(results, protocol=protocol)
        for other in _rivals(results, own)
        if other.mechanism not in protocols and (done[results.place(own)] & done[results.place(other)]).any()
    ]
    ahead = sum(_dominates(results, own, other, repeats) for own, other in pairs)
    return ahead, sum(_dominates(results, other, own, repeats) for own, other in pairs), len(pairs)


def _dominates(results: Results, first: Setting, second: Setting, repeats: int = 0) -> bool:
    accuracy, gap = (_beats(results, first, second, measure, repeats) for measure in ("acc", "spd"))
    return max(accuracy, gap) > 0 and min(accuracy, gap) >= 0


def _beats(results: Results, first: Setting, second: Setting, measure: str, repeats: int = 0) -> int:
    """Return 1 if the first is clearly better, -1 if it is clearly worse, else 0."""
    apart = mean_of(results, _better(results, first, second, measure))
    clear = apart.is_clear or (repeats > 0 and rules.repeats_until_clear(apart) <= repeats)
    return (1 if apart.value > 0 else -1) if clear else 0


# The measures of the published table
PRINTED = ("acc", "f1", "balanced_accuracy", "recall", "spd", "di", "eod", "oad")


def table_2(evidence: Evidence, study: str, people: int, sizes: Mapping[str, int]) -> Checked:
    facts = evidence.studies[study].facts
    ours = {column: facts.schema[column].size for column in facts.schema.sensitive}
    told = [f"{column} {size}" for column, size in ours.items()]
    holds = (facts.rows, ours) == (people, sizes)
    return agree_if(holds, paper=f"{people:,}", rows=facts.rows, told=told)


def grade_averages(evidence: Evidence, paper: float) -> Checked:
    domain = evidence.studies["lsac"].facts.schema["ugpa"].domain
    top = max(float(value) for value in domain.values)
    return agree_if(top == paper, paper=str(paper), top=top, number=len(domain.values))


def ratio(_: Evidence, paper: str) -> Checked:
    raised = math.exp(0.25)
    return agree_if(f"{raised:.1f}" == paper, paper=paper, raised=raised)


def binary(_: Evidence) -> Checked:
    sizes = {"a": 2, "b": 2, "c": 2}
    ours, uniform = (split_budget(1, sizes, how=how, exact=True) for how in ("k-based", "uniform"))
    return agree_if(ours == uniform, shares=[str(share) for share in ours.values()])


def one_value(_: Evidence) -> Checked:
    ss, grr = SS(5, 4, as_printed=True), GRR(5, 4)
    ours = (ss.size, f"{ss.p:.12f}", f"{ss.q:.12f}")
    return agree_if(ours == (1, f"{grr.p:.12f}", f"{grr.q:.12f}"), ss=ss, grr=grr)


def number(
    evidence: Evidence,
    study: str,
    measure: str,
    paper: float,
    *,
    protected: bool,
    loss: bool = False,
    unprotected: float | None = None,
) -> Checked:
    """Check a number: the unprotected mean, or that of all protocols at epsilon 0.25, or its loss there.

    `unprotected` is what the paper prints for no protection, which a protected number must be told from.
    """
    results = evidence.studies[study]
    settings = chosen(results, epsilons="first") if protected else [Setting()]
    if not settings:
        return cannot_check("This design has no epsilon of 0.25.")
    spread = average_spread(evidence.published, study, settings, measure, loss=loss)
    ours = average(results, settings, measure, loss=loss)
    decimals = len(f"{paper:g}".partition(".")[2])
    none = 0.0 if loss else average(results, [Setting()], measure).value
    control = Control(none, unprotected) if protected else None
    return quoted(ours, paper, decimals=decimals, spread=spread, about=protected, control=control)


def published(evidence: Evidence, study: str, least: float, *, protected: bool) -> Checked:
    return check_published(evidence, study, PRINTED, least=least, protected=protected)


def _by_most_seeds(check: Callable[..., Checked]) -> Callable[..., Checked]:
    """Judge a finding by the authors' own runs where these have more seeds than ours, and tell both."""

    def judge(evidence: Evidence, **parameters: Any) -> Checked:
        own = check(evidence, **parameters)
        studies = parameters.get("studies") or [parameters["study"]]
        theirs = {name: _published_results(evidence, name) for name in studies}
        more = {name: results for name, results in theirs.items() if results is not None}
        if not more:
            return replace(own, values={**own.values, "beside": ""})
        found = check(replace(evidence, studies={**evidence.studies, **more}), **parameters)
        seeds = max(_seeds(evidence.studies[name]) for name in more)
        named = ", ".join(f"{DATA[name].title}, {SEEDS} seeds" for name in more)
        ours = f"{seeds} seed{'' if seeds == 1 else 's'}"
        beside = f" By the authors' own runs ({named}); by ours, {ours}, {own.verdict}."
        return replace(found, values={**found.values, "beside": beside})

    return judge


def _published_results(evidence: Evidence, study: str) -> Results | None:
    """Return the authors' runs of a study, if they have more seeds than ours."""
    known = evidence.published
    if known is None or not known.has(study) or _seeds(evidence.studies[study]) >= SEEDS:
        return None
    held = _HELD.setdefault(known, {})
    if study not in held:
        held[study] = results_of(known, study, plan_for(study), evidence.studies[study].facts)
    return held[study]


def _seeds(results: Results) -> int:
    """Return the fewest seeds of a setting that was run."""
    done = results.arrays.done.sum(axis=1)
    return int(done[done > 0].min())


_HELD: WeakKeyDictionary[Published, dict[str, Results]] = WeakKeyDictionary()


finding = _by_most_seeds(partial(check_finding, COMPARISONS, chosen))


def not_back(evidence: Evidence, study: str) -> Checked:
    where: dict[str, Any] = {"studies": [study], "settings": {"split": "k-based", "epsilons": "low"}}
    found = {
        each: check_finding(
            COMPARISONS, chosen, evidence, compare="against", of=[each], rule="alike", **where
        )
        for each in FAIRNESS
    }
    away = [measure for measure, each in found.items() if each.verdict == CONTRADICTED]
    if away:
        return Checked(AGREES, f"Not back within {MARGIN:g}: {', '.join(away)}.")
    if all(each.verdict == AGREES for each in found.values()):
        return Checked(CONTRADICTED, f"All four are back within {MARGIN:g}.")
    wide = " ".join(f"{measure}: {each.why}" for measure, each in found.items() if each.verdict == NOT_SHOWN)
    return Checked(NOT_SHOWN, f"None is clearly away, and intervals are too wide to say so. {wide}")


@_by_most_seeds
def trade_off(evidence: Evidence, study: str) -> Checked:
    """Check that GRR and SS dominate; fewer seeds or epsilons than the paper's do not say who is best."""
    results = evidence.studies[study]
    if (seeds := _seeds(results)) < SEEDS:
        return cannot_check(case="few", seeds=seeds, needed=SEEDS)
    ahead, behind, number = dominate(results, ("grr", "ss"))
    if not number:
        return cannot_check(case="none")
    fewest_first = sorted(dominations(results).items(), key=lambda pair: pair[1])
    told = [f"{name.upper()} {times}" for name, times in fewest_first]
    levels = sorted({float(each.epsilon or 0) for each in chosen(results)})
    values = {"number": number, "ahead": ahead, "behind": behind, "told": told, "levels": levels}
    verdict = majority(ahead, behind, number)
    if verdict != NOT_SHOWN and len(levels) < len(EPSILONS):
        return cannot_check(case="levels", levels=levels, needed=len(EPSILONS))
    if verdict == NOT_SHOWN:
        shown = (each for each in _MORE if majority(*dominate(results, ("grr", "ss"), each)) != NOT_SHOWN)
        values["repeats"] = next(shown, f"none up to {_MORE[-1]:,}")
    return Checked(verdict, values=values)


def searched(_: Evidence) -> dict[str, object]:
    """Return the hyper-parameters that are used as they were published."""
    return {"depths": [f"{entry.title} {entry.parameters['max_depth']}" for entry in DATA.values()]}


def other_papers(evidence: Evidence) -> dict[str, object]:
    """Return the studies that were run."""
    return {"studies": list(evidence.studies) or "none"}
