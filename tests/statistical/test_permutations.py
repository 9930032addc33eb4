"""Orders are uniform, exactly: each of all n! has the same probability."""

import itertools
import math

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.privacy.sampling import permutation, subsets
from statistical._exact import ALPHA, exact_events_pvalue

pytestmark = pytest.mark.figures

DRAWS = 20_000


def _codes(orders):
    known = {order: code for code, order in enumerate(itertools.permutations(range(4)))}
    return [known[tuple(order)] for order in orders]


@pytest.mark.statistical
@pytest.mark.parametrize("source", [SecureSource(), SeededSource(20261116)], ids=repr)
def test_every_order_of_four_is_as_likely_as_any_other(source):
    uniform = [1 / math.factorial(4)] * 24

    assert exact_events_pvalue(_codes(permutation(4, source=source) for _ in range(DRAWS)), uniform) > ALPHA
    assert exact_events_pvalue(_codes(_naive_orders(DRAWS)), uniform) < ALPHA


def _naive_orders(count):
    """Yield the orders of a well-known wrong shuffle: each place is swapped with any other, done ones too."""
    draw = np.random.default_rng(7)
    for _ in range(count):
        order = list(range(4))
        for place, other in enumerate(draw.integers(0, 4, 4)):
            order[place], order[other] = order[other], order[place]
        yield order


def test_a_permutation_is_a_sample_of_all():
    for n in (1, 2, 7, 1_000):
        found = permutation(n, source=SeededSource(3))

        assert sorted(found.tolist()) == list(range(n))
        assert np.array_equal(found, subsets(n, n, size=1, source=SeededSource(3))[0])
    assert permutation(0, source=SeededSource(3)).shape == (0,)


@pytest.mark.parametrize(
    ("n", "source"), [(-1, SeededSource(1)), (2**31, SeededSource(1)), (3, None), (0, 7)]
)
def test_wrong_use_is_refused(n, source):
    with pytest.raises(InvalidParameterError, match="of permutation must be"):
        permutation(n, source=source)
