"""Cells of a study of classifiers: stored is what the classifiers say, and the same wherever it is run."""

import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

from evenhand._shared_objects import SharedObject
from evenhand.errors import InvalidParameterError, MissingExtraError, PlanError, SchemaError
from evenhand.learn.training.logistic import DPLogisticRegression
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.in_clear import leak_of_domains
from evenhand.privacy.randomness import SeededSource
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.plan.plan import Plan
from evenhand.study.results.results import Results
from evenhand.study.run.attempt import execute
from evenhand.study.run.prepare import prepare
from evenhand.study.run.whole import run
from evenhand.study.store.canonical import outcome_from, result_text
from evenhand.study.tasks.base import Prepared
from evenhand.study.tasks.learn import prepare as learn_prepare
from evenhand.study.tasks.learn import train as learn_train
from evenhand.study.tasks.learn.execute import notes_of
from evenhand.study.tasks.learn.measures import LEARN_MEASURES, LEARN_RATES
from evenhand.study.tasks.learn.methods import METHODS
from evenhand.study.tasks.learn.prepare import (
    PreparedLearning,
    add_features,
    check_learning,
    encoder_of,
    features_of,
    input_columns,
)
from evenhand.study.tasks.learn.task import LearnTask
from evenhand.study.tasks.learn.train import Rows, train
from evenhand.study.tasks.shared.parts import parts
from unit.study._learn_studies import small_plan, small_rows, small_study

THREE = Fraction(3)


def outcome_of(setting, repeat=0):
    wanted = Cell(Setting() if setting == "plain" else Setting(setting, _epsilon(setting)), repeat)
    return next(each for each in small_study().outcomes if each.cell == wanted)


def _epsilon(way):
    return THREE if METHODS[way].takes_epsilon else None


# --- every cell -------------------------------------------------------------------------------------


def test_every_way_is_done_and_tells_every_measure():
    results = small_study()

    assert not results.failures
    assert not results.missing
    for outcome in results.outcomes:
        assert set(outcome.measures) == set(LEARN_MEASURES)
        assert all(set(rates) == set(LEARN_RATES) for rates in outcome.groups.values())
        assert outcome_from(outcome.cell, result=result_text(outcome), seconds="{}").notes == outcome.notes


def test_a_cell_alone_is_the_cell_among_others():
    """Whatever ran before it and wherever: a study that is resumed would otherwise differ."""
    for way in ("dp+parity", "fermi", "local"):
        cell = Cell(Setting(way, THREE), 1)
        again = execute(cell, plan=small_plan(), prepared=small_rows())

        assert result_text(again) == result_text(outcome_of(way, 1))


def test_a_study_that_is_stopped_goes_on_and_is_the_same_to_the_byte(tmp_path):
    plan = small_plan(["dp", "plain+parity"], repeats=1)
    first = run(plan, out=tmp_path, workers=1, progress=False)
    more = small_plan(["dp", "plain+parity", "local"], repeats=2)
    resumed = run(more, out=tmp_path, workers=1, progress=False, resume=True)

    assert len(first) == 3
    assert resumed.canonical() == run(more, workers=1, progress=False).canonical()
    assert Results.load(tmp_path).digest == resumed.digest


def test_private_training_is_that_of_the_classifier_itself():
    prepared, plan = small_rows(), small_plan()
    [(learn, test)] = parts(prepared.target, test=plan.task.test, seed=0)
    source = SeededSource(0).for_cell(draw_text(Cell(Setting("dp", THREE), 0))).for_cell("train")
    twin = DPLogisticRegression(3, 1e-5, epochs=2, rows=len(learn), classes=[0, 1], rng=source)
    twin.fit(prepared.features[learn], prepared.target[learn])
    found = outcome_of("dp")

    assert found.measures["acc"] == pytest.approx(twin.score(prepared.features[test], prepared.target[test]))
    assert found.measures["noise"] == pytest.approx(twin.noise_)
    assert found.measures["claimed_epsilon"] == pytest.approx(3, abs=1e-9)
    assert found.measures["claimed_epsilon"] >= float(twin.guarantee_.epsilon)
    assert [(note.kind, note) for note in found.notes[:2]] == [
        ("unit", "add or remove one"), ("trust", "central")
    ]  # fmt: skip


