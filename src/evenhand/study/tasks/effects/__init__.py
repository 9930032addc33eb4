"""From stored results to the rows of a table of effects: what the kinds of study share."""
