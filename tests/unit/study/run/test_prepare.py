import hashlib
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from evenhand.errors import (
    EvenhandError,
    InvalidParameterError,
    MissingExtraError,
    OutsideDomainError,
    PlanError,
)
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks.collect import prepare as preparing_collection
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.shared import rows as preparing
from evenhand.table import write_csv, write_parquet
from statistical._exact import ALPHA
from unit.study._small_studies import people, plan, schema


def test_codes_target_and_groups_are_what_the_rows_say():
    rows = people()
    prepared = prepare(plan(), frame=rows)
    region = np.array(rows["region"].to_pylist())

    assert list(prepared.codes) == ["age", "region", "job"]
    assert (prepared.codes["age"] == rows["age"].to_numpy() - 18).all()
    assert (prepared.target == (np.array(rows["hired"].to_pylist()) == "yes")).all()
    assert (np.array(prepared.facts.groups)[prepared.group] == region).all()
    assert prepared.facts.groups[prepared.facts.privileged] == "south"
    assert prepared.facts.sizes == tuple(int((region == each).sum()) for each in prepared.facts.groups)
    assert (prepared.facts.rows, prepared.facts.dropped) == (400, 0)
    assert "yes" not in repr(prepared)


@pytest.mark.parametrize(("ending", "write"), [("csv", write_csv), ("parquet", write_parquet)])
def test_a_file_and_its_frame_prepare_alike(tmp_path, ending, write):
    """A study of a file and of the frame it was read from are the same study."""
    path = tmp_path / f"people.{ending}"
    write(people(), path)
    from_file = prepare(plan(data=DataSource(path=path)))
    from_frame = prepare(plan(), frame=people())

    assert from_file.facts.fingerprint == from_frame.facts.fingerprint
    assert from_file.facts.label == f"people.{ending}"
    assert from_frame.facts.label == "data frame"
    assert prepare(plan(name="Hiring"), frame=people()).facts.label == "Hiring"


def test_a_data_set_brings_its_schema_and_its_note():
    prepared = prepare(Plan(data=DataSource(dataset="causal", options={"n": 300})))

    assert prepared.facts.label == "causal"
    assert prepared.facts.schema.protected == "A"
    assert prepared.facts.notes == ("Synthetic: no row describes a person.",)


def test_a_plans_schema_goes_before_the_data_sets():
    data = DataSource(dataset="causal", options={"n": 300})
    own = prepare(Plan(data=data)).facts.schema.with_roles(sensitive=["M"])

    assert prepare(Plan(data=data, schema=own)).facts.schema.sensitive == ("M",)


def test_a_data_set_without_a_note_has_no_notes(monkeypatch):
    from evenhand import datasets

    real = datasets.load
    monkeypatch.setattr(datasets, "load", lambda *a, **k: _silent(real(*a, **k)))

    assert prepare(Plan(data=DataSource(dataset="causal", options={"n": 300}))).facts.notes == ()


def _silent(dataset):
    object.__setattr__(dataset, "note", "")
    return dataset


def _notes_on_rows(prepared):
    """Return every note but those on leaks, and on the reports of 'age', which are rarely true."""
    return [note for note in prepared.facts.notes if note.kind != "privacy" and "of 'age' only" not in note]


def test_a_sample_depends_on_the_seed_alone_and_says_so():
    data = DataSource(path="people.csv", rows=120)
    first, again = (prepare(plan(data=data), frame=people()) for _ in range(2))
    other = prepare(plan(data=data, seed=12), frame=people())

    assert first.facts.rows == len(first.target) == 120
    assert first.facts.fingerprint == again.facts.fingerprint != other.facts.fingerprint
    assert _notes_on_rows(first) == ["The study uses 120 of the rows, drawn at random with its seed."]


