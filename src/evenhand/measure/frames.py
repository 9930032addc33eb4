"""The columns of a frame by their names: those of an eager frame as they are, those of a lazy one counted.

Of a lazy frame the engine sends each combination of labels once, and how many rows have it. The report of
those is the report of all rows, since only numbers of rows are in it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from evenhand._lazy import lazy
from evenhand._validate import kind_of, refuse
from evenhand.errors import ColumnNotFoundError, LimitExceededError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.measure.counts import CountTable

combinations = lazy("evenhand.table.lazy.combinations")  # brings pyarrow, which numbers do not need
frames = lazy("evenhand.table.frames")

_MOST_ROWS = 1 << 53  # up to here sums of whole numbers are exact in floats


class Columns(NamedTuple):
    """The columns of a report; `times` says how many rows each row stands for, None if one."""

    y_true: Any
    y_pred: Any
    group: Any
    scores: Any = None
    weights: Any = None
    times: NDArray[np.int64] | None = None


def take_columns(frame: Any, names: Columns, *, owner: str) -> Columns:
    """Return the columns of a frame that `names` names.

    Parameters
    ----------
    frame : pandas, Polars, Arrow or lazy frame
        The rows. A lazy frame is run once, in its engine.
    names : Columns
        A name for each, or None; for the group perhaps several, whose columns are crossed.
    owner : str
        The public function that reports, for messages.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.LazyFrame({"hired": [1, 1, 0], "sex": ["f", "f", "f"]})
    >>> columns = take_columns(people, Columns(None, "hired", "sex"), owner="group_report")
    >>> sorted(zip(columns.y_pred.to_list(), columns.times.tolist()))
    [(0, 1), (1, 2)]
    """
    groups = [names.group] if isinstance(names.group, str) else names.group
    if not isinstance(groups, list | tuple) or not groups or len(set(map(str, groups))) < len(groups):
        refuse("group", owner, "the name of a column of 'frame', or a list of them", kind_of(names.group))
    single = {name: getattr(names, name) for name in ("y_true", "y_pred", "scores", "weights")}
    wanted = [("y_pred", names.y_pred), *(("group", name) for name in groups)]
    wanted += [(parameter, name) for parameter, name in single.items() if name is not None]
    for parameter, name in wanted:
        if not isinstance(name, str):
            refuse(parameter, owner, "the name of a column of 'frame'", kind_of(name))
    lazily = combinations.lazy_frame(frame)
    if lazily is None:
        found, times = _eager_columns(frame, [name for _, name in wanted], owner=owner), None
    else:
        _refuse_sums(names, owner=owner)
        found, times = _lazy_columns(lazily, [name for _, name in wanted], owner=owner)
    chosen = {parameter: None if name is None else found[name] for parameter, name in single.items()}
    group = found[groups[0]] if len(groups) == 1 else {name: found[name] for name in groups}
    return Columns(**chosen, group=group, times=times)


def count_times(table: CountTable) -> CountTable:
    """Return a table of rows that were weighted by how often they occur as one of rows."""
    return replace(table, counts=table.counts.astype(np.int64), squares=None, rows=None)


def _eager_columns(frame: Any, names: list[str], *, owner: str) -> dict[str, Any]:
    eager = frames.eager_frame(frame, owner=owner, parameter="frame")
    for name in names:
        if name not in eager.columns:
            raise ColumnNotFoundError(name, [str(known) for known in eager.columns], place="in the frame")
    return {name: eager.get_column(name).to_native() for name in names}


def _lazy_columns(
    frame: nw.LazyFrame[Any], names: list[str], *, owner: str
) -> tuple[dict[str, Any], NDArray[np.int64]]:
    distinct = list(dict.fromkeys(names))
    combinations.find_types(frame, distinct, owner=owner)
    keys = {f"c{place}": nw.col(name) for place, name in enumerate(distinct)}
    counted = combinations.count_combinations(frame, keys, distinct)
    if int(counted.counts.sum()) > _MOST_ROWS:
        raise LimitExceededError("A report of more than 2**53 rows is not exact.", limit="rows")
    found = {name: counted.values.get_column(key) for key, name in zip(keys, distinct, strict=True)}
    for name, column in found.items():
        if combinations.holds_objects(frame, name) and not all(isinstance(text, str) for text in column):
            combinations.refuse_objects(name, owner=owner)
    return {name: column.to_native() for name, column in found.items()}, counted.counts


def _refuse_sums(names: Columns, *, owner: str) -> None:
    reasons = {
        "scores": "an area under the curve needs every score",
        "weights": "a sum of weights depends on the order of the rows, of which an engine keeps none",
    }
    for parameter, reason in reasons.items():
        if getattr(names, parameter) is not None:
            hint = f"{reason}: collect the columns first, and report on the collected frame."
            refuse(parameter, owner, "left out where the frame is lazy", "one", hint=hint)
