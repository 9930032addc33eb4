"""Checks of tables 1 to 3 of zhu2023, of what the text reads from them, and of figures 2 to 9.

The paper does not say which columns k-anonymity merged, and none that we tried has its numbers. So findings
about all counterparts are judged by suppression and swapping, and k-anonymity is told besides.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import chain, pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers import claims
from evenhand.papers.claims import AGREES, CONTRADICTED, Checked, agree_if, cannot_check
from evenhand.papers.paper import fill
from evenhand.papers.rules import alike, below, mostly, share, within_sentence
from evenhand.papers.trials import estimate_mean
from evenhand.papers.zhu2023 import data, experiments
from evenhand.papers.zhu2023.data import (
    ALLOWED,
    ANONYMITY,
    DATA,
    EPSILONS,
    EXACT,
    LAPLACE,
    PRINTED,
    SUPPRESSION,
    SWAPPING,
    anonymity_delta,
    exact_record,
    number_of,
    of_table,
    runs,
)
from evenhand.papers.zhu2023.experiments import DRAWN, ORIGINAL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.papers.claims import Evidence
    from evenhand.papers.trials import Values

CLOSE = 0.1
"""Errors and alphas within it of the original's, as a share of that, are called close."""

NEAR = 0.02
"""Accuracies within it of the baseline's are called close."""

_NOISE, _COUNTERPARTS = DRAWN[:2], DRAWN[2:]


# --- numbers of the tables ------------------------------------------------------------------------


def numbers(evidence: Evidence, name: str, mechanism: str, measure: str) -> Checked:
    """Check four numbers of a table; where they fail, whether that follows from the data."""
    parts = [number_of(evidence, name, mechanism, text, measure) for text in EPSILONS]
    checked = share(parts, what="numbers")
    exact = exact_record(evidence, name)["numbers"].get(mechanism, {})
    known = [exact[text][measure] for text in EPSILONS if measure in exact.get(text, {})]
    told = ", ".join(f"{value:,.2f}" for value in known)
    more = f" Without the chance of its 200 repetitions it would be {told}." if known else ""
    case = "delta" if measure == "delta" else {data.GAUSSIAN: "gaussian"}.get(mechanism, "")
    if measure != "delta" and mechanism != ANONYMITY:
        follows, told = _follows_from_data(evidence, name, mechanism, measure, parts)
        more += told
        if checked.verdict == CONTRADICTED and follows:
            checked = replace(checked, verdict=claims.OTHER_DATA)
    ours = [part.ours.value for part in parts if part.ours]
    allowed = fill("; allowed {most:.1%}", most=most) if (most := _of_parts(parts, "allowed")) else ""
    values = {"ours": ours, "offs": _of_parts(parts, "off"), "allowed": allowed, "more": more}
    shown = ", ".join(f"{value:{'.4g' if measure == 'delta' else ',.2f'}}" for value in ours)
    paper = ", ".join(part.paper for part in parts)
    return replace(checked, paper=paper, values=values, case=case, shown=shown)


def _follows_from_data(
    evidence: Evidence, name: str, mechanism: str, measure: str, parts: Sequence[Checked]
) -> tuple[bool, str]:
    """Return whether other data explain what four numbers are off by, and what shows it.

    They do if the numbers agree with race coded as in IPUMS. The alpha of swapping is a factor of epsilon
    times what the largest cells set, so that there they also do if all four are off by the same factor.
    """
    coded = [number_of(evidence, name, mechanism, text, measure, kind="ipums") for text in EPSILONS]
    as_coded = share(coded, what="numbers")
    offs = fill("{offs:+.1%}", offs=_of_parts(coded, "off"))
    told = f" With race coded as in IPUMS {as_coded.why[:-1]}: {offs}."
    if (mechanism, measure) != (SWAPPING, "alpha"):
        return as_coded.verdict == AGREES, told
    times = [part.ours.value / part.paper_value for part in parts if part.ours and part.paper_value]
    even = max(times) / min(times) <= 1 + 2 * ALLOWED
    told += f" The four are {min(times):.2f} to {max(times):.2f} times the printed ones."
    return as_coded.verdict == AGREES or even, told