def test_a_sample_keeps_the_order_and_draws_without_return():
    rows = pa.table({**{name: people()[name] for name in ("region", "job", "hired")}, "age": people()["age"]})
    whole = prepare(plan(), frame=rows)
    part = prepare(plan(data=DataSource(path="people.csv", rows=399)), frame=rows)
    pairs = [np.stack([each.codes["age"], each.codes["job"], each.group]) for each in (whole, part)]
    left_out = next(
        place for place in range(400) if place == 399 or (pairs[0][:, place] != pairs[1][:, place]).any()
    )

    assert (np.delete(pairs[0], left_out, axis=1) == pairs[1]).all()


def test_every_row_is_as_likely_in_the_sample():
    """Otherwise a study of a sample is a study of other people."""
    counts = np.zeros(400)
    for seed in range(200):
        study = plan(data=DataSource(path="people.csv", rows=100), seed=seed)
        counts[preparing._choose_rows(study, 400)[0]] += 1

    assert binom(200, 0.25).cdf(counts.min()) > ALPHA / 400
    assert binom(200, 0.25).sf(counts.max() - 1) > ALPHA / 400
    assert binom(200, 0.25).sf(200 - 1) < ALPHA / 400  # the first rows every time would be seen


@pytest.mark.parametrize("rows", [400, 401, 10**9])
def test_more_rows_than_there_are_means_all(rows):
    prepared = prepare(plan(data=DataSource(path="people.csv", rows=rows)), frame=people())

    assert prepared.facts.rows == 400
    assert _notes_on_rows(prepared) == []


def test_rows_that_a_rule_leaves_out_are_counted_and_do_not_use_up_the_sample():
    ages = people()["age"].to_pylist()
    rows = people().set_column(0, "age", pa.array([None, 999, *ages[2:]]))
    dropped = Column("age", Domain.integers(18, 67), outside="drop", nulls="drop")
    lenient = schema().with_roles(sensitive="region").with_columns(dropped)  # age is in the clear
    study = plan(data=DataSource(path="people.csv", rows=398)).with_(schema=lenient)
    prepared = prepare(study, frame=rows)

    assert (prepared.facts.rows, prepared.facts.dropped) == (398, 2)


def test_other_is_a_group_only_if_somebody_is_in_it():
    lenient = schema().with_columns(
        Column("region", Domain.categorical(["north", "east", "south"]), outside="other")
    )
    narrower = schema().with_columns(Column("region", Domain.categorical(["east", "south"]), outside="other"))

    assert prepare(plan().with_(schema=lenient), frame=people()).facts.groups == ("north", "east", "south")
    assert prepare(plan().with_(schema=narrower), frame=people()).facts.groups == ("east", "south", "other")


def test_the_fingerprint_tells_rows_and_schemas_apart():
    rows = people()
    swapped = rows.take([1, 0, *range(2, 400)])
    prints = {
        prepare(plan(), frame=rows).facts.fingerprint,
        prepare(plan(), frame=swapped).facts.fingerprint,
        prepare(plan(roles={"privileged": "north"}), frame=rows).facts.fingerprint,
        prepare(plan(roles={"positive": "no"}), frame=rows).facts.fingerprint,
    }

    assert len(prints) == 4
    assert all(len(each) == 64 for each in prints)


def test_the_fingerprint_is_a_digest_of_stated_bytes():
    """A stored study knows its data by it."""
    two = Schema(
        [Column("a", Domain.categorical(["x", "y"])), Column("b", Domain.integers(0, 300))], target="a"
    )
    codes = {"a": np.array([0, 1], np.uint8), "b": np.array([7, 300], np.uint16)}
    slow = hashlib.sha256(two.fingerprint.encode())
    slow.update(b"\n'a' 2 x 1\n" + bytes([0, 1]) + b"\n'b' 2 x 2\n" + bytes([7, 0, 300 - 256, 1]))

    assert preparing._fingerprint(two, codes) == slow.hexdigest()
    assert preparing._fingerprint(two, {**codes, "b": codes["b"].astype(">u2")}) == slow.hexdigest()


