"""Rows that a private model is trained on, read and checked. No message holds a value or a number of rows.

What can fail for the rows fails here, before anything is drawn: later no error depends on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from evenhand._validate import refuse, require_true_values
from evenhand.learn.columns import places_among, require_length
from evenhand.measure.columns import read_column
from evenhand.privacy.rational import exact
from evenhand.table.frames import eager_frame

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    Frame = nw.DataFrame[Any]

FEATURES_PUBLIC = "scaling constants and vocabularies of the features are public, not learnt from the rows"
"""What is assumed of features unless something else is said."""

ROWS_PUBLIC = "the number of rows that train the model is public"
"""What is assumed of their number unless one is declared."""

LARGEST_FEATURE = 1e150
"""Features beyond it, on either side, count as it: the length of a row is then a number."""

_TABLE = "a frame, or an array of two dimensions: a row for each person"
_ENCODER = "PublicEncoder turns columns of a schema into numbers without looking at the rows."


def read_features(model: Any, X: Any, *, place: str, reset: bool) -> NDArray[np.float64]:
    """Return the features as an array of floats, row by row, all of them finite.

    Parameters
    ----------
    model : scikit-learn estimator
        Gets `n_features_in_` and `feature_names_in_`, or has them.
    X : pandas, Polars or Arrow frame, or array
        Numbers and truth values only.
    place : str
        The method that asks, for messages.
    reset : bool
        Whether the names and the number of columns are noted (when fitting) or compared.
    """
    owner = f"{type(model).__name__}.{place}"
    require_true_values(X, name="X", owner=owner)
    framed = isinstance(X, pa.RecordBatch) or nw.dependencies.is_into_dataframe(X) or hasattr(X, "collect")
    if framed:
        frame: Frame = eager_frame(X, owner=owner, parameter="X")
        array, shape = _from_frame(frame, owner), frame.head(0).to_native()
    else:
        array = _from_array(X, owner)
        shape = array[:0]
    validate_data(model, shape, skip_check_array=True, reset=reset)
    if array.shape[1] == 0:
        check_array(np.empty((1, 0)), estimator=model)  # says so, without the number of rows
    if array.shape[0] == 0:
        refuse("X", owner, "a table with rows", "0 sample(s)")
    return _clip_features(array, owner)


def read_labels(
    y: Any, rows: int, *, owner: str, classes: NDArray[Any] | None = None
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the place of each row's label among the classes, and the classes, in order.

    Parameters
    ----------
    y : array or column
        One label for each row.
    rows : int
        How many there must be.
    owner : str
        Who asks, for messages.
    classes : array, optional
        The public classes, from :func:`public_classes`. Without them they are read from the labels, of which
        there must be two at least.
    """
    name = owner.split(".", maxsplit=1)[0]
    if y is None:
        hint = f"this {name} requires y to be passed, but the target y is None."
        refuse("y", owner, "a column of labels", None, hint=hint)
    if getattr(y, "ndim", 1) == 2 and getattr(y, "shape", (0, 0))[1] == 1:
        y = column_or_1d(y, warn=True)
    column = read_column(y, name="y", owner=owner)
    if column.dtype.kind == "c":  # scikit-learn's error would show them
        refuse("y", owner, "a column of labels", "complex numbers (Complex data not supported)")
    if column.dtype.kind == "f" and np.isinf(column).any():
        refuse("y", owner, "a column of labels", "a column where Input y contains infinity")
    require_length("y", len(column), rows, owner=owner)
    if column.dtype.kind == "O" and len({type(label) for label in column.tolist()}) > 1:
        refuse("y", owner, "a column of labels of one type", "labels of several types")
    check_classification_targets(column)
    if classes is not None:
        must_be = "labels that are among 'classes'"
        places = places_among(column, classes.tolist(), name="y", owner=owner, must_be=must_be)
        return places.astype(np.int64), classes
    seen, places = np.unique(column, return_inverse=True)
    if len(seen) < 2:
        hint = "declare the classes with classes=[...] if the rows may be of one class only."
        refuse("y", owner, "a column with labels of two classes at least", "one class", hint=hint)
    return places.astype(np.int64), seen


def public_classes(classes: Sequence[Any] | None, *, owner: str) -> NDArray[Any] | None:
    """Return the declared classes in order, at least two; None if none are declared."""
    if classes is None:
        return None
    must_be = "a list of two classes or more, each once and all of one type"
    listed = read_column(classes, name="classes", owner=owner)
    if listed.dtype.kind == "O" and len({type(label) for label in listed.tolist()}) > 1:
        refuse("classes", owner, must_be, "classes of several types")
    ordered = np.unique(listed)
    if len(ordered) < 2 or len(ordered) != len(listed):
        refuse(
            "classes", owner, must_be, "fewer of them" if len(ordered) == len(listed) else "one of them twice"
        )
    return np.asarray(ordered)


