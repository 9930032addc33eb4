"""Checks of what ghoukasian2024 reads off figures 5.1 to 5.10, and of tables 5.1 to 5.4 in section 5.7.4."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.claims import AGREES, NOT_SHOWN, Checked, cannot_check
from evenhand.papers.ghoukasian2024_local import projection, tables
from evenhand.papers.ghoukasian2024_local.plans import DATA, GRR, OPT, SS
from evenhand.papers.ghoukasian2024_local.projection import DIVERGENCES, EPSILONS, KINDS, SETS, TRIALS
from evenhand.papers.ghoukasian2024_local.tables import EO, GAPS, LARGE, NONE, TABLES, UTILITY, compare_table
from evenhand.papers.paper import fill
from evenhand.papers.rules import (
    RULES,
    Control,
    below,
    fact,
    mean_of,
    mostly,
    quoted,
    repeats_to_decide,
    share,
    shift_estimate,
    within_sentence,
)
from evenhand.papers.trials import estimate_mean, read_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.measure.repeat_means import Estimated
    from evenhand.papers.claims import Evidence
    from evenhand.papers.trials import Records
    from evenhand.study.results.results import Results


MINOR = 0.02  # A loss below it is called negligible, as in the reproductions of other papers

FASTER = 2.0
""""Significantly less runtime" is at most half of it."""

COMPAS, ADULT = SETS
_MEASURES = {"gaps": GAPS, "utility": UTILITY}
_LOCAL = (GRR, SS)
_TWO_PERCENT = 0.02


# --- figures 5.1 to 5.10 --------------------------------------------------------------------------


def size(evidence: Evidence, study: str) -> Checked:
    facts = evidence.studies[study].facts
    column = facts.schema[str(facts.schema.protected)]
    why = f"Ours: {column.size} values of {column.name}, {facts.rows:,} rows."
    return fact(column.size, DATA[study].k, why=why)


def smaller(
    evidence: Evidence,
    study: str,
    others: Sequence[str],
    measures: str,
    rule: str,
    what: str,
    tell: str = "",
    *,
    epsilons: str = "all",
    **options: Any,
) -> Checked:
    """Check by a rule that measures of OPT are below those of others at some epsilons.

    `what` says what the comparisons are, and `tell` ("shares") that OPT's share of the unprotected gaps is
    told besides. `options` are `times` and `by` of :func:`tables.smaller`, and those of the rule.
    """
    results = evidence.studies[study]
    apart = {key: options.pop(key) for key in ("times", "by") if key in options}
    limits = tables.limits(results, epsilons)
    found = tables.smaller(results, OPT, others, _MEASURES[measures], **limits, **apart)
    numbers = {key: float(limit) for key, limit in limits.items()}
    checked = RULES[rule](found, what=fill(what, **numbers), **options)
    return replace(checked, values=_shares(results), case=tell) if tell else checked


def _shares(results: Results) -> dict[str, float]:
    """Return how large OPT's gaps are beside the unprotected ones at the largest epsilon."""
    epsilon = tables.epsilons(results)[-1]
    found = {"epsilon": float(epsilon)}
    for measure in GAPS:
        settings = [tables.at(results, way, epsilon) for way in (OPT, NONE)]
        own, none = (np.nanmean(tables.values(results, each, measure)) for each in settings)
        found[measure] = float(own / none)
    return found


def widens(evidence: Evidence, study: str) -> Checked:
    found = tables.widening(evidence.studies[study], OPT, _LOCAL, GAPS)
    return mostly(found, what=f"comparisons of epsilons from {float(LARGE):g} on with the smallest")


def beyond(evidence: Evidence, study: str) -> Checked:
    """Check that there is an epsilon, not the largest one, from which on OPT is fairer."""
    results = evidence.studies[study]
    thresholds = tables.epsilons(results)[:-1]
    if not thresholds:
        return cannot_check("This design has a single epsilon.")
    tried = {
        least: mostly(
            tables.smaller(results, OPT, _LOCAL, GAPS, least=least),
            what=f"comparisons at epsilons from {float(least):g} on",
        )
        for least in thresholds
    }
    good = [least for least, found in tried.items() if found.verdict == AGREES]
    large = [least for least in thresholds if least >= LARGE]
    return tried[[*good, *large, thresholds[-1]][0]]


def grows(evidence: Evidence, studies: Sequence[str]) -> Checked:
    """Compare gaps of experiments on the same rows and splits, repeat by repeat."""
    results = [evidence.studies[name] for name in studies]
    repeats = min(each.plan.repeats for each in results)
    apart = []
    for first, second in ((0, 1), (1, 2), (0, 2)):
        fewer, more = results[first], results[second]
        shared = sorted(set(tables.epsilons(fewer)) & set(tables.epsilons(more)))
        settings = [(NONE, None), *((way, each) for each in shared for way in (GRR, SS, OPT))]
        for way, epsilon in settings:
            for measure in (GAPS[0], EO):
                less, larger = (
                    tables.values(each, tables.at(each, way, epsilon), measure)[:repeats]
                    for each in (fewer, more)
                )
                apart.append(mean_of(fewer, larger - less))
    return mostly(apart, what="comparisons of 2, 5 and 10 groups")


# --- tables 5.1 to 5.4 ----------------------------------------------------------------------------


def numbers(evidence: Evidence, table: str, trials: str, methods: Sequence[str]) -> Checked:
    rows = compare_table(table, evidence.trials[trials])
    parts = [row.checked for row in rows if row.printed.method in methods]
    known = [(each.ours.value, each.paper_value) for each in parts if each.ours]
    worst = max((abs(ours - paper) for ours, paper in known if paper is not None), default=0.0)
    return replace(share(parts, what="numbers", most_alike=0.6), values={"worst": worst})


