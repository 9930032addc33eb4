"""The tables of the reproduction of zhu2023: printed, drawn again and exact, and what the figures show."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from evenhand.papers.claims import AGREES, CONTRADICTED, METHOD_UNKNOWN, OTHER_DATA
from evenhand.papers.tables import columns_of, table_row
from evenhand.papers.trials import estimate_mean
from evenhand.papers.zhu2023.classification import SETTINGS, classification_name
from evenhand.papers.zhu2023.data import ANONYMITY, DATA, EPSILONS, MECHANISMS, SWAPPING
from evenhand.papers.zhu2023.experiments import (
    AGAINST_ALL,
    BY_THRESHOLD,
    EXACT,
    SMALLER_NOISE,
    figures_name,
    ipums_name,
    tables_name,
)
from evenhand.papers.zhu2023.records import (
    accuracies,
    exact_record,
    number_of,
    of_figure,
    of_table,
    printed_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.papers.claims import Evidence

    Row = dict[str, Any]

AS_PRINTED, EXACTLY, AS_SHIPPED = "as in the paper", "exact", "as shipped"
AS_IPUMS = "race coded as in IPUMS"
"""What a row's strategy is: the paper's method on our data and with its coding of race, without randomness,
and evenhand's own mechanism."""

_MEASURES = {"l1": "l1_bias", "alpha": "alpha"}
_EXTRA = {
    SMALLER_NOISE: "the variance of the text; no printed numbers",
    BY_THRESHOLD: "Algorithm 2; the printed numbers fit equation (2)",
    AGAINST_ALL: "the sample's table against everybody; the printed numbers are below the people left out",
}


_row = partial(table_row, strategy=AS_PRINTED, shorten=lambda value: round(value, 10))


