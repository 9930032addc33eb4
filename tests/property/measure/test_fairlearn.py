"""Group measures against fairlearn and scikit-learn, where these define them (F1).

Where a measure is undefined here, they say 0 or leave the group out; those cases are not compared.
"""

import math

import numpy as np
import pytest

from evenhand.measure import group_report
from property._measure_reference import random_case

sklearn = pytest.importorskip("sklearn")
fairlearn_metrics = pytest.importorskip("fairlearn.metrics")
sklearn_metrics = pytest.importorskip("sklearn.metrics")


def _precision(y_true, y_pred, **weighted):
    return sklearn_metrics.precision_score(y_true, y_pred, zero_division=0.0, **weighted)


RATES = {
    "selection": fairlearn_metrics.selection_rate,
    "tpr": fairlearn_metrics.true_positive_rate,
    "fpr": fairlearn_metrics.false_positive_rate,
    "accuracy": sklearn_metrics.accuracy_score,
    "precision": _precision,
}
OVERALL = {
    "acc": sklearn_metrics.accuracy_score,
    "f1": sklearn_metrics.f1_score,
    "recall": sklearn_metrics.recall_score,
    "balanced_accuracy": sklearn_metrics.balanced_accuracy_score,
}


def _cases(number, seed):
    """Draw tables with labels, with at least two groups, and with positive weights if any."""
    generator = np.random.default_rng(seed)
    found = []
    while len(found) < number:
        columns, options, case = random_case(generator)
        size, weights = len(case["rows"]), options["weights"]
        positive = weights is None or bool((np.asarray(weights) > 0).all())
        if size > 1 and case["labelled"] and positive and len(case["groups"]) > 1:
            found.append((columns, {**options, "weights": np.ones(size) if weights is None else weights}))
    return found


def _by_group(cases, rates):
    """Let fairlearn compute all tables at once: one sensitive value per table and group."""
    together = {name: np.concatenate([columns[name] for columns, _ in cases]) for name in cases[0][0]}
    table = np.repeat(np.arange(len(cases)), [len(columns["group"]) for columns, _ in cases])
    weights = np.concatenate([options["weights"] for _, options in cases])
    with sklearn.config_context(skip_parameter_validation=True, assume_finite=True):  # for speed only
        frame = fairlearn_metrics.MetricFrame(
            metrics={rate: RATES[rate] for rate in rates},
            y_true=together["y_true"],
            y_pred=together["y_pred"],
            sensitive_features=10 * table + together["group"],
            sample_params={rate: {"sample_weight": weights} for rate in rates},
        )
    return frame.by_group


def _differs(actual, expected):
    return not math.isnan(actual) and not abs(actual - expected) <= 1e-12


def _disagreements(cases, rates):
    by_group, wrong = _by_group(cases, rates), []
    for table, (columns, options) in enumerate(cases):
        report = group_report(**columns, **options)
        groups = sorted(set(columns["group"].tolist()))
        expected = by_group.loc[[10 * table + group for group in groups]]
        for group, (_, row) in zip(groups, expected.iterrows(), strict=True):
            wrong += [rate for rate in rates if _differs(getattr(report.rates[group], rate), row[rate])]
        gap = expected.max() - expected.min()
        if _differs(report.sp_gap, gap["selection"]):
            wrong.append("sp_gap")
        if _differs(report.eo_gap, max(gap["tpr"], gap["fpr"])):
            wrong.append("eo_gap")
    return wrong


@pytest.mark.figures
def test_group_measures_equal_fairlearn_on_300_tables():
    """Somebody who changes over from fairlearn must find the same numbers."""
    assert _disagreements(_cases(300, seed=300), ("selection", "tpr", "fpr")) == []


def test_accuracy_and_precision_of_groups_equal_scikit_learn():
    """On few tables, because scikit-learn is slow; the test of ten thousand tables has them too."""
    assert _disagreements(_cases(10, seed=20), tuple(RATES)) == []


@pytest.mark.slow
def test_group_measures_equal_fairlearn_on_ten_thousand_tables():
    cases = _cases(10_000, seed=10_000)
    parts = (cases[start : start + 250] for start in range(0, 10_000, 250))

    assert [fault for part in parts for fault in _disagreements(part, tuple(RATES))] == []


def test_the_comparison_with_fairlearn_can_see():
    """The twin: tables whose predictions are flipped must not agree."""
    flipped = [
        ({**columns, "y_pred": 1 - columns["y_pred"]}, options) for columns, options in _cases(5, seed=5)
    ]
    expected = _by_group(flipped, ("accuracy",))
    columns, options = _cases(5, seed=5)[0]
    group = int(columns["group"][0])
    actual = group_report(**columns, **options).rates[group].accuracy

    assert _differs(actual, expected.loc[group]["accuracy"])


@pytest.mark.parametrize("name", OVERALL)
def test_figures_for_everybody_equal_scikit_learn(name):
    for columns, options in _cases(25, seed=25):
        actual = group_report(**columns, **options).value(name)
        if not math.isnan(actual):
            pair = columns["y_true"], columns["y_pred"]

            assert not _differs(actual, OVERALL[name](*pair, sample_weight=options["weights"]))


def test_gaps_equal_the_named_functions_of_fairlearn():
    for columns, options in _cases(10, seed=6):
        report = group_report(**columns, **options)
        pair = columns["y_true"], columns["y_pred"]
        by = {"sensitive_features": columns["group"], "sample_weight": options["weights"]}

        assert not _differs(report.sp_gap, fairlearn_metrics.demographic_parity_difference(*pair, **by))
        assert not _differs(report.eo_gap, fairlearn_metrics.equalized_odds_difference(*pair, **by))
        if len(report.rates) == 2:
            mean = fairlearn_metrics.equalized_odds_difference(*pair, agg="mean", **by)
            assert not _differs(report.meo_gap, mean)
