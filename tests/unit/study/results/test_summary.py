"""Summaries: one row per setting."""

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.measure import MEASURES
from evenhand.study.results.estimates import estimate
from unit._study_results import NOTHING, grr, study

RUNS = {
    NOTHING: {"acc": [0.8, 0.9, 0.7], "sp_gap": [0.1, 0.2, 0.15]},
    grr("1/2"): {"acc": [0.7, 0.75, None], "sp_gap": [0.05, 0.1, None]},
    grr(1): {"acc": [0.75, 0.8, 0.66], "sp_gap": [0.05, np.nan, 0.11]},
}


@pytest.fixture(name="results", scope="module")
def _results():
    return study(RUNS)


@pytest.mark.parametrize("kind", ["seeds", "corrected"])
def test_every_number_is_that_of_the_single_estimate(results, kind):
    """The table and the sentences about it must not disagree."""
    frame = results.summary(kind=kind, level=0.9, backend="pyarrow").to_pylist()

    assert len(frame) == 3
    for row, setting in zip(frame, results.settings, strict=True):
        for name in ("acc", "sp_gap"):
            mean = estimate(results, setting, name, kind=kind, level=0.9)
            change = estimate(results, setting, name, against=NOTHING, kind=kind, level=0.9)
            told = [row[f"{name}{end}"] for end in ("", "_low", "_high", "_runs")]
            moved = [row[f"{name}{end}"] for end in ("_change", "_change_low", "_change_high", "_pairs")]

            assert told == pytest.approx([mean.value, mean.low, mean.high, mean.runs], rel=1e-12)
            assert moved == pytest.approx(
                [change.value, change.low, change.high, change.runs], rel=1e-12, abs=1e-15
            )


def test_runs_and_pairs_are_counted(results):
    """An undefined value and a cell that was not run are both left out, and told."""
    frame = results.summary(["sp_gap"], shape="long", backend="pyarrow")

    assert frame["runs"].to_pylist() == [3, 2, 2]
    assert frame["pairs"].to_pylist() == [3, 2, 2]
    assert frame["note"].to_pylist()[0] == ""
    assert frame["note"].to_pylist()[1].startswith("1 of 3 repeats has no value")


def test_the_long_shape_has_a_row_per_setting_and_measure(results):
    frame = results.summary(["acc", "gap"], shape="long", kind="corrected", level=0.8, backend="pyarrow")

    assert frame.num_rows == 6
    assert frame["measure"].to_pylist()[:3] == ["acc", "sp_gap", "acc"]
    assert set(frame["kind"].to_pylist()) == {"corrected"}
    assert set(frame["level"].to_pylist()) == {0.8}


def test_measures_are_those_of_the_plan_unless_asked(results):
    plan = results.plan.with_(measures=("acc", "di"))
    few = type(results)(plan, results.facts, results.outcomes)

    assert [name for name in few.summary(backend="pyarrow").column_names if name in MEASURES] == ["acc", "di"]
    assert "f1" in few.summary("f1", backend="pyarrow").column_names


@pytest.mark.parametrize(
    "asked", [{"measures": "accuracies"}, {"level": 0}, {"kind": "t"}, {"shape": "tall"}], ids=str
)
def test_what_cannot_be_is_refused(results, asked):
    with pytest.raises(InvalidParameterError, match=f"'{next(iter(asked))}' parameter"):
        results.summary(**asked)


@pytest.mark.parametrize("measures", [[], (), 3])
def test_measures_that_name_nothing_are_refused(results, measures):
    """An empty list, as of a filter that kept none, must not end in an error of the inner code."""
    with pytest.raises(InvalidParameterError, match=r"'measures' parameter of Results\.summary must be"):
        results.summary(measures)
