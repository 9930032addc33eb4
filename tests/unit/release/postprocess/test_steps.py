"""Steps of post-processing: what they do to a release, a table, an array."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.privacy import Guarantee
from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.release.postprocess import (
    Integral,
    Nonnegative,
    Shrink,
    SumTo,
    integral,
    nonnegative,
    shrink,
    sum_to,
)
from evenhand.release.postprocess import rounding as postprocess_rounding
from evenhand.release.table.histogram import Histogram
from evenhand.release.table.released import Release
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema([Column("x", Domain.integers(0, 3))])
NOISY = [-3, 0, 2, 9]


def release(suppressed=None):
    guarantee = Guarantee(epsilon=1, unit="replace one", trust="central", proof="none")
    return Release(
        histogram=Histogram.of(NOISY, SCHEMA),
        guarantee=guarantee,
        mechanism=None,
        simulated=True,
        suppressed=suppressed,
    )


class TestSteps:
    def test_nonnegative_raises_what_is_below(self):
        """Readers do not accept minus three people."""
        assert nonnegative(NOISY).tolist() == [0, 0, 2, 9]
        assert nonnegative(NOISY).dtype == np.int64
        assert nonnegative([-0.5, 2.5], least=1).tolist() == [1.0, 2.5]

    def test_shrink_is_the_three_step_formula(self):
        """Clamp, lower by T / (x + 1 - l), clamp again."""
        slow = [max(max(x, 1) - 6 / (max(x, 1) + 1 - 1), 1) for x in NOISY]

        assert shrink(NOISY, T=6, least=1).tolist() == slow
        assert shrink(NOISY, T=0).tolist() == [0, 0, 2, 9]

    def test_sum_to_moves_all_by_the_same(self):
        """No difference between two counts changes."""
        moved = sum_to(NOISY, total=20)

        assert moved.sum() == 20
        assert np.ptp(moved - NOISY) == 0
        assert sum_to([0.5, 1.5], total=4).tolist() == [1.5, 2.5]

    def test_whole_numbers_are_added_as_such(self):
        """64 bits wrap: the mean of two huge counts would come out negative."""
        huge = 2**62
        moved = sum_to([huge, huge, huge], total=3 * 2.0**62 + 3 * 2.0**12)

        assert moved.tolist() == [2.0**62 + 2.0**12] * 3
        assert sum_to([-(2**63), -(2**63)], total=0).tolist() == [0, 0]

    @pytest.mark.parametrize("seed", range(20))
    def test_nonnegative_sums_are_the_nearest(self, seed):
        """The projection on a simplex, compared with what it must satisfy and with bisection."""
        rng = np.random.default_rng(seed)
        values, total = rng.integers(-20, 30, 7), int(rng.integers(1, 60))
        low, high = -1000.0, 1000.0
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if np.maximum(values - middle, 0).sum() > total else (low, middle)
        moved = sum_to(values, total=total, nonnegative=True)

        assert moved.sum() == pytest.approx(total, abs=1e-9)
        assert moved.min() >= 0
        assert moved == pytest.approx(np.maximum(values - low, 0), abs=1e-9)

    def test_sums_of_nothing(self):
        """Edge cases that a division by the number of cells would meet."""
        assert sum_to([], total=5).shape == (0,)
        assert sum_to([], total=5, nonnegative=True).shape == (0,)
        assert sum_to([1, 2], total=0, nonnegative=True).tolist() == [0, 0]
        assert sum_to([-5], total=3, nonnegative=True).tolist() == [3]

    def test_steps_say_what_they_do(self):
        """The words stand beside the published table."""
        steps = [Nonnegative(), SumTo(1e6), SumTo(7, nonnegative=True), Integral(), Shrink(4)]

        assert [step.words for step in steps] == [
            "counts below 0 set to 0",
            "moved to add up to 1,000,000",
            "moved to add up to 7, none below 0",
            "rounded at random to whole numbers",
            "counts below 0 set to 0, small ones shrunk with T = 4",
        ]
        assert len({step.name for step in steps}) == 4

    def test_short_forms_without_a_table_are_steps(self):
        """They can be put into a list."""
        assert nonnegative() == Nonnegative()
        assert integral() == Integral()
        assert sum_to(total=3, nonnegative=True) == SumTo(3, nonnegative=True)
        assert shrink(T=2, least=1) == Shrink(2, least=1)

    @pytest.mark.parametrize(
        "make",
        [
            lambda: Nonnegative(least=0.5),
            lambda: Shrink(-1),
            lambda: Shrink(float("nan")),
            lambda: Shrink("2"),
            lambda: Shrink(T=True),
            lambda: Shrink(1, least=None),
            lambda: SumTo(float("inf")),
            lambda: SumTo(-1, nonnegative=True),
            lambda: SumTo(1, nonnegative=1),
            lambda: nonnegative(["a"]),
            lambda: nonnegative([np.nan]),
        ],
    )
    def test_parameters_are_checked(self, make):
        """A step that cannot be is refused before a table is published."""
        with pytest.raises(InvalidParameterError):
            make()


class TestPlaces:
    def test_a_table_stays_a_table(self):
        """The columns stay beside the counts."""
        histogram = shrink(Histogram.of(NOISY, SCHEMA), T=2)

        assert histogram.schema == SCHEMA
        assert histogram.counts.tolist() == shrink(NOISY, T=2).tolist()
        with pytest.raises(LimitExceededError, match="Shrink"):
            shrink(Histogram.of_cells([0], [1], SCHEMA), T=2)

    def test_a_release_keeps_its_guarantee_and_says_what_was_done(self):
        """No step sees the true table, so the promise stands."""
        first = release()
        made = integral(nonnegative(first), rng=1)

        assert made.histogram.counts.tolist() == [0, 0, 2, 9]
        assert made.guarantee == first.guarantee
        assert made.postprocessing == ("counts below 0 set to 0", "rounded at random to whole numbers")

    def test_cells_without_a_value_are_left_out(self):
        """A sum over what was not published would put people into suppressed cells."""
        made = sum_to(release(suppressed=[True, False, False, False]), total=14)

        assert made.histogram.counts.tolist() == [-3, 1, 3, 10]


class TestRounding:
    def test_values_go_to_a_neighbour_and_whole_ones_stay(self):
        """Rounding moves a count by less than one."""
        values = np.array([0.5, -0.5, 3.0, -7.0, 2.999, -1e-300, 2.0**52 + 0.5])
        made = integral(values)

        assert made.dtype == np.int64
        assert (np.abs(made - values) < 1).all()
        assert made[2:4].tolist() == [3, -7]

    def test_whole_numbers_draw_nothing(self):
        """Nothing is random about a whole number."""
        assert Integral().apply(np.array([2**62 + 1]), source=None).tolist() == [2**62 + 1]
        assert Integral().apply([1.0, -4.0], source=SecureSource()).tolist() == [1, -4]

    @pytest.mark.parametrize("value", [0.1, -0.1, 2**-70 * 3, 1 - 2**-53, 5.3, 2.0**-1074])
    def test_the_probability_is_the_part_after_the_point_to_the_last_bit(self, monkeypatch, value):
        """A uniform float has 53 bits; a part of fewer or more would be rounded up or down."""
        part = Fraction(abs(value)) % 1
        digits = []
        rest = part
        while rest:
            rest *= 2**63
            digits.append(int(rest))
            rest -= digits[-1]
        for last, away in ((0, False), (-1, True)):
            script = [*digits[:-1], digits[-1] + last]
            monkeypatch.setattr(
                postprocess_rounding,
                "uniform_below",
                lambda n, *, size, source, script=script: np.full(size, script.pop(0), np.int64),
            )
            made = integral(np.array([value]), rng=1)
            inward = int(value)
            outward = inward + (1 if value > 0 else -1)

            assert made.tolist() == [outward if away else inward]
            assert not script

    def test_a_seed_gives_the_same_rounding(self):
        """Studies must come out the same twice."""
        values = np.full((3, 4), 0.5)

        assert np.array_equal(integral(values, rng=3), integral(values, rng=SeededSource(3)))
        assert integral(values, rng=3).shape == (3, 4)
