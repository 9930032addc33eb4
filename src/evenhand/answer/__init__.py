"""Who pays, how much and what to do, from a table of effects; it knows no study, kind or mechanism."""
