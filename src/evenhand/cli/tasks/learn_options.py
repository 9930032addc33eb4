"""Options of a study of classifiers: what they are called, what they say, and to which task they belong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli.terminal.console import wrong_use

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "LEARN_ONLY",
    "WAYS",
    "AllowedGap",
    "GroupAsInput",
    "Strength",
    "Ways",
    "completed_way",
    "refuse_others",
]

WAYS = ("plain", "plain+parity", "dp", "dp+parity", "fermi", "fermi+parity", "dp+projection", "local")
"""The ways to train a classifier, as they are typed."""

LEARN_ONLY = ("ways", "gap", "strength", "group_as_input")
"""Options that only a study of classifiers has."""


def completed_way(incomplete: str) -> list[str]:
    """Return what completes the last of several ways with commas between them."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{way}" for way in WAYS if way.startswith(last)]


Ways = Annotated[
    list[str] | None,
    typer.Option(
        "--ways",
        "--way",
        metavar="LIST",
        help=f"Learn: of {', '.join(WAYS)}. [all but local]",
        autocompletion=completed_way,
    ),
]
AllowedGap = Annotated[
    float | None, typer.Option("--gap", metavar="SHARE", help="Learn: the gap that parity leaves. [0]")
]
Strength = Annotated[
    float | None, typer.Option(metavar="NUMBER", help="Learn: weight of fermi's penalty. [its own]")
]
GroupAsInput = Annotated[
    bool, typer.Option("--group-as-input", help="Learn: the protected column is a feature too.")
]


def refuse_others(typed: dict[str, Any], names: Sequence[str], *, task: str, owner: str) -> None:
    """Refuse options of another task; to pass them over would run something else than meant."""
    strange = [f"--{name.replace('_', '-')}" for name in names if typed.get(name)]
    if strange:
        verb = "belongs" if len(strange) == 1 else "belong"
        wrong_use(f"{', '.join(strange)} {verb} to --task {owner}; this is --task {task}.")
