"""The columns of somebody's predictions as they are read: outcomes, decisions, scores and groups.

What is missing is left out and counted. No message holds a value of a row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand._validate import kind_of, refuse
from evenhand.errors import EvenhandError, InvalidParameterError
from evenhand.measure.columns import same_index
from evenhand.report.words import listed
from evenhand.schema import Domain
from evenhand.schema.bands import parse_rule, rule_text
from evenhand.schema.crossing import BETWEEN_VALUES, MOST_COMBINATIONS, OTHER_GROUPS
from evenhand.schema.typed_values import value_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

OWNER = "measure.page"
_MOST_VALUES = 1_000
_MOST_GROUPS = 200
_TRUTHS = (0, 1)
_TRUTH_TEXTS = {"0", "1"}
_FEWER = "cross fewer columns, or put their values into fewer classes first."
_COMPARE = {">=": np.greater_equal, ">": np.greater, "<=": np.less_equal, "<": np.less}


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """Rows with a decision, those of unknown group among them.

    Parameters
    ----------
    predicted : array of 0 and 1
    group : array of int
        The place of each row's group among the labels; -1 where it is not stated.
    labels : tuple of str
    truth : array of 0 and 1, optional
    scores : array of float, optional
    weights : array of float, optional
    outcome, protected, source : str
        What people call the outcome, the protected column, and the data.
    left_out : mapping of str to int
        How many rows lack a value of a column, by the column's name.
    notes : tuple of str
    columns : tuple of str
        The protected columns, which are crossed where there are several.
    parts : tuple of tuple of str
        The labels of each group by these columns; of pooled groups none.
    margins : mapping of str to (array of int, tuple of str)
        Of each crossed column the place of each row's value, -1 where it is missing, and the values.
    """

    predicted: NDArray[np.uint8]
    group: NDArray[np.intp]
    labels: tuple[str, ...]
    truth: NDArray[np.uint8] | None = None
    scores: NDArray[np.float64] | None = None
    weights: NDArray[np.float64] | None = None
    outcome: str = ""
    protected: str = "group"
    source: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    parts: tuple[tuple[str, ...], ...] = ()
    margins: Mapping[str, tuple[NDArray[np.intp], tuple[str, ...]]] = field(default_factory=dict)


def read_predictions(
    columns: Mapping[str, Any],
    groups: Mapping[str, tuple[NDArray[np.intp], Sequence[str]]],
    *,
    positive: Any = None,
    predicted: Any = None,
    threshold: float | None = None,
    names: Mapping[str, str],
    source: str = "",
    notes: Sequence[str] = (),
    missing_group: str = "",
    pool_below: int | None = None,
) -> Predictions:
    """Return the rows of some columns.

    Parameters
    ----------
    columns : mapping of str to column
        By what they are: ``outcome``, ``prediction``, ``score`` and ``weight``, as far as there are.
    groups : mapping of str to (array of int, sequence of str)
        The codes of each protected column, -1 where one is missing, and its labels; several are crossed.
    positive : object, optional
        The value that counts as positive, or of numbers a threshold such as ``">= 50000"``; needed unless
        there are 0 and 1 only.
    predicted : object, optional
        The positive value of the prediction, where it is another than that of the outcome.
    threshold : float, optional
        From which score on a decision is positive, where there is no prediction.
    names : mapping of str to str
        What the columns are called.
    source : str
    notes : sequence of str
    missing_group : str
        What a group of those is called whose group is not stated, if they are one.
    pool_below : int, optional
        Groups of fewer rows than this are one, whatever their outcomes.
    """
    arrays = {name: read_arrow(values, name) for name, values in columns.items()}
    codes, parts = _cross(groups)
    lengths = {len(codes), *(len(array) for array in arrays.values())}
    if len(lengths) > 1:
        refuse("y_pred", OWNER, "as long as the other columns", "another length")
    weights = _weights(arrays.pop("weight")) if "weight" in arrays else None
    present = {name: ~_is_missing(array) for name, array in arrays.items()}
    kept = np.logical_and.reduce([*present.values(), np.ones(len(codes), bool)])
    left_out = {names[name]: int((~there).sum()) for name, there in present.items() if not there.all()}
    if not kept.any():
        refuse("y_pred", OWNER, "a column with values in some row where the others have one too", "none")
    taken = {name: array.filter(pa.array(kept)) for name, array in arrays.items()}
    scores = _numbers(taken["score"], "scores") if "score" in taken else None
    more = list(notes)
    meant = {"outcome": positive, "prediction": positive if predicted is None else predicted}
    decided = _decide(taken, meant, threshold, scores, names, more)
    weights = None if weights is None else weights[kept]
    codes, parts, pooled = _pool(codes[kept], parts, pool_below)
    more += pooled
    labels = tuple(BETWEEN_VALUES.join(group) if group else OTHER_GROUPS for group in parts)
    if missing_group and (codes < 0).any():
        codes, labels = np.where(codes < 0, len(labels), codes), (*labels, missing_group)
    return Predictions(
        decided["prediction"], codes, labels, decided.get("outcome"), scores, weights,
        outcome=decided["name"], protected=BETWEEN_VALUES.join(groups), source=source,
        left_out=left_out, notes=tuple(more), columns=tuple(groups), parts=parts,
        margins=_margins(groups, codes, kept) if len(groups) > 1 else {},
    )  # fmt: skip


def _margins(
    groups: Mapping[str, tuple[NDArray[np.intp], Sequence[str]]],
    codes: NDArray[np.intp],
    kept: NDArray[np.bool],
) -> dict[str, tuple[NDArray[np.intp], tuple[str, ...]]]:
    """Return each crossed column by itself, of the rows that are in a group."""
    return {
        name: (np.where(codes >= 0, column[kept], -1), tuple(labels))
        for name, (column, labels) in groups.items()
    }


def _pool(
    codes: NDArray[np.intp], parts: tuple[tuple[str, ...], ...], below: int | None
) -> tuple[NDArray[np.intp], tuple[tuple[str, ...], ...], list[str]]:
    """Return the groups with those of fewer rows than asked as one, and a note that says which."""
    if below is None:
        return codes, parts, []
    if isinstance(below, bool) or not isinstance(below, int) or below < 1:
        refuse("pool_below", OWNER, "a whole number of at least 1", below)
    sizes = np.bincount(codes[codes >= 0], minlength=len(parts))
    small = np.flatnonzero(sizes < below)
    if len(small) < 2:
        return codes, parts, []
    alone = np.flatnonzero(sizes >= below)
    places = np.full(len(parts), len(alone), np.intp)
    places[alone] = np.arange(len(alone))
    names = listed([f"'{BETWEEN_VALUES.join(parts[place])}'" for place in small])
    note = f"Groups of fewer than {below} people are one, '{OTHER_GROUPS}': {names}."
    shown = (*(parts[place] for place in alone), ())
    return np.where(codes >= 0, places[codes], -1), shown, [note]


def read_arrow(values: Any, name: str) -> Any:
    """Return a column as one Arrow array, or refuse it without telling what it holds."""
    series = nw.from_native(values, series_only=True, pass_through=True, allow_series=True)
    try:
        array = series.to_arrow() if isinstance(series, nw.Series) else pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        array = None
    if array is None:
        refuse(name, OWNER, "a column: an array, a list or a series of one kind", kind_of(values))
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def encode_group(values: Any, name: str = "group") -> tuple[NDArray[np.intp], list[str]]:
    """Return the codes of a column of groups, -1 where one is missing, and the labels in order."""
    array = read_arrow(values, name)
    coded = array if isinstance(array, pa.DictionaryArray) else array.dictionary_encode()
    found = coded.dictionary.to_pylist()
    if len(found) > _MOST_GROUPS:
        refuse(name, OWNER, f"a column of at most {_MOST_GROUPS} groups", "more groups",
               hint="put numbers into bands first.")  # fmt: skip
    order = sorted(range(len(found)), key=lambda place: (str(type(found[place])), found[place]))
    rank = np.empty(len(found) + 1, np.intp)
    rank[order] = np.arange(len(found))
    rank[-1] = -1
    missing = _is_missing(array)
    places = np.where(
        missing, len(found), pc.fill_null(coded.indices, len(found)).to_numpy(zero_copy_only=False)
    )
    labels = [str(found[place]) for place in order]
    return rank[places.astype(np.intp)], labels


def _cross(groups: Mapping[str, tuple[NDArray[np.intp], Sequence[str]]]) -> tuple[NDArray[np.intp], Any]:
    """Return the codes of all columns together, and by column the labels of the crossed groups that occur."""
    (codes, firsts), *others = groups.values()
    codes = np.asarray(codes)
    number = math.prod(len(names) for _, names in groups.values())
    if others and number > MOST_COMBINATIONS:
        must_be = f"columns of at most {MOST_COMBINATIONS:,} combinations"
        refuse("group", OWNER, must_be, f"{number:,} of them", hint=_FEWER)
    labels: list[tuple[str, ...]] = [(first,) for first in firsts]
    for more, names in others:
        known = (codes >= 0) & (more >= 0)
        crossed = np.where(known, codes * len(names) + more, -1)
        labels = [(*group, name) for group in labels for name in names]
        codes = crossed
    there = np.bincount(codes[codes >= 0], minlength=len(labels)) > 0
    rank = np.where(there, np.cumsum(there) - 1, -1)
    kept = tuple(label for label, occurs in zip(labels, there, strict=True) if occurs)
    if not kept or len(kept) > _MOST_GROUPS:
        what, got = f"a column of 1 to {_MOST_GROUPS} groups", "another number of groups"
        if others:
            what, got = f"columns of 1 to {_MOST_GROUPS} combinations", f"{len(kept):,} of them"
        refuse("group", OWNER, what, got, hint=_FEWER if others else "")
    return np.where(codes >= 0, rank[codes], -1), kept


def _decide(
    taken: Mapping[str, Any],
    positive: Mapping[str, Any],
    threshold: float | None,
    scores: NDArray[np.float64] | None,
    names: Mapping[str, str],
    notes: list[str],
) -> dict[str, Any]:
    """Return outcome and decision as 0 and 1, and what the positive value is called."""
    encoded = {name: taken[name].dictionary_encode() for name in positive if name in taken}
    if "prediction" in encoded and threshold is not None:
        refuse("threshold", OWNER, "left out where there are predictions", "both")
    if "prediction" not in encoded and (scores is None or threshold is None):
        refuse("y_pred", OWNER, "a column of decisions; or scores with a threshold", "neither")
    values = {name: coded.dictionary.to_pylist() for name, coded in encoded.items()}
    cuts = {name: _side_of(name, taken[name], values[name], positive) for name in encoded}
    meant = {
        name: rule_text(positive[name])
        if cuts[name] is not None
        else _positive_of(names[name], known, positive[name])
        for name, known in values.items()
    }
    decided: dict[str, Any] = {}
    for name, coded in encoded.items():
        if cuts[name] is not None:
            decided[name] = cuts[name]
            continue
        if meant[name] is None:
            _check_nobody(name, values, meant, names)
        is_positive = np.array([value == meant[name] for value in values[name]], bool)
        decided[name] = is_positive[coded.indices.to_numpy(zero_copy_only=False)].astype(np.uint8)
        if len(values[name]) > 2:
            notes.append(f"'{names[name]}' has several values; all but the positive one count as negative.")
    shown: Any = next((value for value in meant.values() if value is not None), None)
    if "prediction" not in decided and scores is not None and threshold is not None:
        if not math.isfinite(threshold):
            refuse("threshold", OWNER, "a finite number", threshold)
        decided["prediction"] = (scores >= threshold).astype(np.uint8)
        shown = f">= {threshold:g}" if shown is None else shown
    of = next(names[name] for name in ("outcome", "prediction", "score") if name in taken)
    decided["name"] = f"{of}{' ' if str(shown)[:1] in '<>' else ' = '}{shown}"
    return decided


def _side_of(
    name: str, column: Any, values: list[Any], positive: Mapping[str, Any]
) -> NDArray[np.uint8] | None:
    """Return on which side of a threshold each number is; None where no threshold is meant.

    A threshold of the outcome is that of the prediction too, unless this says yes or no already.
    """
    rule = parse_rule(positive[name])
    inherited = name == "prediction" and positive[name] is positive["outcome"]
    numeric = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if rule is None or not numeric or (inherited and all(value in _TRUTHS for value in values)):
        return None
    sign, cut = rule
    sides = _COMPARE[sign](_numbers(column, "y_true" if name == "outcome" else "y_pred"), cut)
    if name == "outcome" and sides.all() == sides.any():
        refuse("positive", OWNER, "a threshold with rows on both sides", "one with all rows on one side")
    return sides.astype(np.uint8)


def _check_nobody(
    name: str, values: Mapping[str, list[Any]], meant: Mapping[str, Any], names: Mapping[str, str]
) -> None:
    """Refuse a column without the positive value, unless its values are some of those of the other column.

    A model that says no to everybody has no positive prediction; one with words of its own needs them named.
    """
    others = [known for other, known in values.items() if other != name and meant[other] is not None]
    if others and set(map(str, values[name])) <= set(map(str, others[0])):
        return
    parameter = "positive" if name == "outcome" or not others else "predicted"
    raise InvalidParameterError(
        parameter, owner=OWNER, must_be=f"one of the values of '{names[name]}'", got="another value"
    )


def _positive_of(column: str, values: list[Any], positive: Any) -> Any:
    """Return the value of a column that counts as positive; None if it holds none that is meant."""
    is_truth = all(value in _TRUTHS or value in _TRUTH_TEXTS for value in values)
    if positive is None:
        if not is_truth:
            several = "more than two values" if len(values) > 2 else "other values than 0 and 1"
            raise InvalidParameterError(
                "positive", owner=OWNER, must_be=f"given: '{column}' holds {several}", got=None,
                hint="name the value that counts, or of numbers a threshold such as '>= 50000'; "
                "all others are then negative.",
            )  # fmt: skip
        return next((value for value in values if value in {1, "1"}), 1)
    same = [
        value
        for value in values
        if value == positive and isinstance(value, bool) == isinstance(positive, bool)
    ]
    if same:
        return same[0]
    if len(values) > _MOST_VALUES:
        refuse("positive", OWNER, "a value of a column with few values", "a column with many")
    try:
        meant = value_of(Domain.categorical(values), str(positive)) if values else None
    except EvenhandError:
        meant = None
    if meant is None and is_truth:
        return next((value for value in values if value in {1, "1"}), 1)
    return meant


def _numbers(array: Any, name: str) -> NDArray[np.float64]:
    try:
        numbers: NDArray[np.float64] = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        numbers = np.array([math.nan])
    if not np.isfinite(numbers).all():
        refuse(name, OWNER, "a column of finite numbers", "other values")
    return numbers


def _weights(array: Any) -> NDArray[np.float64]:
    """Return survey weights, one for every row; a missing one is refused like one that is no number."""
    try:
        weights: NDArray[np.float64] = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        weights = np.array([math.nan])
    if not ((weights >= 0) & (weights <= 1e100)).all() or not weights.any():
        got = "one that is negative, missing or no number, or 0 in all rows,"
        hint = "give every row a number of at least 0, and 0 to a row that is not to count."
        refuse("weights", OWNER, "a column with a number from 0 to 1e100 in every row", got, hint=hint)
    return weights


def _is_missing(array: Any) -> NDArray[np.bool]:
    missing: NDArray[np.bool] = np.asarray(
        array.is_null(nan_is_null=True).to_numpy(zero_copy_only=False), bool
    )
    return missing


def check_order(columns: Mapping[str, Any]) -> None:
    """Refuse pandas columns whose indexes differ: rows are matched by position."""
    same_index(columns.items(), owner=OWNER)
