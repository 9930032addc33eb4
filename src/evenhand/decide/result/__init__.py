"""Tell what noise does to a decision: bias by entity, by class and by group of people."""
