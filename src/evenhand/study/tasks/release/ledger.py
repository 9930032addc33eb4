"""What publishing would cost of the ledger that is configured; no section where none is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import LedgerError
from evenhand.privacy.ledger import find_ledger
from evenhand.release.table.counting import Cells
from evenhand.release.table.histogram import Histogram
from evenhand.study.budget.publishing import broken_section, publishing_section
from evenhand.study.budget.reading import BudgetReading
from evenhand.study.tasks.shared.table_mechanisms import build_mechanism

if TYPE_CHECKING:
    from evenhand.report.page import Section
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.release.task import ReleaseTask


def ledger_section(task: ReleaseTask, results: ResultData, setting: Setting, *, name: str) -> Section | None:
    """Return what a setting would spend of the ledger, and what is left; None without a ledger."""
    data = results.plan.data
    try:
        ledger = find_ledger(None, data=None if data is None else data.path)
        if ledger is None:
            return None
        nobody = np.empty(0, dtype=np.int64)  # the promise depends on no count, so an empty table tells
        empty = Histogram.of_stored(Cells(nobody, nobody), results.facts.schema, bound=task.bound or None)
        promise = build_mechanism(setting, unit=task.unit).promise_of(empty)
        return publishing_section(BudgetReading.of(ledger), promise, setting=name)
    except LedgerError as error:
        return broken_section(str(error))