def test_versions_name_lightgbm_only_where_it_is_used():
    plain = prepare(plan(), frame=people()).facts.versions
    boosted = prepare(plan(task=CollectTask(model="lightgbm")), frame=people()).facts.versions

    assert set(boosted) - set(plain) == {"lightgbm"}
    assert {"python", "evenhand", "numpy", "scikit-learn"} <= set(plain)


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("roles", "field"),
    [
        ({"target": None, "positive": None}, "schema.roles.target"),
        ({"positive": None}, "schema.roles.positive"),
        ({"protected": None, "privileged": None}, "schema.roles.protected"),
        ({"privileged": None}, "schema.roles.privileged"),
        ({"sensitive": []}, "schema.roles.sensitive"),
        ({"protected": "hired", "privileged": "yes"}, "schema.roles.protected"),
    ],
)
def test_a_role_that_is_missing_or_in_the_way_is_refused_by_name(roles, field):
    with pytest.raises(PlanError, match="Hint: ") as caught:
        prepare(plan(roles=roles), frame=people())

    assert caught.value.field == field
    assert f"'{field}'" in str(caught.value)


def test_single_needs_a_sensitive_protected_column():
    grid = CollectTask("grr", 1, strategies=["single", "independent"])

    with pytest.raises(PlanError, match=r"'region' is not sensitive\. Hint: ") as caught:
        prepare(plan(roles={"sensitive": "age"}, collect=grid), frame=people())
    assert caught.value.field == "task.strategies"
    assert prepare(plan(roles={"sensitive": "age"}), frame=people()).facts.rows == 400


def test_a_sensitive_column_of_one_value_is_refused():
    constant = schema().with_columns(Column("age", Domain.integers(18, 18), outside="drop"))

    with pytest.raises(PlanError, match="'age', which has one value only"):
        prepare(plan().with_(schema=constant), frame=people())


def test_a_plan_without_data_or_schema_is_refused():
    with pytest.raises(PlanError, match="'data' is missing") as caught:
        prepare(plan())
    assert caught.value.field == "data"
    with pytest.raises(PlanError, match="'schema' is missing") as caught:
        prepare(Plan(data=DataSource(path="people.csv")))
    assert caught.value.field == "schema"
    with pytest.raises(PlanError, match="'schema' is missing"):
        prepare(Plan(), frame=people())


def test_a_constant_target_is_refused():
    rows = people()
    constant = rows.set_column(3, "hired", pa.array(["no"] * 400))

    with pytest.raises(PlanError, match="the same for everybody") as caught:
        prepare(plan(), frame=constant)
    assert caught.value.field == "schema.roles.target"
    assert_tells_no_count(caught.value)


def test_an_empty_group_is_refused():
    more = schema().with_columns(Column("region", Domain.categorical(["north", "east", "south", "west"])))

    with pytest.raises(PlanError, match="a declared group has nobody") as caught:
        prepare(plan().with_(schema=more), frame=people())
    assert caught.value.field == "schema.roles.protected"
    assert "west" not in str(caught.value)
    assert_tells_no_count(caught.value)


@pytest.mark.parametrize(
    ("positives", "task", "field"),
    [
        (1, {"test": 0.2}, "task.test"),
        (200, {"test": 0.001}, "task.test"),
        (200, {"test": 0.999}, "task.test"),
        (2, {"test": 0.9}, "task.test"),
        (9, {"folds": 10}, "task.folds"),
    ],
)
def test_parts_without_both_outcomes_are_refused_without_a_count(positives, task, field):
    """scikit-learn would refuse them too, but says how many rows there are."""
    labels = pa.array(["yes"] * positives + ["no"] * (400 - positives))
    rows = people().set_column(3, "hired", labels)

    with pytest.raises(PlanError, match="both outcomes") as caught:
        prepare(plan(task=CollectTask(model="logistic", **task)), frame=rows)
    assert caught.value.field == field
    assert_tells_no_count(caught.value)


