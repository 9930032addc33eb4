"""Rules on noisy counts the slow way: every value of discrete noise, or integration by halving."""

import itertools

import numpy as np

from evenhand.privacy.laws import Laplace

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(10)


def enumerated(rule, counts, laws, steps=(), *, far=22):
    """Sum the probabilities of all noises from -far to far after which the rule holds."""
    names = rule.inputs
    noise = np.meshgrid(*[np.arange(-far, far + 1)] * len(names), indexing="ij")
    mass = np.ones(noise[0].shape)
    columns = {}
    for name, drawn in zip(names, noise, strict=True):
        mass = mass * laws[name].pmf(drawn)
        noisy = counts[name] + drawn
        for step in steps:
            noisy = step.apply(noisy)
        columns[name] = noisy
    return float((mass * rule.holds(columns)).sum())


def integrated(rule, counts, laws, least=None, *, tolerance=1e-14):
    """Integrate over the first of two inputs by halving; given it, the rule holds on intervals of the second.

    With one input the intervals are all there is. `least` is the value that smaller counts are set to.
    """
    rule = rule.linear()
    first, *rest = rule.inputs
    if not rest:
        return float(_given(rule, counts, laws, least, {}, first)[0])
    (last,) = rest
    law, centre = laws[first], counts[first]
    far = 40 * float(law.scale) if isinstance(law, Laplace) else 9 * law.standard_deviation
    low, high = centre - far, centre + far
    if least is not None:
        low, high = max(low, least), max(high, least + 1e-9)
    cuts = [*np.linspace(low, high, 30), centre, *_meetings(rule, counts, least, first, last)]

    def integrand(values):
        return law.pdf(values - centre) * _given(rule, counts, laws, least, {first: values}, last)

    total = _halving(integrand, np.unique(np.clip(cuts, low, high)), tolerance)
    if least is not None:
        at_least = _given(rule, counts, laws, least, {first: np.array([float(least)])}, last)
        total += law.cdf(least - centre) * at_least[0]
    return float(total)


def _meetings(rule, counts, least, first, last):
    """Return where two borders meet: there the integrand jumps or bends."""
    lines = [(0.0, 1.0, float(counts[last]))] + ([] if least is None else [(0.0, 1.0, float(least))])
    for predicate in rule.predicates:
        weights = predicate.coefficients
        lines.append((float(weights.get(first, 0)), float(weights.get(last, 0)), float(predicate.bound)))
    places = [bound / a for a, b, bound in lines if a and not b]
    for (a, b, left), (c, d, right) in itertools.combinations(lines, 2):
        if a * d != b * c:
            places.append((left * d - b * right) / (a * d - b * c))
    return places


def _given(rule, counts, laws, least, fixed, last):
    """Return the probability that the rule holds given all inputs but the last."""
    size = len(next(iter(fixed.values()))) if fixed else 1
    lowest = -1e300 if least is None else float(least)
    edges = [np.full(size, lowest), np.full(size, 1e300)]
    for predicate in rule.predicates:
        weights = dict(predicate.coefficients)
        if last in weights:
            slope = float(weights.pop(last))
            left = float(predicate.bound) - sum(float(each) * fixed[name] for name, each in weights.items())
            edges.append(np.clip(left / slope * np.ones(size), lowest, 1e300))
    edges = np.sort(np.stack(edges, axis=1), axis=1)
    masses = np.diff(laws[last].cdf(edges - counts[last]), axis=1)
    middles = (np.maximum(edges[:, :-1], -1e6) + np.minimum(edges[:, 1:], 1e6)) / 2
    columns = {name: np.repeat(each[:, None], middles.shape[1], axis=1) for name, each in fixed.items()}
    found = (masses * rule.holds({**columns, last: middles})).sum(axis=1)
    if least is not None:
        held = rule.holds({**fixed, last: np.full(size, lowest)})
        found = found + laws[last].cdf(least - counts[last]) * held
    return found


def _halving(integrand, cuts, tolerance):
    def estimate(left, right):
        points = (left + right)[:, None] / 2 + (right - left)[:, None] / 2 * _POINTS
        return (integrand(points.ravel()).reshape(points.shape) * _WEIGHTS).sum(axis=1) * (right - left) / 2

    left, right, total = cuts[:-1], cuts[1:], 0.0
    whole = estimate(left, right)
    for _ in range(60):
        middle = (left + right) / 2
        lower, upper = estimate(left, middle), estimate(middle, right)
        done = np.abs(lower + upper - whole) <= tolerance
        total += (lower + upper)[done].sum()
        left, right = np.r_[left[~done], middle[~done]], np.r_[middle[~done], right[~done]]
        whole = np.r_[lower[~done], upper[~done]]
        if done.all():
            break
    return total
