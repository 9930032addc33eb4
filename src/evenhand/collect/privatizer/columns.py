"""Which input column becomes which output columns: indicators, one-hot, or the column as it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

from evenhand.collect.reports.dropping import refuse_dropping
from evenhand.errors import InvalidParameterError, LimitExceededError, SchemaError
from evenhand.privacy.guarantees.in_clear import refuse_reserved_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evenhand.schema import Column, Schema

__all__ = ["OTHERS", "Layout", "Others", "layout_for"]

Others = Literal["one-hot", "one-hot-all", "passthrough"]
OTHERS: tuple[Others, ...] = get_args(Others)
MOST_COLUMNS = 1 << 20
_OWNER = "LocalPrivatizer"


@dataclass(frozen=True)
class Layout:
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
        return [each for _, names in self.parts(called) for each in names]

    def parts(self, called: Mapping[str, str] | None = None) -> Iterator[tuple[str, list[str]]]:
        """Yield each input column with the names of its output columns."""
        for name in self.inputs:
            shown = called[name] if called else name
            yield name, _names(shown, self.schema[name]) if name in self.schema else [shown]


def layout_for(schema: Schema, inputs: Sequence[str], private: Sequence[str], others: Others) -> Layout:
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
    layout = Layout(tuple(inputs), tuple(private), schema.select(encoded))
    refuse_dropping(schema[name] for name in private)
    for column in layout.schema:
        _refuse_changed_rows(column)
    if layout.width > MOST_COLUMNS:
        sizes = ", ".join(f"'{each.name}' {each.size:,}" for each in layout.schema)
        raise LimitExceededError(
            f"There would be {layout.width:,} output columns, more than {MOST_COLUMNS:,} (values: {sizes}). "
            "Hint: declare coarser domains, or report this column with a protocol, whose estimate(reports) "
            "needs no indicators.",
            limit="columns",
        )
    _refuse_twins(layout)
    return layout


def _is_one_hot(name: str, schema: Schema, others: Others) -> bool:
    if others == "passthrough" or name not in schema:
        return False
    return others == "one-hot-all" or schema[name].domain.kind == "categorical"


def _names(shown: str, column: Column) -> list[str]:
    return [f"{shown}_{label}" for label in column.labels]


def _refuse_changed_rows(column: Column) -> None:
    for rule in ("outside", "nulls"):
        if getattr(column, rule) == "drop":
            raise SchemaError(
                f"Column '{column.name}' is declared with {rule}='drop', and a transformer of scikit-learn "
                f"may not change the number of rows. Hint: declare {rule}='other', or leave the rows out "
                "first, by a rule that does not depend on the columns that are reported.",
                field=f"columns.{column.name}.{rule}",
            )


def _refuse_twins(layout: Layout) -> None:
    owners: dict[str, str] = {}
    for name, outputs in layout.parts():
        for each in outputs:
            if each in owners:
                got = f"two, one from '{owners[each]}' and one from '{name}'"
                raise InvalidParameterError(
                    "X",
                    owner=_OWNER,
                    must_be="such that no two output columns have one name",
                    got=got,
                    hint="rename one of the two columns.",
                )
            owners[each] = name
