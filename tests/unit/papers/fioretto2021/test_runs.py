"""The experiments of fioretto2021 on invented tables: what is drawn follows its law, and formulas agree."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.moments import allotment_bias
from evenhand.decide.mitigate.linear import linear_proxy
from evenhand.decide.mitigate.output import share_sensitivity_here
from evenhand.errors import DataSetNotFoundError
from evenhand.papers.fioretto2021 import allotment, data, trials
from evenhand.privacy.laws import Laplace
from evenhand.privacy.randomness import SeededSource
from evenhand.release.postprocess.steps import Nonnegative, Shrink
from unit.papers._made_up_decisions import evidence, made_up_areas, made_up_districts, standing_in

TABLE = made_up_districts("students")


# --- the allotment --------------------------------------------------------------------------------


def second_order(table, scale, temperature):
    """Return the bias to second order, by sums over a fine grid of noise: slow, and without decide."""
    noise = np.linspace(-40, 40, 100_001)
    mass = np.exp(-np.abs(noise))
    mass /= mass.sum()
    each, back = np.unique(table.counts, return_inverse=True)
    moved = [Shrink(temperature).apply(count + float(scale) * noise) - count for count in each]
    bias = np.array([(values * mass).sum() for values in moved])
    variance = np.array([(values**2 * mass).sum() for values in moved]) - bias**2
    weights = table.weights.astype(float)
    expected, spreads = weights * (each + bias)[back], weights**2 * variance[back]
    total, spread = expected.sum(), spreads.sum()
    return expected / total - spreads / total**2 + expected * spread / total**3 - table.shares


@pytest.mark.parametrize("temperature", [0.0, 500.0])
def test_the_bias_of_processed_counts_is_that_of_their_moments(temperature):
    """Two programs that share nothing: sums over a grid, and the series of evenhand.decide."""
    epsilon = Fraction(1, 100)
    step = Shrink(temperature) if temperature else Nonnegative()
    found = allotment.exact_bias(TABLE, epsilon, step)

    assert np.abs(found - second_order(TABLE, 1 / epsilon, temperature)).max() <= 1e-6 * np.ptp(found)
    assert np.abs(found - allotment.exact_bias(TABLE, epsilon / 2, step)).max() > 0.1 * np.ptp(found)


def test_drawn_allotments_tend_to_their_exact_bias():
    """At a small epsilon, where biases are large; a draw of another scale is seen."""
    epsilon, number = Fraction(1, 1000), 400
    drawn = trials.draw_allotments(TABLE, epsilon, {"T": 3e5}, number, SeededSource(3))
    exact = {
        data.PLAIN: allotment.exact_bias(TABLE, epsilon),
        data.CLAMP: allotment.exact_bias(TABLE, epsilon, Nonnegative()),
        "T": allotment.exact_bias(TABLE, epsilon, Shrink(3e5)),
        data.PROXY: allotment.proxy_bias(TABLE, epsilon),
    }
    for way, bias in exact.items():
        off, size = drawn[way]
        error = 2 * size / number**0.5

        assert (np.abs(off - bias) <= 6 * error).all()
    wrong = allotment.exact_bias(TABLE, epsilon / 3, Nonnegative())
    assert (np.abs(drawn[data.CLAMP][0] - wrong) > 12 * drawn[data.CLAMP][1] / number**0.5).any()


def test_the_proxy_of_a_noisy_sum_has_the_known_bias():
    """2.355 per cent of each share where the scale is a tenth of the sum."""
    assert allotment.inverse_excess(0.1) == pytest.approx(0.01023551772066 * 100 - 1, rel=1e-9)
    ratio = 1 / 40
    assert allotment.inverse_excess(ratio) == pytest.approx(
        allotment.inverse_excess(ratio * (1 + 1e-9)), rel=1e-6
    )
    bias = allotment.proxy_bias(TABLE, Fraction(1, 100))
    remedy = linear_proxy(
        Allotment(TABLE.weights), {"x": TABLE.counts}, Laplace(100), unit="add or remove one", draws=10, rng=0
    )
    assert (bias > 0).all()
    assert bias == pytest.approx(np.asarray(remedy.bias), rel=1e-6)


def test_the_sensitivity_of_a_table_is_that_of_the_formula_sheet():
    """And Theorem 11 with the table's own sum covers it."""
    small = data.Districts(np.array([5, 1, 4]), np.array([1, 2, 3]), np.ones(3, dtype=bool))

    assert allotment.sensitivity_as_it_is(small) == pytest.approx(0.21052631578947)
    assert allotment.sensitivity_as_it_is(TABLE) == pytest.approx(
        share_sensitivity_here(TABLE.weights, TABLE.counts, "add or remove one")
    )
    assert allotment.output_sensitivity(small, 1.0) >= allotment.sensitivity_as_it_is(small)
    assert allotment.output_sensitivity(small, 0.9) == pytest.approx(6 / (0.9 * 19))


