import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import BernoulliNB
from threadpoolctl import threadpool_info, threadpool_limits

from evenhand.errors import EvenhandError, InvalidParameterError
from evenhand.learn import models
from evenhand.learn.encoding.reports import feature_matrix, layout
from evenhand.learn.models import MODELS
from evenhand.measure import MEASURES, RATES, group_report
from evenhand.privacy.randomness import SeededSource
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.run.attempt import execute
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks import groups
from evenhand.study.tasks.collect import execute as executing
from evenhand.study.tasks.collect.execute import STEPS
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.shared.parts import parts
from evenhand.study.tasks.shared.protection import strategy_of
from evenhand.study.tasks.shared.report_settings import report_setting
from statistical._exact import ALPHA, exact_events_pvalue
from unit.study._small_studies import Recorder, people, plan

GRR = report_setting("grr", Fraction(1), "uniform", "independent")
OUE = report_setting("oue", Fraction(1), "uniform", "independent")
SMALL = {
    "quick-boosting": {},
    "gradient-boosting": {"max_iter": 20},
    "lightgbm": {"n_estimators": 20},
    "random-forest": {"n_estimators": 10, "max_depth": 3},
    "logistic": {},
}


def recorded(cell, study, prepared):
    """Run a cell with a classifier that remembers; return its memory and the outcome."""
    model = Recorder()
    study = study.with_(
        task=CollectTask(
            "grr", model=model, encoder=study.task.encoder, folds=study.task.folds, splits="uniform"
        )
    )
    outcome = execute(cell, plan=study, prepared=prepared)
    return model.memory, outcome


def same(first, second):
    """Whether two outcomes are the same, NaN for NaN, whatever time they took."""
    parts = [(each.cell.id, each.measures, each.groups, each.data) for each in (first, second)]
    return repr(parts[0]) == repr(parts[1])


# --- what is private and what is clean ------------------------------------------------------------


def assert_trained_on_reports_and_asked_clean(cell, study, prepared):
    """Fail unless training rows hold reports, and test rows true values, of the stated rows and draws."""
    memory, _ = recorded(cell, study, prepared)
    schema, seed = prepared.facts.schema, study.seed + cell.repeat
    train, test = train_test_split(
        np.arange(len(prepared.target)), test_size=0.2, stratify=prepared.target, random_state=seed
    )
    true = {name: codes[train] for name, codes in prepared.codes.items()}
    strategy = strategy_of(cell.setting, schema)
    reports = strategy.privatize(true, rng=SeededSource(study.seed).for_cell(draw_text(cell)))
    blocks = layout(schema, study.task.encoder)
    private = feature_matrix(true, blocks=blocks, reported=strategy.indicators(reports))
    clean = feature_matrix({name: codes[test] for name, codes in prepared.codes.items()}, blocks=blocks)
    [(features, target)], [asked] = memory.trained, memory.asked

    assert (features == private).all(), "training rows are not what people report"
    assert (features != feature_matrix(true, blocks=blocks)).any(), "training rows are clean"
    assert (target == prepared.target[train]).all(), "labels are not those of the training rows"
    assert (asked == clean).all(), "test rows are not clean"


@pytest.mark.parametrize(
    "setting", [GRR, OUE, report_setting("grr", Fraction(1), "none", "combined")], ids=str
)
@pytest.mark.parametrize("encoder", ["narrow", "one-hot"])
def test_a_model_is_trained_on_reports_and_asked_about_clean_rows(setting, encoder):
    """The other way round a study would measure something that nobody does."""
    study = plan(task=CollectTask("grr", encoder=encoder, splits="uniform"))

    assert_trained_on_reports_and_asked_clean(Cell(setting, 1), study, prepare(study, frame=people()))


def _clean_training(monkeypatch):
    monkeypatch.setattr(executing, "reported_columns", lambda *_, **__: {})


def _private_test(monkeypatch):
    real = executing.predict_codes

    def wrong(fitted, codes, *, schema, **more):
        noisy = {name: column.copy() for name, column in codes.items()}
        for name in schema.sensitive:
            noisy[name] = noisy[name][np.random.default_rng(0).permutation(len(noisy[name]))]
        return real(fitted, noisy, schema=schema, **more)

    monkeypatch.setattr(executing, "predict_codes", wrong)


