"""The mechanisms that publish a table, with their bias and variance."""
