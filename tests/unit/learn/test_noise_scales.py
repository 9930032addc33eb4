"""The noise that learning draws is the noise that its guarantee states, for every unit, in exact numbers.

What is looked at is what the samplers are given at the last moment before random words are read: nothing
between a parameter of a model and the kernel can lower a scale unseen.
"""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from evenhand.learn.fermi import training as fermi_training
from evenhand.learn.fermi.classifier import DPFermi
from evenhand.learn.parity.post_processor import ParityPostProcessor
from evenhand.learn.training import logistic
from evenhand.learn.training.descent import Schedule, _split_halvings, batches
from evenhand.learn.training.logistic import DPLogisticRegression
from evenhand.privacy import _kernels, sampling
from evenhand.privacy.accounting import SampledGaussian, sampling_rate
from evenhand.privacy.grid_noise import GridNoise, training_guarantee
from evenhand.privacy.randomness import SeededSource, Source
from unit.learn._parity_cases import Column

UNITS = ["add or remove one", "replace one"]
_draws = SeededSource(3).generator()
ROWS = 160
X = _draws.normal(size=(ROWS, 2))
GROUP = _draws.integers(0, 3, ROWS)
Y = (X[:, 0] + GROUP > 1).astype(int)
QUICK = {"epochs": 1, "batch": 40, "rows": ROWS, "classes": [0, 1], "rng": 5}


@pytest.fixture
def drawn(monkeypatch):
    """Note every draw: the name of the kernel, its law in exact numbers, and how many numbers."""
    names = {id(getattr(_kernels, name)): name for name in _kernels.__all__}
    kept, feed = [], sampling.feed

    def noting(kernel, out, parameters, source, **given):
        name = names[id(kernel)]
        if name == "discrete_laplace":
            law = Fraction(int(parameters[0]), int(parameters[1]))
        elif name == "discrete_gaussian":
            p, step, scale, bound, threshold = map(int, parameters)
            law = Fraction(p, step // scale)
            assert (step % scale, bound, threshold) == (0, p * step * scale, 2**64 % (p * step * scale))
            assert scale**2 * law.denominator > p  # t is above the standard deviation
        elif name == "bernoulli":
            law = Fraction(int.from_bytes(parameters[0].tobytes(), "big"), 256 ** len(parameters[0]))
        else:
            law = None
        kept.append((name, law, len(out)))
        return feed(kernel, out, parameters, source, **given)

    monkeypatch.setattr(sampling, "feed", noting)
    return kept


def _laws(drawn, kernel):
    return {law for name, law, size in drawn if name == kernel and size}


def _largest_change(cells, unit):
    """The largest sum of changes of counts between any two neighbouring tables, by trying all of them.

    A table is a list of people, each in one cell. Three people are enough: the others stay where they are.
    """
    changes = set()
    for people in product(range(cells), repeat=3):
        counts = np.bincount(people, minlength=cells)
        if unit == "add or remove one":
            neighbours = [people[:-1]]
        else:
            neighbours = [(*people[:-1], other) for other in range(cells)]
        changes |= {int(np.abs(counts - np.bincount(each, minlength=cells)).sum()) for each in neighbours}
    return max(changes)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("kind", "cells"), [("parity", 3), ("odds", 6)])
@pytest.mark.parametrize("part", ["1/10", "3/7", "0.05"])
def test_the_group_counts_of_fermi_get_noise_for_the_unit(drawn, unit, kind, cells, part):
    """Replacing one person moves two counts: noise for one of them would cost twice what is told."""
    model = DPFermi(2, "1e-5", unit=unit, kind=kind, group_epsilon=part, groups=[0, 1, 2], **QUICK)
    model.fit(X, Y, group=GROUP)
    change = _largest_change(cells, unit)

    assert _laws(drawn, "discrete_laplace") == {change / Fraction(part)}
    assert sum(size for name, _, size in drawn if name == "discrete_laplace") == cells


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("epsilon", ["1/10", "5/3"])
def test_the_table_of_a_post_processing_gets_noise_for_the_unit(drawn, unit, labelled, epsilon):
    given = {"kind": "odds"} if labelled else {}
    classifier = Column().fit(np.zeros((2, 1)), [0, 1])
    model = ParityPostProcessor(
        classifier, epsilon=epsilon, unit=unit, held_out=True, groups=[0, 1, 2], rng=3, **given
    )
    model.fit(np.asarray(Y)[:, None], Y, group=GROUP)
    cells = 12 if labelled else 6

    assert _laws(drawn, "discrete_laplace") == {_largest_change(cells, unit) / Fraction(epsilon)}
    assert model.rates_guarantee_.epsilon == Fraction(epsilon)
    assert str(model.rates_guarantee_.unit) == unit


