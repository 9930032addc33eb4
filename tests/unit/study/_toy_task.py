"""A fifth kind of study, known to the registry alone: the share of an outcome, published with noise."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from evenhand.answer.case import Case
from evenhand.privacy.randomness import SeededSource
from evenhand.report.page import Section, Table
from evenhand.study.plan.cells import Setting
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.store.outcome import Outcome
from evenhand.study.tasks.base import Task
from evenhand.study.tasks.measure import Measure
from evenhand.study.tasks.shared.rows import encode_rows, load_rows

HOME = "unit.study._toy_task:ShareTask"


@dataclass(frozen=True)
class ShareTask(Task):
    """Publish the share of people with the outcome, with noise of some shape."""

    epsilons: tuple[str, ...] = ("1",)
    shape: str = "round"

    kind: ClassVar[str] = "share"
    default_repeats: ClassVar[int] = 3
    measures: ClassVar = {"off": Measure("distance from the true share", high=1.0)}

    def settings(self):
        for epsilon in self.epsilons:
            yield Setting("noise", Fraction(epsilon), {"shape": self.shape}, label=f"{self.shape} noise")

    def prepare(self, plan, *, frame=None):
        return encode_rows(plan, load_rows(plan, frame))

    def execute(self, cell, *, plan, prepared):
        drawn = int(SeededSource(plan.seed).for_cell(draw_text(cell)).words(1)[0]) / 2**64
        noise = drawn / float(10 * cell.setting.epsilon) if cell.setting.is_protected else 0.0
        return Outcome(cell, {"off": noise}, {}, {"share": float(np.mean(prepared.target))})

    def case(self, results, *, page=None, language="en"):
        rows = [[str(setting)] for setting in results.settings]
        table = Table(("Setting",), rows, (False,), name="shares", data={"setting": [row[0] for row in rows]})
        section = Section("How far a published share is off", tables=(table,), anchor="shares")
        question = "How far off is a share?"
        return Case(self.effects(results), kind="Share", question=question, evidence=(section,))

    @property
    def fixed(self):
        return {"kind": self.kind, "shape": self.shape}

    def to_toml(self):
        return {"kind": self.kind, "epsilons": list(self.epsilons), "shape": self.shape}

    @classmethod
    def from_toml(cls, table):
        return cls(**{**table, "epsilons": tuple(table["epsilons"])})
