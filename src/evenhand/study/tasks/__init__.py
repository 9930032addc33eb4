"""The kinds of study, one folder each."""
