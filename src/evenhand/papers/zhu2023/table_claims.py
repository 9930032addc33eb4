"""What tables 1 to 3 of zhu2023 say: their numbers, and what the text reads from them."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from evenhand.papers.claims import AGREES, DIFFERS, Checked, Claim, cannot_check
from evenhand.papers.rules import fact, mostly, share
from evenhand.papers.trials import estimate_mean
from evenhand.papers.zhu2023.checks import exact_record, number_of, of_table
from evenhand.papers.zhu2023.data import DATA
from evenhand.papers.zhu2023.exact import anonymity_delta
from evenhand.papers.zhu2023.experiments import EXACT, FEW, REPETITIONS, tables_name
from evenhand.papers.zhu2023.printed import (
    ANONYMITY,
    EPSILONS,
    GAUSSIAN,
    LAPLACE,
    MECHANISMS,
    PRINTED,
    SUPPRESSION,
    SWAPPING,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.papers.claims import Evidence

__all__ = ["TABLE_CLAIMS"]

_CLASSICAL, _COUNTERPARTS = (LAPLACE, GAUSSIAN), (SUPPRESSION, SWAPPING, ANONYMITY)
_MEASURES = {"l1": "bias", "alpha": "alpha"}
_DATA_REASON = (
    "A likely reason: the newer excerpt has RAC1P for the earlier RACE, with more codes that hardly "
    "anybody has."
)
_NO_REASON = "No reason is known."
_REASONS = {
    ANONYMITY: (
        "The paper does not say which columns were merged; we merge all five of the table, by strict "
        "Mondrian."
    ),
    SWAPPING: "A likely reason: it is set by the largest cells, and the excerpts are not the same.",
}


# --- numbers --------------------------------------------------------------------------------------


def _numbers(name: str, mechanism: str, measure: str, evidence: Evidence) -> Checked:
    """Check the four numbers of a mechanism in a table."""
    parts = [number_of(evidence, name, mechanism, text, measure) for text in EPSILONS]
    found = share(parts, what="numbers")
    if measure == "delta":
        ours = ", ".join(f"{each.ours.value:.4g}" for each in parts if each.ours)
        told = f"By the paper's formula: {ours}."
    else:
        offs = [each.why.removeprefix("Off by ").partition(",")[0] for each in parts]
        ours = ", ".join(f"{each.ours.value:,.2f}" for each in parts if each.ours)
        told = f"Ours by the paper's method: {ours} ({', '.join(offs)})."
        numbers = exact_record(evidence, name)["numbers"]
        if measure in numbers.get(mechanism, {}).get(EPSILONS[0], {}):
            exact = ", ".join(f"{numbers[mechanism][text][measure]:,.2f}" for text in EPSILONS)
            told += f" Exactly: {exact}."
        if found.verdict == DIFFERS:
            told += f" {_REASONS.get(mechanism) or (_DATA_REASON if measure == 'l1' else _NO_REASON)}"
    printed = ", ".join(str(each.paper) for each in parts)
    return Checked(found.verdict, f"{found.why} {told}", paper=printed)


def _number_claims() -> Iterator[Claim]:
    for mechanism, title in MECHANISMS.items():
        yield Claim(
            f"delta-{mechanism}",
            f"{title}: delta at epsilon 0.5, 1, 2 and 4.",
            "tables 1 to 3",
            partial(_numbers, "ma", mechanism, "delta"),
            "number",
            (EXACT,),
        )
    for name, (measure, word), (mechanism, title) in product(DATA, _MEASURES.items(), MECHANISMS.items()):
        yield Claim(
            f"{name}-{word}-{mechanism}",
            f"{DATA[name].title}, {title}: {word} at epsilon 0.5, 1, 2 and 4.",
            DATA[name].table,
            partial(_numbers, name, mechanism, measure),
            "number",
            (EXACT, tables_name(name)),
        )


# --- what the columns are -------------------------------------------------------------------------


def _areas(evidence: Evidence) -> Checked:
    found = {each["name"]: each for each in evidence.trials[EXACT].values()}
    ours = [each["areas"] for each in found.values()]
    told = "; ".join(
        f"{DATA[name].title}: {each['people']:,} people, {each['cells']:,} cells, {each['empty']:,} of "
        "them empty"
        for name, each in found.items()
    )
    return fact(ours, [DATA[name].areas for name in found], why=f"{told}.", printed="5, 6 and 20")


def _features(evidence: Evidence) -> Checked:
    added = 2
    number = next(iter(evidence.trials[EXACT].values()))["columns"] - added
    return cannot_check(
        f"The earlier excerpt is not to be had; the newer one has {number} columns.", paper="about 20"
    )


def _repetitions(evidence: Evidence) -> Checked:
    del evidence
    few, many, odd = True, True, False
    for table in PRINTED.values():
        for (mechanism, _), row in table.items():
            for text in (row.l1, row.alpha):
                if mechanism == ANONYMITY:
                    few = few and _is_multiple(text, FEW)
                else:
                    many = many and _is_multiple(text, REPETITIONS)
                    odd = odd or not _is_multiple(text, FEW)
    why = (
        f"All printed numbers of k-anonymity are multiples of 1/{FEW}; the others are multiples of "
        f"1/{REPETITIONS} and not all of 1/20. An average of whole counts over 200 repetitions would not "
        "do that 24 times, so k-anonymity was repeated 20 times."
    )
    return Checked(DIFFERS if few and many and odd else AGREES, why, paper=str(REPETITIONS))


def _is_multiple(text: str, parts: int) -> bool:
    value = float(text) * parts
    return abs(value - round(value)) < 1e-6


def _against(evidence: Evidence) -> Checked:
    told, below = [], 0
    for record in evidence.trials[EXACT].values():
        name = record["name"]
        lost = (1 - anonymity_delta(Fraction(1, 2))) * record["people"]
        printed = float(PRINTED[name][ANONYMITY, "0.5"].l1)
        below += printed < lost
        told.append(f"{DATA[name].title} {printed:,.1f} printed, {lost:,.0f} people left out")
    why = (
        "At epsilon 0.5 the sample leaves out 61 % of the people, and the l1 norm of the bias against "
        f"the true table is at least that many: {'; '.join(told)}. The printed numbers are smaller, and "
        "rise with epsilon: they must be against the table of the sample."
    )
    return Checked(DIFFERS if below else AGREES, why)


def _monte_carlo(name: str, evidence: Evidence) -> Checked:
    numbers = exact_record(evidence, name)["numbers"][LAPLACE]
    exact = [numbers[text]["alpha"] for text in EPSILONS]
    ours = [of_table(evidence, name, LAPLACE, text, "alpha").mean() for text in EPSILONS]
    paper = [float(PRINTED[name][LAPLACE, text].alpha) for text in EPSILONS]
    more = [printed / true for printed, true in zip(paper, exact, strict=True)]
    why = (
        f"Mostly it is the randomness of 200 repetitions. Laplace: printed {_listed(paper)}, our experiments "
        f"{_listed(ours)}, exactly {_listed(exact)}."
    )
    return Checked(DIFFERS if min(more) > 1.25 else AGREES, why)


def _listed(values: list[float]) -> str:
    return ", ".join(f"{each:.2f}" for each in values)


# --- what the text reads from them ----------------------------------------------------------------


def _lower(name: str, measure: str, evidence: Evidence) -> Checked:
    """Check that Laplace and the discrete Gaussian are below every counterpart."""
    differences = [
        estimate_mean(
            of_table(evidence, name, other, text, measure) - of_table(evidence, name, own, text, measure)
        )
        for own, other, text in product(_CLASSICAL, _COUNTERPARTS, EPSILONS)
    ]
    return mostly(differences)


def _lower_delta(evidence: Evidence) -> Checked:
    numbers = exact_record(evidence, next(iter(DATA)))["numbers"]
    pairs = [
        (numbers[own][text], numbers[other][text])
        for own, other, text in product(_CLASSICAL, _COUNTERPARTS, EPSILONS)
    ]
    printed = sum(one["delta"] < two["delta"] for one, two in pairs)
    true = sum(one["exact delta"] < two["exact delta"] for one, two in pairs)
    least = min(two["exact delta"] for _, two in pairs)
    why = (
        f"By the paper's formulas in {printed} of {len(pairs)} comparisons, by the exact deltas in "
        f"{true}. The counterparts have a delta of at least {least:.2f}, which is no guarantee at any "
        "epsilon."
    )
    return Checked(AGREES if true > len(pairs) / 2 else DIFFERS, why)


def _advantage(name: str, evidence: Evidence) -> Checked:
    differences = [
        estimate_mean(
            of_table(evidence, name, ANONYMITY, text, measure)
            - of_table(evidence, name, LAPLACE, text, measure)
        )
        for measure, text in product(_MEASURES, EPSILONS)
    ]
    return mostly(differences)


def _rising(name: str, evidence: Evidence) -> Checked:
    """Check that the bias of k-anonymity rises with epsilon, as printed."""
    runs = [of_table(evidence, name, ANONYMITY, text, "l1") for text in EPSILONS]
    return mostly([estimate_mean(after - before) for before, after in pairwise(runs)])


def _same_order(evidence: Evidence) -> Checked:
    orders = []
    for name in DATA:
        means = {
            text: [of_table(evidence, name, each, text, "l1").mean() for each in MECHANISMS]
            for text in EPSILONS
        }
        orders.append([tuple(np.argsort(each)) for each in means.values()])
    same = [sum(one == other for one, other in zip(orders[0], each, strict=True)) for each in orders[1:]]
    why = (
        f"The five mechanisms have the order of Massachusetts by bias at {same[0]} of 4 epsilons in "
        f"Texas and at {same[1]} of 4 in Outlier."
    )
    return Checked(AGREES if min(same) > 2 else DIFFERS, why)


def _finding_claims(name: str) -> Iterator[Claim]:
    """Yield what the text reads from the table of a data set."""
    source, needs = DATA[name], (EXACT, tables_name(name))
    where = f"section 7, {source.table}"
    for measure, word in _MEASURES.items():
        words = (
            f"{source.title}: Laplace and the discrete Gaussian have almost always a lower {word} than the "
            "counterparts."
        )
        yield Claim(f"{name}-{word}-lower", words, where, partial(_lower, name, measure), "mostly", needs)
    words = f"{source.title}: Laplace has a significant advantage over DP k-anonymity."
    where = f"section 6, {source.table}"
    yield Claim(f"{name}-advantage", words, where, partial(_advantage, name), "mostly", needs)
    words = f"{source.title}: errors need not fall with epsilon: that of DP k-anonymity rises."
    where = f"section 4, {source.table}"
    yield Claim(f"{name}-rising", words, where, partial(_rising, name), "mostly", needs)
    words = f"{source.title}: the column alpha is the alpha of the mechanism."
    yield Claim(f"{name}-randomness", words, source.table, partial(_monte_carlo, name), "fact", needs)


TABLE_CLAIMS = (
    Claim("areas", "The data sets have 5, 6 and 20 areas.", "appendix C.1", _areas, "fact", (EXACT,)),
    Claim("features", "The excerpts have about 20 features.", "appendix C.1", _features, "fact", (EXACT,)),
    Claim(
        "repetitions",
        "All experiments report the average of 200 repetitions.",
        "section 7",
        _repetitions,
        "fact",
    ),
    Claim(
        "against-truth",
        "The bias of DP k-anonymity is against the true table.",
        "section 2, tables 1 to 3",
        _against,
        "fact",
        (EXACT,),
    ),
    *_number_claims(),
    Claim(
        "delta-lower",
        "Laplace and the discrete Gaussian have almost always a lower delta than the counterparts.",
        "appendix C.2",
        _lower_delta,
        "mostly",
        (EXACT,),
    ),
    *(claim for name in DATA for claim in _finding_claims(name)),
    Claim(
        "same-trends",
        "Trends in Texas and Outlier are similar to those in Massachusetts.",
        "section 7",
        _same_order,
        "mostly",
        (EXACT, *map(tables_name, DATA)),
    ),
)
"""Every number of the tables, a claim for four of them, and the findings."""
