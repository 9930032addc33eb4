"""Who pays when data is protected, how much, and how to make it fairer."""

__version__ = "0.1.0"
