"""The tables of the reproduction of fioretto2021: the paper's method and exact numbers, in separate rows."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.fioretto2021 import data, records
from evenhand.papers.fioretto2021.allotment import AS_PRINTED, SHOWN, inverse_excess
from evenhand.papers.fioretto2021.data import AVERAGE, BOUNDS, CLAMP, EPSILONS, LANGUAGE_EPSILONS, PLAIN
from evenhand.papers.fioretto2021.language import INDEPENDENT, MODELS, ORIGINAL, PARTS, WHOLE
from evenhand.papers.fioretto2021.trials import ALLOTMENT, COUNTY_DRAWS, DRAWS, LANGUAGE, PROXIES
from evenhand.papers.stored import read_toml
from evenhand.papers.tables import columns_of, table_row
from evenhand.papers.trials import estimate_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.papers.claims import Evidence

    Row = dict[str, Any]

METHOD, EXACTLY = "as in the paper", "exact"
"""What a row's strategy is: the paper's method, or without randomness and with its constants put right."""

_MOST_LOST = 42_000
_WORDS = read_toml(__package__, "paper.toml")


def _row(dataset: str, measure: str, ours: Any, epsilon: str, **cells: Any) -> Row:
    told = {"mechanism": PLAIN, "strategy": EXACTLY, "epsilon": float(epsilon), **cells}
    return table_row("", dataset, measure, ours, shorten=lambda value: float(f"{value:.8g}"), **told)


def build_tables(evidence: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Return Example 1, the numbers behind the figures, and those of the counties."""
    makers = {
        "example-1": (_example, {ALLOTMENT}),
        "allotment": (_allotment, {ALLOTMENT}),
        "draws": (_draws, {ALLOTMENT, DRAWS}),
        "language": (_language, {LANGUAGE}),
        "counties": (_counties, {COUNTY_DRAWS}),
        "proxies": (_proxies, {PROXIES}),
    }
    return {
        name: columns_of([{**row, "table": name} for row in make(evidence)])
        for name, (make, needs) in makers.items()
        if needs <= evidence.trials.keys()
    }


def _example(evidence: Evidence) -> Iterator[Row]:
    """Yield the numbers of Example 1 and section 4: printed, by the paper's formula, and exact."""
    bounds = {text: partial(records.check_number, paper=printed) for text, printed in BOUNDS.items()}
    amounts = {text: partial(records.check_amount, paper=float(printed)) for text, printed in AVERAGE.items()}
    dollars = "average misallocation, USD"
    formula, clamped = (
        "(4g) with its factor n; no 1/2 is lost",
        "mean absolute bias times the budget, clamped at 0",
    )
    for word, measure, way, mechanism, checks, note in (
        ("alpha", "alpha", AS_PRINTED, PLAIN, bounds, formula),
        (dollars, "average", CLAMP, CLAMP, amounts, clamped),
    ):
        for text in EPSILONS:
            ours = records.of_allotment(evidence, text, way, measure)
            cells: Row = {"mechanism": mechanism, "strategy": METHOD, "note": note}
            if text in checks:
                checked = checks[text](ours)
                cells |= {"paper": checked.paper_value, "verdict": checked.verdict}
            yield _row("students", word, ours, text, **cells)
            yield _row("students", word, records.of_allotment(evidence, text, PLAIN, measure), text)
    for text, (way, strategy) in product(EPSILONS, ((CLAMP, METHOD), (PLAIN, EXACTLY))):
        lost = records.of_allotment(evidence, text, way, "most lost")
        cells = {"mechanism": way, "strategy": strategy, "paper": float(_MOST_LOST) if way == CLAMP else None}
        note = "the epsilon of the printed number is not given"
        yield _row("students", "most lost, USD", lost, text, note=note, **cells)


