"""Tables of counts: counting rows, files, and what was published."""
