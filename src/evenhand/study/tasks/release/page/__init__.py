"""The report of a release, section by section."""
