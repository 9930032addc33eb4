"""Crossed groups against brute force: every combination counted row by row, and its margins."""

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.measure import count_table, group_report
from evenhand.measure.gaps import MEASURES

RATES = ("selection", "tpr", "fpr", "accuracy")


def _made(seed, columns):
    """Return labels, predictions and crossed columns of a random small table."""
    draws = np.random.default_rng(seed)
    rows = int(draws.integers(1, 60))
    sizes = draws.integers(1, 5, columns)
    crossed = {f"c{place}": draws.integers(0, size, rows).tolist() for place, size in enumerate(sizes)}
    y_true, y_pred = draws.integers(0, 2, (2, rows)).tolist()
    return y_true, y_pred, crossed


def _rates(pairs):
    """Return the rates of a group from its rows, by counting them."""

    def share(chosen, of):
        return sum(chosen) / len(of) if of else math.nan

    positives = [predicted for true, predicted in pairs if true]
    negatives = [predicted for true, predicted in pairs if not true]
    everybody = [predicted for _, predicted in pairs]
    return {
        "selection": share(everybody, everybody),
        "tpr": share(positives, positives),
        "fpr": share(negatives, negatives),
        "accuracy": share([true == predicted for true, predicted in pairs], pairs),
    }


def _by_group(y_true, y_pred, keys):
    found = {}
    for true, predicted, key in zip(y_true, y_pred, keys, strict=True):
        found.setdefault(key, []).append((true, predicted))
    return {key: _rates(pairs) for key, pairs in sorted(found.items())}


def _same(report, expected):
    assert list(report.rates) == list(expected)
    for group, rates in expected.items():
        for name in RATES:
            assert getattr(report.rates[group], name) == pytest.approx(rates[name], nan_ok=True)
    values = [rates["selection"] for rates in expected.values()]
    gap = max(values) - min(values) if len(values) > 1 else math.nan
    assert float(report.sp_gap) == pytest.approx(gap, nan_ok=True)


@pytest.mark.parametrize("columns", [2, 3])
def test_every_combination_and_every_margin_is_as_counted_by_hand(columns):
    """A thousand random tables each; a combination in the wrong place would move its rates."""
    for seed in range(1000):
        y_true, y_pred, crossed = _made(seed, columns)
        report = group_report(y_true, y_pred, crossed)

        _same(report, _by_group(y_true, y_pred, zip(*crossed.values(), strict=True)))
        for name, column in crossed.items():
            _same(report.margins[name], _by_group(y_true, y_pred, column))


def test_crossing_is_the_same_as_a_column_of_combinations():
    """Intervals and worst pairs too, weighted or not; only the names of groups differ."""
    y_true, y_pred, crossed = _made(11, 2)
    joined = [f"{first}|{second}" for first, second in zip(*crossed.values(), strict=True)]
    weights = np.random.default_rng(2).uniform(0.5, 2, len(y_true))
    for given in (None, weights):
        crossing = group_report(y_true, y_pred, crossed, weights=given)
        alone = group_report(y_true, y_pred, joined, weights=given)

        for name in MEASURES:
            assert float(crossing.value(name)) == pytest.approx(float(alone.value(name)), nan_ok=True)
            assert tuple(crossing.interval(name, 0.9)) == pytest.approx(
                tuple(alone.interval(name, 0.9)), nan_ok=True
            )
        assert "|".join(map(str, crossing.worst_pair("sp_gap")[0])) == alone.worst_pair("sp_gap")[0]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_come_as_a_frame_too(frame):
    """People have them in one."""
    y_true, y_pred, crossed = _made(5, 3)

    assert (
        group_report(y_true, y_pred, frame(crossed)).table.groups
        == count_table(y_true, y_pred, crossed).groups
    )


def test_weighted_margins_are_those_of_the_column_alone():
    """Squares and rows add up as counts do, so that intervals are the same."""
    y_true, y_pred, crossed = _made(3, 2)
    weights = np.random.default_rng(4).uniform(0.5, 2, len(y_true))
    margin = group_report(y_true, y_pred, crossed, weights=weights).margins["c1"]
    alone = group_report(y_true, y_pred, crossed["c1"], weights=weights)

    for name in ("acc", "sp_gap"):
        assert margin.value(name) == pytest.approx(alone.value(name), nan_ok=True)
        assert tuple(margin.interval(name)) == pytest.approx(tuple(alone.interval(name)), nan_ok=True)


