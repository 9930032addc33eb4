"""The store of a study: finished cells in one SQLite file."""
