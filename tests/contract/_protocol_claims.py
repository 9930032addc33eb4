"""Claims that every local protocol must meet, as checks that the planted bugs are held against too.

Nothing here looks into a protocol: it sees what a person sends, what the protocol says about itself, and
exact arithmetic of its own.
"""

import itertools
import math
from fractions import Fraction

import numpy as np

from evenhand.collect.protocols.channel import MatrixChannel
from evenhand.collect.reports.layouts import SetLayout
from statistical._exact import ALPHA, CORRELATION, Event, exact_events_pvalue

SCALE = 10**80
WINDOW = 64
LAGS = [*range(1, 33), *(1 << power for power in range(6, 15))]


def supports(protocol):
    """Return the probability that a report supports each value (column) for each true value (row)."""
    if isinstance(protocol.channel, MatrixChannel):
        return protocol.channel.matrix
    return np.where(np.eye(protocol.k, dtype=bool), protocol.p, protocol.q)


def exp_below(epsilon):
    """Return a rational a hair below e to the epsilon: terms of its series, each rounded down."""
    term, total, place = SCALE, 0, 0
    while term:
        total += term
        place += 1
        term = term * epsilon.numerator // (epsilon.denominator * place)
    return Fraction(total, SCALE)


def assert_private(protocol):
    """No report is more than e to the epsilon times likelier under one value than under another."""
    assert protocol.worst_ratio >= 1
    assert protocol.worst_ratio <= exp_below(protocol.epsilon), "a report tells more than epsilon allows"


def assert_exact_law(protocol):
    """The matrix is a law, as private as stated, and supports values with the stated probabilities."""
    law = protocol.matrix(exact=True)
    assert all(type(cell) is Fraction and cell > 0 for cell in law.flat)
    whole = math.lcm(*(cell.denominator for cell in law.flat))
    parts = np.vectorize(lambda cell: cell.numerator * (whole // cell.denominator), otypes=[object])(law)
    supports = protocol.indicators(protocol.outputs()).astype(object)
    found = parts.dot(supports)  # row: the true value; column: the value supported

    assert parts.sum(axis=1).tolist() == [whole] * protocol.k, "the probabilities of a row do not add up to 1"
    worst = max(Fraction(max(column), min(column)) for column in parts.T)
    assert worst == protocol.worst_ratio, "not the worst ratio"
    _assert_supports(protocol, found, whole)
    assert_private(protocol)


def _assert_supports(protocol, found, whole):
    """What an estimate undoes is the matrix itself, or else p on its diagonal and q beside it."""
    if isinstance(protocol.channel, MatrixChannel):
        stated = [[Fraction(cell) * whole for cell in row] for row in protocol.channel.matrix.tolist()]
        assert found.tolist() == stated, "an estimate undoes another matrix"
        return
    own = np.eye(protocol.k, dtype=bool)
    assert set(found[own]) == {protocol.p_exact * whole}, "p is not what the matrix says"
    assert set(found[~own]) == {protocol.q_exact * whole}, "q is not what the matrix says"


def assert_draws_follow_the_law(protocol, *, n, seed):
    """Every cell of the matrix and every coordinate of the report is drawn as stated."""
    rows = []
    for true in range(protocol.k):
        reports = protocol.privatize(np.full(n, true), rng=seed + true)
        rows.append(_coordinates_pvalue(protocol, reports, true))
        if protocol.name not in {"blh", "olh"}:  # too many hash functions for a matrix
            rows.append(exact_events_pvalue(_places(protocol, reports), protocol.matrix()[true]))

    assert min(rows) * len(rows) > ALPHA, "reports are not drawn as stated"


def _coordinates_pvalue(protocol, reports, true):
    supported = protocol.indicators(reports)
    events = [
        Event(lambda each, value=value: each[:, value] == 1, chance)
        for value, chance in enumerate(supports(protocol)[true].tolist())
    ]
    return exact_events_pvalue(supported, events=events)


def _places(protocol, reports):
    """Return which of the possible reports each one is; what it supports tells them apart."""
    known = {row.tobytes(): place for place, row in enumerate(protocol.indicators(protocol.outputs()))}
    return np.array([known[row.tobytes()] for row in protocol.indicators(reports)])


def assert_form_says_nothing_more(protocol, *, n, seed):
    """Neither the order of a set nor the hash function depends on the true value."""
    rows = []
    for true in range(protocol.k):
        values = np.asarray(protocol.privatize(np.full(n, true), rng=seed + true))
        if values.dtype.names:
            rows += [_words_pvalue(values[name]) for name in ("multiplier", "offset")]
        elif values.ndim == 2 and isinstance(protocol.layout, SetLayout):
            rows.append(_orders_pvalue(protocol, values, true))

    assert min(rows, default=1) * len(rows) > ALPHA or not rows, "the form of a report tells the value"


def _orders_pvalue(protocol, values, true):
    """All orders of a set are equally likely, whatever the truth."""
    rows, law = np.asarray(protocol.outputs()), protocol.matrix()[true]
    orders = {
        order: chance / math.factorial(protocol.size)
        for row, chance in zip(rows.tolist(), law, strict=True)
        for order in itertools.permutations(row)
    }
    places = {order: place for place, order in enumerate(orders)}
    return exact_events_pvalue(
        np.array([places[tuple(row)] for row in values.tolist()]), list(orders.values())
    )


def _words_pvalue(words):
    """Every bit of a word is a fair coin."""
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8).reshape(len(words), -1), axis=1)
    events = [Event(lambda each, place=place: each[:, place] == 1, 0.5) for place in range(bits.shape[1])]
    return exact_events_pvalue(bits, events=events)


def assert_people_are_independent(protocol, *, n, seed):
    """No person's noise says anything about another's: neither a neighbour's nor anybody's far away."""
    reports = protocol.privatize(np.zeros(n, dtype=np.int64), rng=seed)
    supported = protocol.indicators(reports)[:, 0].astype(float)
    worst = max(
        abs(np.corrcoef(supported[:-lag], supported[lag:])[0, 1]) * math.sqrt(n - lag) for lag in LAGS
    )

    assert worst < CORRELATION, "neighbours have noise in common"
    assert _longest_repeat_is_short(reports.values), "a stretch of people has the noise of another"


def _longest_repeat_is_short(values):
    """Whether all stretches of WINDOW reports differ, wherever they start (a rolling hash tells)."""
    packed = np.ascontiguousarray(values).reshape(len(values), -1)
    rows = packed.view(np.uint8).reshape(len(values), -1)
    ids = np.unique(rows, axis=0, return_inverse=True)[1].ravel().astype(np.uint64)
    mixed = (ids + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    base = np.uint64(0xD1342543DE82EF95)
    powers = np.cumprod(np.full(len(ids) + 1, base, dtype=np.uint64))
    sums = np.concatenate(([np.uint64(0)], np.cumsum(mixed * powers[:-1], dtype=np.uint64)))
    inverse = np.cumprod(np.full(len(ids) + 1, pow(int(base), -1, 1 << 64), dtype=np.uint64))
    windows = (sums[WINDOW:] - sums[:-WINDOW]) * inverse[: len(sums) - WINDOW]
    return len(np.unique(windows)) == len(windows)
