"""The report of a study of decisions, section by section."""
