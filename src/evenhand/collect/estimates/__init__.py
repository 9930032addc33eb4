"""Estimates from reports: shares of values, rates of groups, and their intervals."""
