"""Every finding that ghoukasian2024 reads off its figures 5.1 to 5.10, in the order of the text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.papers.claims import AGREES, Checked, Claim, cannot_check
from evenhand.papers.ghoukasian2024_local import checks
from evenhand.papers.ghoukasian2024_local.checks import EO, GAPS, LARGE, NONE, SMALL, UTILITY
from evenhand.papers.ghoukasian2024_local.data import DATA
from evenhand.papers.ghoukasian2024_local.plans import GRR, OPT, SS
from evenhand.papers.rules import MARGIN, alike, below, fact, mostly

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from evenhand.papers.claims import Evidence
    from evenhand.study.results.results import Results

__all__ = ["BINARY", "FIGURE_CLAIMS", "MANY", "MINOR"]

BINARY = ("adult-gender", "lsac-gender")
MANY = ("adult-race", "lsac-income", "adult-race-gender")

MINOR = 0.02
"""A loss below it is called negligible, as in the reproductions of other papers."""

HALF = 0.6
""""Almost half" is taken to be at most this share."""

TWO_PERCENT = 0.02
_LEVELS = (GRR, SS, NONE)
_LOCAL = (GRR, SS)


def _claim(
    claim_id: str, name: str, text: str, where: str, rule: str, check: Callable[[Results], Checked]
) -> Claim:
    """Return a claim about one experiment."""
    title = DATA[name].title

    def run(evidence: Evidence) -> Checked:
        return check(evidence.studies[name])

    return Claim(f"{claim_id}-{name}", text.format(title=title), where, run, rule, (name,))


def _figures(name: str, *, both: bool = False, fairness: bool = False) -> str:
    use, fair = DATA[name].figures
    if both:
        return f"5.7.3, Figures {use}, {fair}"
    section = "5.7.2" if DATA[name].is_binary else "5.7.3"
    return f"{section}, Figure {fair if fairness else use}"


def _sizes(name: str) -> Claim:
    source = DATA[name]

    def check(results: Results) -> Checked:
        column = results.facts.schema[str(results.facts.schema.protected)]
        why = f"Ours: {column.size} values of {column.name}, {results.facts.rows:,} rows."
        return fact(column.size, source.k, why=why)

    text = f"{{title}}: the private attribute has {source.k} values."
    return _claim("size", name, text, _figures(name), "fact", check)


# --- two groups -----------------------------------------------------------------------------------


def _same_use(results: Results) -> Checked:
    differences = checks.smaller(results, OPT, _LEVELS, UTILITY)
    return alike(differences, margin=MARGIN, what="comparisons of accuracy and F1")


def _smaller_gaps(results: Results) -> Checked:
    return mostly(checks.smaller(results, OPT, _LEVELS, GAPS), what="comparisons of gaps")


def _small_epsilons(results: Results) -> Checked:
    found = checks.smaller(results, OPT, _LOCAL, GAPS, most=SMALL)
    return mostly(found, what=f"comparisons at epsilons up to {float(SMALL):g}")


def _widens(results: Results) -> Checked:
    found = checks.widening(results, OPT, _LOCAL, GAPS)
    return mostly(found, what=f"comparisons of epsilons from {float(LARGE):g} on with the smallest")


def _almost_half(results: Results) -> Checked:
    found = mostly(
        checks.smaller(results, OPT, _LEVELS, GAPS, least=LARGE, times=HALF),
        what=f"comparisons with {HALF:g} times the other gap",
    )
    return replace(found, why=f"{found.why} {_shares(results)}")


def _shares(results: Results) -> str:
    """Return how large OPT's gaps are beside the unprotected ones at the largest epsilon."""
    epsilon = checks.epsilons(results)[-1]
    told = []
    for measure, words in zip(GAPS, ("parity gap", "opportunity gap"), strict=True):
        own, none = (
            np.nanmean(checks.values(results, checks.at(results, way, epsilon), measure))
            for way in (OPT, NONE)
        )
        told.append(f"{own / none:.2f} of the unprotected {words}")
    return f"At epsilon {float(epsilon):g} OPT has {' and '.join(told)}."


def _two_percent(results: Results) -> Checked:
    found = mostly(
        checks.smaller(results, OPT, _LEVELS, GAPS, least=LARGE, by=TWO_PERCENT),
        what="reductions, less 0.02",
    )
    return replace(found, why=f"{found.why} {_shares(results)}")


def _stays(results: Results) -> Checked:
    last = checks.epsilons(results)[-1]
    found = checks.smaller(results, OPT, (NONE,), GAPS, least=last)
    return mostly(found, what=f"comparisons with the unprotected gaps at epsilon {float(last):g}")


