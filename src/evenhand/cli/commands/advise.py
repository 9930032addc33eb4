"""evenhand advise: which protocol and epsilon for this data, with reasons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import options as given  # noqa: TC001 - typer reads the annotations
from evenhand.cli.terminal.console import FAILED, Terminal, wrong_use
from evenhand.cli.terminal.refusals import refuse_empty

if TYPE_CHECKING:
    from evenhand.study.advise.advice import Advice
    from evenhand.study.plan.plan import Plan

__all__ = ["advise"]

EXAMPLE = """\
  evenhand advise people.csv --target hired --positive yes \\
      --protected sex --privileged male --sensitive sex,age --max-gap 0.1
  evenhand advise causal --max-accuracy-loss 0.02 --epsilon 2
  evenhand advise --resume --out advice --max-gap 0.05 --repeats 20
"""

Out = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where results go. [advice]")]
Repeats = Annotated[int | None, typer.Option(metavar="N", help="Runs of each setting. [8]")]
MaxGap = Annotated[
    float | None, typer.Option(metavar="SHARE", help="The widest gap that is accepted, such as 0.1.")
]
MaxLoss = Annotated[
    float | None,
    typer.Option("--max-accuracy-loss", metavar="SHARE", help="The accuracy that may be lost, such as 0.02."),
]
MostEpsilon = Annotated[
    float | None, typer.Option("--epsilon", metavar="NUMBER", help="The largest epsilon that is accepted.")
]


def advise(  # noqa: PLR0913 - one option each
    data: given.Data = None,
    *,
    target: given.Target = None,
    positive: given.Positive = None,
    protected: given.Protected = None,
    privileged: given.Privileged = None,
    sensitive: given.Sensitive = None,
    guess: given.GuessRoles = False,
    drop: given.Drop = None,
    schema: given.SchemaFile = None,
    max_gap: MaxGap = None,
    max_accuracy_loss: MaxLoss = None,
    epsilon: MostEpsilon = None,
    rows: given.Rows = None,
    repeats: Repeats = None,
    seed: given.Seed = None,
    workers: given.Workers = None,
    out: Out = None,
    resume: given.Resume = False,
    yes: given.Yes = False,
    as_json: given.AsJson = False,
    quiet: given.Quiet = False,
) -> None:
    """Which protocol and epsilon for this data, with reasons.

    Says what the data lets expect, checks it with a small study, and recommends a setting within your limits;
    none where settings cannot be told apart. With --resume a study that was stopped goes on, and one that is
    finished is asked again, with other limits or more repeats. A choice made by looking at private rows is
    not covered by the guarantee of what is collected later: use public or pilot data where you can.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)
    if data is None and not resume:
        wrong_use("DATA is missing: a CSV or Parquet file, or a data set (evenhand datasets lists them).")
    from evenhand.cli.conduct import checked, conduct, forecast, free_folder, shown_path, written  # noqa: PLC0415 - starts numpy
    from evenhand.study.advise.recommend import Limits  # noqa: PLC0415 - as above
    from evenhand.study.profile.profiling import profile  # noqa: PLC0415 - as above
    from evenhand.study.run.prepare import prepare  # noqa: PLC0415 - as above

    typed = dict(locals())
    refuse_empty(typed, "sensitive", "drop")
    Limits(max_gap=max_gap, max_accuracy_loss=max_accuracy_loss, epsilon=None)
    folder = checked(free_folder(out, name="advice", resume=resume), workers=workers, resume=resume)
    if data is None:
        from evenhand.cli.planned import planned  # noqa: PLC0415 - used here alone

        plan, frame = planned(terminal, typed, folder / "plan.toml")
    else:
        plan, frame = _small_study(terminal, typed)
    if not resume:
        plan = forecast(terminal, plan, frame=frame, workers=workers, ask=not yes)
    results = conduct(
        terminal,
        plan,
        frame=frame,
        out=folder,
        workers=workers,
        resume=resume,
        command="advise",
        besides=_limits(typed),
    )
    found = results.advise(
        max_gap=max_gap,
        max_accuracy_loss=max_accuracy_loss,
        epsilon=epsilon,
        profile=profile(prepare(plan, frame=frame)),
    )
    files = written(terminal, results, folder)
    code = FAILED if results.failures else 0
    _told(terminal, found, {word.lower(): str(path.resolve()) for word, path in files.items()}, code)
    terminal.files({word: shown_path(path) for word, path in files.items()})
    raise typer.Exit(code)


def _small_study(terminal: Terminal, typed: dict[str, Any]) -> tuple[Plan, Any]:
    """Return the plan that checks what the data lets expect, and its rows."""
    from evenhand.cli.roles import arranged, told_reading, words_of  # noqa: PLC0415 - starts numpy
    from evenhand.schema import Schema  # noqa: PLC0415 - as above
    from evenhand.study.advise.advice import advice_plan  # noqa: PLC0415 - as above
    from evenhand.study.intake.opening import open_data  # noqa: PLC0415 - as above
    from evenhand.study.intake.setup import plan_for  # noqa: PLC0415 - as above
    from evenhand.study.run.prepare import prepare  # noqa: PLC0415 - as above

    declared = None if typed["schema"] is None else Schema.load(typed["schema"])
    opened = open_data(typed["data"], schema=declared)
    told_reading(terminal, opened)
    words = words_of(opened, typed)
    made = arranged(terminal, opened, words, command="advise", data=typed["data"], guess=typed["guess"])
    plan = plan_for(
        opened,
        made.schema,
        epsilons=_epsilons(typed["epsilon"]),
        rows=typed["rows"],
        repeats=8 if typed["repeats"] is None else typed["repeats"],
        seed=typed["seed"] or 0,
        notes=made.sentences,
    )
    small = advice_plan(plan, prepare(plan, frame=opened.frame))
    return small.with_(repeats=plan.repeats), opened.frame


def _limits(typed: dict[str, Any]) -> str:
    """Return the limits as they are typed, which the study's folder does not keep.

    >>> _limits({"max_gap": 0.1, "max_accuracy_loss": None, "epsilon": 2.0})
    ' --max-gap 0.1 --epsilon 2'
    """
    names = ("max_gap", "max_accuracy_loss", "epsilon")
    return "".join(
        f" --{name.replace('_', '-')} {typed[name]:g}" for name in names if typed[name] is not None
    )


def _epsilons(most: float | None) -> list[str]:
    """Return the epsilons to try: the usual ones up to the largest that is accepted, and that one.

    >>> _epsilons(None), _epsilons(1.5), _epsilons(0.2)
    (['0.5', '1', '2', '4'], ['0.5', '1', '1.5'], ['0.2'])
    """
    usual = ["0.5", "1", "2", "4"]
    if most is None:
        return usual
    within = [each for each in usual if float(each) < most]
    return [*within, f"{most:g}"]


def _told(terminal: Terminal, advice: Advice, files: dict[str, str], code: int) -> None:
    """Show the advice, line by line."""
    from evenhand.study.advise.advice import as_lines  # noqa: PLC0415 - starts numpy

    terminal.object({"command": "advise", **advice.to_dict(), "files": files, "exit": code})
    terminal.show()
    for place, (indent, text) in enumerate(as_lines(advice)):
        terminal.sentence(f"**{text}**" if not place else text, indent=indent)
        if not text:
            terminal.show()
    terminal.show()
