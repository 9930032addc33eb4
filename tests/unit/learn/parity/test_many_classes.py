"""The post-processor with more than two classes: answers, guarantee, bounds."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.learn import ParityPostProcessor
from evenhand.learn.parity.bounds import Released, gap_bounds
from evenhand.learn.parity.class_bounds import class_gap_bounds, class_limits
from evenhand.learn.parity.inputs import read_settings
from evenhand.learn.parity.table import PredictionTable, bound_gaps, find_rates, noisy_table
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.randomness import SeededSource
from unit.learn._parity_cases import Column

CLASSES = np.array(["high", "low", "mid"])
RATES = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.25, 0.5, 0.25]])
SIZES = (400, 300, 200)


def made():
    predicted = np.concatenate(
        [np.repeat(np.arange(3), np.rint(r * n).astype(int)) for r, n in zip(RATES, SIZES, strict=True)]
    )
    group = np.repeat(np.array(["a", "b", "c"]), SIZES)
    label = np.where(np.random.default_rng(1).random(len(group)) < 0.8, predicted, (predicted + 1) % 3)
    return predicted[:, None], CLASSES[label], group


X, Y, GROUP = made()
TRAINED = Column().fit(X, CLASSES)


def fitted(*args, data=(X, Y, GROUP), **given):
    model = ParityPostProcessor(TRAINED, *args, **{"held_out": True, "rng": 1} | given)
    return model.fit(data[0], data[1], group=data[2])


def test_every_class_has_the_same_rate_in_all_groups():
    model = fitted()
    chances = model.predict_proba(X, group=GROUP)
    means = np.array([chances[label == GROUP].mean(axis=0) for label in "abc"])

    assert means == pytest.approx(np.tile(means[0], (3, 1)), abs=1e-8)
    assert model.changes_.overall == pytest.approx(1 - chances[np.arange(len(X)), X[:, 0]].mean())
    assert model.rates_.cost == pytest.approx(model.changes_.overall)
    assert "+0.0" in repr(model.changes_)
    assert "high" in model.changes_._repr_html_()
    assert [part.name for part in model.bounds_.parts] == ["rate of high", "rate of low", "rate of mid"]
    assert model.measured(X, group=GROUP).measured == pytest.approx(0, abs=1e-8)


def test_answers_have_the_probabilities_that_were_found():
    model = fitted(gap=0.05)
    rows, group = np.tile(X, (200, 1)), np.tile(GROUP, 200)
    answers = model.predict(rows, group=group)
    for label in "abc":
        for place, name in enumerate(CLASSES):
            here = (group == label) & (rows[:, 0] == place)
            expected = model.rates_.transition["abc".index(label), place]
            seen = [(answers[here] == other).mean() for other in CLASSES]
            assert seen == pytest.approx(expected.tolist(), abs=5 * 0.5 / np.sqrt(here.sum()))
            assert name in CLASSES
    assert model.measured(X, group=GROUP).measured == pytest.approx(0.05, abs=1e-6)


def test_accuracy_may_be_kept_instead_of_answers():
    few, right = fitted(), fitted(aim="accuracy")
    places = np.searchsorted(CLASSES, Y)
    accuracy = {
        name: model.predict_proba(X, group=GROUP)[np.arange(len(X)), places].mean()
        for name, model in (("few", few), ("right", right))
    }

    assert accuracy["right"] > accuracy["few"]
    assert right.table_.counts.shape == (3, 3, 3)
    assert few.changes_.overall <= right.changes_.overall + 1e-9


def test_one_table_of_groups_and_classes_is_released_and_nothing_else_costs():
    model = fitted(epsilon=1, groups=["a", "b", "c"])

    assert model.table_.counts.shape == (3, 3)
    assert (model.table_.scale, model.table_.draws) == (1, 9)
    assert model.rates_guarantee_.epsilon == 1
    assert set(model.rates_guarantee_.protects) == {"features", "group"}
    truth = np.rint(RATES * np.array(SIZES)[:, None])
    assert 0 < np.abs(model.table_.counts - truth).max() < 30


def test_one_person_more_moves_one_cell_by_one():
    """The noise is made for that; a person counted twice would be promised too much."""
    whole = fitted().table_.counts
    for place in (0, 450, 899):
        others = np.arange(len(X)) != place
        fewer = fitted(data=(X[others], Y[others], GROUP[others])).table_.counts

        assert np.abs(whole - fewer).sum() == 1


def test_rows_may_be_kept_back():
    model = ParityPostProcessor(Column(), prefit=False, epsilon=2, groups=list("abc"), rng=3)
    model.fit(np.tile(X, (3, 1)), np.tile(Y, 3), group=np.tile(GROUP, 3))

    assert set(model.predict(X, group=GROUP)) <= set(CLASSES)
    assert model.classes_.tolist() == CLASSES.tolist()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"kind": "odds"}, "kind"),
        ({"as_printed": True, "epsilon": 1}, "as_printed"),
        ({"positive": "high"}, "positive"),
    ],
)
def test_what_is_for_two_classes_is_refused(given, told):
    with pytest.raises(InvalidParameterError, match=rf"The '{told}' parameter of ParityPostProcessor"):
        fitted(**given)


def test_a_group_that_seems_empty_has_the_rates_of_all():
    counts = np.array([[40, 40, 20], [-3, 0, -1]])
    table = PredictionTable(counts, Fraction(1), 6, None)
    settings = read_settings(ParityPostProcessor(None, epsilon=1))

    assert find_rates(table, settings).rates[1] == pytest.approx([0.4, 0.4, 0.2])
    empty = PredictionTable(np.zeros((2, 3), dtype=int), Fraction(1), 6, None)
    assert find_rates(empty, settings).cost == pytest.approx(0, abs=1e-9)
    assert (
        bound_gaps(
            empty, find_rates(empty, settings), settings, groups=(0, 1), classes=(0, 1, 2), confidence=0.95
        ).likely
        == 1
    )


def test_limits_of_a_class_cover_every_table_the_noise_may_hide():
    released = Released(np.array([[30, 12, 8]]), Fraction(2), 3)
    low, high, fewest = class_limits(released, confidence=0.9)
    silent = class_limits(Released(released.counts, None, 0, public_sizes=True), confidence=0.9)

    assert (low < silent[0]).all()
    assert (high > silent[1]).all()
    assert fewest[0] < silent[2][0] == 50


def test_bounds_of_two_classes_are_a_little_wider_than_those_made_for_two():
    """The same table both ways: one interval for each class takes more room than one for both."""
    counts = np.array([[500, 300], [300, 260]])
    released, keep, promote = Released(counts, Fraction(1), 4), np.array([1.0, 0.8]), np.array([0.1, 0.0])
    two = gap_bounds(released, keep, promote, name="", gap=0, confidence=0.95, intervals=2, epsilon=None)
    positive = np.stack([promote, keep], axis=1)
    transition = np.stack([1 - positive, positive], axis=2)
    _, several = class_gap_bounds(released, transition, names=("no", "yes"), gap=0, confidence=0.95)

    assert two.likely < several.likely < 1.3 * two.likely
    assert two.expected <= several.expected < 1.3 * two.expected


TRUE = np.array([[0.5, 0.3, 0.2], [0.35, 0.25, 0.4], [0.2, 0.5, 0.3]])


def simulated_gaps(sizes, epsilon, repeats, *, without_noise=False):
    """The gap among new people, with what was promised of it, in tables drawn anew."""
    draws, settings = np.random.default_rng(7), read_settings(ParityPostProcessor(None, epsilon=epsilon))
    rows = []
    for repeat in range(repeats):
        counts = np.stack([draws.multinomial(n, rates) for n, rates in zip(sizes, TRUE, strict=True)])
        table = noisy_table(counts, epsilon=epsilon, unit=Unit.ADD_OR_REMOVE_ONE, source=SeededSource(repeat))
        rates = find_rates(table, settings)
        after = np.einsum("gc,gcd->gd", TRUE, rates.transition)
        gap = (after.max(axis=0) - after.min(axis=0)).max()
        believed = PredictionTable(table.at_least_0, None, 0, None) if without_noise else table
        bounds = bound_gaps(believed, rates, settings, groups=(0, 1, 2), classes=(0, 1, 2), confidence=0.95)
        rows.append((gap, bounds.likely, bounds.expected))
    return np.array(rows).T


@pytest.mark.figures
@pytest.mark.statistical
@pytest.mark.parametrize(("sizes", "epsilon"), [((400, 300, 200), "1/2"), ((3000, 500, 200), "1")])
def test_the_gap_among_new_people_is_within_its_bounds(sizes, epsilon):
    gap, likely, expected = simulated_gaps(sizes, epsilon, 300)

    assert (gap <= likely).mean() > 0.95
    assert gap.mean() < expected.mean()
    assert likely.mean() < 8 * gap.mean()  # so that the bound says something


@pytest.mark.figures
@pytest.mark.statistical
def test_bounds_that_forget_the_noise_are_broken():
    """The twin that must fail: small groups and much noise, of which the bounds are not told."""
    gap, likely, _ = simulated_gaps((80, 60, 40), "1/20", 200, without_noise=True)

    assert (gap <= likely).mean() < 0.9


@pytest.mark.parametrize(
    ("classes", "groups", "given", "named"),
    [(2, 2, {"confidence": 1.5}, "confidence"), (25, 1_000, {}, "groups")],
    ids=["a confidence above 1", "too many groups times classes"],
)
def test_what_is_refused_is_refused_before_a_ledger_is_charged(tmp_path, classes, groups, given, named):
    ledger, rows = Ledger(tmp_path / "ledger.db", epsilon=10), np.arange(2_000)
    trained = Column().fit(rows[:, None], np.arange(classes))
    model = ParityPostProcessor(
        trained, epsilon=1, groups=list(range(groups)), held_out=True, ledger=ledger, **given
    )
    with pytest.raises(InvalidParameterError, match=f"'{named}' parameter of ParityPostProcessor"):
        model.fit(rows[:, None] % classes, group=rows % groups)

    assert [entry.kind for entry in ledger.history()] == ["open"]