def test_a_privileged_combination_is_the_privileged_value_of_each_margin():
    y_pred = [1, 1, 0, 0]
    crossed = {"sex": ["m", "m", "f", "f"], "race": ["a", "b", "a", "b"]}
    report = group_report(None, y_pred, crossed, privileged=("m", "a"))

    assert float(report.spd) == pytest.approx(1 - 1 / 3)
    assert {name: margin.privileged for name, margin in report.margins.items()} == {"sex": "m", "race": "a"}
    assert float(report.margins["race"].spd) == 0


def test_labels_are_by_column():
    crossed = {"white": [1, 0, 1, 0], "sex": ["f", "f", "m", "m"]}
    labels = {"white": {1: "White", 0: "others"}}
    report = group_report(None, [1, 0, 1, 1], crossed, labels=labels, privileged=(1, "m"))

    assert list(report.rates) == [("others", "f"), ("others", "m"), ("White", "f"), ("White", "m")]
    assert report.privileged == ("White", "m")
    assert "White, m" in repr(report)
    assert "white × sex" in repr(report)


@pytest.mark.parametrize(
    ("crossed", "error", "words"),
    [
        ({}, InvalidParameterError, "at least one column"),
        ({"a": [1, 0], "b": [1]}, InvalidParameterError, "as long as"),
        ({"a": [1, None], "b": [1, 2]}, InvalidParameterError, "missing values"),
        ({"a": range(40), "b": range(40)}, InvalidParameterError, "at most 1,000 combinations"),
    ],
)
def test_what_cannot_be_crossed_is_refused_in_one_sentence(crossed, error, words):
    """No value of a column is told."""
    rows = len(next(iter(crossed.values()), []))
    with pytest.raises(error, match=words):
        group_report(None, [0, 1] * (rows // 2), crossed)


def test_a_privileged_combination_that_does_not_occur_is_refused():
    crossed = {"sex": ["m", "f"], "race": ["a", "b"]}
    for privileged in (("m", "b"), ("m",), "m"):
        with pytest.raises(InvalidParameterError, match="privileged"):
            group_report(None, [0, 1], crossed, privileged=privileged)
    with pytest.raises(UnknownNameError, match="Column"):
        group_report(None, [0, 1], crossed, labels={"age": {}})


def test_values_that_nobody_has_make_no_group():
    """Whole numbers are their own codes, and 7 alone must not make eight groups."""
    report = group_report(None, [1, 0], {"a": [7, 7], "b": [0, 3]})

    assert list(report.rates) == [(7, 0), (7, 3)]


def test_a_gap_that_margins_hide_is_called_out_and_one_that_they_show_is_not():
    """The twin has the same rates by sex alone: its margin shows them."""
    sex, race = np.repeat(["f", "m"], 400), np.tile(np.repeat(["a", "b"], 200), 2)
    crossing = {"sex": sex, "race": race}
    rates = {("f", "a"): 0.8, ("f", "b"): 0.2, ("m", "a"): 0.2, ("m", "b"): 0.8}
    hidden, shown = [], []
    for first, second in itertools.product("fm", "ab"):
        hidden += [1] * round(200 * rates[first, second]) + [0] * round(200 * (1 - rates[first, second]))
        shown += [1] * (160 if first == "f" else 40) + [0] * (40 if first == "f" else 160)

    assert group_report(None, hidden, crossing).is_hidden()
    assert not group_report(None, shown, crossing).is_hidden()
    assert not group_report(None, hidden, sex).is_hidden()


def test_combinations_that_nobody_has_are_listed():
    """They are no groups, and must not vanish either."""
    report = group_report(None, [1, 0, 1], {"sex": ["f", "m", "m"], "race": ["a", "a", "b"]})

    assert report.empty_combinations == [("f", "b")]
    assert group_report(None, [1, 0], ["f", "m"]).empty_combinations == []
