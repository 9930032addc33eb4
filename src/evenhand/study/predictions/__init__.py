"""Somebody's own predictions: what each group gets from them, as numbers, rules and a page."""
