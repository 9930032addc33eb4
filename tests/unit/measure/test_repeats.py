import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, t

from evenhand.errors import InvalidParameterError
from evenhand.measure import noise_parts
from statistical._exact import ALPHA

SD = {"sampling": 3.0, "mechanism": 2.0, "training": 1.0}


def _design(splits, draws, seeds):
    ids = np.indices((splits, draws, seeds)).reshape(3, -1)
    return dict(zip(("split", "mechanism", "training"), ids, strict=True))


def _values(generator, splits, draws, seeds, sd=SD):
    return (
        generator.normal(0, sd["sampling"], (splits, 1, 1))
        + generator.normal(0, sd["mechanism"], (splits, draws, 1))
        + generator.normal(0, sd["training"], (splits, draws, seeds))
    ).ravel()


def _mean_parts(shape, sd, runs):
    """Return the average of each estimated variance over simulated studies, and its standard error."""
    generator, design = np.random.default_rng(17), _design(*shape)
    studies = [noise_parts(_values(generator, *shape, sd), **design) for _ in range(runs)]
    found = np.array([[study.variance(name) for name in SD] for study in studies])
    return found.mean(axis=0), found.std(axis=0, ddof=1) / math.sqrt(runs)


@pytest.mark.statistical
def test_known_components_are_recovered():
    """Mean within 6.1 standard errors, error rate 1e-9; at these sizes no estimate falls below 0."""
    mean, error = _mean_parts((12, 4, 4), SD, runs=1_000)
    truth = np.square(list(SD.values()))

    assert (np.abs(mean - truth) < 6.1 * error).all()


@pytest.mark.statistical
def test_swapped_levels_are_seen():
    """The twin: data whose mechanism noise is where sampling noise should be."""
    swapped = {"sampling": SD["mechanism"], "mechanism": SD["sampling"], "training": SD["training"]}
    mean, error = _mean_parts((12, 4, 4), swapped, runs=300)
    truth = np.square(list(SD.values()))

    assert (np.abs(mean - truth) > 6.1 * error)[:2].all()


@pytest.mark.statistical
@pytest.mark.parametrize("shape", [(8, 3, 2), (8, 3, 1), (8, 1, 2), (8, 1, 1)])
def test_the_interval_of_the_mean_covers(shape):
    """With normal effects the t interval is exact, whatever levels are repeated."""
    generator, design = np.random.default_rng(3), _design(*shape)
    held = sum(0 in noise_parts(_values(generator, *shape), **design).interval() for _ in range(1_000))

    assert binomtest(held, 1_000, 0.95).pvalue > ALPHA


@pytest.mark.statistical
def test_counting_every_run_as_independent_would_not_cover():
    """The twin: the standard error of all runs, as if seeds were splits."""
    generator = np.random.default_rng(3)
    reach = t.ppf(0.975, 47) / math.sqrt(48)
    runs = [_values(generator, 8, 3, 2) for _ in range(1_000)]
    held = sum(abs(values.mean()) <= reach * values.std(ddof=1) for values in runs)

    assert binomtest(held, 1_000, 0.95).pvalue < ALPHA


def test_mean_squares_by_hand():
    """Two splits, two draws, two seeds: 1 2 | 3 6 || 5 5 | 9 13."""
    parts = noise_parts([1, 2, 3, 6, 5, 5, 9, 13], **_design(2, 2, 2))
    training = (0.5 + 4.5 + 0 + 8) / 4
    mechanism = 2 * (2 * 1.5**2 + 2 * 3**2) / 2
    sampling = 4 * (2 * 2.5**2)

    assert parts.variance("training") == pytest.approx(training)
    assert parts.variance("mechanism") == pytest.approx((mechanism - training) / 2)
    assert parts.variance("sampling") == pytest.approx((sampling - mechanism) / 4)
    assert parts.standard_error == pytest.approx(math.sqrt(sampling / 8))
    assert (parts.mean, parts.degrees_of_freedom, parts.repeats, parts.notes) == (5.5, 1, (2, 2, 2), ())


def test_one_seed_merges_mechanism_and_training_noise():
    parts = noise_parts([1.0, 3.0, 6.0, 10.0], split=[0, 0, 1, 1], mechanism=[0, 1, 0, 1])

    assert [part.name for part in parts.parts] == ["sampling", "mechanism + training"]
    assert parts.notes == ("Mechanism and training noise cannot be told apart.",)


def test_one_draw_merges_sampling_and_mechanism_noise():
    parts = noise_parts([1.0, 3.0, 6.0, 10.0], split=[0, 0, 1, 1], training=[0, 1, 0, 1])

    assert [part.name for part in parts.parts] == ["sampling + mechanism", "training"]


