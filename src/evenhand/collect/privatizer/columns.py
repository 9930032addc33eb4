"""Which columns a privatizer reports, by which strategy, and which output columns each input becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

from evenhand._validate import one_of
from evenhand.collect.joint.build import refuse_single_values, strategy_for
from evenhand.collect.joint.strategy import refuse_dropping
from evenhand.collect.protocols.base import Protocol
from evenhand.collect.protocols.registry import AUTO, protocol_named
from evenhand.errors import ColumnNotFoundError, InvalidParameterError, LimitExceededError, SchemaError
from evenhand.privacy.guarantees.in_clear import refuse_reserved_names
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.collect.joint.strategy import Strategy
    from evenhand.schema import Column, Schema

Others = Literal["one-hot", "one-hot-all", "passthrough"]
OTHERS: tuple[Others, ...] = get_args(Others)
MOST_COLUMNS = 1 << 20
_OWNER = "LocalPrivatizer"


@dataclass(frozen=True)
class OutputColumns:
    """What becomes of each input column.

    Attributes
    ----------
    inputs : tuple of str
        The input columns, in order; the output keeps that order.
    private : tuple of str
        Those that are reported under local differential privacy.
    schema : Schema
        The columns that are encoded: those reported, and those that are one-hot in the clear.
    """

    inputs: tuple[str, ...]
    private: tuple[str, ...]
    schema: Schema

    @property
    def in_clear(self) -> tuple[str, ...]:
        """The input columns that are not reported but sent as they are."""
        return tuple(name for name in self.inputs if name not in self.private)

    @cached_property
    def width(self) -> int:
        """How many output columns there are."""
        return sum(self.schema[name].size if name in self.schema else 1 for name in self.inputs)

    def names_out(self, called: Mapping[str, str] | None = None) -> list[str]:
        """Return the names of the output columns; `called` gives input columns other names."""
        return [name for _, names in self.parts(called) for name in names]

    def parts(self, called: Mapping[str, str] | None = None) -> Iterator[tuple[str, list[str]]]:
        """Yield each input column with the names of its output columns."""
        for name in self.inputs:
            shown = called[name] if called else name
            labels = self.schema[name].labels if name in self.schema else None
            yield name, [shown] if labels is None else [f"{shown}_{label}" for label in labels]


def plan_output(
    schema: Schema, inputs: Sequence[str], private: Sequence[str], others: Others
) -> OutputColumns:
    """Return the layout, or refuse what cannot be laid out.

    Raises
    ------
    SchemaError
        If a rule would drop rows.
    InvalidParameterError
        If two output columns would have one name, or a column has one that means something else in a
        guarantee.
    LimitExceededError
        If there would be more than a million output columns.
    """
    label = () if schema.target is None else (schema.target,)
    refuse_reserved_names((*inputs, *label), owner=_OWNER, parameter="X")
    encoded = [name for name in inputs if name in private or _is_one_hot(name, schema, others)]
    layout = OutputColumns(tuple(inputs), tuple(private), schema.select(encoded))
    refuse_dropping(schema[name] for name in private)
    for column in layout.schema:
        _refuse_changed_rows(column)
    if layout.width > MOST_COLUMNS:
        sizes = ", ".join(f"'{column.name}' {column.size:,}" for column in layout.schema)
        raise LimitExceededError(
            f"There would be {layout.width:,} output columns, more than {MOST_COLUMNS:,} (values: {sizes}). "
            "Hint: declare coarser domains, or report this column with a protocol, whose estimate(reports) "
            "needs no indicators.",
            limit="columns",
        )
    _refuse_duplicate_names(layout)
    return layout


def _is_one_hot(name: str, schema: Schema, others: Others) -> bool:
    if others == "passthrough" or name not in schema:
        return False
    return others == "one-hot-all" or schema[name].domain.kind == "categorical"


def _refuse_changed_rows(column: Column) -> None:
    for rule in ("outside", "nulls"):
        if getattr(column, rule) == "drop":
            raise SchemaError(
                f"Column '{column.name}' is declared with {rule}='drop', and a transformer of scikit-learn "
                f"may not change the number of rows. Hint: declare {rule}='other', or leave the rows out "
                "first, by a rule that does not depend on the columns that are reported.",
                field=f"columns.{column.name}.{rule}",
            )


def _refuse_duplicate_names(layout: OutputColumns) -> None:
    owners: dict[str, str] = {}
    for name, outputs in layout.parts():
        for output in outputs:
            if output in owners:
                got = f"two, one from '{owners[output]}' and one from '{name}'"
                raise InvalidParameterError(
                    "X",
                    owner=_OWNER,
                    must_be="such that no two output columns have one name",
                    got=got,
                    hint="rename one of the two columns.",
                )
            owners[output] = name


STRATEGIES = ("independent", "combined", "single")
DEFAULT_SPLIT = "optimal"


def requested_columns(columns: Any, known: Sequence[str]) -> tuple[str, ...] | None:
    """Return the columns that were asked for, in the order of the frame; None if none were."""
    if columns is None:
        return None
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names or len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
        must_be = "the name of a column, or a list of different names"
        raise InvalidParameterError("columns", owner=_OWNER, must_be=must_be, got=columns)
    return _order_columns(names, known)


def _order_columns(names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return columns in the order of the frame, which must have them all."""
    for name in names:
        if name not in known:
            raise ColumnNotFoundError(name, known, place="in the frame")
    return tuple(name for name in known if name in names)


