"""Data sets of the papers, checked and cleaned, and generators that need no download."""

from evenhand.datasets.dataset import DataSet, FileRecord, Provenance
from evenhand.datasets.entry import Description
from evenhand.datasets.registry import DATASETS, describe, load, names

__all__ = ["DATASETS", "DataSet", "Description", "FileRecord", "Provenance", "describe", "load", "names"]
