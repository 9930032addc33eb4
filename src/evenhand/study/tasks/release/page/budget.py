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
from evenhand.study.tasks.release.choice import recommended
from evenhand.study.tasks.release.wording import release_name, short_name
from evenhand.study.tasks.shared.table_mechanisms import build_mechanism

if TYPE_CHECKING:
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.report.page import Section
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.release.reading import ReleaseReading


def budget_section(reading: ReleaseReading) -> Section | None:
    """Return what the recommended setting would spend of the ledger, and what is left; None without one."""
    data, setting = reading.results.plan.data, recommended(reading)
    try:
        ledger = find_ledger(None, data=None if data is None else data.path)
        if ledger is None:
            return None
        name = "" if setting is None else release_name(reading, setting, name=short_name(reading, setting))
        return publishing_section(BudgetReading.of(ledger), _promise(reading, setting), setting=name)
    except LedgerError as error:
        return broken_section(str(error))


def _promise(reading: ReleaseReading, setting: Setting | None) -> Guarantee | None:
    """Return what a release by this setting promises: that depends on no count, so an empty table tells."""
    if setting is None:
        return None
    nobody = np.empty(0, dtype=np.int64)
    table = Histogram.of_stored(
        Cells(nobody, nobody), reading.results.facts.schema, bound=reading.task.bound or None
    )
    return build_mechanism(setting, unit=reading.task.unit).promise_of(table)
