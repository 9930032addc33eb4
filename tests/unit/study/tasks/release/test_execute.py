"""Cells of a release: the right rows are counted, published and learnt from; claims are the mechanism's."""

import math
from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError, PlanError
from evenhand.measure import MEASURES, group_report
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.rational import float_above
from evenhand.release.mechanisms.noise import Laplace
from evenhand.release.postprocess.steps import Nonnegative
from evenhand.release.table.histogram import Histogram
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.run.attempt import execute
from evenhand.study.run.prepare import prepare
from evenhand.study.run.whole import run
from evenhand.study.store.canonical import result_text
from evenhand.study.tasks.release.execute import _lasting, learnt_from, rebuilt_people, table_counts
from evenhand.study.tasks.release.execute import execute as execute_release
from evenhand.study.tasks.release.task import STATED, ReleaseTask
from evenhand.study.tasks.shared.parts import parts
from unit.study._release_studies import people, plan, schema

COLUMNS = ["sex", "job", "hired"]
LAPLACE = Setting("laplace", Fraction(1))


def prepared(task=None, *, frame=None, **parts):
    asked = plan(task, **parts)
    return asked, prepare(asked, frame=people() if frame is None else frame)


# --- rows -------------------------------------------------------------------------------------------


def test_every_declared_cell_is_counted():
    """An empty cell that is left out says that nobody is in it."""
    _, rows = prepared()
    found = table_counts(rows)
    frame = people().to_pydict()

    assert found.shape == (2, 3, 2)
    for s, sex in enumerate(["women", "men"]):
        for j, job in enumerate(["clerk", "nurse", "cook"]):
            for h, hired in enumerate(["no", "yes"]):
                expected = sum(
                    each == (sex, job, hired)
                    for each in zip(frame["sex"], frame["job"], frame["hired"], strict=True)
                )
                assert found[s, j, h] == expected


def test_the_table_is_that_of_the_training_rows():
    """Rows that test the model must not be in what it learns from."""
    asked, rows = prepared()
    outcome = execute(Cell(Setting(), 1), plan=asked, prepared=rows)
    [(train, test)] = parts(rows.target, test=asked.task.test, seed=asked.seed + 1)

    assert sum(each["counted"] for each in outcome.groups.values()) == len(train)
    assert sum(each["people"] for each in outcome.groups.values()) == len(test)


def test_without_a_model_every_row_is_counted():
    asked, rows = prepared(ReleaseTask(COLUMNS, classify=False))
    outcome = execute(Cell(Setting(), 0), plan=asked, prepared=rows)

    assert sum(each["counted"] for each in outcome.groups.values()) == 120
    assert "acc" not in outcome.measures


def test_the_columns_stand_in_the_order_of_the_task():
    """The axis of the protected column is where the table has it."""
    asked, rows = prepared(ReleaseTask(["hired", "job", "sex"], classify=False))
    outcome = execute(Cell(Setting(), 0), plan=asked, prepared=rows)

    assert table_counts(rows).shape == (2, 3, 2)
    assert outcome.groups["women"]["counted"] == outcome.groups["men"]["counted"] == 60


# --- cells ------------------------------------------------------------------------------------------


def test_the_true_table_has_no_error_and_no_guarantee():
    """It is the baseline of everything: what it costs nothing and protects nobody."""
    asked, rows = prepared()
    outcome = execute(Cell(Setting(), 0), plan=asked, prepared=rows)

    assert outcome.measures["l1_error"] == outcome.measures["alpha"] == 0
    assert outcome.measures["delta"] == 1
    assert math.isnan(outcome.measures["claimed_epsilon"])


def test_a_cell_is_what_the_mechanism_does_with_the_same_seed():
    """If this is false the report is about something else than what would be published."""
    asked, rows = prepared(ReleaseTask(COLUMNS, post=["nonnegative"]))
    cell = Cell(LAPLACE, 1)
    outcome = execute_release(asked.task, cell, seed=asked.seed, prepared=rows)
    [(train, _)] = parts(rows.target, test=asked.task.test, seed=asked.seed + 1)
    true = table_counts(rows, train)
    mechanism, histogram = Laplace(epsilon=1, unit="replace one"), Histogram.of(true, schema())
    source = SeededSource(asked.seed).for_cell(draw_text(cell)).for_cell("release")
    published = mechanism.release(histogram, rng=source, post=[Nonnegative()]).values
    bias = mechanism.bias(histogram, post=[Nonnegative()])

    error = mechanism.exact_absolute_error(histogram, post=[Nonnegative()])

    assert outcome.groups["women"]["published"] == published[0].sum()
    assert outcome.measures["l1_error"] == pytest.approx(error.sum())
    assert outcome.measures["alpha"] == pytest.approx(bias.alpha)
    assert outcome.measures["l1_bias"] == pytest.approx(bias.l1)
    assert outcome.measures["bias_exact"] == 1
    assert outcome.measures["delta"] == 0
    assert outcome.groups["women"]["expected_net"] == pytest.approx(bias.values[0].sum())


