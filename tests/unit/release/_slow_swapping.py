"""Swapping once more: every outcome enumerated with its probability, straight from the definitions.

Tables are tuples of counts, one entry per combination of quasi-identifiers, or dictionaries from tuples of
codes to people. Nothing here is quick.
"""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np

from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema


def small_table(counts, quasi=1, *, ordered=()):
    """A histogram of an array: its first axes are the quasi-identifiers."""
    array = np.asarray(counts)
    columns = [
        Column(
            f"c{axis}",
            Domain.integers(0, size - 1)
            if axis in ordered
            else Domain.categorical([f"v{each}" for each in range(size)]),
        )
        for axis, size in enumerate(array.shape)
    ]
    return Histogram.of(array, Schema(columns, quasi_identifiers=[f"c{axis}" for axis in range(quasi)]))


# --- randomised response ----------------------------------------------------------------------------


def cells_law(row, keep):
    """The law of one row of cells, each of which keeps its place with probability `keep`."""
    n = len(row)
    other = (1 - keep) / (n - 1)
    law = Counter()
    for places in itertools.product(range(n), repeat=n):
        chance = Fraction(1)
        made = [0] * n
        for source, place in enumerate(places):
            chance *= keep if source == place else other
            made[place] += row[source]
        law[tuple(made)] += chance
    return dict(law)


def records_law(row, keep):
    """The law of one row whose people each keep their place with probability `keep`."""
    n = len(row)
    other = (1 - keep) / (n - 1)
    law = {(0,) * n: Fraction(1)}
    for source, people in enumerate(row):
        for _ in range(people):
            after = Counter()
            for made, chance in law.items():
                for place in range(n):
                    moved = (*made[:place], made[place] + 1, *made[place + 1 :])
                    after[moved] += chance * (keep if place == source else other)
            law = dict(after)
    return law


def several_rows(law_of_row, rows, keep):
    """The law of a table of several rows, which are drawn independently."""
    law = {(): Fraction(1)}
    for row in rows:
        law = {
            (*made, after): chance * more
            for made, chance in law.items()
            for after, more in law_of_row(row, keep).items()
        }
    return law


def hockey_stick(one, two, factor):
    """The delta at e**epsilon = `factor` of one law against another."""
    return sum(max(Fraction(0), chance - factor * two.get(made, 0)) for made, chance in one.items())


def moments(law):
    """Mean and variance of every entry."""
    size = len(next(iter(law)))
    means = [sum(chance * made[i] for made, chance in law.items()) for i in range(size)]
    spread = [sum(chance * (made[i] - means[i]) ** 2 for made, chance in law.items()) for i in range(size)]
    return means, spread


def tables_of(people, n):
    """Every row of `n` counts of so many people."""
    if n == 1:
        yield (people,)
        return
    for first in range(people + 1):
        for rest in tables_of(people - first, n - 1):
            yield (first, *rest)


def neighbours(row):
    """Every row in which one person has another place."""
    for source, target in itertools.permutations(range(len(row)), 2):
        if row[source]:
            yield tuple(count - (place == source) + (place == target) for place, count in enumerate(row))


# --- pairs ------------------------------------------------------------------------------------------


def slow_distance(one, two, reaches, others=None):
    """The distance of appendix B.2: reach None for a column without order; "other" is 1 from everything."""
    total = Fraction(0)
    for column, (a, b, reach) in enumerate(zip(one, two, reaches, strict=True)):
        other = None if others is None else others[column]
        if a == b:
            continue
        total += 1 if reach is None or other in (a, b) else Fraction(abs(a - b), reach)
    return total


def nearest_steps(live, distance):
    """Every next pair with its chance: a random person, and a random one of those nearest."""
    people = sum(live.values())
    for one, many in live.items():
        left = {two: count - (two == one) for two, count in live.items() if count > (two == one)}
        best = min(distance(one, two) for two in left)
        ties = {two: count for two, count in left.items() if distance(one, two) == best}
        for two, count in ties.items():
            yield one, two, Fraction(many, people) * Fraction(count, sum(ties.values()))


def discrepancy_steps(live, distance):
    """Every next pair, of either order, with its chance: in proportion to the distance."""
    weights = {
        (one, two): live[one] * (live[two] - (one == two)) * distance(one, two)
        for one in live
        for two in live
    }
    total = sum(weights.values())
    for (one, two), weight in weights.items():
        if weight:
            yield one, two, Fraction(weight) / total


def pairs_law(live, distance, steps, pairs):
    """The law of the sorted list of unordered pairs."""
    if pairs == 0:
        return {(): Fraction(1)}
    law = Counter()
    found = False
    for one, two, chance in steps(live, distance):
        found = True
        left = dict(live)
        for each in (one, two):
            left[each] -= 1
        left = {each: count for each, count in left.items() if count}
        for rest, more in pairs_law(left, distance, steps, pairs - 1).items():
            law[tuple(sorted((*rest, tuple(sorted((one, two))))))] += chance * more
    return dict(law) if found else {(): Fraction(1)}


def swapped(live, pairs, quasi):
    """The table after the pairs exchanged their first `quasi` columns."""
    table = Counter(live)
    for one, two in pairs:
        table[one] -= 1
        table[two] -= 1
        table[two[:quasi] + one[quasi:]] += 1
        table[one[:quasi] + two[quasi:]] += 1
    return {each: count for each, count in table.items() if count}