def test_the_printed_table_gets_noise_for_one_positive_count(drawn):
    """With groups fixed a person moves the positives of one group by 1, and the sizes are public."""
    classifier = Column().fit(np.zeros((2, 1)), [0, 1])
    given = {"as_printed": True, "held_out": True, "groups": [0, 1, 2], "rng": 3}
    model = ParityPostProcessor(classifier, epsilon="1/4", **given)
    model.fit(np.asarray(Y)[:, None], Y, group=GROUP)

    assert _laws(drawn, "discrete_laplace") == {Fraction(4)}
    assert model.rates_guarantee_.epsilon == Fraction(1, 4)
    assert model.rates_guarantee_.in_clear[0] == "group"


@pytest.mark.parametrize("holdout", ["1/4", 0.3])
def test_the_coin_of_a_post_processing_has_the_stated_chance(drawn, holdout):
    model = ParityPostProcessor(Column(), prefit=False, holdout=holdout, groups=[0, 1, 2], rng=3)
    model.fit(np.asarray(Y)[:, None], Y, group=GROUP)

    assert _laws(drawn, "bernoulli") == {Fraction(round(Fraction(str(holdout)) * 2**53), 2**53)}


def _claimed(model):
    """What the last fit claims, and how much of it is left for the steps."""
    stated = model.guarantee_per_fit_
    counted = 0
    if isinstance(model, DPFermi):
        counted = Fraction(str(model.group_epsilon))
    return stated.epsilon - counted, stated.delta, stated


MODELS = {
    "logistic": lambda **given: DPLogisticRegression(2, "1e-5", **QUICK, **given).fit(X, Y),
    "fermi": lambda **given: DPFermi(2, "1e-5", groups=[0, 1, 2], **QUICK, **given).fit(X, Y, group=GROUP),
    "fermi odds": lambda **given: DPFermi(
        2, "1e-5", groups=[0, 1, 2], kind="odds", share=0.3, clip=2, matrix_clip=3, **QUICK, **given
    ).fit(X, Y, group=GROUP),
}
DIMENSIONS = {"logistic": [3], "fermi": [3, 6], "fermi odds": [3, 12]}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", MODELS)
def test_the_noise_of_the_steps_is_that_which_is_accounted_for(drawn, name, unit):
    """All blocks of a step are one Gaussian query: the squares of clip over noise add up to one over z**2."""
    model = MODELS[name](unit=unit)
    noise, times = Fraction(model.noise_), model.steps_
    expected = Counter()
    for grid, dimension in zip(_GRIDS, DIMENSIONS[name], strict=True):
        expected[grid.variance] += dimension * times
    found = Counter()
    for kernel, law, size in drawn:
        if kernel == "discrete_gaussian":
            found[law] += size

    assert found == expected
    assert sum(Fraction(grid.longest**2, grid.variance) for grid in _GRIDS) <= 1 / noise**2
    epsilon, delta, stated = _claimed(model)
    assert (stated.epsilon, stated.delta, str(stated.unit)) == (2, Fraction("1e-5"), unit)
    accounted = SampledGaussian(noise, model.sampling_, model.steps_)
    assert accounted.epsilon(delta, unit=unit) < epsilon  # the grid takes the rest
    assert accounted.epsilon(delta, unit=unit) > epsilon * Fraction(
        97, 100
    )  # and the noise is not for another unit


_GRIDS: list = []