def test_what_promises_nothing_says_so():
    for way in ("plain", "plain+parity", "dp+projection"):
        found = outcome_of(way)

        assert found.measures["delta"] == 1.0
        assert math.isnan(found.measures["claimed_epsilon"])
        assert found.notes == ()


def test_the_projection_of_a_private_classifier_is_not_private():
    """It looks at the private rows again: its accuracy may be fine, its promise is void."""
    assert outcome_of("dp+projection").measures["noise"] == outcome_of("dp").measures["noise"]
    assert outcome_of("dp+projection").measures["delta"] == 1.0


def test_parity_and_training_have_the_whole_epsilon_when_one_is_added_or_removed():
    for way in ("dp+parity", "fermi+parity"):
        found = outcome_of(way)

        assert found.measures["claimed_epsilon"] == pytest.approx(3, abs=1e-9)
        assert found.measures["trained_on"] == 675
        assert 0 < found.measures["bound"] <= found.measures["bound_95"] <= 1
        assert any("by a coin for each row" in note for note in found.notes)


def test_parity_and_training_have_the_whole_epsilon_when_one_is_replaced_too():
    """The coin of a row does not look at it, so that what is replaced stays where it was."""
    plan = small_plan(["dp+parity"], unit="replace one", repeats=1)
    found = execute(plan.cells()[1], plan=plan, prepared=small_rows())

    assert found.notes[0] == "replace one"
    assert found.measures["claimed_epsilon"] == pytest.approx(3, abs=1e-9)


def test_only_parity_has_bounds_and_only_what_follows_training_flips():
    for way, kind in METHODS.items():
        found = outcome_of(way).measures

        assert math.isnan(found["bound"]) == (kind.then != "parity")
        assert math.isnan(found["flipped"]) == (not kind.then)


def test_the_plain_classifier_is_unlike_itself_in_nothing():
    found = outcome_of("plain")

    assert found.measures["changed"] == 0
    assert all(rates["promoted"] == rates["refused"] == 0 for rates in found.groups.values())


def test_changes_of_groups_add_up_to_those_of_all():
    found = outcome_of("dp+parity")
    people = sum(rates["people"] for rates in found.groups.values())
    for name in ("changed", "flipped"):
        total = sum(rates[name] * rates["people"] for rates in found.groups.values())

        assert total / people == pytest.approx(found.measures[name])


def test_a_local_report_is_promised_what_its_person_reports_and_no_more():
    found = outcome_of("local")

    assert found.notes[:2] == ("one report", "local")
    assert found.measures["delta"] == 0
    assert found.measures["claimed_epsilon"] == 3


# --- features ---------------------------------------------------------------------------------------


def test_the_group_is_a_feature_only_if_asked_for():
    schema = small_rows().facts.schema

    assert input_columns(LearnTask(), schema) == ("C", "M")
    assert input_columns(LearnTask(group_as_input=True), schema) == ("C", "A", "M")
    assert len(encoder_of(LearnTask(group_as_input=True), schema).get_feature_names_out()) == 7


def test_features_do_not_depend_on_other_rows():
    """Scaling or a vocabulary that is read from the rows would be a leak that no noise pays for."""
    prepared = small_rows()
    some = {name: codes[:5] for name, codes in prepared.codes.items()}

    assert np.array_equal(features_of(LearnTask(), prepared.facts.schema, some), prepared.features[:5])


def test_rows_that_a_rule_leaves_out_are_no_matter_of_the_encoder():
    columns = [
        Column("age", Domain.integers(18, 80), nulls="drop"),
        Column("sex", Domain.categorical(["f", "m"])),
        Column("hired", Domain.categorical(["no", "yes"])),
    ]
    schema = Schema(columns, target="hired", positive="yes", protected="sex", privileged="m")
    rows = {"age": [20, None, 40, 60] * 20, "sex": ["f", "m"] * 40, "hired": ["no", "yes", "yes", "no"] * 20}
    found = prepare(Plan(task=LearnTask("dp", 1), schema=schema), frame=pa.table(rows))

    assert found.facts.rows == 60
    assert found.features.shape == (60, 1)


