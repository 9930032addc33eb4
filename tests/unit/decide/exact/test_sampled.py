"""Simulation: chunks, pairs, steps, progress, and what is refused."""

import numpy as np
import pytest

from evenhand.decide.allotment.allotment import Allotment, Formula
from evenhand.decide.exact import sampled as module
from evenhand.decide.exact.sampled import DRAWS, sampled_rule, sampled_shares, steps_for_input
from evenhand.decide.language.terms import count, ratio, threshold
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteLaplace, Laplace
from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.release.postprocess.steps import Integral, Nonnegative, Shrink, SumTo

LAW = DiscreteLaplace(3)
THREE = np.array([30, 50, 80])


def test_a_rule_is_counted_draw_by_draw(monkeypatch):
    """The same flips as deciding each release by itself."""
    monkeypatch.setattr(module, "_CELLS", 12)  # four releases of three at a time
    rule = (count("x") >= 50) & (ratio("x", "y") > 0.5)
    columns = {"x": THREE, "y": np.array([50, 100, 150])}
    found = sampled_rule(rule, columns, {"x": LAW, "y": LAW}, draws=10, rng=5)
    source, flips = SeededSource(5), np.zeros(3)
    truth = rule.holds(columns)
    for rows in (4, 4, 2):
        x = LAW.draw(size=(rows, 3), source=source) + columns["x"]
        y = LAW.draw(size=(rows, 3), source=source) + columns["y"]
        for one, two in zip(x, y, strict=True):
            flips += rule.holds({"x": one, "y": two}) != truth

    assert np.abs(found.bias) * 10 == pytest.approx(flips)
    assert (found.bias[truth] <= 0).all()
    assert (found.bias[~truth] >= 0).all()
    assert found.variance == pytest.approx(flips / 10 * (1 - flips / 10))
    assert (found.standard_error > 0).all()


def test_shares_are_averaged_pair_by_pair(monkeypatch):
    """The same averages as computing each release and its opposite by itself."""
    monkeypatch.setattr(module, "_CELLS", 12)
    problem = Allotment([1, 2, 1.5])
    found = sampled_shares(problem, THREE, LAW, draws=9, rng=5)
    source, truth, pairs, alone = SeededSource(5), problem.shares(THREE), [], []
    for rows in (2, 2, 1):
        for noise in LAW.draw(size=(rows, 3), source=source):
            both = [problem.shares(THREE + noise) - truth, problem.shares(THREE - noise) - truth]
            alone += both
            pairs.append(np.mean(both, axis=0))

    assert found.draws == 10
    assert found.bias == pytest.approx(np.mean(pairs, axis=0))
    assert found.standard_error == pytest.approx(np.std(pairs, axis=0, ddof=1) / np.sqrt(5))
    assert found.variance == pytest.approx(np.var(alone, axis=0))


def test_pairs_see_a_bias_that_independent_draws_do_not():
    """The first-order term is a hundred times the bias here; in a pair it cancels."""
    problem, counts = Allotment(np.ones(50)), np.arange(1, 51) * 200
    found = sampled_shares(problem, counts, Laplace(20), draws=1_000)
    alone = np.sqrt(found.variance / found.draws)

    assert (found.standard_error * 50 < alone).all()


def test_reruns_are_the_same_and_other_seeds_are_not():
    def run(rng):
        return sampled_rule(threshold("x", 50), {"x": THREE}, {"x": LAW}, draws=500, rng=rng).bias.tolist()

    assert run(None) == run(0) == run(SeededSource(0))
    assert run(0) != run(1)


def test_progress_is_told_after_each_chunk(monkeypatch):
    monkeypatch.setattr(module, "_CELLS", 30)
    told = []
    sampled_rule(threshold("x", 50), {"x": THREE}, {"x": LAW}, draws=25, progress=lambda *at: told.append(at))
    assert told == [(10, 25), (20, 25), (25, 25)]

    told.clear()
    sampled_shares(Allotment([1, 1, 1]), THREE, LAW, draws=25, progress=lambda *at: told.append(at))
    assert told == [(10, 26), (20, 26), (26, 26)]