@pytest.mark.parametrize(
    ("task", "collect", "field"),
    [
        (CollectTask(model="logistic", parameters={"C": -1}), CollectTask("grr", 1), "task.parameters"),
        (CollectTask(model="logistic", parameters={"depth": 1}), CollectTask("grr", 1), "task.parameters"),
        (CollectTask(model="own:SVC"), CollectTask("grr", 1), "task.model"),
        (CollectTask(encoder="codes"), CollectTask(["grr", "oue"], 1), "task.encoder"),
        (CollectTask(encoder="codes"), CollectTask("grr", 1, splits="sample"), "task.encoder"),
    ],
)
def test_a_task_that_cells_could_not_do_is_refused_before_any_runs(task, collect, field):
    with pytest.raises(PlanError) as caught:
        prepare(plan(task=task, collect=collect), frame=people())

    assert caught.value.field == field


def test_a_task_is_refused_by_name_whatever_refused_it(monkeypatch):
    def refuse(*_):
        raise EvenhandError("Something else.")

    monkeypatch.setattr(preparing_collection, "check_model", refuse)

    with pytest.raises(PlanError, match=r"'task' is not valid\. Something else") as caught:
        prepare(plan(), frame=people())
    assert caught.value.field == "task"


def test_a_package_that_is_missing_is_said_as_such(monkeypatch):
    """Not as a fault of the plan: the hint how to install it must arrive."""

    def refuse(*_):
        raise MissingExtraError("lightgbm", feature="The model 'lightgbm'", extra="learn")

    monkeypatch.setattr(preparing_collection, "check_model", refuse)

    with pytest.raises(MissingExtraError, match="pip install"):
        prepare(plan(), frame=people())


def test_features_that_no_memory_holds_are_refused(monkeypatch):
    monkeypatch.setattr(preparing_collection, "_MOST_NUMBERS", 400 * 57 - 1)

    with pytest.raises(PlanError, match="57 features") as caught:
        prepare(plan(), frame=people())
    assert caught.value.field == "task.encoder"
    assert "'age' makes 50" in str(caught.value)
    assert "400" not in str(caught.value)
    monkeypatch.setattr(preparing_collection, "_MOST_NUMBERS", 400 * 57)
    assert prepare(plan(), frame=people()).facts.rows == 400


def test_a_value_outside_its_domain_is_not_told():
    rows = people().set_column(0, "age", pa.array([8_712_345, *people()["age"].to_pylist()[1:]]))

    with pytest.raises(OutsideDomainError) as caught:
        prepare(plan(), frame=rows)
    assert "8712345" not in str(caught.value).replace("_", "").replace(",", "")


def test_a_wrong_option_of_a_data_set_is_refused():
    with pytest.raises(InvalidParameterError, match="quantile"):
        prepare(Plan(data=DataSource(dataset="causal", options={"quantile": 7})))


def test_rows_take_a_few_bytes_each_cell():
    """Two million rows must fit beside the frame they come from."""
    n, columns = 300_000, 4
    rows = people(n)
    prepare(plan(), frame=people())
    tracemalloc.start()
    prepared = prepare(plan(), frame=rows)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert sum(codes.nbytes for codes in prepared.codes.values()) == 3 * n
    assert kept < 3 * n * columns
    assert peak < 12 * n * columns


def assert_tells_no_count(error):
    """No number of a refusal comes from the rows."""
    assert not any(character.isdigit() for character in str(error))


def test_what_the_plan_says_of_itself_reaches_the_report():
    """A page that does not say that its domains were read from the rows hides a leak."""
    plan = Plan(data=DataSource(dataset="causal", options={"n": 500}), notes=["Domains are a leak."])

    assert prepare(plan).facts.notes[0] == "Domains are a leak."


def test_the_name_of_a_classifier_from_python_is_not_enough():
    """A plan file cannot bring back a classifier that was given from Python."""
    with pytest.raises(PlanError, match=r"Hint: run it from Python, with CollectTask\(model=SVC") as caught:
        prepare(plan(task=CollectTask("grr", model="own:SVC")), frame=people())
    assert caught.value.field == "task.model"