def people_with(age):
    columns = [
        age,
        Column("sex", Domain.categorical(["f", "m"])),
        Column("hired", Domain.categorical([0, 1])),
    ]
    schema = Schema(columns, sensitive="age", target="hired", positive=1, protected="sex", privileged="m")
    rows = {"age": [20, None, 40, 60] * 20, "sex": ["f", "m"] * 40, "hired": [0, 1, 1, 0] * 20}
    return schema, pa.table(rows)


@pytest.mark.parametrize("rule", ["outside", "nulls"])
def test_reports_refuse_a_rule_that_would_leave_people_out_for_what_they_report(rule):
    """Who does not report would be known to have no age, or one outside."""
    rules = {"outside": "other", "nulls": "other", rule: "drop"}
    schema, rows = people_with(Column("age", Domain.integers(18, 80), **rules))

    with pytest.raises(SchemaError, match=f"'age' is declared with {rule}='drop' in a collection of reports"):
        prepare(Plan(task=LearnTask(["dp", "local"], 1), schema=schema), frame=rows)
    assert prepare(Plan(task=LearnTask("dp", 1), schema=schema), frame=rows).facts.rows >= 60


def test_a_promise_of_training_says_what_the_schema_does_to_it():
    """Domains read from rows are no public vocabulary, and rules decide how many rows there are."""
    age = Column("age", Domain.integers(18, 80), nulls="drop", inferred=True)
    schema, frame = people_with(age)
    plan = Plan(task=LearnTask("dp", 1), schema=schema, repeats=1)
    notes = execute(Cell(Setting("dp", Fraction(1)), 0), plan=plan, prepared=prepare(plan, frame=frame)).notes

    assert leak_of_domains(["age"]) in notes
    assert "how many rows the rules of age leave in is public" in notes
    assert not [note for note in notes if "vocabularies of the features are public" in note]
    assert any("vocabularies of the features are public" in note for note in outcome_of("dp").notes)


def test_features_are_shared_with_workers_and_cut_with_the_rows():
    prepared = small_rows()
    shared = SharedObject(prepared)
    try:
        assert np.array_equal(pickle.loads(shared.message).features, prepared.features)
    finally:
        shared.close()
    assert prepared.subset(100).features.shape == (100, prepared.features.shape[1])


def test_many_features_are_learnt_without_a_matrix_to_invert():
    assert learn_train.plain_classifier(400).solver == "newton-cholesky"
    assert learn_train.plain_classifier(401).solver == "lbfgs"


# --- what follows -----------------------------------------------------------------------------------


def made_rows(n=400):
    draw = np.random.default_rng(1)
    group = draw.integers(0, 2, n)
    features = np.column_stack([draw.normal(size=n), draw.normal(size=n) + group])
    target = (features.sum(axis=1) + draw.normal(size=n) > 0.5).astype(np.uint8)
    return Rows(features, target, group, 2)


def test_projection_comes_as_near_to_a_gap_as_it_can():
    rows = made_rows()
    loose, tight = (
        train(
            METHODS["dp+projection"],
            rows,
            task=LearnTask(gap=gap, epochs=2),
            epsilon=Fraction(8),
            source=SeededSource(3),
        )
        for gap in (0.1, 0.0)
    )

    assert loose.guarantee == tight.guarantee == Guarantee.no_guarantee(unit="add or remove one")
    assert loose.before is not None
    assert set(np.unique(loose.decide(rows))) <= {0, 1}


def test_a_small_epsilon_leaves_something_for_training():
    """The usual part of it for the shares of groups, 0.05, would be more than there is."""
    task = LearnTask(epochs=1)
    found = train(METHODS["fermi"], made_rows(), task=task, epsilon=Fraction(1, 25), source=SeededSource(3))

    assert float(found.guarantee.epsilon) == pytest.approx(0.04, abs=1e-9)


def test_notes_name_unit_and_trust_first():
    promise = Guarantee(epsilon=1, unit="replace one", trust="central", assumptions=["one", "two"])

    assert [(note.kind, note) for note in notes_of(promise)] == [
        ("unit", "replace one"), ("trust", "central"), ("assumption", "one"), ("assumption", "two")
    ]  # fmt: skip
    assert notes_of(Guarantee.no_guarantee(unit="replace one")) == ()


# --- refusals ---------------------------------------------------------------------------------------


