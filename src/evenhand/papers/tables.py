"""Tables of a reproduction: our means beside the published ones, and the claims as Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evenhand.papers.claims import UNCHECKED, VERDICTS, Checked, cannot_check
from evenhand.papers.rules import SHARE, Control, group_rates, published_mean, same, share, values
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimate
from evenhand.table.write import write_csv_into

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evenhand.measure.repeat_means import Estimated
    from evenhand.papers.claims import ClaimRow, Evidence
    from evenhand.papers.published import Published
    from evenhand.papers.trials import Values
    from evenhand.study.results.results import Results

    Columns = dict[str, list[Any]]
    TableRow = dict[str, Any]


COLUMNS = (
    "table", "dataset", "mechanism", "split", "strategy", "epsilon", "measure",
    "ours", "standard_error", "runs", "paper", "verdict", "note",
)  # fmt: skip
"""The columns of every table of means."""

NO_PUBLISHED = "no published runs"  # the note of a mean that there is nothing to compare with

_CLAIMS = (
    "id", "claim", "where", "words", "paper", "ours", "low", "high", "runs", "shown", "verdict", "why",
    "rule",
)  # fmt: skip
_NUMBERS = ("epsilon", "ours", "standard_error", "runs", "paper")
_DIGITS = 6
_ZERO, _TINY = 1e-12, 1e-4


def checked_mean(
    results: Results, setting: Setting, measure: str, *, study: str, published: Published | None
) -> Checked:
    """Return our mean checked against the published runs of the same study, setting and measure.

    A measure such as ``tpr_1`` is a rate of a group, by its place among the groups.
    Where nothing is protected and the published runs have our seeds, nothing is left to chance, so that the
    two must be the same to three decimals.
    """
    ours = estimate_measure(results, setting, measure)
    theirs = None if published is None else published.runs(study, setting, measure)
    if published is None or theirs is None:
        return Checked(UNCHECKED, NO_PUBLISHED, ours)
    like = control = None
    if published.same_seeds:
        ran = np.isfinite(_runs_of(results, setting, measure))[: len(theirs)]
        like = theirs[: len(ran)][ran]
        if not setting.is_protected:
            return same(ours, float(like.mean())) if len(like) else Checked(UNCHECKED, "", ours)
    if setting.is_protected:  # what no protection gives, ours and that of the published runs
        none, nothing = (
            estimate_measure(results, Setting(), measure),
            published.mean(study, Setting(), measure),
        )
        control = Control(none.value, nothing) if none.runs and nothing is not None else None
    return published_mean(ours, theirs, like=like, control=control)


def check_published(
    evidence: Evidence,
    study: str,
    measures: Iterable[str],
    *,
    least: float = SHARE,
    protected: bool | None = None,
) -> Checked:
    """Check the means of a study by those that were published; only protected or unprotected ones if told."""
    if evidence.published is None:
        return cannot_check("The published table is not on this machine.")
    results = evidence.studies[study]
    parts = [
        checked_mean(results, setting, measure, study=study, published=evidence.published)
        for setting in results.settings
        if protected in (None, setting.is_protected)
        for measure in measures
    ]
    return share(parts, least=least, what="means")


def estimate_measure(results: Results, setting: Setting, measure: str) -> Estimated:
    """Return the mean of a measure, or of a rate of a group such as ``tpr_1``, with its t interval."""
    if measure in results.arrays.measures:
        return estimate(results, setting, measure, kind="student")
    rate, _, group = measure.rpartition("_")
    return estimate(results, setting, rate, group=results.facts.groups[int(group)], kind="student")


def _runs_of(results: Results, setting: Setting, measure: str) -> Values:
    """Return a measure, or a rate of a group, one value per repeat."""
    if measure in results.arrays.measures:
        return values(results, setting, measure)
    rate, _, group = measure.rpartition("_")
    return group_rates(results, setting, rate)[:, int(group)]


def means_table(
    name: str,
    results: Results,
    measures: Iterable[str],
    *,
    published: Published | None = None,
    notes: Mapping[str, str] | None = None,
) -> Columns:
    """Return one row for each setting and measure of a study.

    Measures are as in :func:`checked_mean`; `notes` has what to note for some, such as the paper's name.
    """
    rows = []
    for setting in results.settings:
        for measure in measures:
            found = checked_mean(results, setting, measure, study=name, published=published)
            if found.ours and found.ours.runs:
                cells = setting_cells(setting) | {"verdict": found.verdict, "paper": _cell(found.paper_value)}
                note = "; ".join(filter(None, [(notes or {}).get(measure, ""), found.why]))
                rows.append(table_row(name, name, measure, found.ours, **cells, note=note))
    return columns_of(rows)


def setting_cells(setting: Setting) -> TableRow:
    """Return the columns that tell a setting."""
    cells = {name: setting.option(name) for name in ("split", "strategy")}
    epsilon = None if setting.epsilon is None else float(setting.epsilon)
    return {"mechanism": setting.mechanism, **cells, "epsilon": epsilon}


def table_row(
    table: str,
    dataset: str,
    measure: str,
    ours: Estimated | float | None,
    *,
    shorten: Callable[[float], float] = lambda value: round(value, _DIGITS),
    **cells: Any,
) -> TableRow:
    """Return a row of a table by column; an exact number has no standard error.

    `shorten` rounds our number and its error. Mechanism, split and strategy are "none" and the verdict that
    there is none, unless they are among `cells`, the other columns.
    """
    row: TableRow = {
        "table": table, "dataset": dataset, "mechanism": "none", "split": "none", "strategy": "none",
        "measure": measure, "verdict": UNCHECKED, **cells,
    }  # fmt: skip
    if ours is None or isinstance(ours, float):
        return {**row, "ours": None if ours is None else shorten(ours)}
    error = ours.standard_error
    numbers = {"ours": shorten(ours.value), "runs": ours.runs}
    return {**row, **numbers, "standard_error": None if error is None else shorten(error)}


def columns_of(rows: Sequence[TableRow]) -> Columns:
    """Return rows as columns; a cell that a row does not have is blank."""
    return {
        column: [row.get(column, None if column in _NUMBERS else "") for row in rows] for column in COLUMNS
    }


def claims_columns(rows: Iterable[ClaimRow]) -> Columns:
    """Return the rows of claims as columns."""
    listed = list(rows)
    return {name: [_cell(getattr(row, name)) for row in listed] for name in _CLAIMS}


def _cell(value: Any) -> Any:
    """Return a value for a table: a number with six decimals, or with three digits where it is tiny.

    >>> [_cell(value) for value in (0.1234567, 3.0512e-07, -2e-17)]
    [0.123457, 3.05e-07, 0.0]
    """
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    return float(f"{value:.3g}") if _ZERO < abs(value) < _TINY else round(value, _DIGITS) + 0.0


def markdown(rows: Iterable[ClaimRow]) -> str:
    r"""Return the claims as Markdown: a table for each verdict, in it the places in the paper's order.

    >>> from evenhand.papers.claims import ClaimRow
    >>> row = ClaimRow("n", "20,427 rows.", "Table 2", "20427", None, None, None, None, "agrees", "Same.", "")
    >>> print(markdown([row]).splitlines()[-1])
    | Table 2 | 20,427 rows. `n` | 20427 |  | **agrees** | Same. |
    """
    listed = list(rows)
    places = {row.where: None for row in listed}
    lines = []
    for verdict, words in VERDICTS.items():
        own = [row for place in places for row in listed if row.where == place and row.verdict == verdict]
        if own:
            lines += ["", f"## {verdict.capitalize()}: {len(own)}", "", f"That is: {words.meaning}.", ""]
            lines += ["| where | statement | paper | ours | verdict | why |", "|---|---|---|---|---|---|"]
            lines += [_claim_line(row) for row in own]
    return "\n".join(lines[1:]) + "\n"


def _claim_line(row: ClaimRow) -> str:
    quote = f" \u201c{row.words}\u201d" if row.words else ""
    statement = f"{row.claim}{quote} `{row.id}`"
    cells = (row.where, statement, row.paper, row.value_text, f"**{row.verdict}**", row.why)
    plain = [cell.replace("|", "\\|").replace("\n", " ") for cell in cells]
    return f"| {' | '.join(plain)} |"


def write_table(columns: Columns, file: Any) -> None:
    """Write columns as CSV in which no text is a formula, into a binary file that is open."""
    kinds = {
        **dict.fromkeys(("epsilon", "ours", "standard_error", "low", "high"), pa.float64()),
        "runs": pa.int64(),
    }
    texts = {name for name in columns if name not in kinds and name != "paper"}
    fields = {
        name: pa.array(cells, pa.large_string() if name in texts else kinds.get(name))
        for name, cells in columns.items()
    }
    write_csv_into(pa.table(fields), file)