def _on_binary(name: str) -> tuple[Claim, ...]:
    use, fair = _figures(name), _figures(name, fairness=True)
    last = (
        (
            "half",
            "{title}: for larger epsilons both gaps of OPT are almost half of the others'.",
            _almost_half,
        )
        if name == "lsac-gender"
        else (
            "two-percent",
            "{title}: for larger epsilons OPT's gaps are at least 0.02 smaller.",
            _two_percent,
        )
    )
    return (
        _claim(
            "utility", name,
            "{title}: OPT has little to no effect on accuracy and F1, beside GRR, SS and no protection.",
            use, "alike", _same_use,
        ),
        _claim(
            "fairness", name,
            "{title}: OPT has consistently smaller gaps than GRR, SS and no protection.",
            fair, "mostly", _smaller_gaps,
        ),
        _claim(
            "small", name, "{title}: at smaller epsilons OPT is fairer than GRR and SS.",
            fair, "mostly", _small_epsilons,
        ),
        _claim(
            "widens", name, "{title}: OPT's lead over GRR and SS grows with epsilon.",
            fair, "mostly", _widens,
        ),
        _claim(last[0], name, last[1], fair, "mostly", last[2]),
        _claim(
            "stays", name, "{title}: at large epsilons OPT does not come back to the unprotected gaps.",
            fair, "mostly", _stays,
        ),
    )  # fmt: skip


# --- more groups ----------------------------------------------------------------------------------


def _same_use_of_many(results: Results) -> Checked:
    differences = checks.smaller(results, OPT, _LOCAL, UTILITY)
    return alike(differences, margin=MARGIN, what="comparisons of accuracy and F1")


def _like_others(results: Results) -> Checked:
    found = checks.smaller(results, OPT, _LOCAL, GAPS, most=SMALL)
    return alike(found, margin=MARGIN, what=f"comparisons at epsilons up to {float(SMALL):g}")


def _beyond(results: Results) -> Checked:
    """Check that there is an epsilon, not the largest one, from which on OPT is fairer."""
    thresholds = checks.epsilons(results)[:-1]
    if not thresholds:
        return cannot_check("This design has a single epsilon.")
    tried = {
        each: mostly(
            checks.smaller(results, OPT, _LOCAL, GAPS, least=each),
            what=f"comparisons at epsilons from {float(each):g} on",
        )
        for each in thresholds
    }
    good = [each for each, found in tried.items() if found.verdict == AGREES]
    return tried[good[0] if good else _last_before(thresholds)]


def _last_before(thresholds: tuple[Fraction, ...]) -> Fraction:
    large = [each for each in thresholds if each >= LARGE]
    return large[0] if large else thresholds[-1]


def _reduces(results: Results) -> Checked:
    found = mostly(checks.smaller(results, OPT, (NONE,), GAPS), what="comparisons with no protection")
    return replace(found, why=f"{found.why} {_shares(results)}")


def _negligible(results: Results) -> Checked:
    return below(checks.smaller(results, OPT, (NONE,), UTILITY), limit=MINOR, what="losses")


def _on_many(name: str) -> tuple[Claim, ...]:
    use, fair = _figures(name), _figures(name, fairness=True)
    return (
        _claim(
            "utility", name, "{title}: accuracy and F1 are very similar under OPT, GRR and SS.",
            use, "alike", _same_use_of_many,
        ),
        _claim(
            "small", name, "{title}: at smaller epsilons OPT's gaps are similar to those of GRR and SS.",
            fair, "alike", _like_others,
        ),
        _claim(
            "beyond", name,
            "{title}: from some epsilon on (not only the largest) OPT is fairer than GRR and SS.",
            fair, "mostly", _beyond,
        ),
        _claim(
            "reduces", name, "{title}: OPT reduces unfairness, beside no protection.",
            _figures(name, both=True), "mostly", _reduces,
        ),
        _claim(
            "negligible", name, "{title}: OPT's impact on accuracy and F1 is negligible.",
            _figures(name, both=True), "below", _negligible,
        ),
    )  # fmt: skip


def _grows(evidence: Evidence) -> Checked:
    """Compare gaps of experiments on the same rows and splits, repeat by repeat."""
    named = ("adult-gender", "adult-race", "adult-race-gender")
    results = [evidence.studies[name] for name in named]
    repeats = min(each.plan.repeats for each in results)
    apart = []
    for first, second in ((0, 1), (1, 2), (0, 2)):
        fewer, more = results[first], results[second]
        shared = sorted(set(checks.epsilons(fewer)) & set(checks.epsilons(more)))
        pairs = [(NONE, None), *((way, each) for each in shared for way in (GRR, SS, OPT))]
        for way, epsilon in pairs:
            for measure in (GAPS[0], EO):
                less, larger = (
                    checks.values(each, checks.at(each, way, epsilon), measure)[:repeats]
                    for each in (fewer, more)
                )
                apart.append(checks.mean_of(fewer, larger - less))
    return mostly(apart, what="comparisons of 2, 5 and 10 groups")


FIGURE_CLAIMS: tuple[Claim, ...] = (
    *(_sizes(name) for name in DATA),
    *(claim for name in BINARY for claim in _on_binary(name)),
    *(claim for name in MANY for claim in _on_many(name)),
    Claim(
        "grows", "Both gaps tend to grow with the number of groups (Adult: gender, race, both).",
        "5.7.3", _grows, "mostly", ("adult-gender", "adult-race", "adult-race-gender"),
    ),
)  # fmt: skip
"""The claims of sections 5.7.1 to 5.7.3."""
