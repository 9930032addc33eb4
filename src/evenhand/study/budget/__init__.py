"""A ledger as a page: what was spent and what is left, over time and by purpose."""
