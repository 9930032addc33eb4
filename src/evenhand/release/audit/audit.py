"""A published table held against the true one, whoever made it and however."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand._validate import integer
from evenhand.errors import ColumnNotFoundError
from evenhand.release.audit.figures import SMALL, compared, figures_by_group, figures_by_size, small_cells

if TYPE_CHECKING:
    from evenhand.release.audit.figures import Figures, SmallCells
    from evenhand.schema import Schema
    from evenhand.table.frames import Backend

__all__ = ["BANNER", "ReleaseAudit", "audit_release"]

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
    group : str or None
        The column whose groups were compared.
    by_group : tuple of Figures
        The same for each value of that column.
    l1 : float
        The sum of the absolute errors of all cells.
    alpha_of_one_draw : float
        The largest error minus the smallest. It is that of this one release, not of the mechanism: with
        another draw it would be another number, and noise that favours nobody on average has one too.
    small : SmallCells
        How many of the smallest cells were published as they are.
    banner : str
        That this is not for publication.
    """

    columns: tuple[str, ...]
    overall: Figures
    by_size: tuple[Figures, ...]
    group: str | None
    by_group: tuple[Figures, ...]
    l1: float
    alpha_of_one_draw: float
    small: SmallCells
    banner: str = BANNER

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a JSON file, the banner first; what is undefined is None."""
        from evenhand.release.audit.view import as_dict  # noqa: PLC0415 - only where it is looked at

        return as_dict(self)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return one row for all cells, for each class of size and for each group; the banner is a column.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame. By default pandas where it is installed, else pyarrow.
        """
        from evenhand.release.audit.view import as_frame  # noqa: PLC0415 - only where it is looked at

        return as_frame(self, backend)

    def __str__(self) -> str:
        from evenhand.release.audit.view import as_text  # noqa: PLC0415 - only where it is looked at

        return as_text(self)

    def __repr__(self) -> str:
        return f"<ReleaseAudit of {' × '.join(self.columns)}. {self.banner} print() shows it.>"

    def _repr_html_(self) -> str:
        from evenhand.release.audit.view import as_html  # noqa: PLC0415 - only where it is looked at

        return as_html(self)


def audit_release(
    true: Any,
    published: Any,
    *,
    group: str | None = None,
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
    group : str, optional
        A column of the table, whose values are compared.
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
    """
    least = SMALL if threshold is None else integer("threshold", threshold, owner="audit_release", low=2)
    pair = compared(true, published, schema)
    if group is not None and group not in pair.schema:
        raise ColumnNotFoundError(group, pair.schema.names, place="in the table")
    overall = pair.figures("all cells", pair.everywhere, pair.size)
    errors = pair.errors
    smallest, largest = (errors.min(), errors.max()) if errors.size else (0.0, 0.0)
    if pair.size > errors.size:  # cells that neither table lists
        smallest, largest = min(smallest, 0.0), max(largest, 0.0)
    return ReleaseAudit(
        columns=pair.schema.names,
        overall=overall,
        by_size=figures_by_size(pair),
        group=group,
        by_group=() if group is None else figures_by_group(pair, group),
        l1=float(abs(errors).sum()),
        alpha_of_one_draw=float(largest - smallest),
        small=small_cells(pair, least),
    )
