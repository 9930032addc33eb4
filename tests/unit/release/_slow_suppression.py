"""Suppression and sampling from their definitions: whole laws of small tables, to 60 digits.

A law is a mapping from what is published (counts and which of them are suppressed) to its probability.
"""

import itertools

import mpmath as mp

from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema

DIGITS = 60
REPLACE, ADD = "replace one", "add or remove one"


def small_table(counts, *, bound=None):
    return Histogram.of(counts, Schema([Column("cell", Domain.integers(1, len(counts)))]), bound=bound)


def noise_mass(place, scale):
    """Return the probability of discrete Laplace noise at a place."""
    a = mp.exp(-1 / mp.mpf(scale))
    return (1 - a) / (1 + a) * a ** abs(place)


def noise_below(place, scale):
    """Return the probability of noise below a whole number, summed from the definition of the tails."""
    a = mp.exp(-1 / mp.mpf(scale))
    return a ** (1 - place) / (1 + a) if place <= 0 else 1 - a**place / (1 + a)


def count_noise_law(counts, threshold, scale, fill):
    """Return the law of suppression with noise of its own on every count."""
    law = {}
    for marks in itertools.product([False, True], repeat=len(counts)):
        chance, shown = mp.mpf(1), []
        for count, hidden in zip(counts, marks, strict=True):
            below = noise_below(threshold - count, scale)
            chance *= below if hidden else 1 - below
            shown.append((fill, True) if hidden else (count, False))
        law[tuple(shown)] = law.get(tuple(shown), 0) + chance
    return law


def threshold_noise_law(counts, threshold, scale, *, reach):
    """Return the law of suppression with one noisy threshold.

    Thresholds of at most 0 suppress nothing; those beyond `reach`, which suppress everything in any table of
    the test, are one outcome each and the same for all, so they are left out.
    """
    law = {tuple((count, False) for count in counts): noise_below(1 - threshold, scale)}
    for t in range(1, reach):
        shown = tuple((t // 2, True) if count < t else (count, False) for count in counts)
        law[shown] = law.get(shown, 0) + noise_mass(t - threshold, scale)
    return law


def sampled_law(counts, rate, k):
    """Return the law of sampled counts with those below `k` suppressed; exact for a Fraction."""
    law = {(): 1}
    for count in counts:
        longer = {}
        for shown, chance in law.items():
            for drawn in range(count + 1):
                mass = mp.binomial(count, drawn) if isinstance(rate, mp.mpf) else _choose(count, drawn)
                mass = mass * rate**drawn * (1 - rate) ** (count - drawn)
                key = (*shown, drawn if drawn >= k else None)
                longer[key] = longer.get(key, 0) + chance * mass
        law = longer
    return law


def _choose(n, k):
    return int(mp.binomial(n, k))


def hockey_stick(one, other, grown):
    """Return what one law exceeds e^epsilon times another by."""
    return sum(max(chance - grown * other.get(shown, 0), 0) for shown, chance in one.items())


def tables(cells, most):
    """Return all tables of so many cells with counts of at most `most`."""
    return list(itertools.product(range(most + 1), repeat=cells))


def neighbours(counts, unit, most):
    """Yield the tables that differ by one person and keep to the bound."""
    if unit == ADD:
        for place, step in itertools.product(range(len(counts)), (-1, 1)):
            other = [*counts]
            other[place] += step
            if 0 <= other[place] <= most:
                yield tuple(other)
        return
    for leaves, enters in itertools.permutations(range(len(counts)), 2):
        other = [*counts]
        other[leaves] -= 1
        other[enters] += 1
        if other[leaves] >= 0 and other[enters] <= most:
            yield tuple(other)


def worst(laws, unit, most, grown):
    """Return the largest hockey stick over all ordered pairs of neighbours."""
    return max(
        hockey_stick(law, laws[other], grown)
        for counts, law in laws.items()
        for other in neighbours(counts, unit, most)
    )
