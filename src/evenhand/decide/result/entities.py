"""Entities: the places that a decision is about, with their counts, weights and populations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from evenhand._notebook import figures_html
from evenhand._validate import require_true_values
from evenhand.decide.allotment.allotment import check_weights
from evenhand.errors import ColumnNotFoundError, InvalidParameterError

if TYPE_CHECKING:
    import numpy.typing as npt

LARGEST_COUNT = 10**15
"""No entity counts more; below it, whole numbers stored as floats are exact."""

_OWNER = "Entities.read"
_COUNT = "holds whole numbers from 0 to 10**15 and no missing ones"


@dataclass(frozen=True, eq=False, repr=False)
class Entities:
    """Districts, counties or other places, each with the counts that a decision looks at.

    Made by :meth:`read`. The arrays cannot be written to. What they hold is private, except the names and the
    weights.

    Parameters
    ----------
    names : tuple of str
        The name of each entity. Two entities may have the same name; they stay two.
    counts : mapping of str to array
        The true counts by column, whole numbers from 0 to 10**15.
    weights : array, optional
        The weight of each entity in an allotment.
    groups : tuple of str
        The groups of people by name.
    populations : array
        How many people of each group live in each entity, entities by groups.
    """

    names: tuple[str, ...]
    counts: Mapping[str, npt.NDArray[np.int64]]
    weights: npt.NDArray[np.float64] | None
    groups: tuple[str, ...]
    populations: npt.NDArray[np.int64]

    @classmethod
    def read(
        cls,
        frame: Any,
        *,
        name: str | Sequence[str] | None = None,
        counts: Sequence[str] | str,
        weights: str | None = None,
        groups: Sequence[str] | Mapping[str, str] | None = None,
    ) -> Entities:
        """Read the entities from a frame, or from a mapping of columns.

        Parameters
        ----------
        frame : frame, or mapping of str to column
            One row for each entity, at least one.
        name : str or sequence of str, optional
            The column with the names; of several, the values are put together with a comma. Without it the
            entities are numbered from 1.
        counts : sequence of str
            The columns with the counts that the decision looks at.
        weights : str, optional
            The column with the weights, each 0 or from 1e-50 to 1e50.
        groups : sequence of str, or mapping of str to str, optional
            The columns with the people of each group; a mapping gives the group's name first.

        Raises
        ------
        InvalidParameterError
            Where a count is missing, negative, not whole or above 10**15. The message names the column and
            nothing that is in it.

        Examples
        --------
        >>> table = {"county": ["Ash", "Bay"], "s": [1000, 2000], "sp": [60, 90], "young": [200, 300]}
        >>> counties = Entities.read(table, name="county", counts=["s", "sp"], groups=["young"])
        >>> counties
        <Entities: 2, counts s, sp, groups young>
        >>> counties.counts["sp"]
        array([60, 90])
        """
        columns = frame_columns(frame)
        kept = {column: read_counts(columns, column) for column in _check_names(counts, "counts")}
        if not kept:
            must_be = "one or more names of columns"
            raise InvalidParameterError("counts", owner="Entities.read", must_be=must_be, got=counts)
        size = next(iter(kept.values())).size
        grouped = _group_columns(groups)
        people = [read_counts(columns, column) for column in grouped.values()]
        scale = None if weights is None else read_entity_weights(columns, weights)
        labels = entity_names(columns, _check_names(name, "name"), size)
        lengths = {*(column.size for column in (*kept.values(), *people)), len(labels)}
        if len(lengths | ({scale.size} if scale is not None else set())) > 1:
            _refuse_lengths()
        table = np.stack(people, axis=1) if people else np.zeros((size, 0), dtype=np.int64)
        return cls(labels, kept, scale, tuple(grouped), table)

    def __post_init__(self) -> None:
        for array in (*self.counts.values(), self.populations, self.weights):
            if array is not None:
                array.setflags(write=False)
        object.__setattr__(self, "counts", MappingProxyType(dict(self.counts)))

    def __reduce__(self) -> tuple[Any, ...]:  # a mapping that cannot be written to cannot be pickled either
        return Entities, (self.names, dict(self.counts), self.weights, self.groups, self.populations)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the columns with counts."""
        return tuple(self.counts)

    def _repr_html_(self) -> str:
        figures = [("entities", f"{len(self):,}"), ("counts", ", ".join(self.counts))]
        figures += [] if self.weights is None else [("weights", "public")]
        figures += [("groups of people", ", ".join(self.groups))] if self.groups else []
        return figures_html("Entities", figures)

    def __repr__(self) -> str:
        more = "" if self.weights is None else ", weighted"
        people = f", groups {', '.join(self.groups)}" if self.groups else ""
        return f"<Entities: {len(self)}, counts {', '.join(self.counts)}{more}{people}>"


