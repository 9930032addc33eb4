"""The tables of the reproduction of fioretto2021: the paper's method and exact numbers, in separate rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.fioretto2021.allotment import AS_PRINTED, OUTPUT, SECOND, SHOWN, inverse_excess
from evenhand.papers.fioretto2021.data import (
    AREAS,
    AVERAGE,
    BOUNDS,
    BUDGET,
    CLAMP,
    COUNTIES,
    EPSILONS,
    LANGUAGE_EPSILONS,
    PLAIN,
    PROXY,
    TABLES,
)
from evenhand.papers.fioretto2021.language import INDEPENDENT, MODELS, ORIGINAL, PARTS, WHOLE
from evenhand.papers.fioretto2021.records import (
    allotment,
    area_errors,
    check_amount,
    check_number,
    county_draws,
    drawn_biases,
    drawn_errors,
    language,
    of_allotment,
    of_proxies,
)
from evenhand.papers.fioretto2021.trials import ALLOTMENT, COUNTY_DRAWS, DRAWS, LANGUAGE, PROXIES
from evenhand.papers.tables import columns_of, table_row
from evenhand.papers.trials import estimate_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.papers.claims import Evidence

    Row = dict[str, Any]

METHOD, EXACTLY = "as in the paper", "exact"
"""What a row's strategy is: the paper's method, or without randomness and with its constants put right."""

_MOST_LOST = 42_000
_MEASURES = {
    "alpha": "alpha, all districts",
    "alpha, New York": "alpha, New York",
    "most lost": "most that a district of New York loses, USD",
    "most gained": "most that a district of New York gains, USD",
    "average": "mean absolute bias of all districts, USD",
    "average, New York": "mean absolute bias of New York, USD",
    "moved": "moved between districts, USD",
    "cost": "cost of privacy, all districts, USD",
    "cost, New York": "cost of privacy, New York, USD",
}


def _eight_digits(value: float) -> float:
    return float(f"{value:.8g}")


_row = partial(table_row, "", mechanism=PLAIN, strategy=EXACTLY, shorten=_eight_digits)


def build_tables(evidence: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Return Example 1, the numbers behind the figures, and those of the counties."""
    makers = {
        "example-1": (_example, (ALLOTMENT,)),
        "allotment": (_allotment, (ALLOTMENT,)),
        "draws": (_draws, (ALLOTMENT, DRAWS)),
        "language": (_language, (LANGUAGE,)),
        "counties": (_counties, (COUNTY_DRAWS,)),
        "proxies": (_proxies, (PROXIES,)),
    }
    return {
        name: columns_of([{**row, "table": name} for row in make(evidence)])
        for name, (make, needs) in makers.items()
        if all(each in evidence.trials for each in needs)
    }


# --- the allotment --------------------------------------------------------------------------------


def _example(evidence: Evidence) -> Iterator[Row]:
    """Yield the numbers of Example 1 and section 4: printed, by the paper's formula, and exact."""
    for text in EPSILONS:
        ours = of_allotment(evidence, text, AS_PRINTED, "alpha")
        checked = check_number(ours, BOUNDS[text]) if text in BOUNDS else None
        yield _row(
            "students", "alpha", ours, epsilon=float(text), strategy=METHOD,
            note="(4g) with its factor n; no 1/2 is lost", **_against(checked),
        )  # fmt: skip
        yield _row("students", "alpha", of_allotment(evidence, text, PLAIN, "alpha"), epsilon=float(text))
    for text in EPSILONS:
        ours = of_allotment(evidence, text, CLAMP, "average")
        checked = check_amount(ours, float(AVERAGE[text])) if text in AVERAGE else None
        yield _row(
            "students", "average misallocation, USD", ours, epsilon=float(text), mechanism=CLAMP,
            strategy=METHOD, note="mean absolute bias times the budget, clamped at 0", **_against(checked),
        )  # fmt: skip
        plain = of_allotment(evidence, text, PLAIN, "average")
        yield _row("students", "average misallocation, USD", plain, epsilon=float(text))
    for text in EPSILONS:
        for way, strategy in ((CLAMP, METHOD), (PLAIN, EXACTLY)):
            lost = of_allotment(evidence, text, way, "most lost")
            printed: Row = {"paper": float(_MOST_LOST)} if way == CLAMP else {}
            yield _row(
                "students", "most lost, USD", lost, epsilon=float(text), mechanism=way, strategy=strategy,
                note="the epsilon of the printed number is not given", **printed,
            )  # fmt: skip


def _against(checked: Any) -> Row:
    if checked is None:
        return {}
    return {"paper": checked.paper_value, "verdict": checked.verdict}


