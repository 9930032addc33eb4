"""The slow, obvious version of encoding: one value at a time, in exact fractions."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

MISSING, OUTSIDE = "missing", "outside"


def _is_number(value):
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def outcome(value, domain):
    """Return the code of `value`, or one of the two words."""
    if value is None or (isinstance(value, float | Decimal) and math.isnan(value)):
        return MISSING
    if domain.kind == "binned":
        return _bin(value, domain.edges)
    values = range(domain.low, domain.high + 1) if domain.kind == "integers" else domain.values
    if isinstance(value, float) and math.isinf(value):
        return OUTSIDE
    if isinstance(value, float) and isinstance(values[0], int) and abs(value) >= 2**53:
        return OUTSIDE
    for code, declared in enumerate(values):
        if _is_number(value) and _is_number(declared) and Fraction(value) == Fraction(declared):
            return code
        if type(value) is type(declared) and not _is_number(value) and value == declared:
            return code
    return OUTSIDE


def _bin(value, edges):
    if not _is_number(value) or (isinstance(value, float) and math.isinf(value)):
        return OUTSIDE
    exact = [Fraction(edge) for edge in edges]
    for code, (left, right) in enumerate(itertools.pairwise(exact)):
        last = code == len(edges) - 2
        if left <= Fraction(value) < right or (last and Fraction(value) == right):
            return code
    return OUTSIDE
