"""An outcome in the clear, beside reports in a file: which rows have the value that counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand.collect.estimates.outcome_counts import CountedBy
from evenhand.engine.writers import as_text
from evenhand.errors import ColumnNotFoundError, InvalidParameterError
from evenhand.privacy.guarantees.units import LINKABLE, ROW_ORDER
from evenhand.table.csv.cells import converter
from evenhand.table.encode import Table
from evenhand.table.write import inert_text

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.engine.record import Record
    from evenhand.schema import Schema

_OWNER = "estimate_file"
_LEFT_OUT = -1  # stands for a row that the schema's rules leave out
_ONES, _ZEROS = ("1", "true", "True", "TRUE"), ("0", "false", "False", "FALSE")


class Outcome:
    """A column in the clear and the value of it that counts.

    Parameters
    ----------
    name : str
        The column.
    record : Record
        What says which columns are in the clear.
    schema : Schema
        It may declare the column; then its domain and rules hold.
    positive : str, optional
        The label of the value that counts; by default that of the schema, else 1 or true.
    """

    def __init__(self, name: str, record: Record, schema: Schema, positive: str | None) -> None:
        if name not in record.in_clear:
            known = [column for column in record.in_clear if not column.startswith((LINKABLE, ROW_ORDER))]
            raise ColumnNotFoundError(name, known, place="among the columns in the clear")
        self.name = name
        self.written = inert_text(name) if record.form == "csv" else name
        self._is_text = record.form == "csv"
        self._schema = schema.select([name]) if name in schema else None
        if positive is None and schema.target == name and schema.positive is not None:
            positive = str(schema.positive)
        self._positive = positive
        self._seen = False
        self._code = None if self._schema is None else self._positive_code(self._schema)

    def _positive_code(self, schema: Schema) -> int:
        labels, shown = list(schema[self.name].labels), schema[self.name].display_labels
        if self._positive is None:
            positive = [label for label in labels if label in _ONES]
            if len(labels) == 2 and len(positive) == 1:
                return labels.index(positive[0])
            raise self._unclear()
        if self._positive not in labels and self._positive not in shown:
            must_be = f"a value of column '{self.name}': {schema[self.name].describe()}"
            raise InvalidParameterError("positive", owner=_OWNER, must_be=must_be, got=self._positive)
        return (labels if self._positive in labels else shown).index(self._positive)

    @property
    def counted_by(self) -> CountedBy:
        """The column, and the value that counts where it is not 1."""
        return CountedBy(self.name, self._positive)

    def read(self, batch: pa.RecordBatch) -> npt.NDArray[np.int8]:
        """Return 1, 0 or -1, which is left out by the schema's rules, for each row of a batch.

        Raises
        ------
        InvalidParameterError
            If an outcome is missing, or it is not clear which one counts. No value is told.
        OutsideDomainError
            If the schema's rules say so.
        """
        column = batch.column(self.written)
        if self._is_text:
            column = _unescape_formula(column)
        return self._by_schema(column, self._schema) if self._schema is not None else self._by_text(column)

    def _by_schema(self, column: Any, schema: Schema) -> npt.NDArray[np.int8]:
        if self._is_text:
            column = converter(schema[self.name].domain)(column)
        table = Table.encode(pa.table({self.name: column}), schema)
        outcome: npt.NDArray[np.int8] = np.asarray(table[self.name] == self._code, np.int8)
        if table.kept is None:
            return outcome
        out = np.full(len(column), _LEFT_OUT, np.int8)
        out[table.kept] = outcome
        return out

    def _by_text(self, column: Any) -> npt.NDArray[np.int8]:
        cells = _unescape_formula(as_text(column, self.name))
        cells = pc.if_else(pc.equal(cells, ""), None, cells)
        if cells.null_count:
            must_be, got = "an outcome that everybody has", f"column '{self.name}', in which some are missing"
            hint = (
                "declare this column, which is in the clear, with nulls='other' (a missing outcome is then "
                "one that does not count) or nulls='drop' (rates are then of people whose outcome is known) "
                "before the file is privatised; all reports stay in the file."
            )
            raise InvalidParameterError("by", owner=_OWNER, must_be=must_be, got=got, hint=hint)
        if self._positive is not None:
            counts = pc.equal(cells, self._positive)
        else:
            counts, other = (
                pc.is_in(cells, value_set=pa.array(words, cells.type)) for words in (_ONES, _ZEROS)
            )
            if pc.any(pc.invert(pc.or_(counts, other))).as_py():
                raise self._unclear()
        outcome = np.asarray(counts.to_numpy(zero_copy_only=False), np.bool_)
        self._seen = self._seen or bool(outcome.any())
        return outcome.astype(np.int8)

    @property
    def is_unseen(self) -> bool:
        """Whether nobody so far has the value that counts, and no schema declares it."""
        return self._schema is None and self._positive is not None and not self._seen

    def refuse_unseen(self) -> NoReturn:
        """Refuse a value to count that nobody has: it is a typing mistake."""
        must_be = f"a value of column '{self.name}'"
        raise InvalidParameterError("positive", owner=_OWNER, must_be=must_be, got=self._positive)

    def _unclear(self) -> InvalidParameterError:
        return InvalidParameterError(
            "positive",
            owner=_OWNER,
            must_be=f"the value of column '{self.name}' that counts, unless its values are 0 and 1",
            got=None,
            hint="such as positive='yes' (--positive yes).",
        )


def _unescape_formula(cells: Any) -> Any:
    """Take the apostrophe off that keeps spreadsheets from running a text as a formula."""
    return pc.replace_substring_regex(cells, r"^'([=+\-@\t\r])", r"\1")