def ahead(records: Records, kind: str, matched: str = projection.ON_TEST) -> list[Estimated]:
    """Return by how much OPT is more accurate than a projection with its gap, split by split.

    There is one for each epsilon and divergence. The projection has OPT's mean gap on the test rows, or what
    each split's training rows choose.
    """
    return [
        estimate_mean(projection.of_opt(records, epsilon, "acc") - points[matched].acc)
        for epsilon, _, points in projection.at_gaps(records, kind)
    ]


def at_same_gap(evidence: Evidence, trials: str, kind: str, rule: str, **options: Any) -> Checked:
    """Check by a rule how accurate OPT is at a projection's gap: that on test rows, and on training rows."""
    records = evidence.trials[trials]
    found = RULES[rule](ahead(records, kind), what="comparisons at OPT's gap", **options)
    honest = RULES[rule](ahead(records, kind, projection.ON_TRAINING), what="comparisons", **options)
    return replace(found, values={"honest": within_sentence(honest.why)})


def improves(evidence: Evidence, kind: str, least: float) -> Checked:
    """Check a drop that is said to be more than a number: ours is, or clearly is not."""
    records = evidence.trials[COMPAS]
    drop = projection.of_none(records, kind) - projection.of_opt(records, EPSILONS[0], kind)
    mean, beyond = estimate_mean(drop), [estimate_mean(drop - least)]
    verdict = mostly(beyond).verdict
    if verdict == NOT_SHOWN and mean.is_clear and mean.value > least:
        verdict = AGREES
    _, _, lines = TABLES["table-5.1" if kind == "sp" else "table-5.2"]
    gaps = {line.epsilon: line.gap for line in lines if line.method in {"none", "opt"}}
    values = {
        "epsilon": EPSILONS[0],
        "mean": mean,
        "least": least,
        "printed": gaps[""] - gaps[EPSILONS[0]],
        "repeats": repeats_to_decide(beyond) or "no number of",
    }
    return Checked(verdict, ours=mean, paper=f"> {least:g}", paper_value=least, values=values)


def flat(evidence: Evidence) -> Checked:
    """Check how much the gap of OPT on COMPAS grows from the first to the last epsilon of Table 5.1."""
    records, plain = evidence.trials[COMPAS], evidence.trials[projection.GRR_TRIALS]
    _, _, lines = TABLES["table-5.1"]
    printed = [line.gap for line in lines if line.method == "opt"]
    own = [projection.of_opt(records, epsilon, "sp") for epsilon in EPSILONS]
    responses = [read_path(plain, epsilon, "test", "sp").mean() for epsilon in EPSILONS]
    growth = printed[-1] - printed[0]
    found = quoted(estimate_mean(own[-1] - own[0]), growth, decimals=4, control=Control(0.0), trials=TRIALS)
    means = [runs.mean() for runs in own]
    return replace(found, values={"own": means, "printed": printed, "plain": responses, "told": found.why})


def two_percent(evidence: Evidence, study: str) -> Checked:
    """Check a reduction of 2 % in both gaps, of the gap itself and as an absolute difference."""
    results = evidence.studies[study]
    limits = tables.limits(results, "large")
    others = (*_LOCAL, NONE)
    what = f"comparisons at epsilons from {float(limits['least']):g} on"
    ways: tuple[dict[str, Any], ...] = ({"times": 1 - _TWO_PERCENT}, {"by": _TWO_PERCENT})
    found = [tables.smaller(results, OPT, others, GAPS, **limits, **way) for way in ways]
    relative, absolute = mostly(found[0], what=what), mostly(found[1])
    told = {"absolute": absolute.verdict, "counts": within_sentence(absolute.why)}
    return replace(relative, values={**told, **_shares(results)})


def slight_drop(evidence: Evidence) -> Checked:
    records = evidence.trials[COMPAS]
    none = projection.of_none(records, "acc")
    losses = [estimate_mean(none - projection.of_opt(records, epsilon, "acc")) for epsilon in EPSILONS]
    return below(losses, limit=MINOR, what="losses of accuracy")


def ratios(records: Records) -> list[Estimated]:
    """Return how many times OPT's CPU time before training a projection takes after it, on a log scale.

    One for each epsilon, kind and divergence, over the splits; both were measured in the same run.
    """
    before = {epsilon: read_path(records, "opt", epsilon, "seconds", "protect") for epsilon in EPSILONS}
    return [
        estimate_mean(np.log(points[projection.ON_TEST].seconds / before[epsilon]))
        for kind in KINDS
        for epsilon, _, points in projection.at_gaps(records, kind)
    ]


def runtime(evidence: Evidence) -> Checked:
    every = [each for name in SETS for each in ratios(evidence.trials[name])]
    found = mostly(
        [shift_estimate(each, by=-float(np.log(FASTER))) for each in every],
        what=f"comparisons with {FASTER:g} times OPT's CPU time",
    )
    paths: dict[str, list[tuple[str, ...]]] = {
        "own": [("opt", epsilon, "seconds", "protect") for epsilon in EPSILONS],
        "theirs": [("projection", kind, each, "seconds") for kind in KINDS for each in DIVERGENCES],
        "training": [("none", "seconds", "train")],
    }
    values = {}
    for key, listed in paths.items():
        every_split = [read_path(evidence.trials[name], *path) for name in SETS for path in listed]
        means = [seconds.reshape(len(seconds), -1).mean(axis=1) for seconds in every_split]
        values[key] = 1000 * np.concatenate(means).mean()
    middle = sorted(np.exp(each.value) for each in every)[len(every) // 2]
    return replace(found, ours=None, values={**values, "middle": middle})
