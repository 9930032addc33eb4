"""A published table held against the true one, whoever made it and however."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from html import escape
from typing import TYPE_CHECKING, Any

from evenhand._notebook import aligned, html_table
from evenhand._validate import integer, refuse
from evenhand.errors import ColumnNotFoundError
from evenhand.release.audit.figures import (
    SMALL,
    Figures,
    compare_tables,
    figures_by_group,
    figures_by_size,
    small_cells,
)
from evenhand.release.mechanisms.mechanism import ReleaseMechanism
from evenhand.release.table.released import Release
from evenhand.schema.crossing import BETWEEN_COLUMNS, MOST_COMBINATIONS
from evenhand.schema.text import visible
from evenhand.table.frames import make_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.release.audit.figures import SmallCells
    from evenhand.schema import Schema
    from evenhand.table.frames import Backend

BANNER = "Computed from the true data: not for publication."
"""What stands on every form of an audit."""


@dataclass(frozen=True, eq=False, repr=False)
class ReleaseAudit:
    """How far a published table is from the true one, and for whom.

    Everything in it comes from the true counts and is as private as they are; every form of it says so.

    Attributes
    ----------
    columns : tuple of str
        The columns of the table.
    overall : Figures
        Errors and suppression over all cells.
    by_size : tuple of Figures
        The same for cells of 0, 1 to 4, 5 to 9, 10 to 19, 20 to 49, 50 to 99 and at least 100 true people.
    group : tuple of str
        The columns whose groups were compared; none of them if nothing was.
    by_group : tuple of Figures
        The same for each value of that column, or for each combination of several.
    by_margin : dict of str to tuple of Figures
        Where columns are crossed, the same for each value of each of them alone.
    l1 : float
        The sum of the absolute errors of all cells.
    alpha_of_one_draw : float
        The largest error minus the smallest. It is that of this one release, not of the mechanism: with
        another draw it would be another number, and noise that favours nobody on average has one too.
    small : SmallCells
        How many of the smallest cells were published as they are.
    expected_absolute_error : float or None
        What the mean absolute error of a cell is over all draws, exact; None where nothing says how the table
        was made, or no formula is known.
    banner : str
        That this is not for publication.
    """

    columns: tuple[str, ...]
    overall: Figures
    by_size: tuple[Figures, ...]
    group: tuple[str, ...]
    by_group: tuple[Figures, ...]
    l1: float
    alpha_of_one_draw: float
    small: SmallCells
    expected_absolute_error: float | None = None
    banner: str = BANNER
    by_margin: dict[str, tuple[Figures, ...]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a JSON file, the banner first; what is undefined is None."""
        return {
            "banner": self.banner,
            "columns": list(self.columns),
            "missing_read_as": 0,
            "l1": self.l1,
            "alpha_of_one_draw": self.alpha_of_one_draw,
            "expected_absolute_error": self.expected_absolute_error,
            "overall": _plain(self.overall),
            "by_size": [_plain(figures) for figures in self.by_size],
            "group": list(self.group),
            "by_group": [_plain(figures) for figures in self.by_group],
            "by_margin": {
                name: [_plain(figures) for figures in rows] for name, rows in self.by_margin.items()
            },
            "small": asdict(self.small) | {"unchanged_share": _number(self.small.unchanged_share)},
        }

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return one row for all cells, for each class of size and for each group; the banner is a column.

        The column ``part`` says which: ``all``, ``size``, ``group`` or, for a crossed column alone, its name.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame. By default pandas where it is installed, else pyarrow.
        """
        parts = [("all", self.overall)]
        parts += [("size", figures) for figures in self.by_size]
        parts += [("group", figures) for figures in self.by_group]
        parts += [(name, figures) for name, margin in self.by_margin.items() for figures in margin]
        rows = [figures for _, figures in parts]
        columns: dict[str, Any] = {"part": [part for part, _ in parts]}
        columns |= {column.name: [getattr(row, column.name) for row in rows] for column in fields(Figures)}
        columns |= {name: [getattr(row, name) for row in rows] for name in ("hidden_share", "relative_error")}
        return make_frame(columns | {"banner": [self.banner] * len(rows)}, backend=backend)

    def __str__(self) -> str:
        parts = [self.banner, "", *_sentences(self), ""]
        for title, rows in _tables(self):
            parts += [title, *aligned(rows), ""]
        return "\n".join([*parts, *_omitted_groups(self), self.banner])

    def __repr__(self) -> str:
        return f"<ReleaseAudit of {BETWEEN_COLUMNS.join(self.columns)}. {self.banner} print() shows it.>"

    def _repr_html_(self) -> str:
        banner = f'<p role="note"><strong>{escape(self.banner)}</strong></p>'
        sentences = "".join(f"<p>{escape(line)}</p>" for line in _sentences(self))
        tables = "".join(f"<p>{escape(title)}</p>{html_table(rows)}" for title, rows in _tables(self))
        more = "".join(f"<p>{escape(line)}</p>" for line in _omitted_groups(self))
        return f"<div>{banner}{sentences}{tables}{more}</div>"


def audit_release(
    true: Any,
    published: Any,
    *,
    group: str | Sequence[str] | None = None,
    threshold: int | None = None,
    schema: Schema | None = None,
) -> ReleaseAudit:
    """Measure how far a published table is from the true one, without knowing how it was made.

    Parameters
    ----------
    true : Histogram or frame
        The true table. A frame has one row per cell, as :meth:`Histogram.from_frame` reads it; count rows
        of people with :meth:`Histogram.count` first.
    published : Histogram, Release or frame
        The published table. Cells that it lacks, or whose count is missing, are suppressed; they count
        as 0 in the errors, as they do for a reader who adds up the table.
    group : str or sequence of str, optional
        A column of the table, whose values are compared. Several columns are crossed: their combinations are
        compared, and the values of each column alone.
    threshold : int, optional
        Cells of fewer people than this, and of at least one, are small; 5 unless told.
    schema : Schema, optional
        The columns, where both tables are frames.

    Returns
    -------
    ReleaseAudit
        Computed from the true data: not for publication.

    Notes
    -----
    One release is one draw. The mean error of many cells estimates their mean bias, with the standard error
    beside it; the error of one cell says little about the mechanism.

    Examples
    --------
    >>> from evenhand.release.table.histogram import Histogram
    >>> from evenhand.schema import Column, Domain, Schema
    >>> schema = Schema([Column("town", Domain.categorical(["a", "b", "c", "d"]))])
    >>> true = Histogram.of([120, 30, 2, 0], schema)
    >>> audit = audit_release(true, Histogram.of([118, 31, 3, 3], schema))
    >>> audit.l1, audit.alpha_of_one_draw, audit.overall.unchanged
    (7.0, 5.0, 0)
    >>> audit
    <ReleaseAudit of town. Computed from the true data: not for publication. print() shows it.>
    >>> sex, old = Domain.categorical(["f", "m"]), Domain.categorical(["no", "yes"])
    >>> people = Schema([Column("sex", sex), Column("old", old)])
    >>> true, published = (Histogram.of([[9, hidden], [7, 4]], people) for hidden in (2, 0))
    >>> crossed = audit_release(true, published, group=["sex", "old"])
    >>> [(figures.name, figures.hidden_people) for figures in crossed.by_group][:2]
    [('f, no', 0), ('f, yes', 2)]
    >>> [figures.hidden_people for figures in crossed.by_margin["sex"]]
    [2, 0]
    """
    least = SMALL if threshold is None else integer("threshold", threshold, owner="audit_release", low=2)
    pair = compare_tables(true, published, schema)
    columns = _read_group(group, pair.schema)
    overall = pair.figures("all cells", pair.everywhere, pair.size)
    errors = pair.errors
    smallest, largest = (errors.min(), errors.max()) if errors.size else (0.0, 0.0)
    if pair.size > errors.size:  # cells that neither table lists
        smallest, largest = min(smallest, 0.0), max(largest, 0.0)
    return ReleaseAudit(
        columns=pair.schema.names,
        overall=overall,
        by_size=figures_by_size(pair),
        group=columns,
        by_group=figures_by_group(pair, columns) if columns else (),
        l1=float(abs(errors).sum()),
        alpha_of_one_draw=float(largest - smallest),
        small=small_cells(pair, least),
        expected_absolute_error=_expected_error(true, published),
        by_margin={name: figures_by_group(pair, (name,)) for name in columns} if len(columns) > 1 else {},
    )


def _read_group(group: Any, schema: Schema) -> tuple[str, ...]:
    """Return the columns that are compared, else refuse them."""
    columns = () if group is None else (group,) if isinstance(group, str) else tuple(group)
    for column in columns:
        if column not in schema:
            raise ColumnNotFoundError(str(column), schema.names, place="in the table")
    cells = math.prod(schema[column].size for column in columns)
    must_be = "a column of the table, or different columns"
    if len(set(columns)) < len(columns) or (group is not None and not columns):
        refuse("group", "audit_release", must_be, "none" if not columns else "one of them twice")
    if len(columns) > 1 and cells > MOST_COMBINATIONS:
        must_be = f"columns of at most {MOST_COMBINATIONS:,} combinations"
        refuse("group", "audit_release", must_be, f"{cells:,}", hint="cross fewer columns.")
    return columns


def _expected_error(true: Any, published: Any) -> float | None:
    """Return the exact mean absolute error of a release as its mechanism drew it, where that is known."""
    if not isinstance(published, Release) or published.postprocessing:
        return None
    if not isinstance(published.mechanism, ReleaseMechanism) or getattr(true, "counts", None) is None:
        return None
    errors = published.mechanism.exact_absolute_error(true)
    return None if errors is None or not errors.size else float(errors.mean())


_GROUPS_SHOWN = 30
_READING = "A missing cell is read as 0."
_HEADS = [
    "cells",
    "people",
    "mean error",
    "± s.e.",
    "mean |error|",
    "rmse",
    "unchanged",
    "missing",
    "zeroed",
    "hidden",
]


def _sentences(audit: ReleaseAudit) -> list[str]:
    small, all_cells = audit.small, audit.overall
    names = BETWEEN_COLUMNS.join(visible(name) for name in audit.columns)
    audited = f"Audit of a published table of {names}: {all_cells.cells:,} cells"
    spread = f"Alpha of this one draw, largest error minus smallest: {_decimal(audit.alpha_of_one_draw)}"
    unchanged = f"{small.unchanged:,} published unchanged{_share(small.unchanged_share)}"
    hidden = f"{_count(all_cells.hidden_people)} people in them{_share(all_cells.hidden_share)}"
    exactly = f"{small.ones_and_twos_unchanged:,} published exactly"
    expected = audit.expected_absolute_error
    known = "" if expected is None else f" Over all draws a cell is off by {_decimal(expected)}, exact."
    return [
        f"{audited}, {_count(all_cells.people)} people.",
        f"Sum of absolute errors: {_decimal(audit.l1)}. {spread}.{known}",
        f"Small cells (1 to {small.threshold - 1} people): {small.cells:,}, of which {unchanged}.",
        f"Cells of one or two people: {small.ones_and_twos:,}, of which {exactly}.",
        f"Suppressed: {all_cells.missing:,} cells missing, {all_cells.zeroed:,} zeroed, {hidden}. {_READING}",
    ]


def _tables(audit: ReleaseAudit) -> list[tuple[str, list[list[str]]]]:
    tables = [("By true size of the cell", [["people in the cell", *_HEADS], *map(_row, audit.by_size)])]
    parts = {BETWEEN_COLUMNS.join(map(visible, audit.group)): audit.by_group} if audit.group else {}
    parts |= {visible(name): margin for name, margin in audit.by_margin.items()}
    for name, rows in parts.items():
        tables.append((f"By {name}", [[name, *_HEADS], *map(_row, rows[:_GROUPS_SHOWN])]))
    return tables


def _omitted_groups(audit: ReleaseAudit) -> list[str]:
    more = sum(max(0, len(rows) - _GROUPS_SHOWN) for rows in (audit.by_group, *audit.by_margin.values()))
    return [f"and {more:,} more; to_frame() has them all"] if more > 0 else []


def _row(figures: Figures) -> list[str]:
    numbers = (
        figures.mean_error,
        figures.standard_error,
        figures.mean_absolute_error,
        figures.root_mean_square_error,
    )
    return [
        figures.name,
        f"{figures.cells:,}",
        _count(figures.people),
        *(_decimal(number) for number in numbers),
        f"{figures.unchanged:,}",
        f"{figures.missing:,}",
        f"{figures.zeroed:,}",
        "" if math.isnan(figures.hidden_share) else f"{figures.hidden_share:.1%}",
    ]


def _plain(figures: Figures) -> dict[str, Any]:
    shares = {name: getattr(figures, name) for name in ("hidden_share", "relative_error")}
    return {name: _number(value) for name, value in (asdict(figures) | shares).items()}


def _number(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _share(value: float) -> str:
    return "" if math.isnan(value) else f" ({value:.1%})"


def _count(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def _decimal(value: float) -> str:
    return "" if math.isnan(value) else f"{value:,.2f}"
