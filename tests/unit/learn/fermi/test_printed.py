"""The published runs: noise formula, gradients and steps as they were printed and programmed."""

import numpy as np
import pytest

from evenhand.learn.fermi.printed import (
    PrintedSettings,
    paper_gradients,
    published_noise,
    thesis_gradients,
    train_printed,
)

INPUTS = np.array([[1, 2, 1], [0, -1, 1], [3, 0, 1], [-2, 1, 1]], dtype=float)
LABELS, GROUPS = np.array([1, 0, 0, 1]), np.array([0, 1, 1, 0])
HALVES, WEIGHTS, STRENGTH = np.array([0.5, 0.5]), np.array([[0.1, -0.2, 0.05]]), np.array([2.0])


def close(expected):
    return pytest.approx(np.asarray(expected), abs=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "rows", "steps", "smallest", "expected"),
    [
        (3, 33_916, 1_700, 0.3245, (2.00352002, 0.04121714)),
        (9, 33_916, 1_700, 0.3245, (0.66784001, 0.01373905)),
        (3, 22_500, 1_100, 0.3987, (2.41617717, 0.04946421)),
        (9, 22_500, 2_200, 0.3987, (1.13899684, 0.02331765)),
    ],
)
def test_the_noise_is_that_of_the_printed_formula(epsilon, rows, steps, smallest, expected):
    noise = published_noise(epsilon, 1e-5, rows=rows, steps=steps, smallest=smallest)

    assert noise == pytest.approx(expected, abs=5e-9)


def test_the_noise_for_the_group_alone_is_the_shorter_formula():
    first, second = published_noise(3, 1e-5, rows=1_000, steps=50, smallest=0.25, protects="group")
    common = 50 * np.log(1e5) / 3_000**2

    assert (first**2, second**2) == pytest.approx((16 * 25 * 25 / 0.25 * common, 16 / 0.25 * common))


def test_gradients_of_the_whole_penalty_are_those_worked_out_by_hand():
    matrix = np.array([[[1, 0.5], [-0.5, 2]]])
    first, second = paper_gradients(INPUTS, LABELS, GROUPS, HALVES, WEIGHTS, matrix, STRENGTH)

    assert first[0] == close([2.600753944288, -2.691007092369, -0.083835907579])
    assert second[0] == close([[-0.187679915984, 0.101893478357], [1.101893478357, -1.187679915984]])


def test_gradients_of_the_thesis_are_those_worked_out_by_hand():
    """The group coded first is the second one here, as in the worked example."""
    single = np.array([[[0.8]]])
    first, second = thesis_gradients(INPUTS, LABELS, 1 - GROUPS, HALVES, WEIGHTS, single, STRENGTH)
    each = [
        thesis_gradients(INPUTS[[row]], LABELS[[row]], 1 - GROUPS[[row]], HALVES, WEIGHTS, single, STRENGTH)[
            0
        ][0, 2]
        for row in range(4)
    ]

    assert each == close([-0.877228126790, 1.361000580485, 1.373638848908, -0.897014244546])
    assert first[0] == close([1.259429227256, -1.003117769653, 0.240099264514])
    assert 2 * second[0, 0, 0] == close(0.024640168032)


def test_models_trained_together_do_not_mix():
    """A stack is for speed: each model must be the one it would be alone."""
    weights = np.random.default_rng(0).normal(size=(3, 3))
    matrices = np.random.default_rng(1).normal(size=(3, 2, 2))
    strengths = np.array([0.0, 1.0, 2.5])
    first, second = paper_gradients(INPUTS, LABELS, GROUPS, HALVES, weights, matrices, strengths)
    for model in range(3):
        one = slice(model, model + 1)
        alone = paper_gradients(INPUTS, LABELS, GROUPS, HALVES, weights[one], matrices[one], strengths[one])

        assert first[one] == close(alone[0])
        assert second[one] == close(alone[1])


def test_every_row_is_in_one_batch_of_an_epoch_and_the_last_may_be_smaller():
    settings = PrintedSettings(epochs=2, batch=1_024)

    assert settings.steps(33_916) == 2 * 34
    assert settings.steps(1_024) == 2


@pytest.mark.parametrize("mode", ["paper", "thesis"])
@pytest.mark.parametrize("average", [False, True])
def test_without_noise_the_runs_learn(mode, average):
    draws = np.random.default_rng(2)
    inputs = np.column_stack([draws.normal(size=(400, 2)), np.ones(400)])
    labels, groups = (inputs[:, 0] > 0).astype(int), draws.integers(0, 2, 400)
    seen = []
    weights, matrices = train_printed(
        inputs, labels, groups, HALVES, strengths=np.array([0.1, 0.2]), noise=(0.0, 0.0),
        settings=PrintedSettings(mode, epochs=40, batch=64, rates=(0.5, 0.01), average=average),
        generator=draws, progress=lambda done, of: seen.append((done, of)),
    )  # fmt: skip

    assert weights.shape == (2, 3)
    assert matrices.shape == ((2, 2, 2) if mode == "paper" else (2, 1, 1))
    assert (((inputs @ weights.T > 0) == labels[:, None]).mean(axis=0) > 0.93).all()
    assert seen[-1] == (280, 280)


def test_the_published_noise_drowns_what_is_learnt():
    """It is some thousand times what clipping every row needs: that is why the published figures are low."""
    draws = np.random.default_rng(2)
    inputs = np.column_stack([draws.normal(size=(400, 2)), np.ones(400)])
    labels, groups = (inputs[:, 0] > 0).astype(int), draws.integers(0, 2, 400)
    settings = PrintedSettings("paper", epochs=10, batch=64)
    noise = published_noise(3, 1e-5, rows=400, steps=settings.steps(400), smallest=0.49)
    weights, matrices = train_printed(
        inputs, labels, groups, HALVES, strengths=np.ones(1), noise=noise, settings=settings, generator=draws
    )

    assert noise[0] > 10
    assert np.isfinite(weights).all()
    assert np.sqrt((matrices**2).sum()) <= 5 + 1e-9


def test_the_published_runs_have_fifty_epochs_of_batches_of_1024():
    """The published noise is stated for 1,700 steps over 33,916 rows."""
    assert PrintedSettings().steps(33_916) == 1_700
    assert PrintedSettings(epochs=3, batch=10).steps(21) == 9
