"""The columns of somebody's predictions as they are read: outcomes, decisions, scores and groups.

What is missing is left out and counted. No message holds a value of a row.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand._validate import kind_of, refuse
from evenhand.errors import EvenhandError
from evenhand.measure.decisions import OWNER, Decisions
from evenhand.privacy.contributions import rows_to_keep
from evenhand.privacy.randomness import SeededSource
from evenhand.report.words import listed
from evenhand.schema import Domain
from evenhand.schema.bands import parse_rule, rule_text
from evenhand.schema.crossing import BETWEEN_VALUES, MOST_COMBINATIONS, OTHER_GROUPS
from evenhand.schema.text import brief
from evenhand.schema.typed_values import value_of
from evenhand.table.persons import read_keys

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.measure.decisions import Coded

_MOST_VALUES = 1_000
_MOST_GROUPS = 200
_ONES = (1, "1")
_TRUTHS = (0, "0", *_ONES)
_FEWER = "cross fewer columns, or put their values into fewer classes first."
_COMPARE = {">=": np.greater_equal, ">": np.greater, "<=": np.less_equal, "<": np.less}


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(Decisions):
    """Decisions with what their columns are called; `left_out` counts the rows that lack a value, by column.

    `decision` is what a positive prediction is called, such as "approved = 1". `columns` are the protected
    ones, and `parts` has the label of each group by column; none for a pool.
    """

    outcome: str = ""
    decision: str = ""
    protected: str = "group"
    source: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    parts: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Return the name of each group in a table of effects: its label, if not empty and nobody else's."""
        return tuple(
            label if label and self.labels.count(label) == 1 else f"'{label}' ({place + 1})"
            for place, label in enumerate(self.labels)
        )

    def margin_key(self, column: str, label: str) -> str:
        """Return what a table of effects calls a group of one of several crossed columns."""
        key = f"{column} = {label}"
        return f"'{key}'" if key in self.labels else key


