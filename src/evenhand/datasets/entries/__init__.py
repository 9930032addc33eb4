"""The data sets, one file each, and what belongs to one of them."""
