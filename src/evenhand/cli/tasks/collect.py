"""evenhand audit collect: people randomise their answers, and a model learns from what they report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from evenhand.cli import options as shared
from evenhand.cli.options import design_option, is_typed, protection_option, split_list
from evenhand.cli.roles import ROLE_NAMES, assign_roles, open_people
from evenhand.cli.study import build_plan
from evenhand.cli.tasks.base import (
    TaskCommand,
    defaults_of,
    numbers_of,
)
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimate
from evenhand.study.tasks.collect.prepare import fit_protocols
from evenhand.study.tasks.collect.task import CollectTask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.cli.terminal.console import Terminal
    from evenhand.study.plan.plan import Plan
    from evenhand.study.results.results import Results

_GRID = ("protocols", "epsilons", "splits", "strategies")
_CHOSEN = ("model", "encoder", *shared.READING_OPTIONS)

Protocols = Annotated[
    list[str] | None,
    protection_option("LIST", "Of {protocols}. [{default}]", "--protocol", choices="protocols"),
]
Splits = Annotated[
    list[str] | None, protection_option("LIST", "Of {splits}. [{default}]", "--split", choices="splits")
]
Strategies = Annotated[
    list[str] | None,
    protection_option("LIST", "Of {strategies}. [{default}]", "--strategy", choices="strategies"),
]
Model = Annotated[str | None, design_option("NAME", "Of {models}. [{default}]", choices="models")]
Encoder = Annotated[str | None, design_option("NAME", "Of {encoders}. [{default}]", choices="encoders")]


class CollectCommand(TaskCommand):
    """Who is predicted worse when people randomise their answers.

    Trains on protected rows, predicts for clean ones, compares the groups, and writes report.html, the plan
    and every number to a folder. What it computes comes from the true data and is itself not private.
    """

    kind = "collect"
    example = """\
  evenhand audit collect people.csv --target hired --positive yes \\
      --protected sex --privileged male --sensitive sex,age
  evenhand audit people.csv --guess --epsilon 0.5,1,2 --protocol grr,oue
  evenhand audit collect people.csv --guess --strategy independent,combined \\
      --split uniform,k-based --model logistic --repeats 20
"""
    options: ClassVar[Mapping[str, Any]] = {
        "schema": shared.SchemaFile, "rows": shared.Rows, **shared.ROLE_OPTIONS, **shared.PERSON_OPTIONS,
        "epsilons": shared.Epsilons,
        "protocols": Protocols, "splits": Splits, "strategies": Strategies, "model": Model,
        "encoder": Encoder, **shared.READING_OPTIONS, "repeats": shared.Repeats,
    }  # fmt: skip
    applied = (*_GRID, *_CHOSEN)

    def defaults(self) -> dict[str, str]:
        """Return what is tried where an option is left out."""
        own = {
            "protocols": f"{','.join(CollectTask.audit_mechanisms)}; optimal where it fits",
            "epsilons": ",".join(CollectTask.audit_epsilons),
        }
        return {**defaults_of(CollectTask(), self.options), **own}

    def new_plan(self, terminal: Terminal, typed: dict[str, Any]) -> tuple[Plan, Any]:
        """Return the study of a file or data set and the roles that were typed."""
        grid = {
            "protocols": CollectTask.audit_mechanisms,
            "epsilons": CollectTask.audit_epsilons,
            **_typed_parts(typed),
        }
        task = CollectTask(**grid)
        opened = open_people(terminal, typed)
        bins_only = task.encoder == "one-hot" or task.model == "logistic"
        setup = assign_roles(
            terminal,
            opened,
            typed,
            command=self.spell(typed, without=ROLE_NAMES),
            bins_only=bins_only,
        )
        if not typed["protocols"]:
            task = fit_protocols(task, setup.schema)
        return build_plan(opened, task, typed, setup), opened.frame

    def change_plan(self, plan: Plan, typed: dict[str, Any]) -> Plan:
        """Return the plan with what was typed of its grid and its model."""
        return plan.with_(task=plan.task.with_(**_typed_parts(typed)))

    def summarize_groups(self, results: Results, setting: Setting) -> dict[str, dict[str, Any]]:
        """Return how the selection of each group changes."""
        return {
            label: {
                "selection_change": numbers_of(
                    estimate(results, setting, "selection", group=label, against=Setting())
                )
            }
            for label in results.facts.groups
        }


def _typed_parts(typed: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of the task that were typed, by their names in a plan."""
    grid = {name: split_list(typed[name]) for name in _GRID if typed[name]}
    return {**grid, **{name: typed[name] for name in _CHOSEN if is_typed(typed.get(name))}}
