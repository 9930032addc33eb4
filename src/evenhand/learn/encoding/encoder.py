"""Features whose vocabularies and scaling constants come from a schema: nothing is learnt from rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, validate_data

from evenhand._validate import kind_of, one_of, refuse
from evenhand.collect.privatizer.input import Frame, names_for, open_input, renamed
from evenhand.errors import ColumnNotFoundError
from evenhand.learn.encoding.blocks import NUMBERS, Block, blocks_of, write_features
from evenhand.privacy.guarantees.in_clear import leak_of_domains
from evenhand.schema import Schema
from evenhand.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from evenhand.learn.encoding.blocks import Numbers

_OWNER = "PublicEncoder"


class _Plan(NamedTuple):
    """What the features are made from."""

    schema: Schema
    blocks: tuple[Block, ...]


class PublicEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Turn declared columns into numbers between -1 and 1 that follow from the declaration alone.

    A category becomes one feature for each declared value. A number :math:`v` declared from :math:`l` to
    :math:`h` becomes

    .. math:: \frac{2 (v - l)}{h - l} - 1 \quad\text{or}\quad \frac{2 (g(v) - g(l))}{g(h) - g(l)} - 1,
              \quad g(v) = \operatorname{sign}(v) \ln(1 + |v| / u)

    where :math:`u` is the step of the declaration: 1 for whole numbers. Means, standard deviations, ranges
    and lists of values read from private rows would be leaks that no noise pays for; here there are none.

    **Guarantee.** None of its own: a row of features depends on the same row of `X` and on the schema, and on
    nothing else, so a mechanism that runs on the features promises for the rows what it promises for the
    features. `assumptions` says what is taken to be public. What comes out is as private as `X`.

    Parameters
    ----------
    schema : Schema
        The declared columns.
    columns : str or list of str, optional
        The columns to encode, in this order. By default all but the schema's target.
    without : str or list of str, default ()
        Columns to leave out, such as the protected one.
    numbers : {"auto", "linear", "log", "bins"}
        What becomes of numbers: ranges, bins (a bin stands for its middle) and *ordered* lists of numbers.
        ``"linear"`` and ``"log"`` are the formulas above; ``"bins"`` is one feature for each of at most 20
        declared values, else for each of ten equal parts of the range, or of parts that grow by the square
        root of ten if the range spans more than three orders of magnitude. ``"auto"`` is one feature for each
        of at most 20 declared values; for a range of more than three orders of magnitude both the logarithm
        and the value over the largest declared magnitude; else ``"linear"``. Ordered lists of texts are
        categories.

    Attributes
    ----------
    n_features_in_, feature_names_in_
        As in scikit-learn: the number and names of the columns at :meth:`fit`, which learns nothing else.
        Parameters that are set after it wait for the next one.

    Notes
    -----
    A value outside its domain or missing follows the rule of its column: ``"error"`` refuses the data,
    ``"other"`` has a feature of its own, beside which a number is 0. ``"drop"`` is refused, since a
    transformer may not change the number of rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evenhand.learn.encoding.encoder import PublicEncoder
    >>> from evenhand.schema import Column, Domain, Schema
    >>> schema = Schema([
    ...     Column("sex", Domain.categorical(["f", "m"])),
    ...     Column("age", Domain.integers(20, 80)),
    ...     Column("gain", Domain.integers(0, 99_999)),
    ... ])
    >>> people = pa.table({"sex": ["m", "f"], "age": [50, 80], "gain": [0, 99_999]})
    >>> encoder = PublicEncoder(schema)
    >>> list(encoder.get_feature_names_out())
    ['sex_f', 'sex_m', 'age', 'gain_log', 'gain']
    >>> encoder.fit_transform(people)
    array([[ 0.,  1.,  0., -1.,  0.],
           [ 1.,  0.,  1.,  1.,  1.]])
    """

    def __init__(
        self,
        schema: Schema,
        *,
        columns: str | Sequence[str] | None = None,
        without: str | Sequence[str] = (),
        numbers: Numbers = "auto",
    ) -> None:
        self.schema = schema
        self.columns = columns
        self.without = without
        self.numbers = numbers

    # --- scikit-learn -----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's name
        """Check the columns and note their names; no value of `X` is looked at.

        Parameters
        ----------
        X : Table, pandas, Polars or Arrow frame, or array
            The rows. The columns of an array are those that are encoded, or those of the schema, in order.
        y : ignored
            There as scikit-learn asks for it.
        """
        plan = self._read_plan()
        frame, named = _open_rows(X)
        _name_columns(frame, named=named, plan=plan)
        validate_data(self, _shape(frame, named=named), skip_check_array=True, reset=True)
        self._fitted_plan = plan
        return self

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Return one row of features for each row.

        Parameters
        ----------
        X : Table, pandas, Polars or Arrow frame, or array
            As at :meth:`fit`, without which this works too. Columns that are not encoded are ignored.

        Raises
        ------
        OutsideDomainError
            If a value is outside its domain, or missing, and the rule of its column says ``"error"``.
        ColumnNotFoundError
            If a column is not there.
        """
        plan = self._plan()
        frame, named = _open_rows(X)
        if hasattr(self, "n_features_in_"):
            validate_data(self, _shape(frame, named=named), skip_check_array=True, reset=False)
        if isinstance(X, Table):
            _refuse_other_codes(X, plan.blocks)
            return self.features(X.codes)
        rows = _name_columns(frame, named=named, plan=plan)
        encoded = [block.column.name for block in plan.blocks]
        return write_features(plan.blocks, Table.encode(rows.to_native(), plan.schema, columns=encoded).codes)

    def features(
        self, codes: Mapping[str, npt.NDArray[Any]], *, dtype: type[np.floating[Any]] = np.float64
    ) -> npt.NDArray[np.floating[Any]]:
        """Return the features of rows that are codes over the schema already.

        Parameters
        ----------
        codes : mapping of str to array
            An array of codes for each encoded column, as in :class:`~evenhand.table.Table`; others are
            ignored.
        dtype : type
            Of the features.
        """
        schema, blocks = self._plan()
        for block in blocks:
            if block.column.name not in codes:
                raise ColumnNotFoundError(block.column.name, codes, place="among the codes")
        declared = schema.select([block.column.name for block in blocks])
        return write_features(
            blocks, Table(declared, {name: codes[name] for name in declared.names}).codes, dtype
        )

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of the features, ``sex_Female``, ``age``, ``gain_log`` and so on.

        Parameters
        ----------
        input_features : array of str, optional
            As in scikit-learn; must be the names at :meth:`fit`, if there were names.
        """
        if input_features is not None and hasattr(self, "n_features_in_"):
            _check_feature_names_in(self, input_features)
        names = [block.column.name + suffix for block in self._plan().blocks for suffix in block.suffixes]
        return np.asarray(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # a missing value follows the rule of its column
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.requires_fit = False
        tags.transformer_tags.preserves_dtype = []
        return tags

    # --- what is taken as public ------------------------------------------------------------------

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a guarantee for the rows rests on, besides what the mechanism itself needs."""
        blocks = self._plan().blocks
        parts = "; ".join(f"{block.column.name}: {block.describe()}" for block in blocks)
        read = [block.column.name for block in blocks if block.column.inferred]
        if read:
            return f"these are the vocabularies and scaling constants: {parts}", leak_of_domains(read)
        return (
            f"the vocabularies and scaling constants of the features are public ({parts})",
            "the schema was declared without looking at the private rows",
        )

    # --- the way of the rows ----------------------------------------------------------------------

    def _plan(self) -> _Plan:
        """Return what was fitted or, before that, what the parameters say: nothing is learnt from rows."""
        fitted: _Plan | None = self.__dict__.get("_fitted_plan")
        return self._read_plan() if fitted is None else fitted

    def _read_plan(self) -> _Plan:
        given: object = self.schema
        if not isinstance(given, Schema):
            refuse("schema", _OWNER, "a Schema", kind_of(given))
        numbers = one_of("numbers", self.numbers, NUMBERS, owner=_OWNER)
        without = _check_names("without", self.without)
        names = _check_names("columns", self.columns) if self.columns is not None else self._all()
        for name in (*names, *without):
            if name not in given:
                raise ColumnNotFoundError(name, given.names)
        encoded = [name for name in names if name not in without]
        return _Plan(given, blocks_of(given, encoded, numbers, owner=_OWNER))

    def _all(self) -> tuple[str, ...]:
        return tuple(name for name in self.schema.names if name != self.schema.target)


def _name_columns(frame: Frame, *, named: bool, plan: _Plan) -> Frame:
    """Return the rows with named columns, all that are encoded among them."""
    wanted = [block.column.name for block in plan.blocks]
    if not named:
        exact = frame.shape[1] == len(wanted)
        names = wanted if exact else names_for(frame, named=False, schema=plan.schema, owner=_OWNER)
        frame = renamed(frame, names)
    for name in wanted:
        if name not in frame.columns:
            raise ColumnNotFoundError(name, frame.columns, place="in the frame")
    return frame


def _open_rows(X: Any) -> tuple[Frame, bool]:
    if isinstance(X, Table):  # the names are all that is needed of it
        return open_input(pa.table({name: pa.array([], pa.int64()) for name in X.codes}), owner=_OWNER)
    return open_input(X, owner=_OWNER)


def _refuse_other_codes(table: Table, blocks: tuple[Block, ...]) -> None:
    """Refuse codes over another declaration, which would be read as other values."""
    for block in blocks:
        declared = block.column
        if declared.name not in table.schema:
            raise ColumnNotFoundError(declared.name, table.schema.names, place="in the table")
        given = table.schema[declared.name]
        if (given.domain, given.has_other) != (declared.domain, declared.has_other):
            must_be = f"a table whose column '{declared.name}' is declared as in the schema of the encoder"
            refuse("X", _OWNER, must_be, "another declaration")


def _shape(frame: Frame, *, named: bool) -> Any:
    return frame.head(0).to_native() if named else np.empty((0, frame.shape[1]))


def _check_names(parameter: str, given: object) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        refuse(parameter, _OWNER, "a name or a list of names", given)
    if len(set(names)) < len(names):
        refuse(parameter, _OWNER, "a list of distinct names", "a name twice")
    return tuple(names)