def _group_columns(groups: Sequence[str] | Mapping[str, str] | None) -> dict[str, str]:
    """Return the column of each group."""
    if not isinstance(groups, Mapping):
        return {name: name for name in _check_names(groups, "groups")}
    return dict(
        zip(
            _check_names(tuple(groups), "groups"), _check_names(tuple(groups.values()), "groups"), strict=True
        )
    )


def _check_names(raw: str | Sequence[str] | None, parameter: str) -> tuple[str, ...]:
    if raw is None:
        return ()
    names = (raw,) if isinstance(raw, str) else tuple(raw)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        must_be = "names of columns, each once"
        raise InvalidParameterError(parameter, owner="Entities.read", must_be=must_be, got=raw)
    return names


def frame_columns(frame: Any) -> Mapping[str, Any]:
    """Return the columns of a frame or a mapping by name, as they are."""
    if isinstance(frame, Mapping):
        return frame
    from evenhand.table.frames import eager_frame  # noqa: PLC0415 - starts pyarrow

    eager = eager_frame(frame, owner=_OWNER, parameter="frame")
    return {str(name): eager.get_column(name) for name in eager.columns}


def read_counts(columns: Mapping[str, Any], name: str) -> npt.NDArray[np.int64]:
    """Return a column of counts, in an array of its own."""
    array = _numeric_column(columns, name)
    if array.dtype.kind not in "iuf":
        _refuse(name, _COUNT)
    fine = (array >= 0) & (array <= LARGEST_COUNT)  # false where a float is missing
    if not fine.all() or (array.dtype.kind == "f" and (array != np.floor(array)).any()):
        _refuse(name, _COUNT)
    return array.astype(np.int64)


def read_entity_weights(columns: Mapping[str, Any], name: str) -> npt.NDArray[np.float64]:
    """Return a column of weights, in an array of its own."""
    array = _numeric_column(columns, name)
    try:
        return check_weights(array, owner=_OWNER)
    except InvalidParameterError:
        _refuse(name, "holds numbers, each 0 or from 1e-50 to 1e50, and one of them above 0")


def read_public_numbers(columns: Mapping[str, Any], name: str) -> npt.NDArray[np.float64]:
    """Return a column of finite numbers, in an array of its own."""
    array = _numeric_column(columns, name)
    if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        _refuse(name, "holds finite numbers and no missing ones")
    return array.astype(np.float64)


def entity_names(columns: Mapping[str, Any], names: tuple[str, ...], size: int) -> tuple[str, ...]:
    """Return the name of each entity; numbers from 1 where no column has them."""
    if not names:
        return tuple(str(number) for number in range(1, size + 1))
    parts = [[_text(value) for value in _column(columns, name).tolist()] for name in names]
    if len({len(part) for part in parts}) > 1:
        _refuse_lengths()
    return tuple(", ".join(row) for row in zip(*parts, strict=True))


def _text(value: object) -> str:
    missing = value is None or type(value).__name__ in {"NAType", "NaTType"}
    return "" if missing or (isinstance(value, float) and math.isnan(value)) else str(value)


def _column(columns: Mapping[str, Any], name: str) -> npt.NDArray[Any]:
    if name not in columns:
        raise ColumnNotFoundError(name, [str(column) for column in columns], place="in the frame")
    raw = columns[name]
    require_true_values(raw, name="frame", owner=_OWNER)
    array = raw if isinstance(raw, np.ma.MaskedArray) else _as_array(raw, name)
    if array.ndim != 1 or array.size == 0:
        _refuse(name, "has one value for each entity, and at least one")
    if isinstance(array, np.ma.MaskedArray):
        if np.ma.getmaskarray(array).any():
            _refuse(name, "holds no missing values")
        array = np.asarray(array)
    return array


def _as_array(raw: Any, name: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(raw)
    except (TypeError, ValueError):
        _refuse(name, "is a column of plain values")


def _numeric_column(columns: Mapping[str, Any], name: str) -> npt.NDArray[Any]:
    """Return a column, its objects as floats, in which counts are exact; only numbers are numbers here."""
    array = _column(columns, name)
    if array.dtype.kind != "O":
        return array
    values = array.tolist()
    if not all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        _refuse(name, "holds numbers and no missing ones")
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        _refuse(name, "holds numbers below 1e308")


def _refuse_lengths() -> NoReturn:
    must_be, got = "columns of one length", "several lengths"
    raise InvalidParameterError("frame", owner=_OWNER, must_be=must_be, got=got)


def _refuse(name: str, must_be: str) -> NoReturn:
    got = "one that does not"
    raise InvalidParameterError(
        "frame", owner=_OWNER, must_be=f"one whose column '{name}' {must_be}", got=got
    )
