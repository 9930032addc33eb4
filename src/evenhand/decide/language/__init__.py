"""The language of decisions: terms, comparisons, rules and formulas, read from text or written in Python."""
