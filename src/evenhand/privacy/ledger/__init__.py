"""The ledger: one privacy budget over time, in a file that a crash or an old copy cannot shorten."""

from evenhand.privacy.ledger.budget import Amount, Budget
from evenhand.privacy.ledger.chain import Entry
from evenhand.privacy.ledger.charging import AnyLedger, find_ledger
from evenhand.privacy.ledger.exchange import export_ledger, import_ledger, read_entries
from evenhand.privacy.ledger.ledger import Ledger, Preview
from evenhand.privacy.ledger.totals import Composition, Total

__all__ = [
    "Amount",
    "AnyLedger",
    "Budget",
    "Composition",
    "Entry",
    "Ledger",
    "Preview",
    "Total",
    "export_ledger",
    "find_ledger",
    "import_ledger",
    "read_entries",
]