def _of_parts(parts: Sequence[Checked], key: str) -> list[float]:
    return [part.values[key] for part in parts if key in part.values]


def areas(evidence: Evidence, printed: str) -> Checked:
    records = evidence.trials[EXACT].values()
    told = "; ".join(
        f"{DATA[record['name']].title}: {record['areas']} areas, {record['people']:,} people, "
        f"{record['cells']:,} cells, {record['empty']:,} of them empty"
        for record in records
    )
    ours = [record["areas"] for record in records]
    shown = "{}, {} and {}".format(*ours) if len(ours) == len(DATA) else str(ours[0])
    holds = ours == [DATA[record["name"]].areas for record in records]
    return agree_if(holds, paper=printed, shown=shown, told=told)


def features(evidence: Evidence, printed: str) -> Checked:
    added = 2
    number = next(iter(evidence.trials[EXACT].values()))["columns"] - added
    return cannot_check(paper=printed, number=number)


def repetitions(_: Evidence) -> Checked:
    many, few = experiments.REPETITIONS, experiments.FEW
    texts: dict[bool, list[str]] = {True: [], False: []}
    for (mechanism, _text), row in chain(*(table.items() for table in PRINTED.values())):
        texts[mechanism == ANONYMITY] += [row.l1, row.alpha]
    of_few, anonymous = (_multiples(texts[key], few) for key in (False, True))
    values = {
        "few": few, "many": many, "of_many": _multiples(texts[False], many), "others": len(texts[False]),
        "of_few": of_few, "anonymous": anonymous, "printed": len(texts[True]),
    }  # fmt: skip
    slipped = anonymous == len(texts[True]) and of_few < len(texts[False])
    return agree_if(not slipped, otherwise=claims.SLIP, paper=str(many), shown=str(few), **values)


def _multiples(texts: list[str], parts: int) -> int:
    """Return how many of the printed numbers are multiples of one part."""
    values = [float(text) * parts for text in texts]
    return sum(abs(value - round(value)) < 1e-6 for value in values)


def against_truth(evidence: Evidence) -> Checked:
    told, below_lost, left = [], 0, 1 - anonymity_delta(Fraction(1, 2))
    for record in evidence.trials[EXACT].values():
        name = record["name"]
        lost = left * record["people"]
        printed = float(PRINTED[name][ANONYMITY, "0.5"].l1)
        below_lost += printed < lost
        told.append(f"{DATA[name].title} {printed:,.1f} printed, {lost:,.0f} people left out")
    return agree_if(not below_lost, otherwise=claims.SLIP, left=left, told="; ".join(told))


# --- what the text reads from the tables ----------------------------------------------------------


def _against_rivals(gap: Callable[[str, str, str], Values], *, least: float = 0.0) -> Checked:
    """Check that what noise is ahead of each counterpart by is mostly above `least`, k-anonymity besides."""
    checked, anonymity = (
        mostly([estimate_mean(gap(*pair) - least) for pair in product(_NOISE, others, EPSILONS)])
        for others in (_COUNTERPARTS, (ANONYMITY,))
    )
    return replace(checked, values={"anonymity": within_sentence(anonymity.why)})


def _ahead(evidence: Evidence, name: str, measure: str, own: str, other: str, text: str) -> Values:
    """Return by how much a number of one mechanism is below another's."""
    return of_table(evidence, name, other, text, measure) - of_table(evidence, name, own, text, measure)


def lower(evidence: Evidence, name: str, measure: str) -> Checked:
    return _against_rivals(partial(_ahead, evidence, name, measure))


