"""The task decide: rights and money follow from protected counts."""
