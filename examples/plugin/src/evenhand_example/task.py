"""A kind of study: how far off the share of an outcome is in each group, when counts are noisy."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from evenhand.privacy.laws import DiscreteLaplace
from evenhand.privacy.randomness import SeededSource
from evenhand.report import Page, Section, Table
from evenhand.study import Cell, Outcome, Setting
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.tasks.base import Prepared, Task
from evenhand.study.tasks.measure import Measure
from evenhand.study.tasks.shared.rows import encode_rows, load_rows


@dataclass(frozen=True)
class ShareTask(Task):
    """Publish how many people of each group have the outcome, with noise, and divide by the group's size."""

    epsilons: tuple[str, ...] = ("1",)

    kind: ClassVar[str] = "share"
    packages: ClassVar[tuple[str, ...]] = ("evenhand-example",)
    measures: ClassVar = {"off": Measure("largest error of a group's share", high=1.0)}
    group_numbers: ClassVar = {"off": Measure("error of the share", high=1.0)}

    def settings(self) -> Iterator[Setting]:
        """Yield one setting for each epsilon."""
        for epsilon in self.epsilons:
            yield Setting("laplace", Fraction(epsilon), label="Laplace noise")

    def prepare(self, plan: Any, *, frame: Any = None) -> Prepared:
        """Load and encode the rows."""
        return encode_rows(plan, load_rows(plan, frame))

    def execute(self, cell: Cell, *, plan: Any, prepared: Any) -> Outcome:
        """Draw noise for each group's count, named by the cell, so that it is the same wherever it runs."""
        groups = prepared.facts.groups
        sizes = np.bincount(prepared.group, minlength=len(groups))[: len(groups)]
        noise = np.zeros(len(groups))
        if cell.setting.epsilon is not None:
            source = SeededSource(plan.seed).for_cell(draw_text(cell))
            noise = DiscreteLaplace(2 / cell.setting.epsilon).draw(size=len(groups), source=source)
        off = np.abs(noise) / np.maximum(sizes, 1)
        by_group = {name: {"off": float(share)} for name, share in zip(groups, off, strict=True)}
        return Outcome(cell, {"off": float(off.max())}, by_group)

    def read(self, results: Any, *, chosen: object = None, language: str = "en") -> "ShareReading":
        """Return what can be read from the results."""
        return ShareReading(results)

    @property
    def fixed(self) -> dict[str, Any]:
        """What all cells share."""
        return {"kind": self.kind}

    def to_toml(self) -> dict[str, Any]:
        """Return the table of a plan file."""
        return {"kind": self.kind, "epsilons": list(self.epsilons)}

    @classmethod
    def from_toml(cls, table: Any) -> "ShareTask":
        """Return the task of such a table."""
        return cls(tuple(table.get("epsilons", ("1",))))


@dataclass(frozen=True)
class ShareReading:
    """The three sentences and the page of such a study."""

    results: Any

    def answers(self) -> tuple[str, str, str]:
        """Return who pays, how much, and what to do."""
        noisy = [outcome.groups for outcome in self.results.outcomes if outcome.cell.setting.is_protected]
        groups = {name: np.mean([run[name]["off"] for run in noisy]) for name in noisy[0]}
        payer = max(groups, key=groups.__getitem__)
        return (
            f"**The share of {payer} is off most**, for it is the smallest group.",
            f"It is off by {100 * groups[payer]:.2f} points on average.",
            "Publish small groups together, or take a larger epsilon.",
        )

    def page(self, *, command: str = "") -> Page:
        """Return the report."""
        names = [str(setting) for setting in self.results.settings]
        rows = [[name] for name in names]
        table = Table(("Setting",), rows, (False,), name="settings", data={"setting": names})
        section = Section("What was compared", tables=(table,), anchor="settings")
        return Page("How far off is a share?", self.answers(), sections=(section,), command=command)