def test_no_chunk_holds_more_than_it_may():
    """A million draws of ten thousand places must not need eighty gigabytes."""
    for draws, size in ((10**6, 10_000), (7, 10**7), (10, 1), (5, 0)):
        chunks = list(module._chunks(draws, size))

        assert sum(chunks) == draws
        assert max(chunks) * size <= max(module._CELLS, size)


def test_sums_are_made_within_each_release():
    """A step that ties counts together must not tie releases together."""
    seen = []

    class Spy(SumTo):
        def apply(self, values, *, source=None):
            made = super().apply(values, source=source)
            seen.append((np.shape(values), made.sum()))
            return made

    sampled_shares(Allotment([1, 1, 1]), THREE, LAW, post=[Spy(160)], draws=4)

    assert [shape for shape, _ in seen] == [(3,)] * 4
    assert [total for _, total in seen] == pytest.approx([160] * 4)


def test_steps_change_what_is_drawn():
    low = np.array([0, 1, 50])
    plain = sampled_rule(count("x") >= 0, {"x": low}, {"x": LAW}, draws=400)
    clamped = sampled_rule(count("x") >= 0, {"x": low}, {"x": LAW}, post=Nonnegative(), draws=400)
    rounded = sampled_shares(
        Allotment([1, 1, 1]), THREE, Laplace(2), post=[Integral(), Shrink(1.0)], draws=40
    )

    assert plain.bias[0] < 0
    assert clamped.bias.tolist() == [0, 0, 0]
    assert np.isfinite(rounded.bias).all()


def test_steps_may_differ_by_input():
    assert steps_for_input({"x": Nonnegative()}, "y") == ()
    assert steps_for_input({"x": Nonnegative()}, "x") == (Nonnegative(),)
    assert steps_for_input(None, "x") == ()
    assert steps_for_input([Nonnegative(), Integral()], "x") == (Nonnegative(), Integral())
    with pytest.raises(InvalidParameterError, match="post-processing steps"):
        steps_for_input(["nonnegative"], "x")


def test_a_total_of_zero_leaves_no_shares():
    """One place, one person: after clamping some draws pay nobody; without steps they are left out."""
    wide = DiscreteLaplace(2)
    clamped = sampled_shares(Allotment([1.0]), np.array([1]), wide, post=[Nonnegative()], draws=2_000)
    plain = sampled_shares(Allotment([1.0]), np.array([1]), wide, draws=2_000)

    assert clamped.unpaid == clamped.nonpositive > 0
    assert clamped.bias[0] == pytest.approx(-clamped.unpaid / 2_000)
    assert plain.unpaid > 0
    assert plain.nonpositive > plain.unpaid
    assert plain.bias.tolist() == [0]


def test_a_formula_without_a_value_is_left_out():
    root = Formula(lambda x: np.sqrt(x) / np.sqrt(x).sum())
    found = sampled_shares(root, np.array([1, 4]), Laplace(2), draws=200)

    assert found.unpaid > 0
    assert found.nonpositive == 0
    assert np.isfinite(found.bias).all()


@pytest.mark.parametrize("draws", [0, 3, -1, 2.5, True, 10**9 + 1])
def test_draws_are_a_whole_number_of_them(draws):
    with pytest.raises(InvalidParameterError, match="'draws' parameter of bias"):
        sampled_rule(threshold("x", 5), {"x": THREE}, {"x": LAW}, draws=draws)


def test_a_release_is_never_drawn_to_measure_it():
    with pytest.raises(InvalidParameterError, match="drawn once and not in order to measure it"):
        sampled_rule(threshold("x", 5), {"x": THREE}, {"x": LAW}, rng=SecureSource())


def test_ten_thousand_draws_unless_told():
    assert sampled_rule(threshold("x", 5), {"x": np.array([5])}, {"x": LAW}).draws == DRAWS == 10_000
