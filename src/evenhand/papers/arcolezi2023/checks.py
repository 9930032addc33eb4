"""Checks of the numbers and findings that arcolezi2023 states."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from evenhand.collect import GRR, SS
from evenhand.collect.joint.split import split_budget
from evenhand.papers.arcolezi2023 import comparisons
from evenhand.papers.arcolezi2023.comparisons import COMPARISONS, FAIRNESS, chosen
from evenhand.papers.arcolezi2023.plans import DATA, SEEDS, plan_for
from evenhand.papers.claims import AGREES, CONTRADICTED, NOT_SHOWN, Checked, agree_if, cannot_check
from evenhand.papers.comparisons import check_finding
from evenhand.papers.published import results_of
from evenhand.papers.rules import MARGIN, Control, majority, quoted
from evenhand.papers.tables import check_published
from evenhand.study.plan.cells import Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evenhand.papers.claims import Evidence
    from evenhand.papers.published import Published
    from evenhand.study.results.results import Results

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
    spread = comparisons.average_spread(evidence.published, study, settings, measure, loss=loss)
    ours = comparisons.average(results, settings, measure, loss=loss)
    decimals = len(f"{paper:g}".partition(".")[2])
    none = 0.0 if loss else comparisons.average(results, [Setting()], measure).value
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
    if known is None or not any(name == study for name, _, _ in known.runs_of):
        return None
    if _seeds(evidence.studies[study]) >= SEEDS:
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
    """Check that at least one fairness measure is not back at its unprotected value."""
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
    wide = ", ".join(measure for measure, each in found.items() if each.verdict == NOT_SHOWN)
    return Checked(NOT_SHOWN, f"None is clearly away, and intervals are too wide to say so: {wide}.")


@_by_most_seeds
def trade_off(evidence: Evidence, study: str) -> Checked:
    """Check that GRR and SS dominate the other protocols, at the same split and epsilon."""
    results = evidence.studies[study]
    ahead, behind, number = comparisons.dominate(results, ("grr", "ss"))
    if not number:
        return cannot_check(case="none")
    fewest_first = sorted(comparisons.dominations(results).items(), key=lambda pair: pair[1])
    told = [f"{name.upper()} {times}" for name, times in fewest_first]
    values = {"number": number, "ahead": ahead, "behind": behind, "told": told}
    return Checked(majority(ahead, behind, number), values=values)


def searched(_: Evidence) -> dict[str, object]:
    """Return the hyper-parameters that are used as they were published."""
    return {"depths": [f"{entry.title} {entry.parameters['max_depth']}" for entry in DATA.values()]}


def other_papers(evidence: Evidence) -> dict[str, object]:
    """Return the studies that were run."""
    return {"studies": list(evidence.studies) or "none"}
