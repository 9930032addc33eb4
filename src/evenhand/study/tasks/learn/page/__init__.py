"""The report of a study of classifiers, section by section."""
