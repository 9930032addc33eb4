"""Running a study: preparing rows, workers, events and progress."""
