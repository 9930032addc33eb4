"""Figures of a protocol as a few lines of text, and as a small table for notebooks."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def figures_text(title: str, figures: Sequence[tuple[str, str]]) -> str:
    """Return a title and figures, each with its name, as aligned lines."""
    width = max(len(name) for name, _ in figures)
    return "\n".join([title, *(f"  {name:<{width}}  {figure}" for name, figure in figures)])


def probability_text(exact: Fraction) -> str:
    """Write a probability in six digits, and one that is nearly certain by what is missing."""
    shown = f"{float(exact):.6g}"
    return shown if shown != "1" else f"1 - {float(1 - exact):.3g}"


def count_text(number: int, thing: str) -> str:
    """Write a number of things, such as 1 bit or 2 bits."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def epsilon_literal(epsilon: Fraction) -> str:
    """Write epsilon as Python would take it: 1, 0.5 or '1/3'."""
    if epsilon.denominator == 1:
        return str(epsilon.numerator)
    decimal = float(epsilon)
    return repr(decimal) if Fraction(repr(decimal)) == epsilon else repr(str(epsilon))
