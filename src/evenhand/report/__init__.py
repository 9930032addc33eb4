"""Reports: one self-contained page that says who pays, from plain columns and dataclasses."""

from evenhand.report.html import render, write
from evenhand.report.page import Answer, Chart, Fact, KeyNumber, LegendKey, Note, Page, Section, Table

__all__ = [
    "Answer",
    "Chart",
    "Fact",
    "KeyNumber",
    "LegendKey",
    "Note",
    "Page",
    "Section",
    "Table",
    "render",
    "write",
]