def _allotment(evidence: Evidence) -> Iterator[Row]:
    """Yield every exact number about every way to allot."""
    for name in list(TABLES)[: len(evidence.trials[ALLOTMENT])]:
        for text in EPSILONS:
            for way in allotment(evidence, name)["epsilons"][text]["summary"]:
                strategy = METHOD if way == AS_PRINTED else EXACTLY
                for measure, words in _MEASURES.items():
                    yield _row(
                        name, words, of_allotment(evidence, text, way, measure, name=name), mechanism=way,
                        epsilon=float(text), strategy=strategy, note=_NOTES.get(way, ""),
                    )  # fmt: skip


_NOTES = {
    SECOND: "half the variance times the trace",
    AS_PRINTED: "the same times n, as (4g) has it",
    PROXY: "half of epsilon for the sum",
    OUTPUT: "noise on the shares; the paper's L = 0.9 Z is not public",
}


def _draws(evidence: Evidence) -> Iterator[Row]:
    """Yield what the paper's simulation gives, beside what is exact."""
    for text in EPSILONS:
        at: Row = {"epsilon": float(text)}
        for way in SHOWN:
            found = drawn_biases(evidence, text, way)
            most = -BUDGET * float(found.min())
            yield _row(
                "students", "alpha, New York", float(np.ptp(found)), mechanism=way, strategy=METHOD, **at
            )
            exact = of_allotment(evidence, text, way, "alpha, New York")
            yield _row("students", "alpha, New York", exact, mechanism=way, **at)
            yield _row("students", _MEASURES["most lost"], most, mechanism=way, strategy=METHOD, **at)
            for place in ("all", "New York"):
                mean = estimate_mean(drawn_errors(evidence, text, way, place=place))
                yield _row(
                    "students", f"mean absolute error, {place}", mean, mechanism=way, strategy=METHOD, **at
                )
        for way, places in allotment(evidence)["epsilons"][text]["error"].items():
            for place, value in places.items():
                yield _row("students", f"mean absolute error, {place}", value, mechanism=way, **at)


# --- the rule -------------------------------------------------------------------------------------


def _language(evidence: Evidence) -> Iterator[Row]:
    for name in list(AREAS)[: len(evidence.trials[LANGUAGE])]:
        record = language(evidence, name)
        inside = np.asarray(record["covered"], dtype=bool)
        note = "simulated beyond the 187 determined counties" if name == "simulated" else "published counts"
        for touches, strategy in (("1", METHOD), ("3", EXACTLY)):
            for text in LANGUAGE_EPSILONS:
                for part in (WHOLE, INDEPENDENT, *PARTS):
                    errors = area_errors(evidence, text, part, name=name, touches=touches)
                    numbers = {
                        "mean error": float(errors.mean()),
                        "largest error": float(errors.max()),
                        "alpha": float(np.ptp(errors)),
                        "mean error of the covered": float(errors[inside].mean()),
                        "alpha of the covered": float(np.ptp(errors[inside])),
                    }
                    for measure, value in numbers.items():
                        yield _row(
                            name, measure, value, mechanism=part, epsilon=float(text), strategy=strategy,
                            note=f"noise of scale {touches} / epsilon; {note}",
                        )  # fmt: skip


def _counties(evidence: Evidence) -> Iterator[Row]:
    for text in LANGUAGE_EPSILONS:
        means, variances = (county_draws(evidence, text, measure) for measure in ("mean", "variance"))
        for place, county in enumerate(COUNTIES):
            at: Row = {"epsilon": float(text), "mechanism": "ratio"}
            principal = county.ratio * inverse_excess(1 / (float(text) * county.s))
            yield _row(county.name, "ratio", county.ratio, **at)
            yield _row(
                county.name, "bias", estimate_mean(means[:, place] - county.ratio), strategy=METHOD, **at
            )
            yield _row(county.name, "bias", principal, note="principal value; the mean is infinite", **at)
            yield _row(county.name, "variance", estimate_mean(variances[:, place]), strategy=METHOD, **at)


def _proxies(evidence: Evidence) -> Iterator[Row]:
    for text in LANGUAGE_EPSILONS:
        for model in (ORIGINAL, *MODELS):
            for measure, words in (
                ("alpha", "alpha"),
                ("own alpha", "alpha against its own answers"),
                ("error", "mean error"),
                ("right", "accuracy on true counts"),
            ):
                found = of_proxies(evidence, text, model, measure)
                for group in range(found.shape[1]):
                    yield _row(
                        "simulated", words, estimate_mean(found[:, group]), mechanism=model,
                        epsilon=float(text), split=f"group {group + 1}", strategy=METHOD,
                        note="exact in each grouping",
                    )  # fmt: skip