def lower_delta(evidence: Evidence) -> Checked:
    known = exact_record(evidence, next(iter(DATA)))["numbers"]
    others = (*_COUNTERPARTS, ANONYMITY)
    pairs = [(known[own][text], known[other][text]) for own, other, text in product(_NOISE, others, EPSILONS)]
    printed, true = (sum(one[key] < two[key] for one, two in pairs) for key in ("delta", "exact delta"))
    least = min(two["exact delta"] for _, two in pairs)
    return agree_if(true > len(pairs) / 2, printed=printed, number=len(pairs), true=true, least=least)


def advantage(evidence: Evidence, name: str) -> Checked:
    gaps = [
        _ahead(evidence, name, measure, LAPLACE, ANONYMITY, text)
        for measure, text in product(("l1", "alpha"), EPSILONS)
    ]
    return mostly(list(map(estimate_mean, gaps)))


def need_not_fall(evidence: Evidence) -> Checked:
    """Check that there is a counterpart whose bias rises with epsilon: that of suppression, up to 2."""
    rises = []
    for name in DATA:
        biases = [of_table(evidence, name, SUPPRESSION, text, "l1") for text in EPSILONS[:3]]
        rises += [estimate_mean(after - before) for before, after in pairwise(biases)]
    return mostly(rises, what="steps of epsilon", words=("clearly up", "clearly down"))


def same_order(evidence: Evidence) -> Checked:
    first, *others = (
        [
            tuple(np.argsort([of_table(evidence, name, each, text, "l1").mean() for each in DRAWN]))
            for text in EPSILONS
        ]
        for name in DATA
    )
    same = [sum(a == b for a, b in zip(first, other, strict=True)) for other in others]
    return agree_if(min(same) > len(EPSILONS) / 2, same=same, number=len(EPSILONS))


# --- figures of errors and alphas -----------------------------------------------------------------


def _pairs(
    evidence: Evidence, name: str, method: str, epsilon: str, measure: str, *, reading: str = data.CELLS
) -> dict[int, tuple[Values, Values]]:
    """Return the original and its counterpart at an epsilon, by the threshold or share of a figure.

    `reading` is what swapping is taken to be.
    """
    of_figure = partial(runs, evidence, f"figures-{name}", method)
    if method == "swapping":
        own = of_figure("epsilon", epsilon, measure)
        return {at: (of_figure(reading, str(at), measure), own) for at in data.SHARES}
    return {
        k: (of_figure(str(k), ORIGINAL, measure), of_figure(str(k), epsilon, measure))
        for k in data.THRESHOLDS
    }


def _apart(evidence: Evidence, name: str, method: str, measure: str) -> list[Any]:
    """Return how far numbers are from the originals', as a share of these."""
    found = []
    for text in EPSILONS:
        for original, own in _pairs(evidence, name, method, text, measure).values():
            scale = float(original.mean())
            found.append(estimate_mean((own - original) / scale if scale else np.full(len(own), np.nan)))
    return found


def close(evidence: Evidence, name: str, method: str) -> Checked:
    """Check that errors are within a tenth of the original's; swapping may be read in three ways."""
    checked = alike(_apart(evidence, name, method, "error"), margin=CLOSE)
    if method != "swapping":
        return checked
    first, last = data.SHARES[0], data.SHARES[-1]

    def error(at: str, line: str) -> float:
        return float(runs(evidence, f"figures-{name}", method, at, line, "error").mean())

    own = [error("epsilon", text) for text in EPSILONS]
    told = [[error(reading, str(at)) for at in (first, last)] for reading in data.READINGS]
    values = {"readings": list(data.READINGS), "told": told, "own": own, "first": first, "last": last}
    return replace(checked, values=values, case="swapping")


def improved(evidence: Evidence, name: str) -> Checked:
    small = EPSILONS[:2]
    lines = {"own": small[0], "everybody": f"{small[0]}, everybody", "original": ORIGINAL}
    values = {
        key: float(runs(evidence, f"figures-{name}", "k-anonymity", "6", line, "error").mean())
        for key, line in lines.items()
    }
    checked = _below_original(evidence, name, "error", small)
    return replace(checked, values={**values, "epsilon": small[0]})