def reported_columns(
    schema: Schema, known: Sequence[str], chosen: tuple[str, ...] | None, strategy: str
) -> tuple[str, ...]:
    """Return the columns to report, in the order of the frame.

    Those asked for; else the sensitive ones, without a target that is not among the features. Of these, the
    strategy ``"single"`` reports the protected one alone.
    """
    one_of("strategy", strategy, STRATEGIES, owner=_OWNER)
    names = chosen
    if names is None:
        names = tuple(name for name in schema.sensitive if name != schema.target or name in known)
    if strategy == "single" and len(names) != 1:
        return _protected_column(schema, known, chosen)
    if not names:
        raise InvalidParameterError(
            "columns",
            owner=_OWNER,
            must_be="given when the schema has no sensitive column",
            got=None,
            hint="say what to protect: columns=['gender'], or schema.with_roles(sensitive=['gender']).",
        )
    for name in names:
        schema.column(name)
    return _order_columns(names, known)


def _protected_column(
    schema: Schema, known: Sequence[str], chosen: tuple[str, ...] | None
) -> tuple[str, ...]:
    if not isinstance(schema.protected, str):
        raise InvalidParameterError(
            "strategy",
            owner=_OWNER,
            must_be="another one than 'single' when several columns could be the single one",
            got="single",
            hint="name it: columns=['gender'], or schema.with_roles(protected='gender').",
        )
    if chosen is not None and schema.protected not in chosen:
        raise InvalidParameterError(
            "columns",
            owner=_OWNER,
            must_be=f"one column with strategy='single', or several with '{schema.protected}', the protected "
            "one, among them",
            got=list(chosen),
            hint="strategy='independent' reports all of them.",
        )
    return _order_columns((schema.protected,), known)


def build_strategy(
    sizes: Mapping[str, int], *, protocol: Any, epsilon: Any, split: Any, strategy: str
) -> Strategy:
    """Return the strategy for columns of these sizes, or refuse the parameters at fault."""
    amount = exact(epsilon, name="epsilon", owner=_OWNER, above=0, most=1_000_000)
    refuse_single_values(sizes, owner=_OWNER)
    _check_protocol(protocol, sizes)
    if strategy != "independent" and split != DEFAULT_SPLIT:
        raise InvalidParameterError(
            "split",
            owner=_OWNER,
            must_be=f"left out with strategy='{strategy}', which has nothing to split",
            got=split,
        )
    given = {} if split == DEFAULT_SPLIT and len(sizes) == 1 else {"split": split}
    protected = next(iter(sizes)) if strategy == "single" else None
    return strategy_for(
        sizes, epsilon=amount, protocol=protocol, strategy=strategy, protected=protected, **given
    )


def _check_protocol(protocol: Any, sizes: Mapping[str, int]) -> None:
    wanted = dict(protocol) if isinstance(protocol, Mapping) else dict.fromkeys(sizes, protocol)
    for column in wanted:
        if column not in sizes:
            raise ColumnNotFoundError(column, sizes, place="among the columns that are reported")
    for column, k in sizes.items():
        if column not in wanted:
            raise InvalidParameterError(
                "protocol",
                owner=_OWNER,
                must_be=f"given for each of {', '.join(sizes)}",
                got=f"none for column '{column}'",
            )
        _check_column_protocol(wanted[column], column, k)


def _check_column_protocol(given: Any, column: str, k: int) -> None:
    if isinstance(given, str):
        if given != AUTO:
            protocol_named(given)
    elif isinstance(given, Protocol):
        if given.k != k:
            raise InvalidParameterError(
                "protocol",
                owner=_OWNER,
                must_be=f"one for {k:,} values in column '{column}', 'other' included",
                got=repr(given),
            )
    elif not (isinstance(given, type) and issubclass(given, Protocol)):
        raise InvalidParameterError(
            "protocol",
            owner=_OWNER,
            must_be="the name of a protocol, a protocol, or one of these for each column",
            got=given,
        )