def _everybody_reports(monkeypatch):
    """Draw reports of all rows, so that test rows use up a part of the stream."""
    real = executing.reported_columns

    def wrong(codes, **more):
        twice = {name: np.concatenate([each, each]) for name, each in codes.items()}
        return {name: part[len(part) // 2 :] for name, part in real(twice, **more).items()}

    monkeypatch.setattr(executing, "reported_columns", wrong)


def _shared_seed(monkeypatch):
    class Careless(SeededSource):
        def for_cell(self, cell):
            return super().for_cell("cell")

    monkeypatch.setattr(executing, "SeededSource", Careless)


@pytest.mark.parametrize(
    ("plant", "complaint"),
    [
        (_clean_training, "not what people report"),
        (_private_test, "test rows are not clean"),
        (_everybody_reports, "not what people report"),
        (_shared_seed, "not what people report"),
    ],
)
def test_the_check_of_private_and_clean_catches_planted_bugs(monkeypatch, plant, complaint):
    """The twin: a check that passes everything would not be one."""
    study = plan()
    prepared = prepare(study, frame=people())
    plant(monkeypatch)

    with pytest.raises(AssertionError, match=complaint):
        assert_trained_on_reports_and_asked_clean(Cell(GRR, 0), study, prepared)


def test_columns_in_the_clear_are_the_same_with_and_without_protection():
    study = plan()
    prepared = prepare(study, frame=people())
    plain, protected = (
        recorded(Cell(setting, 0), study, prepared)[0].trained[0][0] for setting in (Setting(), GRR)
    )
    job = layout(prepared.facts.schema, "narrow")[2].features

    assert (plain[:, job] == protected[:, job]).all()


def test_single_leaves_the_other_sensitive_columns_in_the_clear():
    grid = CollectTask("grr", 1, strategies="single", splits="uniform")
    study = plan(collect=grid)
    prepared = prepare(study, frame=people())
    plain, single = (
        recorded(Cell(setting, 0), study, prepared)[0].trained[0][0] for setting in study.settings()
    )
    age, region, _ = (block.features for block in layout(prepared.facts.schema, "narrow"))

    assert (plain[:, age] == single[:, age]).all()
    assert (plain[:, region] != single[:, region]).any()


# --- pairs, streams, determinism ------------------------------------------------------------------


def test_settings_of_a_repeat_share_the_split_and_repeats_do_not():
    """Paired comparisons need it."""
    study = plan(collect=CollectTask(["grr", "oue"], [1, 4], splits="uniform"), repeats=2)
    prepared = prepare(study, frame=people())
    seen = {cell: recorded(cell, study, prepared)[0] for cell in study.cells() if cell.setting.epsilon != 4}
    tests = {
        repeat: {memory.asked[0].tobytes() for cell, memory in seen.items() if cell.repeat == repeat}
        for repeat in range(2)
    }

    assert [len(each) for each in tests.values()] == [1, 1]
    assert tests[0] != tests[1]


def kept(cell, study, prepared):
    """Return for each training row whether its report names the true group."""
    memory, _ = recorded(cell, study, prepared)
    plain, _ = recorded(Cell(Setting(), cell.repeat), study, prepared)
    region = layout(prepared.facts.schema, "narrow")[1].features
    return (memory.trained[0][0][:, region] == plain.trained[0][0][:, region]).all(axis=1)


def assert_streams_are_unrelated(first, second, study, prepared):
    """Fail if rows of two cells are kept together more or less often than unrelated draws would."""
    pair = [kept(cell, study, prepared) for cell in (first, second)]
    agree = (pair[0] == pair[1]).astype(int)
    laws = [strategy_of(cell.setting, prepared.facts.schema).protocols["region"] for cell in (first, second)]
    expected = laws[0].p * laws[1].p + (1 - laws[0].p) * (1 - laws[1].p)

    assert exact_events_pvalue(agree, [1 - expected, expected]) > ALPHA, "two cells draw the same"


CELLS = (
    Cell(GRR, 0),
    Cell(GRR, 1),
    Cell(report_setting("grr", Fraction(11, 10), "uniform", "independent"), 0),
)


@pytest.mark.parametrize("other", CELLS[1:], ids=["another repeat", "another epsilon"])
def test_cells_draw_unrelated_reports(other):
    """With one stream for two cells their noise would not average out."""
    study = plan()

    assert_streams_are_unrelated(CELLS[0], other, study, prepare(study, frame=people(1500)))


@pytest.mark.parametrize("other", CELLS[1:], ids=["another repeat", "another epsilon"])
def test_one_stream_for_two_cells_is_caught(monkeypatch, other):
    """The twin: planted bug 5, two cells given the same stream."""
    study = plan()
    prepared = prepare(study, frame=people(1500))
    _shared_seed(monkeypatch)

    with pytest.raises(AssertionError, match="two cells draw the same"):
        assert_streams_are_unrelated(CELLS[0], other, study, prepared)


@pytest.mark.parametrize("model", MODELS)
def test_a_cell_gives_the_same_outcome_whatever_ran_before(model):
    study = plan(task=CollectTask("grr", model=model, parameters=SMALL[model], splits="uniform"))
    prepared = prepare(study, frame=people())
    first = execute(Cell(GRR, 0), plan=study, prepared=prepared)
    for cell in (Cell(Setting(), 1), Cell(OUE, 0)):
        execute(cell, plan=study, prepared=prepared)

    assert same(first, execute(Cell.from_id(Cell(GRR, 0).id), plan=study, prepared=prepared))
    assert not same(first, execute(Cell(GRR, 1), plan=study, prepared=prepared))


def test_rows_are_not_changed():
    study = plan()
    prepared = prepare(study, frame=people())
    before = {name: codes.copy() for name, codes in prepared.codes.items()}
    execute(Cell(GRR, 0), plan=study, prepared=prepared)

    assert all((before[name] == prepared.codes[name]).all() for name in before)


def test_a_cell_runs_on_one_thread():
    """Workers side by side must not fight for the machine, and sums must not depend on its cores."""
    seen = []

    class Watching(BernoulliNB):
        def fit(self, features, target):
            seen.extend(each["num_threads"] for each in threadpool_info())
            return super().fit(features, target)

    study = plan(task=CollectTask("grr", model=Watching(), splits="uniform"))
    execute(Cell(Setting(), 0), plan=study, prepared=prepare(study, frame=people()))

    assert set(seen) == {1}


# --- what an outcome holds ------------------------------------------------------------------------


def test_an_outcome_is_the_group_report_of_the_test_rows():
    """The measures of a study are those of group_report, computed from what the model says."""
    study = plan(
        task=CollectTask("grr", model="gradient-boosting", parameters={"max_iter": 20}, splits="uniform")
    )
    prepared = prepare(study, frame=people())
    outcome = execute(Cell(GRR, 0), plan=study, prepared=prepared)
    with threadpool_limits(1):
        slow = slow_report(Cell(GRR, 0), study, prepared)

    assert set(outcome.measures) == set(MEASURES)
    for name in MEASURES:
        assert outcome.measures[name] == pytest.approx(float(slow.value(name)), abs=1e-12)
    for place, label in enumerate(prepared.facts.groups):
        rates = outcome.groups[label]
        assert set(rates) == {*RATES, "people"}
        assert rates["people"] == slow.rates[place].size
        assert all(rates[name] == pytest.approx(getattr(slow.rates[place], name)) for name in RATES)
    assert outcome.failure is None
    assert math.isfinite(outcome.measures["auc"])


def slow_report(cell, study, prepared):
    """Return the report of a cell, every test row asked on its own terms and no row left together."""
    schema, seed = prepared.facts.schema, study.seed + cell.repeat
    train, test = train_test_split(
        np.arange(len(prepared.target)), test_size=0.2, stratify=prepared.target, random_state=seed
    )
    strategy = strategy_of(cell.setting, schema)
    true = {name: codes[train] for name, codes in prepared.codes.items()}
    reports = strategy.privatize(true, rng=SeededSource(study.seed).for_cell(draw_text(cell)))
    blocks = layout(schema, study.task.encoder)
    model = executing.classifier(study.task.model, study.task.parameters, seed=seed)
    model.fit(
        feature_matrix(true, blocks=blocks, reported=strategy.indicators(reports)), prepared.target[train]
    )
    clean = feature_matrix({name: codes[test] for name, codes in prepared.codes.items()}, blocks=blocks)
    return group_report(
        prepared.target[test],
        model.predict(clean),
        prepared.group[test],
        privileged=prepared.facts.privileged,
        scores=model.predict_proba(clean)[:, 1],
    )


def test_data_disparities_are_of_the_training_labels():
    study = plan()
    prepared = prepare(study, frame=people())
    plain, noisy = (execute(Cell(each, 0), plan=study, prepared=prepared).data for each in (Setting(), GRR))

    assert plain["true"] == noisy["true"] > 0.2
    assert math.isnan(plain["reported"])
    assert abs(noisy["reported"]) < noisy["true"]


def test_the_labels_of_the_tested_rows_have_a_disparity_of_their_own():
    """Predictions are compared with the labels of the rows that they are made for."""
    study = plan()
    prepared = prepare(study, frame=people())
    outcome = execute(Cell(Setting(), 0), plan=study, prepared=prepared)
    [(_, test)] = parts(prepared.target, test=study.task.test, seed=study.seed)
    labels, own = prepared.target[test], prepared.group[test] == prepared.facts.privileged

    assert outcome.data["tested"] == pytest.approx(labels[own].mean() - labels[~own].mean())
    assert outcome.data["tested"] != outcome.data["true"]


def test_a_protected_column_in_the_clear_has_no_reported_disparity():
    study = plan(roles={"sensitive": "age"})
    outcome = execute(Cell(GRR, 0), plan=study, prepared=prepare(study, frame=people()))

    assert math.isnan(outcome.data["reported"])


def test_every_step_is_timed():
    study = plan()
    outcome = execute(Cell(GRR, 0), plan=study, prepared=prepare(study, frame=people()))

    assert tuple(outcome.seconds) == STEPS
    assert all(each >= 0 for each in outcome.seconds.values())
    assert outcome.seconds["train"] > 0


@pytest.mark.parametrize("encoder", ["narrow", "one-hot", "codes"])
@pytest.mark.parametrize("model", MODELS)
def test_every_model_learns_with_every_encoder(model, encoder):
    """Without protection each must do clearly better than a coin."""
    study = Plan(
        data=DataSource(dataset="causal", options={"n": 1000}),
        task=CollectTask("grr", model=model, encoder=encoder, parameters=SMALL[model], splits="uniform"),
    )
    prepared = prepare(study)
    for setting in (Setting(), report_setting("grr", Fraction(8), "none", "combined")):
        outcome = execute(Cell(setting, 0), plan=study, prepared=prepared)
        assert outcome.measures["acc"] > 0.6
        assert outcome.measures["auc"] > 0.65


@pytest.mark.parametrize("protocol", ["rappor", "oue", "ss", "blh", "olh", "the"])
def test_every_protocol_runs(protocol):
    study = plan()
    setting = report_setting(protocol, Fraction(2), "k-based", "independent")
    outcome = execute(Cell(setting, 0), plan=study, prepared=prepare(study, frame=people()))

    assert 0 <= outcome.measures["acc"] <= 1


def test_codes_of_protocols_without_codes_are_refused():
    study = plan(task=CollectTask("grr", model="logistic", encoder="codes", splits="uniform"))
    prepared = prepare(study, frame=people())

    with pytest.raises(InvalidParameterError, match="only GRR"):
        execute(Cell(OUE, 0), plan=study, prepared=prepared)


def test_a_cell_that_cannot_be_protected_says_no_private_value():
    study = plan()
    prepared = prepare(study, frame=people())

    with pytest.raises(EvenhandError) as caught:
        execute(Cell(report_setting("no-such", Fraction(1)), 0), plan=study, prepared=prepared)
    assert not any(label in str(caught.value) for label in ("north", "job", "400"))


def test_rows_that_cannot_be_numbered_are_asked_one_by_one(monkeypatch):
    study = plan()
    prepared = prepare(study, frame=people())
    numbered = execute(Cell(GRR, 0), plan=study, prepared=prepared)
    monkeypatch.setattr(models, "distinct_rows", lambda *_, **__: None)

    assert same(numbered, execute(Cell(GRR, 0), plan=study, prepared=prepared))


def test_a_classifier_without_scores_has_no_auc():
    study = plan()
    _, outcome = recorded(Cell(GRR, 0), study, prepare(study, frame=people()))

    assert math.isnan(outcome.measures["auc"])
    assert outcome.measures["acc"] > 0


# --- folds ----------------------------------------------------------------------------------------


def test_folds_have_their_own_draws_and_ask_about_everybody_once():
    study = plan(task=CollectTask("grr", model="logistic", folds=4, splits="uniform"))
    prepared = prepare(study, frame=people())
    memory, outcome = recorded(Cell(GRR, 0), study, prepared)
    folds = StratifiedKFold(4, shuffle=True, random_state=study.seed)
    source = SeededSource(study.seed).for_cell(draw_text(Cell(GRR, 0)))
    blocks = layout(prepared.facts.schema, "narrow")

    for number, (train, test) in enumerate(folds.split(prepared.target, prepared.target)):
        true = {name: codes[train] for name, codes in prepared.codes.items()}
        strategy = strategy_of(GRR, prepared.facts.schema)
        reports = strategy.privatize(true, rng=source.for_cell(f"fold {number}"))
        private = feature_matrix(true, blocks=blocks, reported=strategy.indicators(reports))
        clean = feature_matrix({name: codes[test] for name, codes in prepared.codes.items()}, blocks=blocks)
        assert (memory.trained[number][0] == private).all()
        assert (memory.asked[number] == clean).all()
    assert [rates["people"] for rates in outcome.groups.values()] == list(prepared.facts.sizes)


def test_measures_are_means_over_the_folds_in_which_they_are_defined(monkeypatch):
    """A fold in which nobody is predicted positive has no precision; the others still have."""
    study = plan(task=CollectTask("grr", model="logistic", folds=4, splits="uniform"))
    prepared = prepare(study, frame=people())
    reports = []
    real = groups.group_report

    def noting(truth, labels, *rest, **more):
        made = real(truth, np.zeros_like(labels) if not reports else labels, *rest, **more)
        reports.append(made)
        return made

    monkeypatch.setattr(groups, "group_report", noting)
    outcome = execute(Cell(GRR, 0), plan=study, prepared=prepared)
    precision = [made.rates[0].precision for made in reports]

    assert math.isnan(precision[0])
    assert outcome.groups["north"]["precision"] == pytest.approx(np.nanmean(precision))
    assert outcome.measures["acc"] == pytest.approx(np.mean([float(made.acc) for made in reports]))


def test_a_measure_that_no_fold_defines_is_undefined():
    assert math.isnan(executing._mean([math.nan, math.nan]))
    assert executing._mean([math.nan, 0.25, 0.75]) == 0.5


def test_more_than_two_groups_are_compared_with_the_privileged_one():
    study = plan(task=CollectTask("grr", model="logistic", test=0.5, splits="uniform"))
    outcome = execute(Cell(Setting(), 0), plan=study, prepared=prepare(study, frame=people(1500)))
    selection = {label: rates["selection"] for label, rates in outcome.groups.items()}
    sizes = {label: rates["people"] for label, rates in outcome.groups.items()}
    others = sum(selection[each] * sizes[each] for each in ("north", "east"))

    assert list(selection) == ["north", "east", "south"]
    assert outcome.measures["sp_gap"] == pytest.approx(selection["south"] - selection["north"])
    assert outcome.measures["spd"] == pytest.approx(
        selection["south"] - others / (sizes["north"] + sizes["east"])
    )
