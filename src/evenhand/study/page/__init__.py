"""Hold what every report of a study shares."""
