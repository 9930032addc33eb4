"""evenhand decide: who loses a right, and who gains one, when it follows from protected counts."""

from __future__ import annotations

from typing import Annotated

import typer

from evenhand.cli import options as given  # noqa: TC001 - Typer reads it when the command starts
from evenhand.cli.tasks import decide_options as asked
from evenhand.cli.terminal.console import Terminal, wrong_use

__all__ = ["decide"]

EXAMPLE = """\
  evenhand decide counties.csv --name county --epsilon 0.1,1 \\
      --rule "(sp/s > 0.05 or sp > 10000) and spe/sp > 0.0131"
  evenhand decide counties.csv --name county --rule "children >= 500" \\
      --groups white,black,hispanic --post nonnegative --out folder
"""

Rule = Annotated[
    str | None,
    typer.Option(metavar="FORMULA", help="Who has the right: comparisons of counts, with and, or, xor, not."),
]


def decide(  # noqa: PLR0913 - one option each
    data: asked.Source,
    *,
    rule: Rule = None,
    name: asked.Name = None,
    epsilon: asked.Epsilons = None,
    mechanism: asked.Noise = None,
    delta: given.Delta = None,
    unit: given.UnitOfPrivacy = "replace one",
    touches: asked.Touches = "every input",
    groups: asked.Groups = None,
    post: given.Post = None,
    mitigate: asked.Mitigate = None,
    draws: asked.Draws = 20_000,
    seed: given.Seed = None,
    out: given.Out = None,
    open_page: given.OpenPage = False,
    as_json: given.AsJson = False,
    quiet: given.Quiet = False,
) -> None:
    """Who loses a right when it follows from protected counts.

    Decides for every entity from its true counts and from counts with noise, exactly where that can be done,
    and writes report.html, every entity and the plan to a folder. What it computes comes from the true data
    and is itself not private.
    """
    from evenhand.cli.tasks.decide_study import decided, opened_counts, shared_parts  # noqa: PLC0415 - starts numpy
    from evenhand.study.tasks.decide.task import DecideTask  # noqa: PLC0415 - as above

    terminal = Terminal(as_json=as_json, quiet=quiet)
    typed = dict(locals())
    if rule is None or not rule.strip():
        wrong_use(
            "--rule is missing: who has the right, such as --rule 'poor / people > 0.2 and poor > 100'."
        )
    parsed = _parsed(rule)
    opened = opened_counts(terminal, typed)
    for column in parsed:
        if column not in opened.names:
            there = asked.column_of("--rule", column, opened.names)
            wrong_use(f"--rule: write `{there}`, in backquotes and with the blanks that the file has.")
    task = DecideTask(rule=rule, touches=touches, **shared_parts(typed, opened))
    terminal.say("Rule", str(task.rule))
    decided(terminal, typed, opened, task, command="decide")


def _parsed(rule: str) -> tuple[str, ...]:
    """Return the counts that a rule looks at; one that cannot be read is refused before any row is."""
    from evenhand.decide.language.parse import parse  # noqa: PLC0415 - starts numpy

    return parse(rule).inputs
