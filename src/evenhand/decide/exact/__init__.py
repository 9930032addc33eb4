"""Exact laws of noisy sums, the probability that a rule holds, and simulation where no formula is known."""
