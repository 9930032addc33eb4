"""Tables of a reproduction: our means beside the published ones, and the claims as Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evenhand.papers.claims import UNCHECKED, VERDICTS, Checked
from evenhand.papers.rules import Control, published_mean, same
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimate, group_estimate
from evenhand.table.write import write_csv_into

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evenhand.papers.claims import ClaimRow
    from evenhand.papers.published import Published
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

    Columns = dict[str, list[Any]]
    TableRow = dict[str, Any]

COLUMNS = (
    "table", "dataset", "mechanism", "split", "strategy", "epsilon", "measure",
    "ours", "standard_error", "runs", "paper", "verdict", "note",
)  # fmt: skip
"""The columns of every table of means."""

NO_PUBLISHED = "no published runs"
"""The note of a mean that there is nothing to compare with."""

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
    ours = _estimate(results, setting, measure)
    theirs = None if published is None else published.runs(study, setting, measure)
    if published is None or theirs is None:
        return Checked(UNCHECKED, NO_PUBLISHED, ours)
    if published.same_seeds and not setting.is_protected:
        like = theirs[: ours.runs + ours.left_out]
        return same(ours, float(like[: ours.runs].mean())) if ours.runs else Checked(UNCHECKED, "", ours)
    control = _control(results, measure, study, published) if setting.is_protected else None
    return published_mean(ours, theirs, same_seeds=published.same_seeds, control=control)


def _control(results: Results, measure: str, study: str, published: Published) -> Control | None:
    """Return what no protection gives, ours and that of the published runs."""
    ours = _estimate(results, Setting(), measure)
    theirs = published.mean(study, Setting(), measure)
    return Control(ours.value, theirs) if ours.runs and theirs is not None else None


def _estimate(results: Results, setting: Setting, measure: str) -> Estimated:
    if measure in results.arrays.measures:
        return estimate(results, setting, measure, kind="student")
    rate, _, group = measure.rpartition("_")
    return group_estimate(results, setting, results.facts.groups[int(group)], rate, kind="student")


def means_table(
    name: str,
    results: Results,
    measures: Iterable[str],
    *,
    study: str,
    published: Published | None = None,
    notes: Mapping[str, str] | None = None,
) -> Columns:
    """Return one row for each setting and measure.

    Parameters
    ----------
    name : str
        Of the table.
    results : Results
    measures : iterable of str
        As in :func:`checked_mean`.
    study : str
        The name under which runs were published; also the data set's name in the table.
    published : Published, optional
    notes : mapping of str to str, optional
        What to note for a measure, such as the paper's name for it.
    """
    rows = []
    for setting in results.settings:
        for measure in measures:
            found = checked_mean(results, setting, measure, study=study, published=published)
            if not found.ours or not found.ours.runs:
                continue
            told = [(notes or {}).get(measure, ""), found.why]
            rows.append(
                table_row(
                    name,
                    study,
                    measure,
                    found.ours,
                    mechanism=setting.mechanism,
                    split=setting.option("split"),
                    strategy=setting.option("strategy"),
                    epsilon=None if setting.epsilon is None else float(setting.epsilon),
                    paper=_cell(found.paper_value),
                    verdict=found.verdict,
                    note="; ".join(filter(None, told)),
                )
            )
    return columns_of(rows)


def _six_decimals(value: float) -> float:
    return round(value, _DIGITS)


def table_row(
    table: str,
    dataset: str,
    measure: str,
    ours: Estimated | float | None,
    *,
    shorten: Callable[[float], float] = _six_decimals,
    **cells: Any,
) -> TableRow:
    """Return a row of a table by column.

    Parameters
    ----------
    table, dataset, measure : str
    ours : Estimated, float or None
        An exact number has no standard error.
    shorten : callable
        Rounds our number and its standard error; by default to six decimals.
    **cells
        The other columns; mechanism, split and strategy are "none" and the verdict that there is none unless
        they are here.
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


# --- claims ---------------------------------------------------------------------------------------


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
    return f"| {' | '.join(_plain(cell) for cell in cells)} |"


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


# --- files ----------------------------------------------------------------------------------------


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
