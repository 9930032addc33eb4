"""The report of a collection, section by section."""
