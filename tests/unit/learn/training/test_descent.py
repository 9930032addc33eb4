"""Batches, steps and the kernel below them: the published vectors, slow twins, and who is in a batch."""

from fractions import Fraction

import numba
import numpy as np
import pytest
from scipy.stats import binom

from evenhand.errors import InvalidParameterError
from evenhand.learn.training import descent
from evenhand.learn.training import descent_kernels as _descent_kernels
from evenhand.learn.training.descent import (
    Schedule,
    Steps,
    TailMean,
    TrainingRows,
    batches,
    descend,
    noises,
    plan,
)
from evenhand.privacy.randomness import SecureSource, SeededSource, Source
from statistical._exact import ALPHA, exact_events_pvalue
from unit._plain_kernels import plain_copy

X = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 0.0], [-2.0, 1.0]])
Y = np.array([1, 0, 0, 1])
START = np.array([[0.1, -0.2, 0.05]])
FINE = 2**30
"""Steps of the grid in the clip: the finest grid there is, so that rounding is below 1e-9."""


@pytest.fixture(scope="module")
def plain():
    return plain_copy(_descent_kernels)


@pytest.fixture(params=["compiled", "plain"])
def kernels(request, plain):
    return _descent_kernels if request.param == "compiled" else plain


def without_noise(start, steps, *, rate=0.5, average=False, clip=1.0, rows=None):
    rows = rows or TrainingRows.of(X, Y, constant=True)
    everybody = [np.arange(len(rows.features))] * steps
    silence = [np.zeros(start.shape, dtype=np.int64) for _ in range(steps)]
    return descend(
        rows,
        start,
        everybody,
        silence,
        Steps(clip, FINE, rate, average=average),
        schedule=Schedule(4, 4, steps),
    )


def summed(kernels, rows, weights, batch, *, clip=1.0, reach=2**14):
    total = np.zeros(weights.shape, dtype=np.int64)
    room = np.empty(weights.shape, dtype=np.int32)
    kernels.add_gradients(
        rows.features, rows.lengths, rows.labels, np.asarray(batch, dtype=np.int64), weights,
        clip, reach, np.empty(len(weights)), room, total,
    )  # fmt: skip
    return total


def slowly_summed(rows, weights, batch, *, clip=1.0, reach=2**14):
    """One row after the other, from the definition, with Python's integers."""
    total = [0] * weights.size
    for row in batch:
        x = rows.features[row]
        x = np.append(x, 1.0) if weights.shape[1] > len(x) else x
        scores = weights @ x
        if len(weights) == 1:
            error = 1 / (1 + np.exp(-scores)) - (rows.labels[row] == 1)
        else:
            chances = np.exp(scores - scores.max())
            error = chances / chances.sum() - (np.arange(len(weights)) == rows.labels[row])
        gradient = np.outer(error, x).ravel()
        length = np.sqrt((error**2).sum()) * np.sqrt((x**2).sum())
        scaled = gradient * (reach / clip if length <= clip else reach / length)
        whole = [int(each) for each in np.rint(scaled)]
        if sum(each**2 for each in whole) > reach**2:
            whole = [int(each) for each in scaled]
        total = [before + each for before, each in zip(total, whole, strict=True)]
    return np.array(total).reshape(weights.shape)


# -- the vectors ---------------------------------------------------------------------------------------


def test_residuals_and_clipped_coefficients_are_those_published(kernels):
    rows, out = TrainingRows.of(X, Y, constant=True), np.empty(1)
    lengths = [kernels.residuals(X, row, Y[row], START, out) * rows.lengths[row] for row in range(4)]
    errors = [kernels.residuals(X, row, Y[row], START, out) * np.sign(out[0]) for row in range(4)]
    coefficients = [error * min(1, 1 / length) for error, length in zip(errors, lengths, strict=True)]
    explicit = np.array(coefficients) @ np.column_stack([X, np.ones(4)])

    assert errors + Y == pytest.approx(
        [0.437823499114, 0.562176500886, 0.586617578917, 0.413382421083], abs=1e-9
    )
    assert lengths == pytest.approx([1.377045572554, 0.795037632, 1.855047664872, 1.436913742494], abs=1e-9)
    assert coefficients == pytest.approx(
        [-0.408248290464, 0.562176500886, 0.316227766017, -0.408248290464], abs=1e-9
    )
    assert explicit == pytest.approx([1.356931588514, -1.786921372277, 0.061907685975], abs=1e-9)


