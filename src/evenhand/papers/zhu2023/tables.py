"""The tables of the reproduction of zhu2023: printed, drawn again and exact, and what the figures show."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from evenhand.papers.claims import AGREES, CONTRADICTED, METHOD_UNKNOWN, OTHER_DATA
from evenhand.papers.tables import columns_of, table_row
from evenhand.papers.trials import estimate_mean
from evenhand.papers.zhu2023 import experiments
from evenhand.papers.zhu2023.data import ANONYMITY, DATA, EPSILONS, EXTRA, MECHANISMS, SWAPPING
from evenhand.papers.zhu2023.records import exact_record, number_of, of_table, printed_number, runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.papers.claims import Evidence

    Row = dict[str, Any]

AS_PRINTED, EXACTLY, AS_SHIPPED = "as in the paper", "exact", "as shipped"
AS_IPUMS = "race coded as in IPUMS"
"""What a row's strategy is: the paper's method on our data and with its coding of race, without randomness,
and evenhand's own mechanism."""

_MEASURES = {"l1": "l1_bias", "alpha": "alpha"}
_DELTAS = {
    SWAPPING: "at every epsilon, if only the quasi-identifier may change; else 1",
    ANONYMITY: "at every epsilon, for the sample itself",
}

_row = partial(table_row, strategy=AS_PRINTED, shorten=lambda value: round(value, 10))


def build_tables(evidence: Evidence) -> dict[str, dict[str, list[Any]]]:
    """Return tables 1 to 3, the numbers behind the figures, and the accuracies."""
    found: dict[str, list[Row]] = {}
    for name, source in DATA.items():
        if {f"tables-{name}", experiments.EXACT} <= evidence.trials.keys():
            table = source.table.lower().replace(" ", "-")
            found[table] = [
                row
                for text, mechanism in product(EPSILONS, (*MECHANISMS, *EXTRA))
                for row in _block(evidence, name, mechanism, text, partial(_row, table, name))
            ]
        for kind, make in (("figures", _figures), ("classification", _accuracies)):
            table = f"{kind}-{name}"
            if table in evidence.trials:
                found[table] = list(make(evidence, table, partial(_row, table, name)))
    return {name: columns_of(rows) for name, rows in found.items()}


def _block(evidence: Evidence, name: str, mechanism: str, text: str, row: Any) -> Iterator[Row]:
    """Yield every number of a mechanism at an epsilon."""
    row = partial(row, mechanism=mechanism, epsilon=float(text))
    record = exact_record(evidence, name)
    exact = record["numbers"].get(mechanism, {}).get(text, {})
    number = partial(number_of, evidence, name, mechanism, text)
    if mechanism in MECHANISMS:
        yield row("delta", exact["delta"], **_verdict(number("delta")))
    if "exact delta" in exact:
        note = _DELTAS.get(mechanism, "exact at this epsilon, when one person is replaced")
        yield row("delta", exact["exact delta"], strategy=EXACTLY, note=note)
    coded = mechanism in MECHANISMS and mechanism != ANONYMITY and f"ipums-{name}" in evidence.trials
    for measure, word in _MEASURES.items():
        if mechanism in EXTRA:
            mean = estimate_mean(of_table(evidence, name, mechanism, text, measure))
            yield row(word, mean, note=EXTRA[mechanism])
        else:
            own, other = number(measure), number(measure, kind="ipums") if coded else None
            cells = _verdict(own) | {"paper": printed_number(name, mechanism, text, measure)[1]}
            if mechanism == ANONYMITY:
                cells["verdict"] = METHOD_UNKNOWN
            elif own.verdict == CONTRADICTED and other and other.verdict == AGREES:
                cells["verdict"] = OTHER_DATA
            yield row(word, own.ours, **cells)
            if other:
                yield row(word, other.ours, strategy=AS_IPUMS, **_verdict(other))
        if measure in exact:
            yield row(word, exact[measure], strategy=EXACTLY, note="without any randomness")
    for measure, value in record.get("shipped", {}).get(mechanism, {}).get(text, {}).items():
        word = _MEASURES.get(measure, measure)
        yield row(word, value, strategy=AS_SHIPPED, note="evenhand.release, exact")


def _verdict(checked: Any) -> Row:
    return {"paper": checked.paper_value, "verdict": checked.verdict, "note": checked.why}


def _figures(evidence: Evidence, trials: str, row: Any) -> Iterator[Row]:
    first = next(iter(evidence.trials[trials].values()))
    for method, lines in first.items():
        for at, found in lines.items():
            for line, measure in product(found, ("error", "alpha")):
                mean = estimate_mean(runs(evidence, trials, method, at, line, measure))
                yield row(measure, mean, **_place(method, at, line))


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


def _accuracies(evidence: Evidence, trials: str, row: Any) -> Iterator[Row]:
    first = next(iter(evidence.trials[trials].values()))
    for setting in experiments.SETTINGS:
        note = "with the area as a feature" if setting == "areas" else ""
        for mechanism, found in first[setting].items():
            for text in found:
                mean = estimate_mean(runs(evidence, trials, setting, mechanism, text))
                epsilon = float(text) if text else None
                yield row("acc", mean, mechanism=mechanism, epsilon=epsilon, note=note)


def side_by_side(evidence: Evidence, name: str) -> str:
    """Return a table as Markdown: printed, drawn again and exact, side by side."""
    numbers = "{0}: paper | ours | IPUMS | exact".format
    heads = f"| epsilon | mechanism | delta: paper | exact | {numbers('bias')} | {numbers('alpha')} |"
    lines = [heads, "|---" * 12 + "|"]
    for text, (mechanism, title) in product(EPSILONS, MECHANISMS.items()):
        exact = exact_record(evidence, name)["numbers"][mechanism][text]
        delta = printed_number(name, mechanism, text, "delta")[0]
        true = exact["exact delta"]
        level = f"{true:.4f}" if true >= 1e-3 else f"{true:.1e}"
        cells = [text, title, delta, f"{true:g}" if true in (0.0, 1.0) else level]
        for measure, digits in (("l1", 1), ("alpha", 2)):
            kinds = {"tables": True, "ipums": mechanism != ANONYMITY}
            means = [
                of_table(evidence, name, mechanism, text, measure, kind=kind).mean() if known else None
                for kind, known in kinds.items()
            ]
            ours = ["" if each is None else f"{each:,.{digits}f}" for each in (*means, exact.get(measure))]
            cells += [printed_number(name, mechanism, text, measure)[0], *ours]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
