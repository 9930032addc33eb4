"""The guarantee: its terms, its amount, its wording, and how guarantees compose."""