@pytest.mark.figures
def test_a_record_of_an_allotment_has_every_number():
    """What figures and tables read."""
    record = evidence().trials["allotment"][0]
    at = record["epsilons"]["0.001"]

    assert record["districts"] == 90
    assert len(record["sizes"]) == len(at["bias"]["plain"]) == 30
    assert at["summary"]["as printed"]["alpha"] == pytest.approx(90 * at["summary"]["second order"]["alpha"])
    assert at["summary"]["plain"]["moved"] == pytest.approx(at["summary"]["plain"]["cost"], rel=1e-6)
    assert at["summary"]["output"]["most lost"] == 0.0
    assert allotment_bias(Allotment(TABLE.weights), TABLE.counts, Laplace(1000))[1].max() < 1e-9


def test_temperatures_need_the_noise_only():
    """The two that are best, and eight parts of the squared scale."""
    found = allotment.temperatures("0.1")

    assert found["T*"] == pytest.approx(79.728, abs=1e-3)
    assert found["T = 0.3 b^2"] == pytest.approx(30)
    assert len(found) == 2 + len(allotment.STRENGTHS)


# --- the rule -------------------------------------------------------------------------------------


def test_errors_of_the_rule_are_those_of_the_formula_sheet(monkeypatch):
    """Known to fourteen digits, and far from what independence would give."""
    columns = {"s": np.array([80, 3305]), "sp": np.array([4, 160]), "spe": np.array([1, 3])}
    nowhere = np.zeros(2, dtype=bool)
    table = data.Areas(np.array(["a", "b"]), columns, nowhere, nowhere)
    monkeypatch.setattr(data, "load_areas", lambda _: table)
    trials.part_errors.cache_clear()
    errors = trials.part_errors("known", "0.1")
    wider = trials.part_errors("known", "0.3", "3")
    trials.part_errors.cache_clear()

    assert errors[trials.WHOLE] == pytest.approx([0.26955266644323, 0.15833826036665], abs=1e-9)
    assert wider[trials.WHOLE] == pytest.approx(errors[trials.WHOLE], abs=1e-12)
    assert set(errors) == {trials.WHOLE, trials.INDEPENDENT, *trials.PARTS}


def test_drawn_errors_of_the_rule_tend_to_the_exact_ones(monkeypatch):
    """Counted, in 20,000 draws of the invented counties."""
    standing_in(monkeypatch)
    table, number = made_up_areas("determined"), 20_000
    exact = trials.part_errors("determined", "0.1")[trials.WHOLE]
    trials.part_errors.cache_clear()
    wrong = trials.draw_rule_errors(table, Fraction(1, 10), number, SeededSource(4)) / number
    error = np.sqrt(np.maximum(exact * (1 - exact), 1e-3) / number)

    assert (np.abs(wrong - exact) <= 6 * error).all()
    other = trials.draw_rule_errors(table, Fraction(1, 30), 4_000, SeededSource(4)) / 4_000
    assert (np.abs(other - exact) > 12 * error).any()


def test_noisy_ratios_have_the_mean_of_their_principal_value():
    """With little noise, where the two are the same to three digits."""
    mean, variance = trials.draw_counties([(30, 600), (160, 3305)], Fraction(1), 40_000, SeededSource(5))

    assert mean == pytest.approx([0.05, 160 / 3305], abs=1e-4)
    assert variance[0] == pytest.approx(2 / 600**2, rel=0.1)


# --- proxies --------------------------------------------------------------------------------------


def test_groups_are_of_about_equal_size_and_by_the_noisy_count(monkeypatch):
    """And the noise is that of epsilon."""
    monkeypatch.setattr(trials, "GROUPS", 3)
    table = made_up_areas("simulated")
    members, noisy = trials.group_areas(table, Fraction(1), SeededSource(6))

    assert sorted(np.concatenate(members).tolist()) == list(range(66))
    assert {len(each) for each in members} == {22}
    assert noisy[members[0]].max() <= noisy[members[1]].min()
    assert 0 < np.abs(noisy - table.columns["sp"]).mean() < 3


