"""A fifth kind of study, registered from outside: how far the share of good outcomes is off in each group."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np

from evenhand.answer.case import Case
from evenhand.answer.effects import EffectTable, Observation, Option
from evenhand.cli.options import ROLE_OPTIONS, SchemaFile, is_typed, protection_option
from evenhand.cli.roles import assign_roles, open_people
from evenhand.cli.study import build_plan
from evenhand.cli.tasks.base import TaskCommand
from evenhand.report.page import Section
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

    def effects(self, results, *, page=None):
        """Tell every group by how much the share is off, exactly."""
        plain, rounded = results.settings
        off = 1000 * estimate(results, rounded, "error").value
        options = (Option(str(plain)), Option(str(rounded), str(plain), method="rounding"))
        sizes = zip(results.facts.groups, results.facts.sizes, strict=True)
        seen = [
            Observation(str(rounded), group, "share_error", np.array([off]), np.zeros(1), size, "exact")
            for group, size in sizes
        ]
        return EffectTable(options, tuple(seen), str(rounded))

    def case(self, results, *, page=None, language="en"):
        section = Section("How the share was rounded", "To a fraction of few steps.")
        question = "What does rounding cost?"
        return Case(self.effects(results), kind="Rounding", question=question, evidence=(section,))

    def to_toml(self):
        return {"kind": self.kind, "steps": self.steps}


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
