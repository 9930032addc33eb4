"""Reports after they were drawn: layouts in memory, files, JSON, and permanent answers."""