def test_the_same_cell_gives_the_same_outcome_and_another_repeat_another():
    asked, rows = prepared()
    once, again, other = (
        execute_release(asked.task, Cell(LAPLACE, repeat), seed=asked.seed, prepared=rows)
        for repeat in (0, 0, 1)
    )

    assert result_text(once) == result_text(again)
    assert result_text(once) != result_text(other)


def test_a_mechanism_without_a_promise_has_delta_one():
    asked, rows = prepared(ReleaseTask(COLUMNS, ["suppression"]))
    outcome = execute_release(asked.task, asked.cells()[1], seed=asked.seed, prepared=rows)

    assert outcome.measures["delta"] == 1


@pytest.mark.parametrize(("fill", "number"), [(None, 3), ("half-threshold", 3), ("zero", 0), ("blank", 0)])
def test_suppressed_cells_are_read_as_the_plan_says(fill, number):
    """A release leaves them blank; a study needs a number and must not take one that nobody named."""
    options = {"threshold": 6} | ({} if fill is None else {"fill": fill})
    asked, rows = prepared(ReleaseTask(COLUMNS, [{"name": "suppression", **options}], classify=False))
    cell = asked.cells()[1]
    outcome = execute_release(asked.task, cell, seed=asked.seed, prepared=rows)
    true = table_counts(rows)
    read = np.where(true < 6, number, true)

    assert cell.setting.options == options
    assert outcome.measures["l1_error"] == np.abs(read - true).sum()
    assert outcome.measures["suppressed"] == pytest.approx((true < 6).mean())


def test_delta_is_stated_at_the_epsilon_of_the_setting_and_never_below():
    """A delta at another epsilon says nothing of the setting."""
    gaussian = {"name": "discrete-gaussian", "rho": "1/10"}
    asked, rows = prepared(ReleaseTask(COLUMNS, [gaussian, "discrete-gaussian"], [2]))
    by_rho, by_epsilon = (
        execute_release(asked.task, cell, seed=asked.seed, prepared=rows).measures
        for cell in asked.cells()[1:3]
    )

    assert by_rho["claimed_epsilon"] == STATED
    assert 0 < by_rho["delta"] < 1
    assert by_epsilon["claimed_epsilon"] == 2
    assert 0 < by_epsilon["delta"] <= 1e-6
    assert float_above(Fraction(1, 3)) >= Fraction(1, 3)
    assert float_above(Fraction(2, 3)) >= Fraction(2, 3)


def test_the_error_of_noise_is_exact_in_every_cell_and_repeat():
    """Ten repeats showed 1.3 and 1.4 for cells that all err by 1.919 on average."""
    asked, rows = prepared(ReleaseTask(COLUMNS, ["laplace"], [1], classify=False))
    outcomes = [
        execute_release(asked.task, Cell(LAPLACE, repeat), seed=asked.seed, prepared=rows)
        for repeat in (0, 1)
    ]
    exact = 2 * math.exp(-0.5) / (1 - math.exp(-1))
    cells = table_counts(rows).size

    for outcome in outcomes:
        assert outcome.measures["error_exact"] == 1
        assert outcome.measures["l1_error"] == pytest.approx(cells * exact)
        assert outcome.data["error_3_9"] == pytest.approx(exact)
        assert outcome.groups["women"]["cell_error"] == pytest.approx(exact)
        assert outcome.groups["women"]["net_spread"] == pytest.approx(
            math.sqrt(6 * Laplace(1, unit="replace one").law.variance)
        )
    assert outcomes[0].measures["net_people"] != outcomes[1].measures["net_people"]