def refuse_others(given: dict[str, Any], *, owner: str) -> None:
    """Refuse weights, since a row that counts twice is two rows to the guarantee, and unknown arguments."""
    if given.pop("sample_weight", None) is not None:
        refuse(
            "sample_weight",
            owner,
            "left out",
            "a weight for each row",
            hint="the guarantee holds for rows that count once; a weight would let one person move the model "
            "further than the noise covers, or is itself private.",
        )
    if given:
        message = f"{owner}() got an unexpected keyword argument {next(iter(given))!r}"
        raise TypeError(message)


def assumptions_about(
    *, preprocessing: Sequence[str] | None, rows: object, classes: object, owner: str
) -> tuple[str, ...]:
    """Return what a guarantee assumes of the rows, as sentences without a stop.

    Parameters
    ----------
    preprocessing : sequence of str, optional
        What is assumed of how the features were made. Without it, that nothing was learnt from the rows.
    rows, classes : object
        What was declared of them; None if they are read from the rows, and so must be public.
    owner : str
        Whose parameters these are, for messages.
    """
    sentences: tuple[str, ...]
    if preprocessing is None:
        sentences = (FEATURES_PUBLIC,)
    else:
        sentences = tuple(preprocessing) if not isinstance(preprocessing, str) else (preprocessing,)
        if not all(isinstance(sentence, str) and sentence for sentence in sentences):
            refuse("preprocessing", owner, "a list of sentences, or nothing", "something else")
    counted = (ROWS_PUBLIC,) if rows is None else ()
    listed = ("which classes there are is public",) if classes is None else ()
    return (*sentences, *counted, *listed, "no setting was chosen by looking at the private rows")


def positive(name: str, value: Any, *, owner: str, least: float, most: float) -> Fraction:
    """Return a public number in a range, exactly, or refuse it."""
    number = exact(value, name=name, owner=owner, above=0)
    if not exact(least, name=name, owner=owner) <= number <= exact(most, name=name, owner=owner):
        refuse(name, owner, f"a number from {least:g} to {most:g}", value)
    return number


# --- numbers out of what was given ------------------------------------------------------------------


def _from_frame(frame: Frame, owner: str) -> NDArray[Any]:
    other = [
        str(name) for name, kind in frame.schema.items() if not (kind.is_numeric() or kind == nw.Boolean)
    ]
    if other:
        shown = ", ".join(f"'{name}'" for name in other[:5]) + (" and others" if len(other) > 5 else "")
        refuse("X", owner, "a frame of numbers", f"columns that hold no numbers: {shown}", hint=_ENCODER)
    numbers = np.empty(frame.shape)  # filled column by column: no second table is needed on the way
    for place, column in enumerate(frame.iter_columns()):
        if column.null_count():
            refuse("X", owner, "a frame without missing values", f"a null or NaN in column '{column.name}'")
        numbers[:, place] = column.to_numpy()
    return numbers


def _from_array(X: Any, owner: str) -> NDArray[Any]:
    if hasattr(X, "toarray"):
        refuse("X", owner, _TABLE, "a sparse matrix", hint="X.toarray() makes an array of it.")
    if np.ma.is_masked(X):
        refuse("X", owner, "an array without missing values", "a masked array with values masked")
    try:
        array = np.asarray(X)
    except ValueError:
        array = None
    if array is None:  # not inside the except: what numpy said may hold values
        refuse("X", owner, _TABLE, "rows of several lengths")
    if array.dtype.kind == "c":
        refuse("X", owner, _TABLE, "complex numbers (Complex data not supported)")
    if array.ndim != 2:
        hint = "Reshape your data with X.reshape(-1, 1) if it has one column."
        refuse("X", owner, _TABLE, f"an array of {array.ndim} dimension(s)", hint=hint)
    return array if array.dtype.kind in "biuf" else _from_objects(array, owner)


def _from_objects(array: NDArray[Any], owner: str) -> NDArray[np.float64]:
    numbers = None
    if array.dtype.kind in "OUS":
        try:
            numbers = array.astype(np.float64)
        except (TypeError, ValueError):
            numbers = None
    if numbers is None:
        refuse("X", owner, "an array of numbers", "values of another type", hint=_ENCODER)
    return numbers


def _clip_features(array: NDArray[Any], owner: str) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # a wider float than float64 may become infinite, and is refused
        floats = np.require(array, np.float64, ["C", "W"])  # the kernel is compiled for arrays of this kind
    least, most = float(floats.min()), float(floats.max())
    if not (np.isfinite(least) and np.isfinite(most)):
        got = "a NaN among them" if np.isnan(least) else "an infinity (inf) among them"
        hint = "put a public number in the place of what is missing, before fitting."
        refuse("X", owner, "finite numbers, none of them missing", got, hint=hint)
    if max(-least, most) > LARGEST_FEATURE:
        floats = np.clip(floats, -LARGEST_FEATURE, LARGEST_FEATURE)
    return floats