def test_steps_without_noise_are_those_published():
    assert without_noise(START, 1)[0] == pytest.approx(
        [-0.069616448564, 0.023365171535, 0.042261539253], abs=1e-9
    )
    assert without_noise(np.zeros((1, 3)), 3)[0] == pytest.approx(
        [-0.447058822600, 0.594164203946, -0.003688483518], abs=1e-9
    )


def test_two_classes_of_a_softmax_move_as_the_logistic_function_does():
    """Weights of opposite sign, each half: the same model, so the same step if nothing is clipped."""
    one = without_noise(START, 1, clip=100.0)
    two = without_noise(np.vstack([-START / 2, START / 2]), 1, clip=100.0)

    assert two[1] - two[0] - START[0] == pytest.approx(2 * (one[0] - START[0]), abs=1e-6)


# -- the sums ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("constant", [True, False])
def test_sums_are_those_of_the_definition(kernels, classes, constant):
    generator = SeededSource(classes).generator()
    features = generator.normal(size=(25, 7)) * generator.uniform(0.01, 3, size=(25, 1))
    rows = TrainingRows.of(features, generator.integers(0, classes, 25), constant=constant)
    weights = generator.normal(size=(1 if classes == 2 else classes, 7 + constant))
    batch = np.flatnonzero(generator.random(25) < 0.6)

    assert (summed(kernels, rows, weights, batch) == slowly_summed(rows, weights, batch)).all()


def test_a_row_that_rounding_lengthened_is_rounded_toward_zero(kernels):
    """Forty entries of 2.53 steps would all become 3, which is longer than the clip."""
    features = np.full((1, 40), 1.0)
    rows = TrainingRows.of(features, np.array([0]), constant=False)
    total = summed(kernels, rows, np.zeros((1, 40)), [0], clip=0.1, reach=16)  # 16 / sqrt(40) = 2.53

    assert set(total.ravel().tolist()) == {2}
    assert 40 * 3**2 > 16**2 >= (total**2).sum()


def test_a_row_whose_length_is_said_wrongly_adds_nothing(kernels):
    """What is added is checked in whole numbers, whatever the floats before were."""
    rows = TrainingRows(np.full((1, 4), 1.0), np.array([0]), np.array([0.5]))

    assert not summed(kernels, rows, np.zeros((1, 4)), [0], clip=0.25, reach=64).any()