def test_splits_alone_merge_everything():
    parts = noise_parts([1.0, 3.0, 6.0], split=["a", "b", "c"])

    assert [part.name for part in parts.parts] == ["sampling + mechanism + training"]
    assert parts.parts[0].variance == pytest.approx(np.var([1, 3, 6], ddof=1))
    assert parts.standard_error == pytest.approx(np.std([1, 3, 6], ddof=1) / math.sqrt(3))


def test_one_split_says_nothing_about_sampling_noise():
    """An interval that leaves sampling noise out must say so."""
    parts = noise_parts([1.0, 3.0, 6.0, 10.0], split=[0] * 4, mechanism=[0, 0, 1, 1], training=[0, 1, 0, 1])

    assert [part.name for part in parts.parts] == ["sampling", "mechanism", "training"]
    assert math.isnan(parts.variance("sampling"))
    assert parts.notes[0] == "The interval of the mean does not cover sampling noise."
    assert "One split says nothing about sampling noise." in parts.notes
    assert parts.degrees_of_freedom == 1


def test_one_split_and_one_draw_leave_training_noise():
    parts = noise_parts([1.0, 3.0, 6.0], split=[0] * 3, training=[0, 1, 2])

    assert parts.notes[0] == "The interval of the mean does not cover sampling and mechanism noise."
    assert parts.variance("training") == pytest.approx(np.var([1, 3, 6], ddof=1))


def test_a_single_run_has_a_mean_and_nothing_else():
    parts = noise_parts([0.5], split=[0])
    interval = parts.interval()

    assert parts.mean == 0.5
    assert math.isnan(parts.standard_error)
    assert math.isnan(interval.low)
    assert interval.reason
    assert all(math.isnan(part.variance) for part in parts.parts)


def test_a_negative_estimate_is_set_to_0_and_said():
    parts = noise_parts([0.0, 4.0, 4.0, 0.0], split=[0, 0, 1, 1], mechanism=[0, 1, 0, 1])

    assert parts.variance("sampling") == 0
    assert any("below 0 and set to 0" in note for note in parts.notes)
    assert not math.isnan(parts.standard_error)


def test_an_unknown_part_has_no_variance():
    assert math.isnan(noise_parts([1.0, 2.0], split=[0, 1]).variance("weather"))


def test_the_order_of_runs_and_the_names_of_levels_do_not_matter():
    generator = np.random.default_rng(0)
    design, values = _design(3, 2, 2), generator.random(12)
    order = generator.permutation(12)
    frame = pd.DataFrame({**design, "value": values}).iloc[order]
    shuffled = noise_parts(
        frame["value"],
        split=frame["split"].map(str),
        mechanism=frame["mechanism"],
        training=frame["training"],
    )
    straight = noise_parts(values, **design)

    assert shuffled.standard_error == pytest.approx(straight.standard_error)
    assert [part.variance for part in shuffled.parts] == pytest.approx(
        [part.variance for part in straight.parts]
    )


def test_the_same_draw_number_on_two_splits_is_two_draws():
    """Nested, not crossed: shared numbering must not pair runs."""
    values = [1.0, 3.0, 6.0, 10.0]
    same = noise_parts(values, split=[0, 0, 1, 1], mechanism=[0, 1, 0, 1])
    other = noise_parts(values, split=[0, 0, 1, 1], mechanism=[0, 1, 2, 3])

    assert same == other


@pytest.mark.parametrize(
    "design",
    [
        {"split": [0, 0, 1], "mechanism": [0, 1, 0]},
        {"split": [0, 0, 0], "mechanism": [0, 0, 1], "training": [0, 1, 0]},
        {"split": [0, 0, 1]},
        {"split": [0, 1, 1], "mechanism": [0, 0, 0], "training": [0, 0, 0]},
    ],
)
def test_unbalanced_designs_are_refused(design):
    with pytest.raises(InvalidParameterError, match="a balanced design"):
        noise_parts([1.0, 2.0, 3.0], **design)


@pytest.mark.parametrize("values", [[], [math.inf, 1.0]])
def test_values_must_be_finite(values):
    with pytest.raises(InvalidParameterError, match=r"'values' .* must be finite numbers, at least one"):
        noise_parts(values, split=[0] * len(values))


def test_undefined_values_are_refused():
    with pytest.raises(InvalidParameterError, match=r"'values' .* without missing values"):
        noise_parts([math.nan, 1.0], split=[0, 1])


def test_columns_of_another_length_are_refused():
    with pytest.raises(InvalidParameterError, match=r"'split' .* must be as long as 'values'"):
        noise_parts([1.0, 2.0], split=[0])


def test_the_level_is_checked():
    with pytest.raises(InvalidParameterError, match="'level'"):
        noise_parts([1.0, 2.0], split=[0, 1]).interval(2)
