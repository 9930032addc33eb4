"""The search for the least difference looks where its bound is weakest."""

from evenhand.collect.fairest.search import _Look, _weakest


def test_between_two_looks_that_bound_nothing_the_next_is_halfway():
    seen = [_Look(0.1, 1.0), _Look(0.25, 0.0), _Look(0.75, 0.0), _Look(0.9, 1.0)]

    assert _weakest(seen) == (0.0, 0.5)


def test_the_next_look_is_where_the_bound_is_weakest():
    """The bound of a look falls toward both ends of the line, so it may be weakest beyond the last look."""
    bound, share = _weakest([_Look(0.25, 6.0), _Look(0.75, 2.0)])

    assert (bound, share) == (min(6 * 0.75, 2 * 0.75, 6 * 0.25 + 2 * 0.25), 1 - 0.25 / 3)