def _allotment(evidence: Evidence) -> Iterator[Row]:
    """Yield every exact number about every way to allot."""
    for name, text in product(data.TABLES[: len(evidence.trials[ALLOTMENT])], EPSILONS):
        for way in records.allotment(evidence, name)["epsilons"][text]["summary"]:
            strategy = METHOD if way == AS_PRINTED else EXACTLY
            cells = {"mechanism": way, "strategy": strategy, "note": _WORDS["notes"].get(way, "")}
            for measure, word in _WORDS["measures"].items():
                yield _row(
                    name, word, records.of_allotment(evidence, text, way, measure, name=name), text, **cells
                )


def _draws(evidence: Evidence) -> Iterator[Row]:
    """Yield what the paper's simulation gives, beside what is exact."""
    lost, alpha = (_WORDS["measures"][measure] for measure in ("most lost", "alpha, New York"))
    for text in EPSILONS:
        for way in SHOWN:
            found = records.drawn_biases(evidence, text, way)
            drawn = partial(_row, "students", epsilon=text, mechanism=way, strategy=METHOD)
            yield drawn(alpha, float(np.ptp(found)))
            yield _row(
                "students",
                alpha,
                records.of_allotment(evidence, text, way, "alpha, New York"),
                text,
                mechanism=way,
            )
            yield drawn(lost, -data.BUDGET * float(found.min()))
            for place in ("all", "New York"):
                mean = estimate_mean(records.drawn_errors(evidence, text, way, place=place))
                yield drawn(f"mean absolute error, {place}", mean)
        for way, places in records.allotment(evidence)["epsilons"][text]["error"].items():
            for place, value in places.items():
                yield _row("students", f"mean absolute error, {place}", value, text, mechanism=way)


def _language(evidence: Evidence) -> Iterator[Row]:
    for name in data.AREAS[: len(evidence.trials[LANGUAGE])]:
        inside = np.asarray(records.language(evidence, name)["covered"], dtype=bool)
        source = "simulated beyond the 187 determined counties" if name == "simulated" else "published counts"
        noises = (("1", METHOD), ("3", EXACTLY))
        places = product(noises, LANGUAGE_EPSILONS, (WHOLE, INDEPENDENT, *PARTS))
        for (touches, strategy), text, part in places:
            errors = records.area_errors(evidence, text, part, name=name, touches=touches)
            numbers = {
                "mean error": errors.mean(),
                "largest error": errors.max(),
                "alpha": np.ptp(errors),
                "mean error of the covered": errors[inside].mean(),
                "alpha of the covered": np.ptp(errors[inside]),
            }
            note = f"noise of scale {touches} / epsilon; {source}"
            for measure, value in numbers.items():
                yield _row(name, measure, float(value), text, mechanism=part, strategy=strategy, note=note)


def _counties(evidence: Evidence) -> Iterator[Row]:
    for text in LANGUAGE_EPSILONS:
        means, variances = (
            records.of_draws(evidence, COUNTY_DRAWS, text, key) for key in ("mean", "variance")
        )
        for place, county in enumerate(data.COUNTIES):
            row = partial(_row, county.name, epsilon=text, mechanism="ratio")
            principal = county.ratio * inverse_excess(1 / (float(text) * county.s))
            yield row("ratio", county.ratio)
            yield row("bias", estimate_mean(means[:, place] - county.ratio), strategy=METHOD)
            yield row("bias", principal, note="principal value; the mean is infinite")
            yield row("variance", estimate_mean(variances[:, place]), strategy=METHOD)


def _proxies(evidence: Evidence) -> Iterator[Row]:
    words = _WORDS["proxy_measures"].items()
    for text, model, (measure, word) in product(LANGUAGE_EPSILONS, (ORIGINAL, *MODELS), words):
        for group, runs in enumerate(records.of_proxies(evidence, text, model, measure).T, 1):
            cells = {"mechanism": model, "split": f"group {group}", "note": "exact in each grouping"}
            yield _row("simulated", word, estimate_mean(runs), text, strategy=METHOD, **cells)