@pytest.mark.parametrize("model", trials.MODELS)
def test_a_linear_rule_separates_what_can_be_separated(model):
    """On true counts, whatever their scale; a group of one answer always gives it."""
    features = np.array([[1.0, 1e6, 5.0], [2.0, 1e6, 5.0], [8.0, 3e6, 5.0], [9.0, 3e6, 5.0]])
    answers = np.array([False, False, True, True])
    weights, bias = trials.linear_rule(features, answers, model)

    assert ((features @ weights + bias > 0) == answers).all()
    for alike in (answers & False, answers | True):
        weights, bias = trials.linear_rule(features, alike, model)
        errors, turned, right = trials.flips(features, alike, weights, bias, 5.0)

        assert not errors.any()
        assert not turned.any()
        assert right.all()


def test_a_linear_rule_errs_as_often_as_noise_turns_it():
    """Against a simulation, and against the answers of two rules."""
    features = np.array([[3.0, 1.0], [0.5, 2.0]])
    answers, weights, bias, number = np.array([True, True]), np.array([1.0, -2.0]), 0.2, 100_000
    errors, turned, right = trials.flips(features, answers, weights, bias, 1.5)
    noise = SeededSource(7).generator().laplace(0, 1.5, (number, 2, 2))
    yes = (((features + noise) @ weights + bias) > 0).mean(axis=0)

    assert right.tolist() == [True, False]
    assert errors == pytest.approx(1 - yes, abs=0.01)
    assert turned == pytest.approx([1 - yes[0], yes[1]], abs=0.01)


# --- the tables -----------------------------------------------------------------------------------


def test_tables_are_read_by_name(monkeypatch):
    """Students or children in poverty, one state or all; districts with nobody are left out."""
    asked = []

    def load(name, **options):
        asked.append((name, options))
        frame = pd.DataFrame(
            {
                "district": ["a", "b", "c"],
                "state": ["NEW YORK", "OHIO", "OHIO"],
                "num_students": [3, 5, 0],
                "poverty_5_17": [1, 0, 0],
                "exp_index": [10, 7, 7],
            }
        )
        return SimpleNamespace(frame=frame)

    monkeypatch.setattr("evenhand.datasets.load", load)
    data.load_districts.cache_clear()
    found = {name: data.load_districts(name) for name in data.TABLES}
    data.load_districts.cache_clear()

    assert [len(each.counts) for each in found.values()] == [2, 2, 1]
    assert found["students"].chosen.tolist() == [True, False]
    assert found["students"].total == 65
    assert found["students"].shares.tolist() == [30 / 65, 35 / 65]
    assert [options for _, options in asked] == [
        {"state": "all"},
        {"state": "NEW YORK"},
        {"version": "saipe", "year": 2015},
    ]


def test_areas_know_which_of_them_are_drawn(monkeypatch):
    """What is simulated is labelled so, down to the row."""
    frame = pd.DataFrame(
        {"area": ["a", "b"], "s": [100, 100], "sp": [9, 2], "spe": [3, 1], "simulated": [0, 1]}
    )
    monkeypatch.setattr("evenhand.datasets.load", lambda *_, **__: SimpleNamespace(frame=frame))
    data.load_areas.cache_clear()
    found = [data.load_areas(name) for name in data.AREAS]
    data.load_areas.cache_clear()

    assert [each.drawn.tolist() for each in found] == [[False, False], [False, True]]
    assert found[0].covered.tolist() == [True, False]
    assert list(found[0].columns) == ["s", "sp", "spe"]


def test_the_districts_of_the_paper_have_its_numbers():
    """With the table at hand: the bounds of Example 1 to their printed digits."""
    try:
        table = data.load_districts("students")
    except DataSetNotFoundError:
        pytest.skip("the table of districts is not on this machine")
    from evenhand.decide.bounds_curvature import allotment_trace, second_order_bias

    trace = allotment_trace(table.weights, table.counts)
    alphas = [
        float(np.ptp(second_order_bias(trace, Laplace(1 / Fraction(text)), as_printed=True)))
        for text in ("0.001", "0.01", "0.05")
    ]
    data.load_districts.cache_clear()

    assert alphas == pytest.approx([3.0534822e-3, 3.0534822e-5, 1.2213929e-6], rel=1e-6)
