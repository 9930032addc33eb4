"""Allotments: shares of a noisy total, their mean and variance, and awards in whole cents."""
