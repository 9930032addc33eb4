"""Local collection as a scikit-learn transformer: sensitive columns in, indicators of private reports out."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from evenhand._validate import boolean, one_of
from evenhand.collect.joint.strategy import draw_joint_reports
from evenhand.collect.privatizer.columns import (
    DEFAULT_SPLIT,
    OTHERS,
    build_strategy,
    plan_output,
    reported_columns,
    requested_columns,
)
from evenhand.collect.privatizer.input import Frame, names_for, open_input, refuse_other_names, renamed
from evenhand.collect.privatizer.output import (
    Container,
    OutputBuffer,
    check_size,
    mark,
    passed_types,
    remember,
)
from evenhand.collect.privatizer.spent import Collection, KeepsSpending, name_of_process, total_of_reports
from evenhand.collect.protocols.law import VALUES_PUBLIC
from evenhand.collect.protocols.registry import AUTO
from evenhand.collect.reports.streams import check_rng, stream_for
from evenhand.errors import InvalidParameterError, PrivacyWarning
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.in_clear import INDEX, READ_FROM_ROWS, state_inferred
from evenhand.privacy.guarantees.units import ROW_ORDER
from evenhand.privacy.ledger.charging import fit_purpose
from evenhand.privacy.rational import Number, decimal_text
from evenhand.schema import Schema
from evenhand.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from evenhand.collect.privatizer.columns import Others
    from evenhand.collect.protocols.base import Protocol
    from evenhand.privacy.ledger import AnyLedger

_OWNER = "LocalPrivatizer"
_CONTAINERS: tuple[Container, ...] = ("default", "pandas", "polars", "pyarrow")


class LocalPrivatizer(KeepsSpending, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Report sensitive columns under local differential privacy, as columns a model can learn from.

    Each sensitive column becomes one column per value, called ``gender_Female``: 1 where the person's report
    supports the value. The columns are the same whatever the protocol. A row may support several values of a
    column, or none. The other columns are one-hot, or pass as they are: they are in the clear. Rows keep
    their order, as scikit-learn asks for it, so that is in the clear too. How many rows link to one person
    each by the columns in the clear is not measured here: before the frame is published, look for yourself.

    **Guarantee.** That of the strategy, for each call of :meth:`transform`: pure local differential privacy
    with ``epsilon`` for a person's whole report. Each call is a new collection. `guarantee_` is the total for
    a person who was in every call so far, and only ever grows; fitting alone collects nothing. Copies, clones
    and pickles go on counting together; what a copy collects in another process counts here when it comes
    back. Parameters that are set after :meth:`fit` wait for the next one.
    Numerics: exact. May be used for release if no `rng` is given.

    Parameters
    ----------
    protocol : str, Protocol, or mapping of column to either
        Name of a protocol (``"grr"``, ``"oue"``, ...), ``"auto"`` for the one of least variance at the
        column's size, or a protocol that is made already; that one keeps its epsilon, which is taken out of
        the whole.
    epsilon : int, float, str, Fraction or Decimal
        Privacy parameter of a person's whole report, > 0.
    split : {"optimal", "uniform", "k-based", "sample"} or mapping of column to number
        How epsilon is shared among the columns, with the strategy ``"independent"``.
    strategy : {"independent", "combined", "single"}
        Report each column on its own, all as one combined value, or the protected column alone; the others
        are in the clear then.
    columns : str or list of str, optional
        The columns to report. By default the sensitive ones of the schema; without a schema, all.
    schema : Schema, optional
        The declared columns. Without one, domains are read from the rows that :meth:`fit` gets, with a
        warning that this is a leak; values it has not seen, or that are missing, are ``other``.
    others : {"one-hot", "one-hot-all", "passthrough"}
        What becomes of the other columns: those that the schema declares as categorical are one-hot; or all
        that it declares, ranges and bins too; or all pass as they are. A column that is not declared passes.
    rng : None, int, Generator or Source
        None for the operating system's secure source. Anything else makes a simulation; with a seed each
        call has a stream of its own, and a clone begins again with the first.
    keep_index : bool, default False
        Whether :meth:`transform` hands the index of a pandas frame on. The index may tell who is who, or be
        the sensitive value itself: then ``"index"`` is in the clear. Without it the output has a new index,
        0, 1, ..., which does not fit beside columns that keep theirs, as in a ``ColumnTransformer``.
    ledger : Ledger, str or path, optional
        The ledger to charge, or its file, before anything is drawn. Without one, the ledger that
        ``EVENHAND_LEDGER`` names is charged, unless an `rng` is given.

    Attributes
    ----------
    schema_ : Schema
        The columns that are encoded.
    strategy_ : Strategy
        How the columns are reported.
    private_columns_ : tuple of str
        The columns that are reported.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import evenhand as eh
    >>> from evenhand.collect.privatizer.transformer import LocalPrivatizer
    >>> people = eh.datasets.load("causal", n=1_000, backend="pyarrow")
    >>> privatizer = LocalPrivatizer(
    ...     "grr", epsilon=2, columns="A", schema=people.schema, others="one-hot-all", rng=7
    ... )
    >>> features = people.frame.drop_columns(["Y"])
    >>> privatizer.fit_transform(features).shape
    (1000, 7)
    >>> list(privatizer.get_feature_names_out())
    ['C_0', 'C_1', 'A_0', 'A_1', 'M_0', 'M_1', 'M_2']
    >>> privatizer.guarantee_.epsilon, privatizer.guarantee_.in_clear
    (Fraction(2, 1), ('C', 'M', 'Y', 'row order'))
    """

    def __init__(
        self,
        protocol: str | type[Protocol] | Protocol | Mapping[str, Any] = AUTO,
        *,
        epsilon: Number = 1.0,
        split: str | Mapping[str, Number] = DEFAULT_SPLIT,
        strategy: str = "independent",
        columns: str | Sequence[str] | None = None,
        schema: Schema | None = None,
        others: Others = "one-hot",
        rng: Any = None,
        keep_index: bool = False,
        ledger: AnyLedger | None = None,
    ) -> None:
        self.protocol = protocol
        self.epsilon = epsilon
        self.split = split
        self.strategy = strategy
        self.columns = columns
        self.schema = schema
        self.others = others
        self.rng = rng
        self.keep_index = keep_index
        self.ledger = ledger

    # --- scikit-learn -----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803 - scikit-learn's names
        """Learn the names of the columns, and without a schema their domains. Nothing is collected.

        Parameters
        ----------
        X : pandas, Polars or Arrow frame, or array
            The features. The columns of an array are those of the schema, in order.
        y : ignored
            There as scikit-learn asks for it.
        """
        others = one_of("others", self.others, OTHERS, owner=_OWNER)
        check_rng(self.rng)
        boolean("keep_index", self.keep_index, owner=_OWNER)
        given: object = self.schema
        if not isinstance(given, Schema | None):
            got = f"a value of type {type(given).__name__}"
            raise InvalidParameterError("schema", owner=_OWNER, must_be="a Schema or None", got=got)
        frame, named = open_input(X, owner=_OWNER)
        names = names_for(frame, named=named, schema=self.schema, owner=_OWNER)
        schema, chosen = self._schema_for(renamed(frame, names))
        private = reported_columns(schema, names, chosen, self.strategy)
        layout = plan_output(schema, names, private, others)
        strategy = build_strategy(
            {name: schema[name].size for name in private},
            protocol=self.protocol,
            epsilon=self.epsilon,
            split=self.split,
            strategy=self.strategy,
        )
        self._check_features(frame, named=named, reset=True)
        self.schema_, self.private_columns_, self.strategy_ = layout.schema, private, strategy
        self._layout, self._named = layout, named
        # parameters may be set to others later
        self._declared, self._rng, self._keeps_index = self.schema is not None, self.rng, self.keep_index
        self._ledger, self._fitted_in = self.ledger, name_of_process()
        self._inferred = tuple(column.name for column in layout.schema if column.inferred)
        self._clear = self._columns_in_clear()
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803 - as above
        """Collect: report every row anew, and return the indicators of the reports.

        Parameters
        ----------
        X : pandas, Polars or Arrow frame, or array
            With the columns that :meth:`fit` saw.

        Raises
        ------
        GuaranteeError
            At the second call without an `rng`, if no ledger is configured.
        BudgetExceededError
            If the ledger has less left.

        Warns
        -----
        PrivacyWarning
            At the second call: a person who is in both has spent twice. For clean columns of people to be
            scored use :meth:`encode`.
        """
        check_is_fitted(self)
        table, buffer = self._encode_rows(X, keep_index=self._keeps_index)
        columns = ", ".join(self.private_columns_)
        place = self._spending.charge(
            self._collection,
            ledger=self._ledger,
            source=stream_for(self._rng, ""),
            purpose=fit_purpose(f"{_OWNER}: {columns}"),
            owner=_OWNER,
            fitted_here=self._fitted_in == name_of_process(),
        )
        if place.warns:
            self._warn_of_repetition()
        source = stream_for(self._rng, f"collection {place.own}")
        private = {name: table[name] for name in self.private_columns_}
        reports = draw_joint_reports(self.strategy_, private, source)
        self._mark_clean(table, buffer)
        start = 0
        for block in self.strategy_.indicator_chunks(reports):
            stop = start + len(block[self.private_columns_[0]])
            for name in self.private_columns_:
                buffer.views[name][start:stop] = block[name]
            start = stop
        return remember(buffer.build())

    def encode(self, X: Any) -> Any:  # noqa: N803 - as above
        """Return the same columns with the true values: what a model is given for people it scores.

        Nothing is drawn and nothing is collected. What comes out is as private as `X`, whose index it has.

        Parameters
        ----------
        X : pandas, Polars or Arrow frame, or array
            With the columns that :meth:`fit` saw.
        """
        table, buffer = self._encode_rows(X, keep_index=True)
        self._mark_clean(table, buffer)
        for name in self.private_columns_:
            mark(table[name], buffer.views[name])
        return buffer.build()

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of the output columns, ``gender_Female`` and so on.

        Parameters
        ----------
        input_features : array of str, optional
            Other names for the columns of an array; names that were seen cannot be changed.
        """
        check_is_fitted(self)
        called = None
        if input_features is not None:
            given = _check_feature_names_in(self, input_features)
            called = dict(zip(self._layout.inputs, map(str, given), strict=True))
        return np.asarray(self._layout.names_out(called), dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what :meth:`transform` and :meth:`encode` return.

        Parameters
        ----------
        transform : {"default", "pandas", "polars", "pyarrow"}, optional
            The default is an array: of bytes, unless a column of other numbers passes. Nothing leaves the
            choice as it is.
        """
        if transform is not None:
            chosen = one_of("transform", transform, _CONTAINERS, owner=f"{_OWNER}.set_output")
            known = "default" if chosen == "pyarrow" else chosen  # scikit-learn wraps the others itself
            self._sklearn_output_config = {"transform": known, "arrow": chosen == "pyarrow"}
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # a missing value follows the rule of its column
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.non_deterministic = True  # each call draws anew
        tags.transformer_tags.preserves_dtype = []
        return tags

    # --- what is promised -------------------------------------------------------------------------

    @property
    def guarantee_per_collection_(self) -> Guarantee:
        """What one call of :meth:`transform` promises to each person in it."""
        check_is_fitted(self)
        return self._collection.guarantees[0]

    @property
    def guarantee_(self) -> Guarantee:
        """What all calls so far promise together to a person who was in every one of them."""
        return self.guarantee_with()

    @property
    def collections_(self) -> int:
        """How often :meth:`transform` was called, of copies and clones too. Fitting does not set it back."""
        check_is_fitted(self)
        return len(self._spending)

    @property
    def simulated_(self) -> bool:
        """Whether any of the collections was drawn with a seed or a generator."""
        check_is_fitted(self)
        return self._spending.simulated

    def guarantee_with(self, *beside: str) -> Guarantee:
        """Return `guarantee_` with more that is in the clear, such as what a model is given later."""
        check_is_fitted(self)
        if len(self._spending):
            return total_of_reports(self._spending, beside=beside)
        empty = Guarantee(
            epsilon=0,
            unit="one person",
            trust="local",
            protects=self.private_columns_,
            in_clear=tuple(dict.fromkeys((*self._clear, *beside))),
            tight=True,
            proof="nothing was collected",
        )
        return state_inferred(empty, self._inferred, instead_of=VALUES_PUBLIC)

    @property
    def _collection(self) -> Collection:
        """One call of :meth:`transform`, as it was fixed by the fit."""
        simulated = stream_for(self._rng, "").simulated
        return Collection(self.strategy_, self._clear, simulated, self._inferred)

    def _columns_in_clear(self) -> tuple[str, ...]:
        label = None if self.schema is None else self.schema.target
        known = () if label is None or label in self.private_columns_ else (label,)
        index = (INDEX,) if self.keep_index else ()
        read = (READ_FROM_ROWS,) if self._inferred else ()
        return tuple(dict.fromkeys((*self._layout.in_clear, *known, *index, ROW_ORDER, *read)))

    def _warn_of_repetition(self) -> None:
        total = decimal_text(self._spending.amount)
        warnings.warn(
            "This privatizer, or a copy or clone of it, collects a second time: a person who was in both "
            f"collections has spent epsilon = {total} by now, and each further call adds to it; see "
            "guarantee_. Hint: encode(X) gives clean columns for people to be scored; for other people make "
            "a new one, with LocalPrivatizer(**privatizer.get_params()).",
            PrivacyWarning,
            stacklevel=4,
        )

    # --- the way of the rows ----------------------------------------------------------------------

    def _schema_for(self, frame: Frame) -> tuple[Schema, tuple[str, ...] | None]:
        """Return the schema, and the columns to report if they were named."""
        chosen = requested_columns(self.columns, frame.columns)
        if self.schema is not None:
            return self.schema, chosen
        private = chosen or tuple(frame.columns)
        others = [
            name
            for name in frame.columns
            if name not in private and self.others != "passthrough" and not frame[name].dtype.is_numeric()
        ]
        read = [name for name in frame.columns if name in private or name in others]
        inferred = Schema.infer(
            frame.to_native(), columns=read, sensitive=private, outside="other", nulls="other"
        )
        return inferred, private

    def _check_features(self, frame: Frame, *, named: bool, reset: bool) -> None:
        """Note the number and names of the columns, or compare them with those noted before."""
        shape = frame.head(0).to_native() if named else np.empty((0, frame.shape[1]))
        validate_data(self, shape, skip_check_array=True, reset=reset)

    def _encode_rows(self, X: Any, *, keep_index: bool) -> tuple[Table, OutputBuffer]:  # noqa: N803 - as above
        """Return the codes, and memory for what comes out; all that can fail for `X` fails here."""
        check_is_fitted(self)
        frame, named = open_input(X, owner=_OWNER)
        self._check_features(frame, named=named, reset=False)
        if named and not self._named and self._declared:
            refuse_other_names(frame, self._layout.inputs, owner=_OWNER)
        frame = renamed(frame, self._layout.inputs)
        container = self._container()
        types = passed_types(frame, self._layout, container)
        check_size(len(frame), self._layout, types, container)
        table = Table.encode(frame.to_native(), self._layout.schema)
        return table, OutputBuffer(frame, self._layout, container, keep_index=keep_index)

    def _mark_clean(self, table: Table, buffer: OutputBuffer) -> None:
        for column in self._layout.schema:
            if column.name not in self.private_columns_:
                mark(table[column.name], buffer.views[column.name])

    def _container(self) -> Container:
        config = getattr(self, "_sklearn_output_config", {})
        if config.get("arrow"):
            return "pyarrow"
        return one_of(
            "transform_output",
            config.get("transform", get_config()["transform_output"]),
            _CONTAINERS,
            owner="sklearn.set_config",
        )

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:  # noqa: N803 - scikit-learn's name
        defaults = vars(LocalPrivatizer())
        shown = [
            f"{name}={_value_text(value)}"
            for name, value in vars(self).items()
            if name in defaults and repr(value) != repr(defaults[name])
        ]
        return f"{_OWNER}({', '.join(shown)})"[:N_CHAR_MAX]


def _value_text(value: object) -> str:
    if isinstance(value, Schema):
        return f"<Schema of {len(value)} column{'' if len(value) == 1 else 's'}>"
    return repr(value)
