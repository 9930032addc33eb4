"""Private training: logistic regression, batches, checked rows, and the count of fits."""
