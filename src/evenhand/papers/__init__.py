"""Papers, reproduced: their plans, their claims, and what came of them.

What runs a paper is loaded when it is first used, so that the list of papers can be read at next to no cost.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evenhand.papers.claims import Claim, ClaimRow, Evidence
from evenhand.papers.paper import DESIGNS, PAPERS, Paper, Study, paper_named

if TYPE_CHECKING:
    from evenhand.papers.reproduction import Reproduction, examine, reproduce

__all__ = [
    "DESIGNS",
    "PAPERS",
    "Claim",
    "ClaimRow",
    "Evidence",
    "Paper",
    "Reproduction",
    "Study",
    "examine",
    "paper_named",
    "reproduce",
]

_OF_REPRODUCTION = ("Reproduction", "examine", "reproduce")


def __getattr__(name: str) -> Any:
    if name not in _OF_REPRODUCTION:
        message = f"module 'evenhand.papers' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module("evenhand.papers.reproduction"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
