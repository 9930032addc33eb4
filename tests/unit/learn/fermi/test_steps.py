"""The penalty, its derivatives and the clipped steps are those of the formulas, to the last digits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.learn.fermi import kernels as _fermi_kernels
from evenhand.learn.fermi.steps import (
    Clipped,
    project_to_ball,
    sparse_rows,
    start_matrix,
    train,
)
from evenhand.learn.training.descent import Schedule
from unit._plain_kernels import compiled_or_plain, plain_copy
from unit.learn._fermi_penalty import best_matrix, dependence, penalty

POSITIVE = np.array([0.9, 0.6, 0.3, 0.2, 0.7, 0.1])
CHANCES = np.column_stack([1 - POSITIVE, POSITIVE])
SIX = np.array([0, 0, 0, 1, 1, 1])
HALVES = np.array([0.5, 0.5])
OTHER = np.array([[1, 0.5], [-0.5, 2]])

INPUTS = np.array([[1, 2, 1], [0, -1, 1], [3, 0, 1], [-2, 1, 1]], dtype=float)
LABELS, GROUPS = np.array([1, 0, 0, 1]), np.array([0, 1, 1, 0])
WEIGHTS = np.array([0.1, -0.2, 0.05])
FINE = 1 << 40  # a grid so fine that rounding is below the last digit compared


@pytest.fixture(scope="module")
def plain():
    return plain_copy(_fermi_kernels)


@pytest.fixture(params=["compiled", "plain"])
def kernels(request, monkeypatch):
    """Run a test twice: as people run it, and without the compiler."""
    return compiled_or_plain(request, monkeypatch, _fermi_kernels)


def close(expected):
    return pytest.approx(np.asarray(expected), abs=1e-9)


def sums(rows, weights, matrices, shares, *, strength, clips, reaches, batch=None):
    kinds, groups, _ = matrices.shape
    public = _fermi_kernels.Settings(
        float(strength), 1 / np.sqrt(shares), np.array(clips, float), np.array(reaches, float)
    )
    out = np.zeros(len(weights), dtype=np.int64), np.zeros((kinds, 2 * groups), dtype=np.int64)
    _fermi_kernels.add_rows(
        np.arange(len(rows.labels)) if batch is None else batch,
        rows, weights, matrices, public, np.empty(2 * groups), np.arange(2 * groups, dtype=np.int32), *out,
    )  # fmt: skip
    return out[0], out[1].reshape(matrices.shape)


# -- the penalty ----------------------------------------------------------------------------------------


def test_the_dependence_and_its_matrix_are_those_worked_out_by_hand():
    assert dependence(CHANCES, SIX, 2) == close(0.071428571429)
    assert best_matrix(CHANCES, SIX, HALVES) == close(
        [[0.5303300858899, 0.9091372900970], [0.8838834764832, 0.5050762722761]]
    )


def test_the_penalty_is_the_dependence_at_its_best_matrix_and_less_elsewhere():
    best = best_matrix(CHANCES, SIX, HALVES)

    assert penalty(CHANCES, SIX, best, HALVES) == close(0.071428571429)
    assert penalty(CHANCES, SIX, start_matrix(HALVES), HALVES) == close(0)
    assert penalty(CHANCES, SIX, OTHER, HALVES) == close(-2.188645985548)


def test_no_matrix_makes_the_penalty_larger_than_the_dependence_for_three_groups():
    """Else training would push against something that is not there."""
    draws = np.random.default_rng(1)
    groups, positive = draws.integers(0, 3, 60), draws.random(60)
    chances, shares = np.column_stack([1 - positive, positive]), np.bincount(groups) / 60
    best = best_matrix(chances, groups, shares)
    most = dependence(chances, groups, 3)

    assert penalty(chances, groups, best, shares) == pytest.approx(most, abs=1e-12)
    for _ in range(50):
        assert penalty(chances, groups, best + draws.normal(0, 0.1, (3, 2)), shares) < most


def test_a_group_without_rows_does_not_count():
    assert dependence(CHANCES, SIX, 3) == close(0.071428571429)


def test_matrices_are_pulled_back_to_the_radius_each_for_itself():
    stack = np.stack([np.full((2, 2), 10.0), np.full((2, 2), 0.5), np.zeros((2, 2))])
    back = project_to_ball(stack, 5.0)

    assert np.sqrt((back**2).sum(axis=(1, 2))) == close([5, 1, 0])
    assert (back[1:] == stack[1:]).all()


# -- the gradients --------------------------------------------------------------------------------------


def test_the_gradients_are_those_worked_out_by_hand(kernels):
    shares, reach = HALVES[None], float(FINE)
    rows = sparse_rows(INPUTS, LABELS, GROUPS)
    wide = {"strength": 2, "clips": (100, 100), "reaches": (reach, reach)}
    first, second = sums(rows, WEIGHTS, OTHER[None], shares, **wide)
    each = [sums(rows, WEIGHTS, OTHER[None], shares, batch=np.array([row]), **wide) for row in range(4)]
    coefficients = [one[0][2] * 100 / reach for one in each]
    lengths = [np.sqrt((one[1].astype(float) ** 2).sum()) * 100 / reach for one in each]

    assert coefficients == close([-2.735153313251, 2.566233584158, 2.561064257592, -2.727488158814])
    assert first / 4 * 100 / reach == close([2.600753944288, -2.691007092369, -0.083835907579])
    assert second[0] / 4 * 100 / reach == close(
        [[-0.187679915984, 0.101893478357], [1.101893478357, -1.187679915984]]
    )
    assert lengths == close([2.059324152115, 2.079941915470, 2.001157346035, 1.971228273714])


def test_ten_clipped_steps_without_noise_end_where_they_should(kernels):
    made = Clipped(3, 5.0, (1.0, 4.0), (FINE, FINE), (0.5, 0.5), 4, 5.0, average=False)
    everybody = [np.arange(4)] * 10
    weights, matrices = train(
        sparse_rows(INPUTS, LABELS, GROUPS), HALVES[None], everybody, _nothing(10), made, schedule=_steps(10)
    )

    assert weights == close([-0.408354070927, 0.521226591020, -0.005953148380])
    assert matrices[0] == close([[0.598994105487, 0.815188740079], [0.815219456886, 0.599024822294]])


def test_the_mean_is_taken_over_the_last_half_of_the_steps():
    rows, everybody = sparse_rows(INPUTS, LABELS, GROUPS), [np.arange(4)] * 10
    last = Clipped(3, 5.0, (1.0, 4.0), (FINE, FINE), (0.5, 0.5), 4, 5.0, average=False)
    mean = Clipped(3, 5.0, (1.0, 4.0), (FINE, FINE), (0.5, 0.5), 4, 5.0, average=True)
    path = [
        train(rows, HALVES[None], everybody[:n], _nothing(n), last, schedule=_steps(n))[0]
        for n in range(6, 11)
    ]

    averaged, _ = train(rows, HALVES[None], everybody, _nothing(10), mean, schedule=_steps(10))

    assert averaged == close(np.mean(path, axis=0))


def _nothing(steps):
    return [(np.zeros(3, dtype=np.int64), np.zeros((1, 4), dtype=np.int64)) for _ in range(steps)]


def _steps(steps):
    return Schedule(rows=4, batch=4, steps=steps)


# -- clipping, against a slow version -------------------------------------------------------------------


def slow_row(row, label, own, weights, matrix, shares, *, strength, clips, reaches):
    """One row, in the words of the formulas: derivative, clip, round to the grid, cut if too long."""
    positive = 1 / (1 + np.exp(-(row @ weights)))
    chances = np.array([1 - positive, positive])
    brackets = 2 * matrix[own] / np.sqrt(shares[own]) - (matrix**2).sum(axis=0)
    slope = positive - label + strength * (brackets[1] - brackets[0]) * positive * (1 - positive)
    peaks = np.zeros_like(matrix)
    peaks[own] = 1 / np.sqrt(shares[own])
    gradients = slope * row, 2 * chances * (peaks - matrix)
    whole = []
    for gradient, clip, reach in zip(gradients, clips, reaches, strict=True):
        length = np.sqrt((gradient**2).sum())
        scaled = gradient * (min(1, clip / length) if length else 1) * reach / clip
        near = np.rint(scaled)
        whole.append(near if (near**2).sum() <= reach**2 else np.trunc(scaled))
    return whole


@pytest.mark.parametrize("odds", [False, True])
def test_sums_of_three_groups_are_those_of_the_slow_version(kernels, odds):
    draws = np.random.default_rng(3)
    inputs = np.where(draws.random((40, 6)) < 0.5, 0, draws.normal(0, 2, (40, 6)))
    labels, groups = draws.integers(0, 2, 40), draws.integers(0, 3, 40)
    kinds = 1 + odds
    shares, matrices = draws.dirichlet([3] * 3, kinds), draws.normal(0, 1, (kinds, 3, 2))
    weights, public = draws.normal(0, 1, 6), {"strength": 3.0, "clips": (1.0, 2.0), "reaches": (64.0, 32.0)}
    first, second = sums(sparse_rows(inputs, labels, groups, odds=odds), weights, matrices, shares, **public)
    slow_first, slow_second = np.zeros(6), np.zeros((kinds, 3, 2))
    for row, label, own in zip(inputs, labels, groups, strict=True):
        kind = label if odds else 0
        one, two = slow_row(row, label, own, weights, matrices[kind], shares[kind], **public)
        slow_first += one
        slow_second[kind] += two

    assert (first == slow_first).all()
    assert (second == slow_second).all()


@settings(max_examples=60, deadline=None)
@given(
    row=st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3),
    weights=st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3),
    matrix=st.lists(st.floats(-5, 5), min_size=4, max_size=4),
    share=st.floats(1e-6, 0.5),
    reach=st.sampled_from([1, 2, 8, 1 << 13, 46_340]),
)
def test_no_row_adds_more_than_the_clip_in_whole_numbers(row, weights, matrix, share, reach):
    """If this is false the noise is too small and the model is not private."""
    rows = sparse_rows(np.array([row]), np.array([1]), np.array([0]))
    first, second = sums(
        rows, np.array(weights), np.array(matrix).reshape(1, 2, 2), np.array([[share, 1 - share]]),
        strength=50.0, clips=(0.7, 3.0), reaches=(reach, reach),
    )  # fmt: skip

    assert sum(int(each) ** 2 for each in first) <= reach**2
    assert sum(int(each) ** 2 for each in second.reshape(-1)) <= reach**2


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_row_that_is_no_number_adds_nothing(kernels, bad):
    """Inputs are checked before; this holds even if one came through."""
    rows = sparse_rows(np.array([[bad, 1.0]]), np.array([1]), np.array([0]))
    weights, matrix = np.ones(2), np.full((1, 2, 2), np.nan)
    wide = {"strength": 1, "clips": (1, 1), "reaches": (64, 64)}
    first, second = sums(rows, weights, matrix, HALVES[None], **wide)

    assert not first.any()
    assert not second.any()


def test_rounding_that_would_pass_the_clip_goes_toward_zero(kernels):
    """A row of (1.5, 1.5) steps within a reach of 2.13 rounds to (2, 2), which is too long; (1, 1) is not."""
    rows = sparse_rows(np.array([[1.0, 1.0]]), np.array([1]), np.array([0]))
    matrix = np.array([[[0.5, 0.5], [0.5, 0.5]]])
    first, second = sums(
        rows, np.zeros(2), matrix, HALVES[None], strength=0, clips=(1e-3, 1e-3), reaches=(2.13, 1.9)
    )

    assert first.tolist() == [-1, -1]
    assert (np.abs(second) <= 1).all()


def test_a_row_of_zeros_adds_nothing_to_the_weights():
    rows = sparse_rows(np.zeros((1, 3)), np.array([1]), np.array([0]))
    first, _ = sums(
        rows, np.ones(3), start_matrix(HALVES[None]), HALVES[None], strength=1, clips=(1, 1), reaches=(8, 8)
    )

    assert not first.any()