def build_tables(evidence: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Return tables 1 to 3, the numbers behind the figures, and the accuracies."""
    found: dict[str, list[Row]] = {}
    for name, source in DATA.items():
        if tables_name(name) in evidence.trials and EXACT in evidence.trials:
            table = source.table.lower().replace(" ", "-")
            found[table] = list(_table(evidence, name, table))
        if figures_name(name) in evidence.trials:
            found[f"figures-{name}"] = list(_figures(evidence, name))
        if classification_name(name) in evidence.trials:
            found[f"classification-{name}"] = list(_accuracies(evidence, name))
    return {name: columns_of(rows) for name, rows in found.items()}


# --- tables 1 to 3 --------------------------------------------------------------------------------


def _table(evidence: Evidence, name: str, table: str) -> Iterator[Row]:
    record = exact_record(evidence, name)
    for text, mechanism in product(EPSILONS, (*MECHANISMS, *_EXTRA)):
        place: Row = {"mechanism": mechanism, "epsilon": float(text)}
        exact = record["numbers"].get(mechanism, {}).get(text, {})
        if mechanism in MECHANISMS:
            checked = number_of(evidence, name, mechanism, text, "delta")
            yield _row(
                table, name, "delta", exact["delta"], **place,
                paper=checked.paper_value, verdict=checked.verdict, note=checked.why,
            )  # fmt: skip
        if "exact delta" in exact:
            yield _row(
                table, name, "delta", exact["exact delta"], strategy=EXACTLY, **place, note=_note(mechanism)
            )
        for measure, word in _MEASURES.items():
            yield _drawn(evidence, name, table, mechanism, text, measure, word)
            yield from _coded(evidence, name, table, mechanism, text, measure, word)
            if measure in exact:
                yield _row(
                    table,
                    name,
                    word,
                    exact[measure],
                    strategy=EXACTLY,
                    **place,
                    note="without any randomness",
                )
        shipped = record.get("shipped", {}).get(mechanism, {}).get(text, {})
        for measure, value in shipped.items():
            word = _MEASURES.get(measure, measure)
            yield _row(table, name, word, value, strategy=AS_SHIPPED, **place, note="evenhand.release, exact")


def _drawn(
    evidence: Evidence, name: str, table: str, mechanism: str, text: str, measure: str, word: str
) -> Row:
    place: Row = {"mechanism": mechanism, "epsilon": float(text)}
    if mechanism in _EXTRA:
        mean = estimate_mean(of_table(evidence, name, mechanism, text, measure))
        return _row(table, name, word, mean, **place, note=_EXTRA[mechanism])
    checked = number_of(evidence, name, mechanism, text, measure)
    paper = printed_number(name, mechanism, text, measure)[1]
    verdict = checked.verdict
    if mechanism == ANONYMITY:
        verdict = METHOD_UNKNOWN
    elif verdict == CONTRADICTED and ipums_name(name) in evidence.trials:
        coded = number_of(evidence, name, mechanism, text, measure, ipums=True)
        verdict = OTHER_DATA if coded.verdict == AGREES else verdict
    return _row(table, name, word, checked.ours, **place, paper=paper, verdict=verdict, note=checked.why)


def _coded(
    evidence: Evidence, name: str, table: str, mechanism: str, text: str, measure: str, word: str
) -> Iterator[Row]:
    """Yield the number with race coded as in IPUMS, where that was run."""
    if mechanism in MECHANISMS and mechanism != ANONYMITY and ipums_name(name) in evidence.trials:
        checked = number_of(evidence, name, mechanism, text, measure, ipums=True)
        yield _row(
            table, name, word, checked.ours, strategy=AS_IPUMS, mechanism=mechanism, epsilon=float(text),
            paper=checked.paper_value, verdict=checked.verdict, note=checked.why,
        )  # fmt: skip


def _note(mechanism: str) -> str:
    if mechanism == SWAPPING:
        return "at every epsilon, if only the quasi-identifier may change; else 1"
    if mechanism == ANONYMITY:
        return "at every epsilon, for the sample itself"
    return "exact at this epsilon, when one person is replaced"


# --- figures --------------------------------------------------------------------------------------


def _figures(evidence: Evidence, name: str) -> Iterator[Row]:
    first = next(iter(evidence.trials[figures_name(name)].values()))
    for method, lines in first.items():
        for at, found in lines.items():
            for line in found:
                for measure in ("error", "alpha"):
                    mean = estimate_mean(of_figure(evidence, name, method, at, line, measure))
                    yield _row(f"figures-{name}", name, measure, mean, **_place(method, at, line))


def _place(method: str, at: str, line: str) -> Row:
    """Return the mechanism, the epsilon and the note of a line of a figure at a place."""
    epsilon, _, against = line.partition(", ")
    if method == "swapping" and at != "epsilon":
        return {"mechanism": method, "note": f"{line} % swapped; {at}"}
    note = "" if method == "swapping" else f"k = {at}"
    if epsilon not in EPSILONS:
        return {"mechanism": method, "note": note}
    more = f"{note}; against {against}" if against else note
    return {"mechanism": f"DP {method}", "epsilon": float(epsilon), "note": more}


def _accuracies(evidence: Evidence, name: str) -> Iterator[Row]:
    table = classification_name(name)
    first = next(iter(evidence.trials[table].values()))
    for setting in SETTINGS:
        for mechanism, found in first[setting].items():
            for text in found:
                mean = estimate_mean(accuracies(evidence, name, mechanism, text, setting=setting))
                yield _row(
                    table, name, "acc", mean, mechanism=mechanism, epsilon=float(text) if text else None,
                    note="with the area as a feature" if setting == "areas" else "",
                )  # fmt: skip


# --- for reading ----------------------------------------------------------------------------------


def side_by_side(evidence: Evidence, name: str) -> str:
    """Return a table as Markdown: printed, drawn again and exact, side by side."""
    record = exact_record(evidence, name)
    heads = (
        "| epsilon | mechanism | delta: paper | exact | bias: paper | ours | IPUMS | exact "
        "| alpha: paper | ours | IPUMS | exact |"
    )
    lines = [heads, "|---" * 12 + "|"]
    for text in EPSILONS:
        for mechanism, title in MECHANISMS.items():
            numbers = record["numbers"][mechanism][text]
            cells = [
                text,
                title,
                printed_number(name, mechanism, text, "delta")[0],
                _level(numbers["exact delta"]),
            ]
            for measure, digits in (("l1", 1), ("alpha", 2)):
                mean = float(of_table(evidence, name, mechanism, text, measure).mean())
                exact = f"{numbers[measure]:,.{digits}f}" if measure in numbers else ""
                printed = printed_number(name, mechanism, text, measure)[0]
                coded = ""
                if mechanism != ANONYMITY:
                    runs = of_table(evidence, name, mechanism, text, measure, ipums=True)
                    coded = f"{float(runs.mean()):,.{digits}f}"
                cells += [printed, f"{mean:,.{digits}f}", coded, exact]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _level(value: float) -> str:
    if value in (0.0, 1.0):
        return f"{value:g}"
    return f"{value:.4f}" if value >= 1e-3 else f"{value:.1e}"
