"""Reports of one column of a file, counted a batch at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from evenhand.collect.estimates.frequencies import Frequencies
from evenhand.collect.estimates.outcome_counts import MOST_GROUPS, OutcomeCounts, count_outcomes
from evenhand.collect.reports.reports import Reports
from evenhand.engine.outputs import part_names
from evenhand.engine.text_forms import TextForm
from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.table.source import refuse
from evenhand.table.write import inert_text

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.engine.record import Record
    from evenhand.schema import Schema

__all__ = ["Counter"]

_PIECE_BYTES = 32 << 20


class Counter:
    """How many reports of a column support each value, in all and, if asked, for each outcome.

    Parameters
    ----------
    name : str
        The column.
    record : Record
        How the reports were made.
    schema : Schema
        What their values are called.
    outcomes : bool
        Whether they are counted by outcome as well.
    """

    def __init__(self, name: str, record: Record, schema: Schema, *, outcomes: bool) -> None:
        self.name = name
        self.protocol = record.strategy.protocols[name]
        self._form = TextForm(schema[name], self.protocol.layout) if record.form == "csv" else None
        self.parts = (
            part_names(name, self.protocol.layout) if self._form is None else {"report": inert_text(name)}
        )
        self._may_be_missing = record.strategy.name == "sampled"
        self._simulated = record.simulated
        self._counts: npt.NDArray[np.int64] = np.zeros(self.protocol.k, np.int64)
        self._n = 0
        self._by_outcome: OutcomeCounts | None = None
        if outcomes:
            k = self.protocol.k
            if k > MOST_GROUPS:
                raise LimitExceededError(
                    f"Rates of the {k:,} groups of column '{name}' need a table of every two of them; "
                    f"{MOST_GROUPS:,} groups is the most. Hint: estimate another column, or no outcome.",
                    limit="groups",
                )
            self._by_outcome = OutcomeCounts(np.zeros(2, np.int64), np.zeros((2, k, k), np.int64))

    def add(self, batch: pa.RecordBatch, outcome: npt.NDArray[np.int8] | None, file: str) -> None:
        """Count the reports of a batch, or refuse the file if they are none."""
        each = self.protocol.layout.bytes_per_report if self._form is None else self._form.bytes_per_report
        step = max(1, _PIECE_BYTES // each)
        for start in range(0, batch.num_rows, step):
            held = None if outcome is None else outcome[start : start + step]
            self._add(batch.slice(start, step), held, file)

    def _add(self, batch: pa.RecordBatch, outcome: npt.NDArray[np.int8] | None, file: str) -> None:
        columns = {part: batch.column(name) for part, name in self.parts.items()}
        if self._may_be_missing:
            valid = [array.is_valid().to_numpy(zero_copy_only=False) for array in columns.values()]
            asked = np.logical_and.reduce(valid)
            columns = {part: array.filter(pa.array(asked)) for part, array in columns.items()}
            outcome = None if outcome is None else outcome[asked]
        try:
            layout = self.protocol.layout
            values = (
                layout.from_columns(columns) if self._form is None else self._form.read(columns["report"])
            )
        except InvalidParameterError as error:
            refuse(file, f"its reports of column '{self.name}' are not {error.must_be}.")
        reports = Reports._drawn(values, self.protocol, simulated=self._simulated)  # noqa: SLF001 - they were checked
        self._counts += self.protocol.counts(reports)
        self._n += len(reports)
        if outcome is not None and self._by_outcome is not None:
            known = outcome >= 0
            more = count_outcomes(outcome[known].astype(np.uint8), reports[known], self.protocol)
            before = self._by_outcome
            self._by_outcome = OutcomeCounts(before.people + more.people, before.together + more.together)

    def shares(self) -> Frequencies:
        """Return the estimated share of people with each value."""
        return Frequencies(self._counts.copy(), n=self._n, protocol=self.protocol)

    def outcome_counts(self) -> OutcomeCounts:
        """Return the counts by outcome."""
        if self._by_outcome is None:
            raise InvalidParameterError("outcomes", owner="Counter", must_be="asked for", got=False)
        return self._by_outcome
