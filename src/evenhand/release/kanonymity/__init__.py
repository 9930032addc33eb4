"""k-anonymity: Mondrian, generalised tables, and the way back to cells."""
