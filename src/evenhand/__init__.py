"""Who pays when data is protected, how much, and how to make it fairer."""

from evenhand import datasets, errors, measure, privacy, schema, table
from evenhand.privacy import Guarantee
from evenhand.schema import Schema
from evenhand.table import Table

__version__ = "0.1.0"

__all__ = [
    # what is public about the data
    "Schema",
    "Table",
    # what is promised
    "Guarantee",
    # packages
    "datasets",
    "errors",
    "measure",
    "privacy",
    "schema",
    "table",
]