def roles(**changes):
    given = {"target": "hired", "positive": "yes", "protected": "sex", "privileged": "m", **changes}
    columns = [
        Column("age", Domain.integers(18, 80)),
        Column("sex", Domain.categorical(["f", "m"])),
        Column("hired", Domain.categorical(["no", "yes"])),
        Column("one", Domain.categorical(["a"])),
    ]
    return Schema(columns, **{name: value for name, value in given.items() if value is not None})


@pytest.mark.parametrize(
    ("schema", "task", "said"),
    [
        (roles(target=None, positive=None), LearnTask(), "'schema.roles.target' is missing"),
        (roles(positive=None), LearnTask(), "'schema.roles.positive' is missing"),
        (roles(protected=None, privileged=None), LearnTask(), "'schema.roles.protected' is missing"),
        (roles(privileged=None), LearnTask(), "'schema.roles.privileged' is missing"),
        (roles(protected="hired", privileged="no"), LearnTask(), "is the target too"),
        (roles(protected="one", privileged="a"), LearnTask(), "has one group only"),
        (roles().select(["sex", "hired"]), LearnTask(), "leaves no column to learn from"),
        (roles(sensitive="sex"), LearnTask("local"), "holds 'local', but no sensitive column"),
    ],
)
def test_a_schema_that_lacks_something_is_refused_with_a_hint(schema, task, said):
    with pytest.raises(PlanError) as caught:
        check_learning(task, schema)

    assert said in str(caught.value)
    assert "Hint:" in str(caught.value)


def test_without_the_accountant_private_training_is_refused_before_anything_runs(monkeypatch):
    monkeypatch.setattr(learn_prepare, "find_spec", lambda _: None)
    check_learning(LearnTask("plain+parity"), roles())

    with pytest.raises(MissingExtraError, match=r"pip install 'evenhand\[dp\]'"):
        check_learning(LearnTask("dp"), roles())


def test_features_that_would_fill_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr(learn_prepare, "_MOST_NUMBERS", 100)

    with pytest.raises(PlanError, match="more than memory holds"):
        add_features(LearnTask(), small_rows())


def test_a_group_without_rows_for_parity_is_said_in_words_of_the_study():
    """The options of the post-processor are not those of a study."""
    rows = Rows(np.eye(4), np.array([0, 1, 0, 1], np.uint8), np.array([0, 0, 1, 1]), 3)

    with pytest.raises(PlanError, match=r"too few rows.*Hint: join small groups.*leave 'plain\+parity' out"):
        train(METHODS["plain+parity"], rows, task=LearnTask(), epsilon=None, source=SeededSource(1))
    strange = rows._replace(group=np.array([0, 0, 1, 7]))
    with pytest.raises(InvalidParameterError):
        train(METHODS["dp+parity"], strange, task=LearnTask(epochs=1), epsilon=THREE, source=SeededSource(1))


def test_rows_of_one_group_are_refused():
    prepared = small_rows()
    alone = replace(prepared.facts, groups=prepared.facts.groups[:1])
    with pytest.raises(PlanError, match="has one group only"):
        add_features(LearnTask(), Prepared(alone, prepared.codes, prepared.target, prepared.group))

    assert PreparedLearning(alone, {}, prepared.target, prepared.group).features.size == 0


def test_cells_tell_how_well_scores_rank_people():
    """Without it, a model that selects nearly everybody would be taken for one that tells nobody apart."""
    study, prepared = small_study(), small_rows()
    [(train, test)] = parts(prepared.target, test=study.plan.task.test, seed=study.plan.seed)
    model = LogisticRegression(max_iter=1000).fit(prepared.features[train], prepared.target[train])
    scores = model.predict_proba(prepared.features[test])[:, 1]
    truth = prepared.target[test].astype(bool)
    pairs = scores[truth][:, None] - scores[~truth][None, :]
    ranked = float(((pairs > 1e-9) + 0.5 * (abs(pairs) <= 1e-9)).mean())
    first = {outcome.cell.setting.mechanism: outcome for outcome in study.outcomes if not outcome.cell.repeat}

    assert first["none"].measures["auc"] == pytest.approx(ranked, abs=1e-6)
    assert all(0.4 < outcome.measures["auc"] < 1 for outcome in study.outcomes)
