"""evenhand audit: protect a table in many ways and report who pays for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.cli import options as given
from evenhand.cli.tasks import learn_options as learning  # noqa: TC001 - Typer reads it
from evenhand.cli.terminal.console import Terminal, wrong_use
from evenhand.cli.terminal.refusals import refuse_empty

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.study.plan.plan import Plan

__all__ = ["audit"]

EXAMPLE = """\
  evenhand audit people.csv --target hired --positive yes \\
      --protected sex --privileged male --sensitive sex,age
  evenhand audit people.csv --guess --epsilon 0.5,1,2 --protocol grr,oue
  evenhand audit --resume --out study
  evenhand audit people.csv --task release --columns county,sex,job \\
      --protected sex --mechanism laplace,suppression --epsilon 0.5,1,2
  evenhand audit people.csv --task learn --target hired --positive yes \\
      --protected sex --privileged male --ways dp,dp+parity,fermi+parity --epsilon 1,3
"""


_LISTS = (
    "epsilon", "protocol", "split", "strategy", "sensitive", "drop", "columns", "mechanism", "post", "quasi",
    "ways",
)  # fmt: skip


@dataclass(frozen=True)
class _Job:
    """What is to be run: a plan, and its rows if they are in memory already."""

    plan: Plan
    frame: Any


def audit(  # noqa: PLR0913 - one option each
    data: given.Data = None,
    *,
    task: given.Task = None,
    target: given.Target = None,
    positive: given.Positive = None,
    protected: given.Protected = None,
    privileged: given.Privileged = None,
    sensitive: given.Sensitive = None,
    guess: given.GuessRoles = False,
    drop: given.Drop = None,
    schema: given.SchemaFile = None,
    plan: given.PlanFile = None,
    epsilon: given.Epsilon = None,
    protocol: given.Protocol = None,
    split: given.Split = None,
    strategy: given.Strategy = None,
    model: given.Model = None,
    encoder: given.Encoder = None,
    columns: given.TableColumns = None,
    mechanism: given.Mechanism = None,
    unit: given.UnitAsked = None,
    threshold: given.Threshold = None,
    k: given.SmallestGroup = None,
    fraction: given.Fraction = None,
    delta: given.Delta = None,
    rho: given.Rho = None,
    bound: given.Bound = None,
    post: given.Post = None,
    quasi: given.Quasi = None,
    ways: learning.Ways = None,
    gap: learning.AllowedGap = None,
    strength: learning.Strength = None,
    group_as_input: learning.GroupAsInput = False,
    rows: given.Rows = None,
    repeats: given.Repeats = None,
    seed: given.Seed = None,
    workers: given.Workers = None,
    out: given.Out = None,
    resume: given.Resume = False,
    open_page: given.OpenPage = False,
    yes: given.Yes = False,
    as_json: given.AsJson = False,
    quiet: given.Quiet = False,
) -> None:
    """Protect a table in many ways and report who pays for it.

    Trains on protected rows, predicts for clean ones, compares the groups, and writes report.html, the plan
    and every number to a folder. With --task release it publishes a table of --columns by each mechanism
    instead, and compares it with the true one; with --task learn it trains classifiers with privacy and
    parity in each of --ways. What it computes comes from the true data and is itself not private.
    """
    from evenhand.cli.conduct import checked, conduct, finish, forecast, free_folder  # noqa: PLC0415 - starts numpy

    terminal = Terminal(as_json=as_json, quiet=quiet)
    typed = dict(locals())
    refuse_empty(typed, *_LISTS)
    if task not in {None, "collect", "release", "learn"}:
        wrong_use(f"--task must be collect, release or learn. Got {task!r} instead.")
    folder = checked(free_folder(out, resume=resume), workers=workers, resume=resume)
    if plan is not None or (resume and data is None):
        job = _planned(terminal, typed, plan or folder / "plan.toml")
    elif data is None:
        wrong_use("DATA is missing: a CSV or Parquet file, or a data set (evenhand datasets lists them).")
    else:
        made = {"release": _new_release, "learn": _new_learning}.get(task or "", _new)
        job = made(terminal, typed)
    chosen = job.plan
    if not resume:
        chosen = forecast(terminal, job.plan, frame=job.frame, workers=workers, ask=not yes)
    results = conduct(terminal, chosen, frame=job.frame, out=folder, workers=workers, resume=resume)
    finish(terminal, results, command="audit", out=folder, open_page=open_page)


def _new(terminal: Terminal, typed: dict[str, Any]) -> _Job:
    """Return the study of a file or data set and the roles that were typed."""
    from evenhand.cli.roles import arranged, told_reading, words_of  # noqa: PLC0415 - starts numpy
    from evenhand.cli.tasks.release_audit import refuse_strangers  # noqa: PLC0415 - starts numpy
    from evenhand.schema import Schema  # noqa: PLC0415 - as above
    from evenhand.study.intake.opening import open_data  # noqa: PLC0415 - as above
    from evenhand.study.intake.setup import plan_for  # noqa: PLC0415 - as above
    from evenhand.study.tasks.collect.task import CollectTask  # noqa: PLC0415 - as above

    refuse_strangers(typed, release=False)
    task = CollectTask(model=typed["model"] or "gradient-boosting", encoder=typed["encoder"] or "narrow")
    declared = None if typed["schema"] is None else Schema.load(typed["schema"])
    opened = open_data(typed["data"], schema=declared)
    told_reading(terminal, opened)
    bins_only = task.encoder == "one-hot" or task.model == "logistic"
    made = arranged(
        terminal,
        opened,
        words_of(opened, typed),
        command="audit",
        data=typed["data"],
        guess=typed["guess"],
        bins_only=bins_only,
    )
    plan = plan_for(
        opened,
        made.schema,
        protocols=given.listed(typed["protocol"]),
        epsilons=given.listed(typed["epsilon"]),
        splits=given.listed(typed["split"]),
        strategies=given.listed(typed["strategy"]),
        task=task,
        rows=typed["rows"],
        repeats=10 if typed["repeats"] is None else typed["repeats"],
        seed=typed["seed"] or 0,
        notes=made.sentences,
    )
    return _Job(plan, opened.frame)


def _new_release(terminal: Terminal, typed: dict[str, Any]) -> _Job:
    """Return the study of a table that is published."""
    from evenhand.cli.tasks.release_audit import refuse_strangers, release_plan  # noqa: PLC0415 - starts numpy

    refuse_strangers(typed, release=True)
    return _Job(*release_plan(terminal, typed))


def _new_learning(terminal: Terminal, typed: dict[str, Any]) -> _Job:
    """Return the study of classifiers that are trained with privacy and parity."""
    from evenhand.cli.tasks.learn_audit import learning_plan  # noqa: PLC0415 - starts numpy

    return _Job(*learning_plan(terminal, typed))


def _planned(terminal: Terminal, typed: dict[str, Any], path: Path) -> _Job:
    """Return the study of a plan file, with what was typed besides."""
    from evenhand.cli.planned import planned  # noqa: PLC0415 - used here alone
    from evenhand.cli.tasks.release_audit import changed_release, refuse_any, refuse_strangers  # noqa: PLC0415 - starts numpy

    plan, frame = planned(terminal, typed, path)
    release = plan.task.kind == "release"
    if typed["task"] is not None and typed["task"] != plan.task.kind:
        wrong_use(f"--task is {typed['task']}, and the plan says {plan.task.kind}.")
    if plan.task.kind == "decide":
        refuse_any(typed, plan.task.kind)
        return _Job(plan, frame)
    if plan.task.kind == "learn":
        from evenhand.cli.tasks.learn_audit import changed_learning  # noqa: PLC0415 - starts numpy

        return _Job(changed_learning(plan, typed), frame)
    refuse_strangers(typed, release=release)
    if release:
        return _Job(changed_release(plan, typed), frame)
    task: Any = plan.task
    lists = {
        "protocols": given.listed(typed["protocol"]) or task.protocols,
        "epsilons": given.listed(typed["epsilon"]) or task.epsilons,
        "splits": given.listed(typed["split"]) or task.splits,
        "strategies": given.listed(typed["strategy"]) or task.strategies,
    }
    model = {name: typed[name] for name in ("model", "encoder") if typed[name] is not None}
    return _Job(plan.with_(task=task.with_(**lists, **model)), frame)
