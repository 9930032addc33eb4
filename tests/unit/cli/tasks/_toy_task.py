"""A fifth kind of study, registered from outside: how far the share of good outcomes is off in each group."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np

from evenhand.cli.options import ROLE_OPTIONS, SchemaFile, is_typed, protection_option
from evenhand.cli.roles import assign_roles, open_people
from evenhand.cli.study import build_plan
from evenhand.cli.tasks.base import TaskCommand
from evenhand.report.page import Page, Section
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimate
from evenhand.study.store.outcome import Outcome
from evenhand.study.tasks.base import Task
from evenhand.study.tasks.measure import Measure
from evenhand.study.tasks.shared.rows import encode_rows, load_rows


@dataclass(frozen=True)
class ToyTask(Task):
    """Round the share of good outcomes to so many steps."""

    steps: int = 4
    kind: ClassVar[str] = "toy"
    default_repeats: ClassVar[int] = 1
    is_exact: ClassVar[bool] = True

    @property
    def measures(self):
        return {"error": Measure("error of the rounded share", high=1.0)}

    @property
    def fixed(self):
        return {"kind": self.kind}

    def settings(self):
        yield Setting("rounding", Fraction(1, self.steps))

    def prepare(self, plan, *, frame=None):
        return encode_rows(plan, load_rows(plan, frame))

    def execute(self, cell, *, plan, prepared):
        share = float(np.mean(prepared.target))
        published = round(share * self.steps) / self.steps if cell.setting.is_protected else share
        sizes = zip(prepared.facts.groups, prepared.facts.sizes, strict=True)
        groups = {label: {"people": float(size)} for label, size in sizes}
        return Outcome(cell, {"error": abs(published - share)}, groups, seconds={"round": 0.0})

    def read(self, results, *, chosen=None, language="en"):
        return ToyReading(results)

    def to_toml(self):
        return {"kind": self.kind, "steps": self.steps}


@dataclass(frozen=True)
class ToyReading:
    """Three sentences and a page with a section of its own."""

    results: object

    def answers(self):
        error = estimate(self.results, self.results.settings[-1], "error").value
        return f"**The share is off by {error:.3f}.**", "Everyone pays the same.", "Take more steps."

    def page(self, *, command=""):
        section = Section("How the share was rounded", "To a fraction of few steps.")
        return Page("What does rounding cost?", self.answers(), sections=[section], command=command)


Steps = Annotated[int | None, protection_option("N", "Steps of the rounding. [{default}]")]


class ToyCommand(TaskCommand):
    """What rounding costs."""

    kind = "toy"
    example = "  evenhand audit toy people.csv --guess\n"
    options: ClassVar = {"schema": SchemaFile, **ROLE_OPTIONS, "steps": Steps}
    applied = ("steps",)

    def defaults(self):
        return {"steps": str(ToyTask().steps)}

    def new_plan(self, terminal, typed):
        opened = open_people(terminal, typed)
        needed = ("target", "positive", "protected", "privileged")
        setup = assign_roles(terminal, opened, typed, command="audit toy", needed=needed)
        task = ToyTask(typed["steps"]) if is_typed(typed["steps"]) else ToyTask()
        return build_plan(opened, task, typed, setup), opened.frame

    def change_plan(self, plan, typed):
        return plan.with_(task=plan.task.with_(steps=typed["steps"]))
