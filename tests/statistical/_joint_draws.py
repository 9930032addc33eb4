"""Whole reports of several attributes as single numbers, to be held against the law of the whole report."""

import numpy as np

from evenhand.collect.joint.combined import Combined
from evenhand.collect.joint.independent import Sampled
from property._joint_law import combinations, joint_law
from statistical._exact import ALPHA, exact_events_pvalue


def numbers_of(protocol, reports):
    """Return for each report its place in the protocol's list of all reports."""
    places = {row.tobytes(): place for place, row in enumerate(protocol.indicators(protocol.outputs()))}
    return np.array([places[row.tobytes()] for row in protocol.indicators(reports)], dtype=np.int64)


def whole_reports(strategy, held, *, n, seed):
    """Draw reports of n people who all hold the same values, as columns of the law of the whole report."""
    codes = {column: np.full(n, value) for column, value in zip(strategy.columns, held, strict=True)}
    reports = strategy.privatize(codes, rng=seed)
    if isinstance(strategy, Combined):
        return reports.sent[0].values.astype(np.int64)
    ways = strategy.senders
    counts = [len(way.outputs()) for way in ways]
    parts = [numbers_of(way, part) for way, part in zip(ways, reports.sent, strict=True)]
    if isinstance(strategy, Sampled):
        found = np.empty(n, dtype=np.int64)
        for position, part in enumerate(parts):
            found[reports.asked == position] = part + sum(counts[:position])
        return found
    return np.ravel_multi_index(parts, counts)


def law_of(strategy, held):
    return joint_law(strategy)[combinations(strategy).index(tuple(held))].astype(float)


def assert_whole_reports_follow_the_law(strategy, held, *, n, seed):
    """Fail if whole reports, all columns together, are not drawn with the probabilities stated."""
    draws = whole_reports(strategy, held, n=n, seed=seed)

    assert exact_events_pvalue(draws, law_of(strategy, held)) > ALPHA, "not drawn as stated"


def assert_who_is_asked_tells_nothing(strategy, codes):
    """Fail if the same seed asks other people when their values are other ones."""
    other = {column: (values + 1) % strategy.sizes[column] for column, values in codes.items()}
    asked = [strategy.privatize(each, rng=5).asked for each in (codes, other)]

    assert np.array_equal(*asked), "being asked is an answer"