@pytest.mark.parametrize(
    ("task", "exact"),
    [
        ({"mechanisms": ["swapping"]}, 0),
        ({"mechanisms": ["laplace"], "post": ["sum_to=120"]}, 0),
        ({"mechanisms": ["laplace"], "bound": 7}, 0),
        ({"mechanisms": ["laplace"], "bound": 700, "post": ["nonnegative", "integral"]}, 1),
        ({"mechanisms": ["thresholded-laplace"], "post": ["nonnegative"]}, 1),
        ({"mechanisms": ["generalized-sampling"]}, 0),
    ],
)
def test_errors_without_a_formula_are_those_of_what_is_drawn(task, exact):
    """Sums move all cells together and a bound cuts some: a formula for single cells would be wrong."""
    asked, rows = prepared(ReleaseTask(COLUMNS, **task, classify=False, draws=3))
    outcome = execute_release(asked.task, asked.cells()[1], seed=asked.seed, prepared=rows)

    assert outcome.measures["error_exact"] == exact


def test_a_bias_without_a_formula_is_sampled_and_says_so():
    """A sampled number that passes for exact is trusted too much."""
    asked, rows = prepared(ReleaseTask(COLUMNS, ["swapping"], draws=3))
    outcome = execute_release(asked.task, asked.cells()[1], seed=asked.seed, prepared=rows)

    assert outcome.measures["bias_exact"] == 0


def test_a_public_bound_that_cuts_counts_is_part_of_the_error():
    """People above the bound are lost, whatever the mechanism does."""
    asked, rows = prepared(ReleaseTask(COLUMNS, ["suppression"], bound=7, classify=False))
    outcome = execute_release(asked.task, asked.cells()[1], seed=asked.seed, prepared=rows)
    true = table_counts(rows)
    cut = np.minimum(true, 7)
    published = np.where(cut < 6, 3, cut)

    assert outcome.measures["l1_error"] == np.abs(published - true).sum()
    assert outcome.measures["l1_bias"] == pytest.approx(np.abs(published - true).sum())


@pytest.mark.parametrize(
    ("post", "mechanism", "kept"),
    [
        (["nonnegative"], "laplace", ("nonnegative",)),
        (["nonnegative", "integral"], "laplace", ("nonnegative",)),
        (["nonnegative"], "suppression", ()),
        (["integral", "shrink=1"], "suppression", ("integral", "shrink=1")),
        (["sum_to=5", "integral"], "suppression", ("sum_to=5",)),
    ],
)
def test_only_steps_that_change_the_expectation_are_in_the_bias(post, mechanism, kept):
    """A step left out wrongly makes the exact bias wrong; one kept needlessly makes it sampled."""
    task = ReleaseTask(COLUMNS, [mechanism], post=post)

    assert _lasting(next(task.settings()), task) == kept


# --- learning ---------------------------------------------------------------------------------------


def test_weights_teach_the_same_as_rows():
    """A cell of n people is one row of weight n; if that is not the same, accuracy is about nothing."""
    from sklearn.linear_model import LogisticRegression

    asked, rows = prepared()
    [(train, test)] = parts(rows.target, test=asked.task.test, seed=3)
    table = table_counts(rows, train)
    found, _ = learnt_from(table, rows, test, seed=0)

    def features(place):
        sex, job = (rows.codes[name][place].astype(int) for name in ("sex", "job"))
        return np.hstack([np.eye(2)[sex], np.eye(3)[job]])

    slow = LogisticRegression(max_iter=5000).fit(features(train), rows.target[train])
    report = group_report(
        rows.target[test], slow.predict(features(test)), rows.group[test], privileged=1, groups=range(2)
    )

    assert found["acc"] == report.value("acc")
    assert found["sp_gap"] == report.value("sp_gap")


def test_negative_counts_stand_for_nobody():
    assert rebuilt_people(np.array([-2, -0.4, 0.6, 3])).tolist() == [0, 0, 1, 3]


def test_a_table_of_nobody_teaches_nothing():
    """Everything suppressed is an outcome, not a failure."""
    asked, rows = prepared()
    [(_, test)] = parts(rows.target, test=asked.task.test, seed=0)
    measures, groups = learnt_from(np.zeros((2, 3, 2)), rows, test, seed=0)

    assert all(math.isnan(measures[name]) for name in MEASURES)
    assert math.isnan(groups["women"]["selection"])


def test_a_table_of_one_outcome_says_it_of_everybody():
    asked, rows = prepared()
    [(_, test)] = parts(rows.target, test=asked.task.test, seed=0)
    table = np.zeros((2, 3, 2))
    table[..., 1] = 4
    _, groups = learnt_from(table, rows, test, seed=0)

    assert groups["women"]["selection"] == groups["men"]["selection"] == 1


