"""The ledger: one privacy budget over time, in a file that a crash or an old copy cannot shorten."""

from evenhand.privacy.ledger.budget import Amount, Budget
from evenhand.privacy.ledger.chain import Entry
from evenhand.privacy.ledger.ledger import Ledger, Preview
from evenhand.privacy.ledger.totals import Composition, Total

__all__ = ["Amount", "Budget", "Composition", "Entry", "Ledger", "Preview", "Total"]
