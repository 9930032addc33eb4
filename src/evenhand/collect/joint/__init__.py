"""Several attributes of one person: strategies, budget splits, and estimates of combinations."""