# --- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "roles", "field"),
    [
        (ReleaseTask(["sex", "age"]), {}, "task.columns"),
        (ReleaseTask(["job", "hired"]), {}, "task.columns"),
        (ReleaseTask(["sex", "job"]), {}, "task.columns"),
        (ReleaseTask(COLUMNS), {"protected": None, "privileged": None}, "schema.roles.protected"),
        (ReleaseTask(COLUMNS), {"privileged": None}, "schema.roles.privileged"),
        (ReleaseTask(COLUMNS), {"target": None, "positive": None}, "schema.roles.target"),
        (
            ReleaseTask(COLUMNS),
            {"target": "sex", "positive": "men"},
            "schema.roles.protected",
        ),
        (ReleaseTask(COLUMNS, ["k-anonymity"]), {"quasi_identifiers": []}, "schema.roles.quasi_identifiers"),
    ],
)
def test_a_table_that_cannot_be_studied_is_refused_before_anything_runs(task, roles, field):
    """A study that fails after an hour, or compares nothing, costs more than a refusal."""
    with pytest.raises(PlanError) as caught:
        prepare(plan(task, roles=roles), frame=people())

    assert caught.value.field == field


def test_a_table_of_the_target_alone_is_refused():
    with pytest.raises(PlanError, match="is the target too"):
        prepare(plan(ReleaseTask(["sex"]), roles={"target": "sex", "positive": "men"}), frame=people())


def test_a_table_with_too_many_cells_is_refused(monkeypatch):
    monkeypatch.setattr("evenhand.study.tasks.release.prepare.MOST_CELLS", 11)
    with pytest.raises(PlanError, match="12 cells"):
        prepare(plan(), frame=people())


def test_rows_that_the_schema_lets_none_of_in_are_refused():
    with pytest.raises(PlanError) as caught:
        prepare(plan(ReleaseTask(COLUMNS, classify=False)), frame=people().slice(0, 0))

    assert caught.value.field == "data"


# --- whole studies ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_study_of_releases_is_the_same_for_any_number_of_workers():
    """If this is false, nobody can check somebody else's study."""
    asked = plan(ReleaseTask(COLUMNS, ["laplace", "swapping", "k-anonymity"], [1], draws=3), repeats=2)
    one, two = (run(asked, frame=people(), workers=workers, progress=False) for workers in (1, 2))

    assert not one.failures
    assert one.canonical() == two.canonical()


def test_no_protocol_is_recommended_from_a_release():
    results = run(plan(repeats=1), frame=people(), workers=1, progress=False)
    with pytest.raises(InvalidParameterError, match="of a collection"):
        results.advise()


def test_a_study_of_releases_is_the_same_when_it_is_run_in_parts(tmp_path):
    """If this is false, nobody can check somebody else's study."""
    task = ReleaseTask(COLUMNS, ["laplace", "suppression"], [1, 2], post="nonnegative")
    asked = plan(task, repeats=2)
    whole = run(asked, frame=people(), out=tmp_path / "one", workers=1, progress=False)
    part = plan(ReleaseTask(COLUMNS, ["laplace"], [1], post="nonnegative"), repeats=2)
    run(part, frame=people(), out=tmp_path / "two", workers=1, progress=False)
    rest = run(asked, frame=people(), out=tmp_path / "two", workers=1, resume=True, progress=False)

    assert not whole.failures
    assert whole.canonical() == rest.canonical()
    assert type(whole).load(tmp_path / "one").canonical() == whole.canonical()


def test_tables_of_results_have_the_columns_of_a_release():
    """Columns of another task would be empty, and those of this one missing."""
    asked = plan(ReleaseTask(COLUMNS, ["laplace"], [1], classify=False), repeats=2)
    results = run(asked, frame=people(), workers=1, progress=False)
    cells, groups, data = (
        set(each(backend="pyarrow").column_names) for each in (results.frame, results.groups, results.data)
    )

    assert {"delta", "l1_error", "alpha"} <= cells
    assert results.frame(backend="pyarrow")["epsilon"].to_pylist()[1] == 1
    assert "acc" not in cells
    assert {"net", "person_error"} <= groups
    assert "selection" not in groups
    assert {"error_0", "bias_1_2", "cells_10000"} <= data
    assert "reported" not in data
    assert "error of all cells together" in repr(results)
    assert results.compare("laplace 1", measure="l1_error").estimate.value > 0
