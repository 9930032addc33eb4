"""evenhand advise: the setting with the smallest epsilon that keeps limits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from evenhand.cli import options as shared
from evenhand.cli.options import design_option, output_option, protection_option
from evenhand.cli.roles import ROLE_NAMES, assign_roles, open_people
from evenhand.cli.study import StudyRun, build_plan, shorten_path, write_files
from evenhand.cli.tasks.base import TaskCommand, warn_of_failures
from evenhand.cli.terminal.ending import FAILED
from evenhand.study.advise.advice import Limits
from evenhand.study.advise.trial_plan import advice_plan
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks.collect.task import CollectTask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.cli.terminal.console import Terminal
    from evenhand.study.plan.plan import Plan
    from evenhand.study.results.results import Results

_REPEATS = 8
_LIMITS = ("max_gap", "max_accuracy_loss", "epsilon")

Out = Annotated[Path | None, output_option("FOLDER", "Where results go. [advice]")]
Repeats = Annotated[int | None, design_option("N", f"Runs of each setting. [{_REPEATS}]")]
MaxGap = Annotated[float | None, protection_option("SHARE", "The widest gap that is accepted, such as 0.1.")]
MaxLoss = Annotated[
    float | None,
    protection_option("SHARE", "The accuracy that may be lost, such as 0.02.", "--max-accuracy-loss"),
]
MostEpsilon = Annotated[
    float | None, protection_option("NUMBER", "The largest epsilon that is accepted.", "--epsilon")
]
Details = Annotated[
    bool, output_option("", "Show the gap and the wrong decisions of every setting tried.", "--details")
]


class AdviseCommand(TaskCommand):
    """The setting with the smallest epsilon that keeps your limits.

    Runs a small study and recommends a setting within your limits, with the command that uses it; without
    limits the smallest epsilon at which nobody pays. With --resume a study that was stopped goes on, and one
    that is finished is asked again, with other limits or more repeats. A choice made by looking at private
    rows is not covered by the guarantee of what is collected later: use public or pilot data where you can.
    """

    kind = "collect"
    name = "advise"
    folder = "advice"
    example = """\
  evenhand advise people.csv --target hired --positive yes \\
      --protected sex --privileged male --sensitive sex,age --max-gap 0.1
  evenhand advise causal --max-accuracy-loss 0.02 --epsilon 2
  evenhand advise --resume --out advice --max-gap 0.05 --repeats 20 --details
"""
    run_options: ClassVar[Mapping[str, Any]] = {
        name: kind
        for name, kind in shared.RUN_OPTIONS.items()
        if name not in {"plan", "no_remedies", "quick", "save_script", "open_page"}
    }
    options: ClassVar[Mapping[str, Any]] = {
        "schema": shared.SchemaFile, "rows": shared.Rows, **shared.ROLE_OPTIONS, **shared.PERSON_OPTIONS,
        "max_gap": MaxGap,
        "max_accuracy_loss": MaxLoss, "epsilon": MostEpsilon, "repeats": Repeats, "out": Out,
        "details": Details,
    }  # fmt: skip
    applied = (*_LIMITS, "details")

    def check(self, typed: dict[str, Any]) -> None:
        """Refuse limits that nobody can want."""
        Limits(max_gap=typed["max_gap"], max_accuracy_loss=typed["max_accuracy_loss"], epsilon=None)

    def new_plan(self, terminal: Terminal, typed: dict[str, Any]) -> tuple[Plan, Any]:
        """Return the plan of a small study, and its rows."""
        opened = open_people(terminal, typed)
        setup = assign_roles(terminal, opened, typed, command=self.spell(typed, without=ROLE_NAMES))
        task = CollectTask(CollectTask.audit_mechanisms, _epsilons(typed["epsilon"]))
        repeats = _REPEATS if typed["repeats"] is None else typed["repeats"]
        plan = build_plan(opened, task, {**typed, "repeats": repeats}, setup)
        small = advice_plan(plan, prepare(plan, frame=opened.frame))
        return small.with_(repeats=plan.repeats), opened.frame

    def repeat_options(self, typed: dict[str, Any]) -> str:
        """Return the limits as they are typed, which the study's folder does not keep.

        >>> AdviseCommand().repeat_options({"max_gap": 0.1, "max_accuracy_loss": None, "epsilon": 2.0})
        ' --max-gap 0.1 --epsilon 2'
        """
        asked = {name.replace("_", "-"): typed[name] for name in _LIMITS if typed[name] is not None}
        return "".join(f" --{name} {limit:.15g}" for name, limit in asked.items())

    def conclude(self, run: StudyRun, results: Results) -> None:
        """Show the advice, and end with the exit code."""
        terminal, limits = run.terminal, {name: run.typed[name] for name in _LIMITS}
        language = self.choose_language(run.typed)
        source = results.plan.data
        advice = results.advise(
            **limits,
            language=language,
            data=shorten_path(Path(source.path)) if source is not None and source.path else None,
            schema=shorten_path(run.folder / "schema.toml"),
        )
        files = write_files(terminal, results, run.folder, view=advice.view, language=language)
        code = FAILED if results.failures else 0
        terminal.answer(advice.view)
        if run.typed["details"]:
            for tried in advice.view.what_to_do.details:
                terminal.sentence(tried, indent="  ")
            terminal.show()
        warn_of_failures(terminal, results)
        terminal.files({word: shorten_path(path) for word, path in files.items()})
        terminal.object(
            {
                "command": self.name,
                **advice.to_dict(),
                "next": [command.line for command in advice.view.commands],
                "files": {word.lower(): str(path.resolve()) for word, path in files.items()},
                "exit": code,
            }
        )
        raise typer.Exit(code)


def _epsilons(most: float | None) -> list[str]:
    """Return the epsilons to try: the usual ones up to the largest that is accepted, and that one.

    >>> _epsilons(None), _epsilons(1.5), _epsilons(0.1234567)
    (['0.5', '1', '2', '4'], ['0.5', '1', '1.5'], ['0.1234567'])
    """
    if most is None:
        return list(CollectTask.audit_epsilons)
    return [*(epsilon for epsilon in CollectTask.audit_epsilons if float(epsilon) < most), f"{most:.15g}"]


build = AdviseCommand().build
