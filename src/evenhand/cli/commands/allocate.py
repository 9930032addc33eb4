"""evenhand allocate: who gains and who loses when money is shared out by protected counts."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import options as given  # noqa: TC001 - Typer reads it when the command starts
from evenhand.cli.tasks import decide_options as asked
from evenhand.cli.terminal.console import Terminal, spelled, wrong_use

if TYPE_CHECKING:
    from evenhand.study.intake.opening import Opened

__all__ = ["allocate"]

EXAMPLE = """\
  evenhand allocate districts.csv --count students --weight cost_index \\
      --budget 6.5e9 --name district --epsilon 0.1,1 --post nonnegative
  evenhand allocate districts.csv --formula "students * cost_index / 100" \\
      --budget 6.5e9 --name district --groups white,black,hispanic \\
      --mitigate linear-proxy,shrink --out folder
"""

_THOUSANDS = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?")

_NOT_ONE_COUNT = (
    "--formula must be {} times a public weight, such as 'students * (index + 20) / 100'. "
    "The weight may have columns and numbers with + - * / and brackets. What is no such product, as a sum of "
    "two counts or a count with a number added, has to be a column of its own, which is then published."
)

Count = Annotated[str | None, typer.Option(metavar="COLUMN", help="The count that money follows.")]
Weight = Annotated[str | None, typer.Option(metavar="COLUMN", help="A public weight. [all the same]")]
Formula = Annotated[
    str | None,
    typer.Option(metavar="FORMULA", help="Instead of both, such as 'students * (index + 20) / 100'."),
]
Budget = Annotated[
    str | None, typer.Option(metavar="MONEY", help="What is shared out. [shares are compared]")
]


def allocate(  # noqa: PLR0913 - one option each
    data: asked.Source,
    *,
    count: Count = None,
    weight: Weight = None,
    formula: Formula = None,
    budget: Budget = None,
    name: asked.Name = None,
    epsilon: asked.Epsilons = None,
    mechanism: asked.Noise = None,
    delta: given.Delta = None,
    unit: given.UnitOfPrivacy = "replace one",
    groups: asked.Groups = None,
    post: given.Post = None,
    mitigate: asked.Mitigate = None,
    draws: asked.Draws = 20_000,
    currency: asked.Currency = "$",
    seed: given.Seed = None,
    out: given.Out = None,
    open_page: given.OpenPage = False,
    as_json: given.AsJson = False,
    quiet: given.Quiet = False,
) -> None:
    """Who gains and who loses when money follows protected counts.

    Every entity has the share that its count times its weight has in the sum. Computes what noise on the
    counts does to each share, exactly where that can be done, and writes report.html, every entity and the
    plan to a folder. What it computes comes from the true data and is itself not private.
    """
    from evenhand.cli.tasks.decide_study import decided, opened_counts, shared_parts  # noqa: PLC0415 - starts numpy
    from evenhand.study.tasks.decide.task import DecideTask  # noqa: PLC0415 - as above

    terminal = Terminal(as_json=as_json, quiet=quiet)
    typed = dict(locals())
    if formula is not None and weight is not None:
        wrong_use("--formula and --weight contradict each other: the formula has the weight in it.")
    money = _money(budget)
    opened = opened_counts(terminal, typed)
    column, by = _share(typed, opened)
    task = DecideTask(count=column, weight=by, budget=money, currency=currency, **shared_parts(typed, opened))
    terminal.say("Shares", f"{task.formula}, of the sum over all entities")
    decided(terminal, typed, opened, task, command="allocate")


def _money(budget: str | None) -> float | None:
    if budget is None:
        return None
    plain = budget.strip()
    if "," in plain:  # 6,5 may be six and a half
        plain = plain.replace(",", "") if _THOUSANDS.fullmatch(plain) else ""
    try:
        return float(plain)
    except ValueError:
        wrong_use(f"--budget must be a number, such as 6.5e9 or 6,500,000.50. Got {budget!r} instead.")


def _share(typed: dict[str, Any], opened: Opened) -> tuple[str, str | None]:
    """Return the count and the weight, from two options or from a formula."""
    from evenhand.decide.language.parse import parse_weight  # noqa: PLC0415 - starts numpy
    from evenhand.decide.language.weights import Product  # noqa: PLC0415 - as above

    known, count = opened.names, typed["count"]
    if typed["formula"] is None:
        if count is None:
            said = "--count is missing: the column of counts that money follows, or --formula."
            wrong_use(f"{said}\nColumns: {spelled(known, most=60)}.")
        weight = typed["weight"]
        if weight is None:
            return asked.column_of("--count", count, known), None
        return asked.column_of("--count", count, known), _quoted(asked.column_of("--weight", weight, known))
    written = parse_weight(typed["formula"], parameter="formula", owner="allocate")
    for name in written.names:
        asked.column_of("--formula", name, known)
    fitting = [name for name in written.names if written.beside(name) is not None]
    chosen = asked.column_of("--count", count, known) if count is not None else "".join(fitting[:1])
    weight = written.beside(chosen) if chosen else None
    if weight is None:
        wrong_use(
            _NOT_ONE_COUNT.format(
                f"a column of counts, {spelled([chosen])}," if chosen else "one column of counts"
            )
        )
    return chosen, None if weight == Product(Fraction(1), ()) else weight.text


def _quoted(name: str) -> str:
    return f"`{name}`"
