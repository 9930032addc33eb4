"""Plans: data, settings and cells of a study, and the file that a plan is written to."""