def fairer(evidence: Evidence, name: str) -> Checked:
    return _below_original(evidence, name, "alpha", EPSILONS)


def _below_original(evidence: Evidence, name: str, measure: str, epsilons: Sequence[str]) -> Checked:
    pairs = [_pairs(evidence, name, "k-anonymity", text, measure).values() for text in epsilons]
    return mostly([estimate_mean(original - own) for original, own in chain(*pairs)])


def _falls(evidence: Evidence, name: str, method: str, measure: str, reading: str) -> dict[int, list[Any]]:
    """Return how much the distance to the original falls from each epsilon to the next, by threshold."""
    pairs = [_pairs(evidence, name, method, text, measure, reading=reading) for text in EPSILONS]
    away = [{at: np.abs(own - original) for at, (original, own) in by_place.items()} for by_place in pairs]
    return {at: [estimate_mean(before[at] - after[at]) for before, after in pairwise(away)] for at in away[0]}


def approaches(evidence: Evidence, name: str, method: str, measure: str) -> Checked:
    """Check that the distance to the original falls from each epsilon to the next.

    Thresholds and shares are ours: it is contradicted only if it is at each of them, and else of an unknown
    method. So it is for swapping if the three readings do not agree.
    """
    readings = data.READINGS if method == "swapping" else (data.CELLS,)
    falls = {reading: _falls(evidence, name, method, measure, reading) for reading in readings}
    checks = {reading: mostly(list(chain(*by_place.values()))) for reading, by_place in falls.items()}
    checked = checks.pop(data.CELLS)
    against = [at for at, steps in falls[data.CELLS].items() if mostly(steps).verdict == CONTRADICTED]
    in_part = checked.verdict == CONTRADICTED and len(against) < len(falls[data.CELLS])
    if in_part or any(other.verdict != checked.verdict for other in checks.values()):
        checked = replace(checked, verdict=claims.METHOD_UNKNOWN)
    values = {
        "against": against or "none",
        "places": list(falls[data.CELLS]),
        "told": [f"{reading}: {within_sentence(other.why)[:-1]}" for reading, other in checks.items()],
    }
    return replace(checked, values=values, case="swapping" if checks else "")


def comparable(evidence: Evidence, name: str, method: str) -> Checked:
    return below(_apart(evidence, name, method, "alpha"), limit=CLOSE)


# --- classification -------------------------------------------------------------------------------


def _accuracy(evidence: Evidence, name: str, mechanism: str, epsilon: str, setting: str = "plain") -> Values:
    return runs(evidence, f"classification-{name}", setting, mechanism, epsilon)


def higher(evidence: Evidence, name: str, least: float = 0.0) -> Checked:
    """Check that classifiers from noisy tables are more accurate by more than `least`."""

    def gap(own: str, other: str, text: str, setting: str = "plain") -> Values:
        one, two = (_accuracy(evidence, name, each, text, setting) for each in (own, other))
        return one - two

    checked = _against_rivals(gap, least=least)
    at_all, areas_too = _against_rivals(gap), _against_rivals(partial(gap, setting="areas"))
    more = {"at_all": within_sentence(at_all.why), "areas": within_sentence(areas_too.why)}
    return replace(checked, values={**checked.values, **more}, case="much" if least else "")


def near(evidence: Evidence, name: str) -> Checked:
    base = _accuracy(evidence, name, experiments.BASELINE, "")
    losses = [base - _accuracy(evidence, name, own, text) for own, text in product(_NOISE, EPSILONS)]
    return replace(below(list(map(estimate_mean, losses)), limit=NEAR), values={"base": base.mean()})


def nearer(evidence: Evidence, name: str) -> Checked:
    base = _accuracy(evidence, name, experiments.BASELINE, "")

    def gap(own: str, other: str, text: str) -> Values:
        away, far = (np.abs(base - _accuracy(evidence, name, each, text)) for each in (own, other))
        return far - away

    return _against_rivals(gap)
