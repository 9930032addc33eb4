"""What the guarantee of a report assumes."""

__all__ = ["FRESH", "TAKES_PART", "VALUES_PUBLIC"]

VALUES_PUBLIC = "the values a person may have are public"
"""Of the domain."""

TAKES_PART = "whether a person reports does not depend on the values reported"
"""Of who reports: whoever knows the list of people sees who does not."""

FRESH = "each report uses fresh randomness"
"""Of the draw."""
