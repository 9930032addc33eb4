"""Reading the columns that are measured: outcomes, groups, weights and scores.

A column may come from numpy, a list, pandas, Polars or Arrow. What comes out are numpy arrays
of small integers. No message holds a value of a column or how long it is.
Arrays of numbers and single labels are checked here too: what is refused may be data that landed in the
wrong place, so a message tells its kind only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import narwhals as nw
import numpy as np

from evenhand._lazy import lazy
from evenhand._validate import kind_of, refuse, require_true_values
from evenhand.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

pa = lazy("pyarrow")

_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_ROWS_AT_ONCE = 1 << 16  # so that the second look at a part finds it in the cache
_NARROWEST = 63  # group codes up to here leave two bits of a byte for the outcomes
_LARGEST_WEIGHT = 1e100
_WIDEST_RANGE = 1 << 16  # whole numbers in a range this wide are counted without sorting


def read_column(values: Any, *, name: str, owner: str) -> NDArray[Any]:
    """Return `values` as a one-dimensional numpy array, or refuse them.

    >>> read_column([1, 0, 1], name="group", owner="example")
    array([1, 0, 1])
    """
    require_true_values(values, name=name, owner=owner)
    array = _as_array(values, name, owner)
    if array.ndim != 1:
        refuse(name, owner, "a column with one dimension", f"an array with {array.ndim} dimensions")
    if isinstance(array, np.ma.MaskedArray):
        if np.ma.getmaskarray(array).any():
            _refuse_missing(name, owner)
        array = np.asarray(array)
    if array.dtype.kind == "f" and np.isnan(array).any():
        _refuse_missing(name, owner)
    return array


def read_numbers(values: Any, *, name: str, owner: str) -> NDArray[np.float64]:
    """Return `values` as floats; infinities stay, missing values are refused."""
    array = read_column(values, name=name, owner=owner)
    if array.dtype.kind == "O" and array.size:  # a nullable column without a missing value, for example
        encoded = _encode_objects(array, name, owner)
        if encoded is not None and all(isinstance(label, int | float) for label in encoded[1]):
            array = np.array(encoded[1], dtype=np.float64)[encoded[0]]
    if array.dtype.kind not in "biuf" and array.size:
        refuse(name, owner, "a column of numbers", "another kind of column")
    return array.astype(np.float64)


def read_weights(values: Any, *, owner: str) -> NDArray[np.float64]:
    """Return `values` as floats that are not negative, and whose squares can be added."""
    weights = read_numbers(values, name="weights", owner=owner)
    if not ((weights >= 0) & (weights <= _LARGEST_WEIGHT)).all():
        refuse("weights", owner, "numbers from 0 to 1e100", "others, negative or infinite perhaps,")
    return weights


def read_binary(
    columns: dict[str, NDArray[Any]], *, positive: object, owner: str
) -> dict[str, NDArray[np.uint8]]:
    """Return each column as bytes, 1 where the row is positive and 0 elsewhere.

    Parameters
    ----------
    columns : dict of str to array
        The columns by the names of the parameters they came from. They share their two labels.
    positive : object
        The label that counts as positive; ``None`` stands for 1 or ``True`` and then no other
        labels than 0, 1 and booleans are taken.
    owner : str
        The public function that reads them, for messages.
    """
    check_label(positive, name="positive", owner=owner)
    if positive is None or (isinstance(positive, int | float | np.generic) and bool(positive == 1)):
        narrowed = {name: _narrow_binary(column) for name, column in columns.items()}
        taken = {name: column for name, column in narrowed.items() if column is not None}
        if len(taken) == len(columns):
            return taken
    encoded = {name: encode_labels(column, name=name, owner=owner) for name, column in columns.items()}
    for name, (_, labels) in encoded.items():
        if positive is None and any(label not in (0, 1) for label in labels):
            refuse(
                name,
                owner,
                "a column of 0 and 1 (or of booleans)",
                "other values",
                hint="name the label that counts as positive with positive=...; "
                "predictions must be decisions, not scores.",
            )
    wanted = 1 if positive is None else positive
    _check_two_labels([labels for _, labels in encoded.values()], wanted, owner)
    return {
        name: np.array([label == wanted for label in labels], dtype=np.uint8)[codes]
        for name, (codes, labels) in encoded.items()
    }


def encode_groups(array: NDArray[Any], *, owner: str) -> tuple[NDArray[Any], list[Any]]:
    """Return codes and the label of each code, in order; a code may stand for nobody.

    Whole numbers in a narrow range are their own codes, which costs no sorting.
    """
    if array.dtype.kind in "iu" and array.size:
        codes, largest = narrow(array, _NARROWEST)
        if codes is not None:
            return codes, list(range(largest + 1))
        low, high = int(array.min()), int(array.max())
        if high - low < _WIDEST_RANGE:
            wide = array if array.dtype == np.uint64 else array.astype(np.int64)
            return (wide - wide.dtype.type(low)).astype(np.intp), list(range(low, high + 1))
    if array.dtype.kind == "b":
        return array.view(np.uint8), [False, True]
    return encode_labels(array, name="group", owner=owner)


def encode_labels(array: NDArray[Any], *, name: str, owner: str) -> tuple[NDArray[np.intp], list[Any]]:
    """Return codes and the sorted labels that occur.

    >>> encode_labels(np.array(["b", "a", "b"]), name="group", owner="example")
    (array([1, 0, 1]), ['a', 'b'])
    """
    if array.dtype.kind in "biuf":
        labels, inverse = np.unique(array, return_inverse=True)
        return inverse.astype(np.intp), labels.tolist()
    encoded = _encode_objects(array, name, owner)
    if encoded is None:
        refuse(name, owner, "a column of labels of one kind", "labels of several or unknown kinds")
    return encoded


def narrow(array: NDArray[Any], limit: int) -> tuple[NDArray[np.uint8] | None, int]:
    """Return a column of whole numbers as bytes, and the largest; ``None`` if one is outside [0, limit].

    Read as unsigned numbers, negative ones are large, so one comparison finds both.

    >>> narrow(np.array([0, 2, 1]), 63)
    (array([0, 2, 1], dtype=uint8), 2)
    >>> narrow(np.array([0, -1]), 63)
    (None, 18446744073709551615)
    """
    plain = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    whole = plain.view(_UNSIGNED[plain.dtype.itemsize])
    largest = 0
    if whole.dtype == np.uint8:
        largest = int(whole.max(initial=0))
        return (whole, largest) if largest <= limit else (None, largest)
    narrowed = np.empty(len(whole), dtype=np.uint8)
    for start in range(0, len(whole), _ROWS_AT_ONCE):
        part = whole[start : start + _ROWS_AT_ONCE]
        largest = max(largest, int(part.max()))
        if largest > limit:
            return None, largest
        narrowed[start : start + _ROWS_AT_ONCE] = part
    return narrowed, largest


def same_index(columns: Iterable[tuple[str, Any]], *, owner: str) -> None:
    """Refuse pandas columns whose indexes differ: rows are matched by position, and theirs would not.

    Columns without an index, such as arrays and lists, say nothing and are passed over.
    """
    first_name, index = "", None
    for name, column in columns:
        native = nw.to_native(column, pass_through=True)
        if not nw.dependencies.is_pandas_like_series(native):
            continue
        if index is None:
            first_name, index = name, native.index
        elif native.index is not index and not native.index.equals(index):
            refuse(
                name,
                owner,
                f"in the same order as '{first_name}', with an equal index",
                "another index",
                hint="rows are matched by position: align the columns, "
                "or call reset_index(drop=True) on each if their order is right.",
            )


def same_length(columns: Iterable[tuple[str, NDArray[Any]]], *, owner: str) -> None:
    """Refuse columns that are not as long as the first; no length is told."""
    first_name, length = "", -1
    for name, column in columns:
        if length < 0:
            first_name, length = name, len(column)
        elif len(column) != length:
            refuse(name, owner, f"as long as '{first_name}'", "another length")


def _as_array(values: Any, name: str, owner: str) -> NDArray[Any]:
    if isinstance(values, np.ndarray):
        return values
    if isinstance(values, list | tuple | range):
        return _array_from_list(list(values), name, owner)
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return np.asarray(series.to_numpy())
    if hasattr(values, "__array__"):
        return np.asarray(values)
    return refuse(name, owner, "a column: an array, a list or a series", f"a {type(values).__name__}")


def _array_from_list(values: list[Any], name: str, owner: str) -> NDArray[Any]:
    if has_masked(values):
        _refuse_missing(name, owner)
    try:
        array = np.asarray(values)
    except ValueError:  # rows of unequal length; refused outside, so that no traceback shows the cause
        array = np.empty((0, 0))
    if array.ndim != 1:
        refuse(name, owner, "a column with one dimension", "a nested list")
    if array.dtype.kind in "US":  # numpy writes 1 and None as text beside text
        array = np.empty(len(values), dtype=object)
        array[:] = values
    return array


def _encode_objects(array: NDArray[Any], name: str, owner: str) -> tuple[NDArray[np.intp], list[Any]] | None:
    """Return codes and sorted labels of what is not a number; ``None`` if they are not of one kind.

    Arrow's own errors quote the cell at fault, so none of them may become the context of ours.
    """
    try:
        encoded = pa.array(array, from_pandas=True).dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):  # long text comes in parts, of 16 MiB for example
            encoded = encoded.combine_chunks()
        labels = encoded.dictionary.to_pylist()
        order = sorted(range(len(labels)), key=labels.__getitem__)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return None
    if encoded.null_count:
        _refuse_missing(name, owner)
    rank = np.empty(len(labels), dtype=np.intp)
    rank[order] = np.arange(len(labels))
    return rank[encoded.indices.to_numpy(zero_copy_only=False)], [labels[place] for place in order]


def _narrow_binary(column: NDArray[Any]) -> NDArray[np.uint8] | None:
    if column.dtype.kind == "b":
        return column.view(np.uint8)
    if column.dtype.kind in "iu":
        return narrow(column, 1)[0]
    if column.dtype.kind == "f" and ((column == 0) | (column == 1)).all():
        return column.astype(np.uint8)
    return None


def _check_two_labels(labels: list[list[Any]], positive: object, owner: str) -> None:
    together: list[Any] = []
    for column in labels:
        together += [label for label in column[:3] if label not in together]
    if len(together) > 2 or (len(together) == 2 and positive not in together):
        refuse(
            "positive",
            owner,
            "one of the two labels of the outcome columns",
            f"{positive!r}, and other labels in the columns,",
        )


def _refuse_missing(name: str, owner: str) -> NoReturn:
    refuse(name, owner, "a column without missing values", "missing values")


_MAY_BE_MASKED = (list, tuple, np.ma.MaskedArray)


def read_array(values: Any, *, name: str, owner: str, must_be: str, hint: str = "") -> NDArray[Any]:
    """Return `values` as an array of plain numbers of any shape, or refuse them.

    Text, nested lists of unequal length, objects and masked entries are refused.

    >>> read_array([[1, 2], [3, 4]], name="counts", owner="example", must_be="numbers").shape
    (2, 2)
    """
    got = "something else: text, objects or lists of unequal length"
    require_true_values(values, name=name, owner=owner)
    if has_masked(values):
        refuse(name, owner, must_be, "an array with masked entries", hint=hint)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):  # refused outside, so that no traceback shows the cause
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "biuf":
        refuse(name, owner, must_be, got, hint=hint)
    return array


def has_masked(values: object) -> bool:
    """Whether an entry of an array, or of an array inside a list, is masked."""
    if isinstance(values, list | tuple):
        kinds = set(map(type, values))  # so that a long list of numbers costs little
        return any(issubclass(kind, _MAY_BE_MASKED) for kind in kinds) and any(map(has_masked, values))
    return isinstance(values, np.ma.MaskedArray) and bool(np.ma.getmaskarray(values).any())


def is_label(value: object) -> bool:
    """Whether `value` can be the label of a group: hashable, and equal to itself.

    Arrays, series and lists are not, and missing values are not.

    >>> is_label("a"), is_label(np.array([1])), is_label(float("nan"))
    (True, False, False)
    """
    try:
        frozenset((value,))  # refuses what cannot stand for a group
        return bool(value == value)  # noqa: PLR0124 (a missing value is not equal to itself)
    except (TypeError, ValueError):
        return False


def check_label(value: object, *, name: str, owner: str, must_be: str = "a single label") -> None:
    """Refuse what cannot be a label; the kind of the value is told and not the value."""
    if not is_label(value):
        refuse(name, owner, must_be, kind_of(value))


def check_name(kind: str, name: Any, known: Collection[str], *, place: str = "known") -> None:
    """Refuse a name that is not one of those known."""
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError(kind, name if isinstance(name, str) else kind_of(name), known, place=place)


def label_groups(groups: Sequence[Any], labels: Mapping[Any, str], *, owner: str) -> dict[Any, Any]:
    """Return each group with what people read for it, or refuse labels that do not tell groups apart.

    >>> label_groups([0, 1], {1: "men"}, owner="group_report")
    {0: 0, 1: 'men'}
    """
    must_be = "a mapping from a group to its label, each label once and none of them another group"
    if not isinstance(labels, Mapping):
        refuse("labels", owner, must_be, kind_of(labels))
    shown = {group: labels.get(group, group) for group in groups}
    are_texts = all(isinstance(label, str) and label for label in labels.values())
    if not are_texts or len({*shown.values()}) < len(shown) or len({*labels.values()}) < len(labels):
        refuse("labels", owner, must_be, "something else")
    return shown
