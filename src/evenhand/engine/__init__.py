"""Engines: data of any length, privatised and estimated in bounded memory."""

from evenhand.engine.arrow import FileEstimates, Privatized, estimate_file, privatize_file

__all__ = ["FileEstimates", "Privatized", "estimate_file", "privatize_file"]