@pytest.mark.parametrize("weight", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers_add_nothing(plain, weight):
    rows = TrainingRows.of(np.array([[1.0, -1.0], [0.0, 0.0]]), np.array([0, 1]), constant=True)
    for kernels in (_descent_kernels, plain):
        with np.errstate(invalid="ignore"):
            total = summed(kernels, rows, np.full((1, 3), weight), [0, 1])

        assert not total.any()


def test_the_order_of_rows_changes_nothing(kernels):
    generator = SeededSource(3).generator()
    rows = TrainingRows.of(generator.normal(size=(20, 3)), generator.integers(0, 2, 20), constant=True)
    weights = generator.normal(size=(1, 4))
    orders = [generator.permutation(20) for _ in range(10)]
    sums = [summed(kernels, rows, weights, order).tolist() for order in orders]

    assert all(each == sums[0] for each in sums)


def test_asking_for_a_row_early_changes_nothing():
    """It is there for speed alone, and must not touch what it asks for."""
    rows = np.arange(32.0).reshape(2, 16)
    ask = numba.njit(lambda array: _descent_kernels._fetch(array, 1, 8))
    ask(rows)

    assert (rows == np.arange(32.0).reshape(2, 16)).all()


def test_a_step_on_an_empty_batch_is_noise_alone_and_the_divisor_is_constant():
    """A step left out, or a sum divided by the true size of its batch, would tell who is in it."""
    rows, nobody = TrainingRows.of(X, Y, constant=True), np.empty(0, dtype=np.int64)
    noise = [np.array([[64, -128, 0]]), np.array([[64, 0, 0]])]
    settings, schedule = Steps(2.0, 256, 0.5, average=False), Schedule(100, 10, 2)
    moved = descend(rows, np.zeros((1, 3)), [nobody, nobody], noise, settings, schedule=schedule)

    assert moved[0].tolist() == [-0.5 * 2 / 256 / 10 * 128, 0.5 * 2 / 256 / 10 * 128, 0]


def test_the_mean_is_that_of_the_last_half():
    three = [without_noise(np.zeros((1, 3)), steps)[0] for steps in (1, 2, 3)]

    assert without_noise(np.zeros((1, 3)), 3, average=True)[0] == pytest.approx((three[1] + three[2]) / 2)
    assert TailMean(Schedule(4, 4, 4), np.zeros(2)).value.tolist() == [0, 0]


def test_batches_and_noise_must_be_equally_many():
    with pytest.raises(ValueError, match="zip"):
        descend(
            TrainingRows.of(X, Y, constant=True),
            START,
            [np.arange(4)],
            [],
            Steps(1.0, 16, 1.0),
            schedule=Schedule(4, 4, 1),
        )


def test_noise_is_drawn_for_many_steps_at_once_and_once_for_each(monkeypatch):
    monkeypatch.setattr(descent, "_DRAWN_AT_ONCE", 12)
    asked = []

    def draw(shape):
        asked.append(shape)
        return np.full(shape, len(asked))

    made = list(noises(draw, (1, 3), 10))

    assert asked == [(4, 1, 3), (4, 1, 3), (2, 1, 3)]
    assert [int(each[0, 0]) for each in made] == [1] * 4 + [2] * 4 + [3] * 2
    assert len(list(noises(draw, (5, 30), 2))) == 2


# -- who is in a batch ---------------------------------------------------------------------------------


class Scripted(Source):
    """Words from a list; then the same ones again."""

    kind = "seeded"

    def __init__(self, words):
        self._words, self._at = words, 0

    def words(self, count):
        taken = [self._words[(self._at + place) % len(self._words)] for place in range(count)]
        self._at += count
        return np.array(taken, dtype=np.uint64)


def slowly_sampled(words, rows, sampling):
    """The same decisions from the same words, bit by bit, with Python's integers."""
    halvings = 0
    while sampling <= Fraction(1, 2):
        sampling, halvings = 2 * sampling, halvings + 1
    stream, out = iter(words), []
    for first in range(0, rows, 64):
        common = 2**64 - 1
        for _ in range(halvings):
            common &= next(stream)
        ones = [bit for bit in range(64) if common >> bit & 1]
        out += [first + bit for bit in ones if sampling == 1 or Fraction(next(stream), 2**64) < sampling]
    return [row for row in out if row < rows]


@pytest.mark.parametrize(
    ("rows", "batch"), [(200, 1), (130, 13), (70, 35), (70, 60), (64, 2), (65, 65), (1, 1)]
)
def test_batches_are_what_the_words_say(kernels, monkeypatch, rows, batch):
    for name in ("sampled_words", "members"):
        monkeypatch.setattr(_descent_kernels, name, getattr(kernels, name))
    words = SeededSource(rows + batch).words(20_000)
    schedule = Schedule(rows, batch, 1)
    (drawn,) = batches(schedule, rows, source=Scripted(words))

    assert drawn.tolist() == slowly_sampled(map(int, words), rows, schedule.sampling)


def test_batches_do_not_depend_on_how_the_words_come(kernels, monkeypatch):
    """Words that run out in the midst of a row's decision must not be used twice, nor be lost."""
    monkeypatch.setattr(_descent_kernels, "sampled_words", kernels.sampled_words)
    words = SeededSource(1).words(20_000)
    schedule = Schedule(500, 40, 5)
    whole = [batch.tolist() for batch in batches(schedule, 500, source=Scripted(words))]
    for name in ("MOST_WORDS", "FEWEST_WORDS"):
        monkeypatch.setattr(f"evenhand.privacy.feeding.{name}", 3)
    cut = [batch.tolist() for batch in batches(schedule, 500, source=Scripted(words))]

    assert cut == whole


@pytest.mark.statistical
@pytest.mark.parametrize("batch", [1, 7, 32, 50])
def test_rows_join_with_the_stated_chance_and_alone(batch):
    """If rows joined more often than stated, the accounting would claim too little."""
    rows, steps = 64, 4_000
    schedule = Schedule(rows, batch, steps)
    joined = np.zeros((steps, rows), dtype=bool)
    for step, drawn in enumerate(batches(schedule, rows, source=SeededSource(11 + batch))):
        joined[step, drawn] = True
    chance = float(schedule.sampling)
    sizes = joined.sum(axis=1)
    law = binom(rows, chance).pmf(np.arange(rows + 1))
    pairs = (joined[:, ::2] & joined[:, 1::2]).ravel()

    assert exact_events_pvalue(joined.ravel(), [1 - chance, chance]) > ALPHA
    assert exact_events_pvalue(sizes, law) > ALPHA
    assert exact_events_pvalue(pairs, [1 - chance**2, chance**2]) > ALPHA
    for wrong in (0.8 * chance, 1.2 * chance):  # the twin: a fifth off is seen
        assert exact_events_pvalue(joined.ravel(), [1 - wrong, wrong]) < ALPHA
    assert exact_events_pvalue(np.full(steps, batch), law) < ALPHA  # and batches of a fixed size


def test_a_declared_number_of_rows_sets_the_chance_not_the_rows_there_are():
    drawn = list(batches(Schedule(10_000, 10_000, 3), 5, source=SecureSource()))

    assert [each.tolist() for each in drawn] == [[0, 1, 2, 3, 4]] * 3


def test_progress_is_told_from_time_to_time_and_at_the_end(monkeypatch):
    monkeypatch.setattr(descent, "_DECIDED_AT_ONCE", 40)
    told = []
    list(batches(Schedule(10, 2, 9), 10, source=SeededSource(1), progress=lambda *each: told.append(each)))

    assert told == [(4, 9), (8, 9), (9, 9)]


def test_progress_does_not_tell_how_many_rows_there_really_are(monkeypatch):
    """The number of rows is private where another was declared, and a log of the training is not."""
    monkeypatch.setattr(descent, "_DECIDED_AT_ONCE", 40)

    def calls(rows):
        told = []
        list(batches(Schedule(10, 2, 9), rows, source=SeededSource(1), progress=lambda *n: told.append(n)))
        return told

    assert calls(4) == calls(10) == calls(30)


# -- public numbers ------------------------------------------------------------------------------------


def test_the_plan_is_that_of_the_published_runs():
    def steps(rows, **given):
        return plan(rows, **{"batch": None, "epochs": 50, "owner": "Model"} | given).steps

    assert (steps(33_916), steps(22_500), steps(22_500, epochs=100)) == (1700, 1100, 2200)
    assert plan(4_095, batch=None, epochs=1, owner="Model").batch == 1_023
    assert plan(3, batch=None, epochs=2, owner="Model") == Schedule(rows=3, batch=1, steps=6)
    assert 0 < Fraction(1024, 33_916) - Schedule(33_916, 1024, 1).sampling < Fraction(1, 2**52)


@pytest.mark.parametrize(
    ("given", "name", "words"),
    [
        ({"batch": 101}, "batch", "at most the number of rows"),
        ({"batch": 0}, "batch", "at least 1"),
        ({"batch": 2.5}, "batch", "whole number"),
        ({"epochs": 0}, "epochs", "a whole number from 1"),
        ({"epochs": 1_000_000}, "epochs", "at most 10,000,000 steps"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_without_telling_the_rows(given, name, words):
    with pytest.raises(InvalidParameterError, match=words) as caught:
        plan(100, **{"batch": 1, "epochs": 1, "owner": "Model"} | given)

    assert caught.value.parameter == name
    assert "100" not in str(caught.value).replace("1000000", "").replace("10,000,000", "")
