"""Options of commands that decide from counts: what they are called, what they say, how they are read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import options as given
from evenhand.cli.terminal.console import spelled, wrong_use

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "MITIGATIONS", "Currency", "Draws", "Epsilons", "Groups", "Mitigate", "Name", "Noise", "Source",
    "Touches", "column_of", "columns_of", "mechanisms_of", "mitigations_of",
]  # fmt: skip

MITIGATIONS = (
    "linear-proxy", "output-perturbation", "piecewise-proxy", "shrink", "sum-constraint", "fairness-payment",
)  # fmt: skip
"""What may be done for those who lose, as it is typed."""

_NOISES = ("laplace", "discrete-gaussian")

Source = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="A CSV or Parquet file of counts, one row per entity, or a data set."
    ),
]
Name = Annotated[str | None, typer.Option(metavar="COLUMN", help="The names of the entities. [numbered]")]
Groups = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="People of each group in an entity: who pays, per head."),
]
Noise = Annotated[
    list[str] | None, typer.Option("--mechanism", metavar="LIST", help=f"Of {', '.join(_NOISES)}. [laplace]")
]
Epsilons = Annotated[
    list[str] | None, typer.Option("--epsilon", metavar="LIST", help="What one person is promised. [0.1,1]")
]
Touches = Annotated[
    str,
    typer.Option(
        metavar="WORDS", help="'every input' (counts that share epsilon) or 'one input' of a person."
    ),
]
Mitigate = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LIST", help=f"Beside it, of {', '.join(MITIGATIONS)}; NAME=VALUE where one is needed."
    ),
]
Draws = Annotated[int, typer.Option(metavar="N", help="Simulated releases where nothing exact applies.")]
Currency = Annotated[str, typer.Option(metavar="SIGN", help="How money is written.")]


def column_of(option: str, name: str, known: Sequence[str]) -> str:
    """Return the column that was meant, or refuse it with a guess."""
    from evenhand.errors import EvenhandError  # noqa: PLC0415 - used here alone
    from evenhand.study.intake.setup import column_named  # noqa: PLC0415 - starts numpy

    try:
        return column_named(name, known)
    except EvenhandError as error:
        wrong_use(f"{option}: {error}")


def columns_of(option: str, names: list[str] | None, known: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that an option with commas names."""
    return tuple(column_of(option, name, known) for name in given.listed(names, known))


def mechanisms_of(typed: dict[str, Any]) -> list[Any]:
    """Return the mechanisms with the parameters that were typed and belong to them."""
    from evenhand.release.mechanisms.named import TableMechanism  # noqa: PLC0415 - starts numpy

    names = given.listed(typed["mechanism"]) or ("laplace",)
    strange = [name for name in names if name not in _NOISES]
    if strange:
        wrong_use(f"--mechanism must be of {', '.join(_NOISES)}. Got {spelled(strange)} instead.")
    if "discrete-gaussian" not in names and typed["delta"] is not None:
        wrong_use("--delta belongs to discrete-gaussian, which is not among --mechanism.")
    delta = {} if typed["delta"] is None else {"delta": typed["delta"]}
    return [TableMechanism(name, delta if name == "discrete-gaussian" else {}) for name in names]


def mitigations_of(words: list[str] | None) -> list[Any]:
    """Return mitigations as a plan has them; what follows ``=`` is the parameter that matters most.

    >>> mitigations_of(["linear-proxy,sum-constraint=5000"])
    ['linear-proxy', {'name': 'sum-constraint', 'total': 5000.0}]
    """
    from evenhand.study.tasks.decide.names import MITIGATIONS as KINDS  # noqa: PLC0415 - starts numpy

    made: list[Any] = []
    for word in given.listed(words):
        name, equals, amount = (part.strip() for part in word.partition("="))
        if not equals or name not in KINDS or not KINDS[name].parameters:
            made.append(word)
            continue
        made.append({"name": name, KINDS[name].parameters[0]: _number(word, amount)})
    return made


def _number(word: str, amount: str) -> float | int:
    try:
        value = float(amount)
    except ValueError:
        value = math.nan
    whole = word.startswith("piecewise")
    if not math.isfinite(value) or (whole and not value.is_integer()):
        wrong_use(f"--mitigate must have a {'whole ' * whole}number after '='. Got {word!r} instead.")
    return int(value) if whole else value
