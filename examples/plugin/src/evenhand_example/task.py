"""A kind of study: how far off the share of an outcome is in each group, when counts are noisy."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from evenhand.answer.case import Case
from evenhand.answer.effects import EffectTable
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.privacy.randomness import SeededSource
from evenhand.study import Cell, Outcome, Setting
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.tasks.base import Prepared, Task
from evenhand.study.tasks.effects.options import group_runs, options_of, see
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

    def effects(self, results: Any, *, page: Setting | None = None) -> EffectTable:
        """Return how far off each group is under each setting; all that judges and draws reads this."""
        page = page or self.find_page([each for each in results.settings if each.is_protected])
        sizes = dict(zip(results.facts.groups, results.facts.sizes, strict=True))
        rows = [
            see(setting, group, "off", 100 * off, np.zeros(len(off)), float(size))
            for setting in results.settings
            for group, size in sizes.items()
            for off in [group_runs(results, setting, group, "off")]
        ]
        return EffectTable(options_of(results, page, is_remedy=lambda _: False), tuple(rows), str(page))

    def case(self, results: Any, *, page: Setting | None = None, language: str = "en") -> Case:
        """Return the table with what its page says around it."""
        table = self.effects(results, page=page)
        question = "How far off is a share?"
        repeats = results.plan.repeats
        return Case(table, kind="Publish shares", question=question, repeats=repeats, language=language)

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
