"""Engines: data of any length, privatised and estimated in bounded memory."""

from evenhand.engine.estimates import FileEstimates, count_file, estimate_file
from evenhand.engine.privatize import Privatized, privatize_file

__all__ = ["FileEstimates", "Privatized", "count_file", "estimate_file", "privatize_file"]