@pytest.fixture(autouse=True)
def grids(monkeypatch):
    """Keep the grids that rows are clipped to, which is where the length of a vector comes from."""
    _GRIDS.clear()

    def keeping(*args, **given):
        made = training_guarantee(*args, **given)
        _GRIDS.extend(made.grids)
        return made

    monkeypatch.setattr(logistic, "training_guarantee", keeping)
    monkeypatch.setattr(fermi_training, "training_guarantee", keeping)


class Words(Source):
    """Plays words, from the front whenever a draw begins."""

    kind = "seeded"

    def __init__(self, *words):
        self.script = words

    def words(self, count):
        return np.resize(np.array(self.script, dtype=np.uint64), count)


RATES = [Fraction(1, 4), sampling_rate(40, ROWS + 3), sampling_rate(1, 3), sampling_rate(7, 8), Fraction(1)]


@pytest.mark.parametrize("sampling", RATES)
def test_a_row_joins_a_step_with_the_accounted_chance_to_the_last_bit(sampling, monkeypatch):
    """A row is in if all its halvings say so and its own word is below what is left of the probability."""
    monkeypatch.setattr(Schedule, "sampling", sampling)
    halvings, below = _split_halvings(sampling)
    left = int(below) or 2**64

    assert Fraction(left, 2 ** (64 + halvings)) == sampling
    schedule, full = Schedule(rows=64, batch=1, steps=1), 2**64 - 1

    def joined(halves, own):
        batch = next(batches(schedule, 64, source=Words(*halves, *[own] * 64)))
        return batch.tolist()

    assert joined([full] * halvings, min(left - 1, full)) == list(range(64))
    if left < 2**64:
        assert joined([full] * halvings, left) == []
    for place in range(halvings):
        one_less = [full ^ (1 << 5) if each == place else full for each in range(halvings)]
        assert joined(one_less, left - 1) == [row for row in range(64) if row != 5]


@pytest.mark.parametrize("unit", UNITS)
def test_counts_and_steps_of_fermi_add_up_to_the_whole(unit):
    model = DPFermi(2, "1e-5", unit=unit, group_epsilon="1/3", groups=[0, 1, 2], **QUICK)
    model.fit(X, Y, group=GROUP)

    assert model.guarantee_.epsilon == 2
    assert model.guarantee_.delta == Fraction("1e-5")


@pytest.mark.parametrize("block", [0, 1])
def test_the_noise_drawn_for_a_block_of_fermi_reaches_it_whole(block, monkeypatch):
    """Noise that is drawn and then left out, or halved, protects nobody: after one step it is all there."""

    def trained(steps_of_noise):
        def draw(grid, size, source):
            mine = grid is _GRIDS[-2:][block]
            return np.full(size, steps_of_noise if mine else 0, dtype=np.int64)

        monkeypatch.setattr(GridNoise, "draw", draw)
        given = QUICK | {"batch": ROWS, "average": False, "rate": 2.0, "matrix_rate": 0.25}
        model = DPFermi(2, "1e-5", groups=[0, 1, 2], strength=1.0, **given).fit(X, Y, group=GROUP)
        return np.concatenate([model.coef_[0], model.intercept_]), model.matrix_.ravel()

    without, noisy = trained(0), trained(1_000)
    moved = [np.abs(after - before) for before, after in zip(without, noisy, strict=True)]
    grid, rate = _GRIDS[-2:][block], (2.0, 0.25)[block]

    assert moved[block] == pytest.approx(rate * 1_000 * float(grid.spacing) / ROWS, rel=1e-9)
    assert not moved[1 - block].any()


def test_the_noise_drawn_for_logistic_regression_reaches_every_weight_whole(monkeypatch):
    def trained(steps_of_noise):
        monkeypatch.setattr(GridNoise, "draw", lambda _, size, __: np.full(size, steps_of_noise))
        given = QUICK | {"batch": ROWS, "average": False, "rate": 2.0}
        model = DPLogisticRegression(2, "1e-5", **given).fit(X, Y)
        return np.concatenate([model.coef_[0], model.intercept_])

    moved = np.abs(trained(1_000) - trained(0))

    assert moved == pytest.approx(2.0 * 1_000 * float(_GRIDS[-1].spacing) / ROWS, rel=1e-9)