def read_predictions(
    columns: Mapping[str, Any],
    groups: Mapping[str, Coded],
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
    """Return the rows of some columns; what is not said here is as in :func:`evenhand.measure.page`.

    Parameters
    ----------
    columns : mapping of str to column
        By what they are: ``outcome``, ``prediction``, ``score``, ``weight`` and ``person``, as far as there
        are. Of each person one row counts, drawn at random among those that lack nothing.
    groups : mapping of str to (array of int, sequence of str)
        The codes of each protected column, -1 where one is missing, and its labels; several are crossed.
    names : mapping of str to str
        What the columns are called.
    missing_group : str
        What a group of those is called whose group is not stated, if they are one.
    """
    arrays = {name: read_arrow(values, name) for name, values in columns.items()}
    if len({*map(len, arrays.values()), *(len(codes) for codes, _ in groups.values())}) > 1:
        refuse("y_pred", OWNER, "as long as the other columns", "another length")
    codes, parts = _cross(groups)
    weights = _weights(arrays.pop("weight")) if "weight" in arrays else None
    person = arrays.pop("person", None)
    present = {name: ~_is_missing(array) for name, array in arrays.items()}
    kept = np.flatnonzero(np.logical_and.reduce([*present.values(), np.ones(len(codes), bool)]))
    if not len(kept):
        refuse("y_pred", OWNER, "a column with values in some row where the others have one too", "none")
    more = list(notes)
    if person is not None:
        people = read_keys(person, names["person"]).dictionary_encode().indices.to_numpy()
        kept = kept[rows_to_keep(people[kept], 1, source=SeededSource(0))]
        more.append(f"Of each '{brief(names['person'])}' one row drawn at random counts.")
    taken = {name: array.take(pa.array(kept)) for name, array in arrays.items()}
    scores = _numbers(taken["score"], "scores") if "score" in taken else None
    meant = {"outcome": positive, "prediction": positive if predicted is None else predicted}
    decided = _decide(taken, meant, threshold, scores, names, more)
    codes, parts, pooled = _pool(codes[kept], parts, pool_below)
    labels = tuple(BETWEEN_VALUES.join(group) if group else OTHER_GROUPS for group in parts)
    if missing_group and (codes < 0).any():
        codes, labels = np.where(codes < 0, len(labels), codes), (*labels, missing_group)
    crossed = groups if len(groups) > 1 else {}
    return Predictions(
        decided["prediction"], codes, labels, decided.get("outcome"), scores,
        None if weights is None else weights[kept],
        outcome=decided["name"], decision=decided["decision"], protected=BETWEEN_VALUES.join(groups),
        source=source,
        left_out={names[name]: int((~there).sum()) for name, there in present.items() if not there.all()},
        notes=(*more, *pooled), columns=tuple(groups), parts=parts,
        margins={
            name: (np.where(codes >= 0, column[kept], -1), tuple(values))
            for name, (column, values) in crossed.items()
        },
    )  # fmt: skip


def _pool(
    codes: NDArray[np.intp], parts: tuple[tuple[str, ...], ...], below: int | None
) -> tuple[NDArray[np.intp], tuple[tuple[str, ...], ...], list[str]]:
    """Return the groups with those of fewer rows than asked as one, and a note that says which."""
    if below is not None and (isinstance(below, bool) or not isinstance(below, int) or below < 1):
        refuse("pool_below", OWNER, "a whole number of at least 1", below)
    is_small = np.bincount(codes[codes >= 0], minlength=len(parts)) < (below or 0)
    if len(parts) > 1 and is_small.all():
        hint = "choose a smaller number."
        refuse(
            "pool_below", OWNER, "a number that leaves two groups", f"{below}, which leaves one", hint=hint
        )
    if is_small.sum() < 2:
        alone = [f"'{BETWEEN_VALUES.join(parts[place])}'" for place in np.flatnonzero(is_small)]
        return (
            codes,
            parts,
            [f"{name} alone has fewer than {below} people: it is not joined." for name in alone],
        )
    places = np.where(is_small, (~is_small).sum(), np.cumsum(~is_small) - 1)
    names = listed([f"'{BETWEEN_VALUES.join(parts[place])}'" for place in np.flatnonzero(is_small)])
    note = f"Groups of fewer than {below} people are one, '{OTHER_GROUPS}': {names}."
    shown = (*(parts[place] for place in np.flatnonzero(~is_small)), ())
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
    places = pc.fill_null(coded.indices, len(found)).to_numpy(zero_copy_only=False).astype(np.intp)
    return rank[np.where(_is_missing(array), len(found), places)], [str(found[place]) for place in order]


def _cross(groups: Mapping[str, Coded]) -> tuple[NDArray[np.intp], tuple[tuple[str, ...], ...]]:
    """Return the codes of all columns together, and by column the labels of the crossed groups that occur."""
    sizes = [len(labels) for _, labels in groups.values()]
    several, number = len(groups) > 1, math.prod(sizes)
    if several and number > MOST_COMBINATIONS:
        must_be = f"columns of at most {MOST_COMBINATIONS:,} combinations"
        refuse("group", OWNER, must_be, f"{number:,} of them", hint=_FEWER)
    columns = np.stack([codes for codes, _ in groups.values()])
    stated = (columns >= 0).all(axis=0)
    crossed = np.ravel_multi_index(tuple(columns[:, stated]), sizes) if stated.any() else np.array([], int)
    there = np.bincount(crossed, minlength=number) > 0
    kept = int(there.sum())
    if not 0 < kept <= _MOST_GROUPS:
        what, got = f"a column of 1 to {_MOST_GROUPS} groups", "another number of groups"
        if several:
            what, got = f"columns of 1 to {_MOST_GROUPS} combinations", f"{kept:,} of them"
        refuse("group", OWNER, what, got, hint=_FEWER if several else "")
    codes = np.full(columns.shape[1], -1, np.intp)
    codes[stated] = (np.cumsum(there) - 1)[crossed]
    places = zip(*np.unravel_index(np.flatnonzero(there), sizes), strict=True)
    names = [labels for _, labels in groups.values()]
    return codes, tuple(tuple(map(operator.getitem, names, place)) for place in places)


def _decide(
    taken: Mapping[str, Any],
    positive: Mapping[str, Any],
    threshold: float | None,
    scores: NDArray[np.float64] | None,
    names: Mapping[str, str],
    notes: list[str],
) -> dict[str, Any]:
    """Return outcome and prediction as 0 and 1, and what the positive value of each is called."""
    if "prediction" in taken and threshold is not None:
        refuse("threshold", OWNER, "left out where there are predictions", "both")
    if "prediction" not in taken and (scores is None or threshold is None):
        refuse("y_pred", OWNER, "a column of decisions; or scores with a threshold", "neither")
    encoded = {name: taken[name].dictionary_encode() for name in positive if name in taken}
    values = {name: coded.dictionary.to_pylist() for name, coded in encoded.items()}
    decided: dict[str, Any] = {name: _side_of(name, taken[name], values[name], positive) for name in encoded}
    meant = {
        name: _positive_of(names[name], values[name], positive[name])
        if side is None
        else rule_text(positive[name])
        for name, side in decided.items()
    }
    for name, coded in encoded.items():
        if decided[name] is not None:
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
        meant["score"] = f">= {threshold:g}"
        shown = meant["score"] if shown is None else shown

    def describe(role: str, value: Any) -> str:
        return f"{names[role]}{' ' if str(value)[:1] in '<>' else ' = '}{value}"

    decided["name"] = describe(
        next(role for role in ("outcome", "prediction", "score") if role in taken), shown
    )
    role = "prediction" if "prediction" in taken else "score"
    decided["decision"] = describe(role, shown if meant[role] is None else meant[role])
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
    if not others or not set(map(str, values[name])) <= set(map(str, others[0])):
        parameter = "positive" if name == "outcome" or not others else "predicted"
        refuse(parameter, OWNER, f"one of the values of '{names[name]}'", "another value")


def _positive_of(column: str, values: list[Any], positive: Any) -> Any:
    """Return the value of a column that counts as positive; None if it holds none that is meant."""
    is_truth = all(value in _TRUTHS for value in values)
    one = next((value for value in values if value in _ONES), 1)
    if positive is None:
        if not is_truth:
            several = "more than two values" if len(values) > 2 else "other values than 0 and 1"
            hint = "name the value that counts, or of numbers a threshold such as '>= 50000'; "
            hint += "all others are then negative."
            refuse("positive", OWNER, f"given: '{column}' holds {several}", None, hint=hint)
        return one
    for value in values:
        if value == positive and isinstance(value, bool) == isinstance(positive, bool):
            return value
    if len(values) > _MOST_VALUES:
        refuse("positive", OWNER, "a value of a column with few values", "a column with many")
    try:
        meant = value_of(Domain.categorical(values), str(positive)) if values else None
    except EvenhandError:
        meant = None
    return one if meant is None and is_truth else meant


def _floats(array: Any) -> NDArray[np.float64]:
    """Return a column as floats; one NaN where it holds what is no number."""
    try:
        return np.asarray(array.cast(pa.float64()).to_numpy(zero_copy_only=False), float)
    except pa.ArrowException:
        return np.array([math.nan])


def _numbers(array: Any, name: str) -> NDArray[np.float64]:
    numbers = _floats(array)
    if not np.isfinite(numbers).all():
        refuse(name, OWNER, "a column of finite numbers", "other values")
    return numbers


def _weights(array: Any) -> NDArray[np.float64]:
    """Return survey weights, one for every row; a missing one is refused like one that is no number."""
    weights = _floats(array)
    if not ((weights >= 0) & (weights <= 1e100)).all() or not weights.any():
        got = "one that is negative, missing or no number, or 0 in all rows,"
        hint = "give every row a number of at least 0, and 0 to a row that is not to count."
        refuse("weights", OWNER, "a column with a number from 0 to 1e100 in every row", got, hint=hint)
    return weights


def _is_missing(array: Any) -> NDArray[np.bool]:
    return np.asarray(array.is_null(nan_is_null=True).to_numpy(zero_copy_only=False), bool)
