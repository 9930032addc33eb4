"""The kernels do what the papers say, word for word, and never run out, wrap or stall in silence."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import RandomSourceError
from evenhand.privacy import _kernels, feeding
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.sampling import bernoulli, discrete_gaussian, discrete_laplace, subsets, uniform_below
from unit._plain_kernels import compiled_or_plain, plain_copy
from unit.privacy._slow_sampling import (
    SAMPLERS,
    ScriptedSource,
    Tape,
    slow_below,
    slow_bernoulli,
    slow_draws,
    slow_gaussian,
    slow_inverse_e,
    slow_laplace,
    slow_subset,
    words_of,
)

EDGE = 2**31 - 1
ONES = 2**64 - 1
EDGES = [Fraction(EDGE), Fraction(1, EDGE), Fraction(EDGE, EDGE - 1), Fraction(EDGE - 1, EDGE)]
SCALES = [*EDGES, *map(Fraction, ["1", "2", "7/3", "1/5", "1000", "65536/3"]), Fraction(2**30 + 1)]
VARIANCES = [
    *EDGES,
    *map(Fraction, ["1", "1/3", "25/7", "100", "1e6"]),
    Fraction(EDGE, 2),
    Fraction(46340**2),
]


@pytest.fixture(scope="module")
def plain():
    return plain_copy(_kernels)


@pytest.fixture(params=["compiled", "plain"])
def kernels(request, monkeypatch):
    """Run a test twice: as people run it, and without the compiler."""
    return compiled_or_plain(request, monkeypatch, _kernels)


@pytest.fixture(autouse=True)
def no_wrap():
    with np.errstate(all="raise", under="ignore"):
        yield


def _compare(draw, slow, *, size, seed, bits=32):
    """Draw from a stream, replay the same stream slowly, and return both."""
    fast = draw(size=size, source=SeededSource(seed)).tolist()
    tape = Tape(SeededSource(seed).words(40 * size + 2_000), bits)
    return fast, slow_draws(slow, tape, size)


# --- the same tape gives the same draws --------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_discrete_laplace_is_the_algorithm_of_the_paper(kernels, scale):
    fast, slow = _compare(
        lambda **where: discrete_laplace(scale, **where),
        lambda tape: slow_laplace(tape, scale),
        size=60,
        seed=1,
    )

    assert fast == slow


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_discrete_gaussian_is_the_algorithm_of_the_paper(kernels, variance):
    fast, slow = _compare(
        lambda **where: discrete_gaussian(variance, **where),
        lambda tape: slow_gaussian(tape, variance),
        size=40,
        seed=2,
    )

    assert fast == slow


@pytest.mark.parametrize(
    "n", [1, 2, 3, 10, 2**31 - 1, 2**31 + 1, 3 * 2**30, 2**32 - 1, 2**32, 2**32 + 1, 2**62 + 1, 2**63]
)
def test_uniform_below_is_lemires_algorithm(kernels, n):
    fast, slow = _compare(
        lambda **where: uniform_below(n, **where), lambda tape: slow_below(tape, n), size=100, seed=3
    )

    assert fast == slow


@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 2), (6, 6), (50, 7), (4, 0)])
def test_subsets_are_partial_shuffles_of_a_deck_never_put_back(kernels, n, k):
    deck = list(range(n))
    fast, slow = _compare(
        lambda **where: subsets(n, k, **where), lambda tape: list(slow_subset(tape, deck, k)), size=40, seed=4
    )

    assert fast == slow


@pytest.mark.parametrize(
    "p",
    [
        0,
        Fraction(1, 2),
        Fraction(77, 2**9),
        Fraction(1, 2**64),
        Fraction(2**64 - 1, 2**64),
        Fraction(2**53 // 3, 2**53),
    ],
)
def test_bernoulli_compares_digit_by_digit(kernels, p):
    fast, slow = _compare(
        lambda **where: bernoulli(p, **where),
        lambda tape: slow_bernoulli(tape, Fraction(p)),
        size=2_000,
        seed=5,
        bits=8,
    )

    assert fast == slow


def test_ten_thousand_draws_at_the_edges_equal_those_of_python_integers():
    """Numerators and denominators at the limit: the widest products there are."""
    edges = [EDGE, EDGE - 1, 2**30 + 1, 46340**2 + 1, 2]
    ratios = [Fraction(p, q) for p, q in itertools.product(edges, edges)]
    wrong = 0
    for seed, ratio in enumerate(ratios):
        for draw, slow in ((discrete_laplace, slow_laplace), (discrete_gaussian, slow_gaussian)):
            fast, expected = _compare(
                lambda ratio=ratio, draw=draw, **where: draw(ratio, **where),
                lambda tape, ratio=ratio, slow=slow: slow(tape, ratio),
                size=200,
                seed=seed,
            )
            wrong += sum(one != other for one, other in zip(fast, expected, strict=True))

    assert len(ratios) * 2 * 200 == 10_000
    assert wrong == 0


def test_ten_thousand_wide_products_equal_those_of_python_integers(plain):
    edges = [
        0,
        1,
        2,
        2**31 - 1,
        2**31,
        2**32 - 1,
        2**32,
        2**32 + 1,
        2**33 - 1,
        2**63 - 1,
        2**63,
        2**64 - 2**32,
        2**64 - 1,
    ]
    words = SeededSource(6).words(20_000).tolist()
    pairs = [*itertools.product(edges, edges), *zip(words[::2], words[1::2], strict=True)]

    for left, right in pairs:
        expected = divmod(left * right, 2**64)

        assert tuple(map(int, plain._multiply(np.uint64(left), np.uint64(right)))) == expected
        assert tuple(map(int, _kernels._multiply(np.uint64(left), np.uint64(right)))) == expected


def test_the_check_for_wrap_can_see(plain):
    with pytest.raises(FloatingPointError, match="overflow"):
        np.uint64(2**63) * np.uint64(3)


# --- bounds that the comments of the kernels claim ---------------------------------------------


def test_one_unit_settles_the_first_seven_trials_of_one_over_e():
    """Count all 8! outcomes of the trials literally."""
    odd, even, unsettled = 0, 0, 0
    for digits in itertools.product(*(range(k) for k in range(2, 9))):
        place = next((k for k, digit in enumerate(digits, start=2) if digit), None)
        odd += place is not None and place % 2 == 1
        even += place is not None and place % 2 == 0
        unsettled += place is None

    assert (odd, unsettled, even) == (14832, 1, 25487)
    assert int(_kernels._YES_ENDS) - int(_kernels._REDRAWN) == 14832 * (2**32 // 40320)


@pytest.mark.parametrize("q", [1, 2, 3, 46340, 2**30 + 1, EDGE - 1, EDGE])
@pytest.mark.parametrize("p", [1, 2, 3, 46340, 46340**2, 46340**2 - 1, 2**30 + 1, EDGE - 1, EDGE])
def test_the_products_of_the_gaussian_stay_below_their_bounds(p, q):
    t = math.isqrt(p // q) + 1

    assert q * t < 2**32
    assert q * t**2 < 2**33
    assert p * q * t**2 < 2**64
    assert 2**27 * q * t**2 + p < 2**64


def test_a_buffer_never_passes_the_bound_of_the_kernels():
    """What is left over is one draw, at most the limit; a buffer at most doubles it twice."""
    assert 4 * feeding.LONGEST_DRAW + 2 * feeding.MOST_WORDS <= _kernels.MOST_UNITS


# --- rare branches, by script ------------------------------------------------------------------

REDRAWN = 2**32 % math.factorial(8)
BLOCK = 2**32 // math.factorial(8)
OPEN = REDRAWN + 14832 * BLOCK
YES, NO = REDRAWN, 2**32 - 1


def _scripted(draw, slow, halves, *, size=1):
    """Play a script of units, followed by a seeded stream, to both versions."""
    script = words_of(halves)
    fast = draw(size=size, source=ScriptedSource(script, then=SeededSource(8))).tolist()
    tape = Tape([*script, *SeededSource(8).words(500).tolist()])
    return fast, slow_draws(slow, tape, size), tape.position


@pytest.mark.parametrize(
    ("halves", "expected"),
    [
        ([0, 0, NO], 0),  # a unit to be redrawn, then no
        ([0, REDRAWN - 1, YES, NO], 1),  # redrawn, then yes
        ([0, OPEN - 1, NO], 1),  # the last yes
        ([0, OPEN, 2**31, NO], 1),  # open, fails at place 9: odd, yes
        ([0, OPEN + BLOCK - 1, 1, 2**31, NO], 0),  # open, fails at place 10: even, no
        ([0, OPEN, 1, 1, 2**31, NO], 1),  # open, fails at place 11: odd, yes
        ([0, OPEN + BLOCK], 0),  # the first no
        ([0, REDRAWN - 1, OPEN - 1, NO], 1),  # redrawn, then the last yes
        ([0, REDRAWN - 1, OPEN, 2**31, NO], 1),  # redrawn, then open, fails at place 9: odd, yes
        ([0, REDRAWN - 1, OPEN + BLOCK, 2**31, NO], 0),  # redrawn, then the first no
        ([1, NO, 0, NO], 0),  # minus zero is drawn again
        ([1, YES, YES, NO], -2),
    ],
)
def test_one_over_e_in_its_rare_branches(kernels, halves, expected):
    fast, slow, _ = _scripted(
        lambda **where: discrete_laplace(1, **where), lambda tape: slow_laplace(tape, Fraction(1)), halves
    )

    assert fast == slow == [expected]


def test_one_over_e_redraws_a_unit_below_the_blocks(kernels):
    """2**32 is no multiple of 8!: taking such a unit would be a bias of 2**-18."""
    halves = [0, REDRAWN - 1, REDRAWN - 1, OPEN - 1, NO]
    fast, slow, used = _scripted(
        lambda **where: discrete_laplace(1, **where), lambda tape: slow_laplace(tape, Fraction(1)), halves
    )

    assert fast == slow == [1]
    assert used == 5


@pytest.mark.parametrize("scale", [EDGE, 2**30 + 1], ids=str)
def test_trials_whose_bound_passes_32_bits_are_split_in_two(kernels, scale):
    """Successes up to the last place that fits, then the place and the remainder apart."""
    last = (2**32 - 1) // scale
    for late in ([2**31], [3, NO], [3, 3, NO], [3, 3, 3, NO], [3, 3, 3, 3, 2**31]):
        halves = [2**32 - 2, *[7] * last, *late, NO, NO]
        fast, slow, _ = _scripted(
            lambda **where: discrete_laplace(scale, **where),
            lambda tape: slow_laplace(tape, Fraction(scale)),
            halves,
        )

        assert fast == slow


def test_a_remainder_that_would_be_biased_is_drawn_again(kernels):
    scale = 2**30 + 1
    fast, slow, used = _scripted(
        lambda **where: discrete_laplace(scale, **where),
        lambda tape: slow_laplace(tape, Fraction(scale)),
        [0, 2 * (2**31 - 1), NO, NO],
    )

    assert fast == slow == [scale - 1]
    assert used == 4


@pytest.mark.parametrize("bit", [0, 2**31 - 1, 2**31, 2**32 - 1])
def test_a_coin_that_falls_on_the_edge_takes_half_a_bit(kernels, bit):
    """With variance 1/3 and y = 0 the exponent is 1/6: bound 3, so (2 * 0 + 1) / (2 * 3)."""
    variance = Fraction(1, 3)
    halves = [0, NO, 0, bit, 2**31, NO]
    fast, slow, _ = _scripted(
        lambda **where: discrete_gaussian(variance, **where),
        lambda tape: slow_gaussian(tape, variance),
        halves,
    )

    assert fast == slow


def test_a_wide_bound_is_drawn_again_where_it_would_be_biased(kernels):
    n = 2**62 + 5
    words = [0, 0, 2**63]
    drawn = uniform_below(n, size=1, source=ScriptedSource(words, then=SeededSource(8)))

    assert drawn.tolist() == [slow_below(Tape(words), n)] == [n // 2]


def test_a_narrow_bound_is_drawn_again_where_it_would_be_biased(kernels):
    drawn = uniform_below(3, size=1, source=ScriptedSource(words_of([0, 0, 2**31]), then=SeededSource(8)))

    assert drawn.tolist() == [1]


def test_a_deck_redraws_where_it_would_be_biased(kernels):
    drawn = subsets(3, 1, size=1, source=ScriptedSource(words_of([0, 0, 2**31]), then=SeededSource(8)))

    assert drawn.tolist() == [[1]]


@pytest.mark.parametrize(
    ("bytes_", "expected"),
    [
        ([76, 255], False),
        ([38, 127], True),
        ([38, 128], False),
        ([38, 129], False),
        ([37, 255], True),
        ([39, 0], False),
    ],
)
def test_equal_digits_ask_for_the_next_one(kernels, bytes_, expected):
    """77 / 512 has the digits 38 and 128."""
    word = int.from_bytes(bytes(bytes_), "little")
    drawn = bernoulli(Fraction(77, 512), size=1, source=ScriptedSource([word], then=SeededSource(8)))

    assert drawn.tolist() == [expected]


@pytest.mark.parametrize(("following", "expected"), [(127, True), (128, False)])
def test_equal_digits_at_the_end_of_a_buffer_wait_for_the_next(kernels, following, expected, monkeypatch):
    monkeypatch.setattr(feeding, "MOST_WORDS", 1)
    words = [int.from_bytes([0] * 7 + [38], "little"), following]
    drawn = bernoulli(Fraction(77, 512), size=8, source=ScriptedSource(words, then=SeededSource(8)))

    assert drawn.tolist() == [True] * 7 + [expected]


@pytest.mark.parametrize("trial", range(200))
def test_one_over_e_agrees_on_random_tapes(trial):
    tape = Tape(SeededSource(9, cell=str(trial)).words(100))
    draws = discrete_laplace(1, size=1, source=SeededSource(9, cell=str(trial)))

    assert draws.tolist() == [slow_laplace(tape, Fraction(1))]


# --- running out, chunks, stalls ---------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_draws_do_not_depend_on_how_words_are_cut(kernels, name, monkeypatch):
    whole = SAMPLERS[name](size=120, source=SeededSource(10))
    monkeypatch.setattr(feeding, "FEWEST_WORDS", 1)
    for most in (1, 2, 3, 7, 64):
        monkeypatch.setattr(feeding, "MOST_WORDS", most)

        assert np.array_equal(SAMPLERS[name](size=120, source=SeededSource(10)), whole)


@pytest.mark.parametrize(
    "draw",
    [
        SAMPLERS["discrete_laplace"],
        SAMPLERS["discrete_gaussian"],
        SAMPLERS["uniform_below"],
        SAMPLERS["uniform_below, wide"],
    ],
)
@pytest.mark.parametrize("word", [0, ONES])
def test_a_source_that_always_says_the_same_is_refused_or_finishes(draw, word):
    """A stuck generator must end in an error, not in an endless loop, a wrapped number or a release."""

    class Stuck(ScriptedSource):
        def words(self, count):
            return np.full(count, word, dtype=np.uint64)

    try:
        draws = draw(size=10, source=Stuck([]))
    except RandomSourceError:
        draws = np.zeros(10)

    assert (np.abs(draws) < 2**63 - 1).all()


def test_a_source_that_gives_nothing_is_refused():
    """It would be asked for ever."""

    class Empty(ScriptedSource):
        def words(self, count):
            return np.empty(0, dtype=np.uint64)

    with pytest.raises(RandomSourceError, match="gave no numbers"):
        discrete_laplace(1, size=1, source=Empty([]))


def test_a_million_successes_in_a_row_are_refused():
    """The only way to a draw near the end of int64: e**-2000000. It raises and does not wrap."""

    class Yes(ScriptedSource):
        def words(self, count):
            return np.full(count, YES << 32 | YES, dtype=np.uint64)

    with pytest.raises(RandomSourceError, match="no finished draw: it is not random"):
        discrete_laplace(EDGE, size=1, source=Yes([]))


def test_a_long_draw_below_the_limit_is_exact(kernels):
    """Five thousand successes: far beyond any buffer of this size, and still counted right."""
    halves = [0, *[YES] * 5_000, NO]
    drawn = discrete_laplace(1, size=1, source=ScriptedSource(words_of(halves), then=SeededSource(8)))

    assert drawn.tolist() == [5_000]


def test_inverse_e_itself_agrees(plain):
    for trial in range(300):
        words = SeededSource(12, cell=str(trial)).words(20)
        tape = Tape(words)
        units = np.array(Tape(words).units, dtype=np.uint32)

        assert plain._inverse_e(units, 0) == (slow_inverse_e(tape), tape.position)
