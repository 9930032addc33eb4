"""A formula of money as a person writes it: which column is the count, and what the public weight is."""

from __future__ import annotations

from fractions import Fraction

from evenhand.decide.language.parse import parse_weight
from evenhand.decide.language.weights import Product


def formula_columns(formula: str) -> tuple[str, ...]:
    """Return the columns that a formula of money names.

    >>> formula_columns("students * (index + 20) / 100")
    ('students', 'index')
    """
    return tuple(parse_weight(formula, parameter="allot", owner="DecideTask").names)


def split_formula(formula: str, *, count: str = "") -> tuple[str, str | None]:
    """Return the count that money follows and its public weight; an empty count if it is no such product.

    Parameters
    ----------
    formula : str
        Such as ``"students * (index + 20) / 100"``.
    count : str
        The column of counts; by default the first one that the formula is a multiple of.

    Raises
    ------
    EvenhandError
        If the formula cannot be read.

    Examples
    --------
    >>> split_formula("students * (index + 20) / 100")[0]
    'students'
    >>> split_formula("students + index")
    ('', None)
    """
    product = parse_weight(formula, parameter="allot", owner="DecideTask")
    fitting = [name for name in product.names if product.beside(name) is not None]
    chosen = count or "".join(fitting[:1])
    rest = product.beside(chosen) if chosen else None
    if rest is None:
        return "", None
    return chosen, None if rest == Product(Fraction(1), ()) else rest.text
