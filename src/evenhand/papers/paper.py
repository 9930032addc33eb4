"""The papers by name, and what a paper is: its designs, claims, tables and figures."""

from __future__ import annotations

import importlib
import tomllib
from dataclasses import dataclass, field
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evenhand.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.papers.claims import Claim, Evidence
    from evenhand.papers.published import Published
    from evenhand.papers.trials import Trials
    from evenhand.report.page import Chart
    from evenhand.study.plan.plan import Plan

PAPERS: Mapping[str, str] = MappingProxyType(
    {
        "arcolezi2023": "(Local) Differential Privacy has NO Disparate Impact on Fairness",
        "makhlouf2024": "On the Impact of Multi-dimensional Local Differential Privacy on Fairness",
        "ghoukasian2024-central": "Central DP and Fairness in Classification",
        "ghoukasian2024-local": "Local DP as a Pre-processing Technique for Fairness in Classification",
        "zhu2023": "Privacy and Bias Analysis of Disclosure Avoidance Systems",
        "fioretto2021": "Decision Making with Differential Privacy under a Fairness Lens",
    }
)
"""The papers that can be reproduced, by key, with their titles."""

DESIGNS = ("quick", "reduced", "full")
"""How much of a paper is run: for a look, for the documentation, or all of it."""


@dataclass(frozen=True)
class Study:
    """One study of a paper.

    Parameters
    ----------
    name : str
        Also the name of its folder.
    plan : Plan
        What the results are results of.
    parts : callable, optional
        If the study is not one plan: returns a plan of a single repeat for each repeat, with the same grid.
        Their cells become those of `plan`, part r being repeat r. It is called when the study is run, for it
        may need data.
    completed : callable, optional
        If the study has other columns or roles than the data set brings: from `plan` to the same plan with
        its schema, and the frame, or None for that of the plan. It is called when the study is run.
    """

    name: str
    plan: Plan
    parts: Callable[[], tuple[Plan, ...]] | None = field(default=None, repr=False)
    completed: Callable[[Plan], tuple[Plan, Any]] | None = field(default=None, repr=False)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return len(self.plan.cells())


@dataclass(frozen=True, kw_only=True)
class Paper:
    """What is needed to reproduce a paper.

    Parameters
    ----------
    name, title, citation : str
        Its key, such as ``"arcolezi2023"``, and what it is.
    claims : tuple of Claim
    tables, figures : callable
        From the evidence to tables by name, each of columns, and to charts.
    designs : mapping of str to str
        What each design runs and how long it takes, in a sentence.
    departures : tuple of str
        Where the reproduction departs from the paper or its code, and why, in sentences.
    studies : callable
        From a design of :data:`DESIGNS` and a keyword `search` to the studies that it runs; by default none.
    published : callable
        Returns the authors' runs, or None if they are not on this machine.
    trials : callable
        From a design to what is computed besides the studies.
    """

    name: str
    title: str
    citation: str
    claims: tuple[Claim, ...] = field(repr=False)
    tables: Callable[[Evidence], Mapping[str, dict[str, list[Any]]]] = field(repr=False)
    designs: Mapping[str, str] = field(repr=False)
    departures: tuple[str, ...] = field(default=(), repr=False)
    studies: Callable[..., tuple[Study, ...]] = field(default=lambda *_, **__: (), repr=False)
    published: Callable[[], Published | None] = field(default=lambda: None, repr=False)
    figures: Callable[[Evidence], Sequence[Chart]] = field(default=lambda _: (), repr=False)
    trials: Callable[[str], tuple[Trials, ...]] = field(default=lambda _: (), repr=False)


def paper_named(name: str) -> Paper:
    """Return a paper by its key.

    >>> paper_named("arcolezi2023").name
    'arcolezi2023'
    """
    if not isinstance(name, str) or name not in PAPERS:
        raise UnknownNameError("Paper", name, PAPERS)
    found: Paper = importlib.import_module(f"evenhand.papers.{name.replace('-', '_')}").PAPER
    return found


def read_designs(name: str) -> dict[str, str]:
    """Return what each design of a paper runs and how long it takes, without loading the paper.

    >>> read_designs("zhu2023")["quick"]
    'Table 1 with 5 experiments of 200 repetitions, its figures with 2, ... about 20 seconds of one core.'
    """
    if not isinstance(name, str) or name not in PAPERS:
        raise UnknownNameError("Paper", name, PAPERS)
    stored = files("evenhand.papers").joinpath(name.replace("-", "_"), "paper.toml")
    designs: dict[str, str] = tomllib.loads(stored.read_text(encoding="utf-8"))["designs"]
    return designs
