"""What every report of a study shares."""
