"""Mondrian as one would explain it: a list of people, cut again and again."""

from fractions import Fraction


def slow_mondrian(people, k, numeric):
    """Return the classes as lists of people (tuples of codes), in the order of the cuts."""
    if len(people) < k:
        return []
    whole = [_width(people, column, numeric) for column in range(len(numeric))]
    return _classes(people, k, numeric, whole)


def _classes(people, k, numeric, whole):
    shares = [Fraction(_width(people, column, numeric), whole[column] or 1) for column in range(len(numeric))]
    for column in sorted(range(len(numeric)), key=lambda each: (-shares[each], each)):
        cut = _best_cut(people, column)
        if cut is not None and min(map(len, cut)) >= k:
            return [found for side in cut for found in _classes(side, k, numeric, whole)]
    return [people]


def _width(people, column, numeric):
    values = {person[column] for person in people}
    return max(values) - min(values) if numeric[column] else len(values) - 1


def _best_cut(people, column):
    """Return both sides of the cut whose smaller side is largest; the later one of two that are equal."""
    values = sorted({person[column] for person in people})
    cuts = [
        (
            [each for each in people if each[column] <= value],
            [each for each in people if each[column] > value],
        )
        for value in values[:-1]
    ]
    return max(reversed(cuts), key=lambda cut: min(map(len, cut)), default=None)
