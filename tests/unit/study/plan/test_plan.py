import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand.errors import InvalidParameterError, PlanError, UnreadableFileError
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.tasks.collect.task import SPLITS, CollectTask

FEWER = settings(max_examples=settings().max_examples // 3)  # damaged plans are read and written too
SCHEMA = eh.datasets.load("causal", n=10).schema

names = st.lists(
    st.sampled_from(["grr", "blh", "olh", "rappor", "oue", "ss", "the"]), min_size=1, unique=True
)
amounts = st.lists(
    st.fractions(Fraction(1, 1000), 50, max_denominator=1000), min_size=1, max_size=4, unique=True
)
plans = st.builds(
    Plan,
    data=st.sampled_from(
        [None, DataSource(dataset="causal", options={"n": 50}, rows=20), DataSource(path="a b.csv")]
    ),
    schema=st.sampled_from([None, SCHEMA]),
    task=st.builds(
        CollectTask,
        names.map(lambda each: ["grr", *(name for name in each if name != "grr")]),
        amounts,
        splits=st.lists(st.sampled_from(SPLITS), min_size=1, unique=True),
        strategies=st.lists(st.sampled_from(["single", "independent", "combined"]), min_size=1, unique=True),
        model=st.sampled_from(["quick-boosting", "gradient-boosting", "random-forest", "logistic"]),
        parameters=st.sampled_from([{}, {"max_depth": 3}]),
        encoder=st.sampled_from(["narrow", "one-hot", "codes"]),
        folds=st.sampled_from([None, 5]),
    ),
    measures=st.sampled_from([("acc",), ("acc", "spd", "sp_gap")]),
    repeats=st.integers(1, 5),
    seed=st.integers(0, 2**31),
    notes=st.sampled_from([(), ("Domains were read.", "One more.")]),
    name=st.text(max_size=20).filter(lambda text: text.isprintable()),
)


@FEWER
@given(plans)
def test_a_plan_that_is_written_and_read_is_the_same_plan(plan):
    """Python, command line and web app share plans by this text."""
    text = plan.to_toml()

    assert Plan.from_toml(text) == plan
    assert Plan.from_toml(text).to_toml() == text


@FEWER
@given(plans)
def test_cells_are_distinct_and_come_repeat_by_repeat(plan):
    """Two cells of one name would share their draws; a stopped study should have whole repeats."""
    cells = plan.cells()

    assert len({cell.id for cell in cells}) == len(cells) == plan.repeats * len(plan.settings())
    assert [cell.repeat for cell in cells] == sorted(cell.repeat for cell in cells)


def test_each_repeat_has_one_unprotected_cell_to_compare_with():
    cells = Plan(task=CollectTask(["grr", "oue"], [1, 2], splits="uniform"), repeats=3).cells()

    assert [cell.repeat for cell in cells if not cell.setting.is_protected] == [0, 1, 2]


def test_a_larger_grid_keeps_every_earlier_cell():
    """Otherwise adding an epsilon would throw finished work away."""
    small = Plan(task=CollectTask(["grr"], [1], splits="uniform"), repeats=2)
    large = Plan(task=CollectTask(["oue", "grr"], [2, 1], splits=["k-based", "uniform"]), repeats=4)

    assert {cell.id for cell in small.cells()} < {cell.id for cell in large.cells()}


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("format = 1\nwhat = 1", "what"),
        ("seed = 1", "format"),
        ("format = 2", "format"),
        ("format = true", "format"),
        ("format = 1\nseed = -1", "seed"),
        ("format = 1\nrepeats = 0", "repeats"),
        ("format = 1\nname = 3", "name"),
        ("format = 1\nnotes = 3", "notes"),
        ("format = 1\nnotes = [3]", "notes"),
        ('format = 1\nmeasures = "acc"', "measures"),
        ('format = 1\nmeasures = ["accuracy"]', "measures"),
        ("format = 1\ndata = 3", "data"),
        ("format = 1\n[data]", "data.path"),
        ('format = 1\n[data]\npath = "a"\ndataset = "b"', "data.path"),
        ('format = 1\n[data]\npath = "a.csv"\nrows = 0', "data.rows"),
        ('format = 1\n[data]\npath = "a.csv"\noptions = {n = 3}', "data.options"),
        ('format = 1\n[data]\nfile = "a.csv"', "data.file"),
        ('format = 1\n[task]\nprotocols = ["gr"]', "task.protocols"),
        ("format = 1\n[task]\nprotocols = []", "task.protocols"),
        ("format = 1\n[task]\nprotocols = [3]", "task.protocols"),
        ('format = 1\n[task]\nprotocols = ["grr", "GRR"]', "task.protocols"),
        ('format = 1\n[task]\nprotocols = [{name = "grr", size = 3}]', "task.parameters"),
        ("format = 1\n[task]\nepsilons = [0]", "task.epsilons"),
        ('format = 1\n[task]\nepsilons = ["x"]', "task.epsilons"),
        ('format = 1\n[task]\nsplits = ["even"]', "task.splits"),
        ('format = 1\n[task]\nstrategies = ["all"]', "task.strategies"),
        ('format = 1\n[task]\nprotocols = ["oue"]\nstrategies = ["combined"]', "task.protocols"),
        ("format = 1\n[task]\nmechanisms = 1", "task.mechanisms"),
        ('format = 1\n[task]\nkind = "publish"', "task.kind"),
        ('format = 1\n[task]\nmodel = "svm"', "task.model"),
        ("format = 1\n[task]\nmodel = 3", "task.model"),
        ("format = 1\n[task]\nparameters = 3", "task.parameters"),
        ('format = 1\n[task]\nencoder = "hash"', "task.encoder"),
        ("format = 1\n[task]\ntest = 1.5", "task.test"),
        ("format = 1\n[task]\ntest = true", "task.test"),
        ("format = 1\n[task]\nfolds = 1", "task.folds"),
        ("format = 1\n[task]\ndepth = 1", "task.depth"),
        ("format = 1\nschema = 3", "schema"),
        ("format = 1\n[schema]\nformat = 1", "schema.columns"),
        ("format = 1\nformat = 1", "file"),
        ("format = ", "file"),
    ],
)
def test_a_fault_of_a_plan_file_names_its_field(text, field):
    """Somebody who edits a plan must see what to edit."""
    with pytest.raises(PlanError) as caught:
        Plan.from_toml(text)

    assert caught.value.field == field
    assert field == "file" or f"'{field}'" in str(caught.value)


def test_a_plan_file_is_found_with_its_data_and_schema_beside_it(tmp_path):
    SCHEMA.save(tmp_path / "schema.toml")
    (tmp_path / "plan.toml").write_text('format = 1\nschema = "schema.toml"\n[data]\npath = "people.csv"\n')

    plan = Plan.load(tmp_path / "plan.toml")

    assert plan.schema == SCHEMA
    assert plan.data.path == str(tmp_path / "people.csv")
    assert plan.data.label == "people.csv"


def test_a_plan_that_is_saved_is_loaded_as_it_was(tmp_path):
    plan = Plan(data=DataSource(path=str(tmp_path / "people.csv")), schema=SCHEMA, seed=7)
    plan.save(tmp_path / "plan.toml")

    assert Plan.load(tmp_path / "plan.toml") == plan


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"x" * (2**20 + 1)])
def test_a_plan_file_that_cannot_be_read_is_refused_without_its_folder(tmp_path, content):
    path = tmp_path / "plan.toml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises((PlanError, UnreadableFileError, eh.errors.LimitExceededError)) as caught:
        Plan.load(path)

    assert "plan" in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('[collect]\nprotocols = ["oue"]\n[task]\nkind = "classify"\nmodel = "logistic"', "collect"),
        ('[task]\nkind = "classify"\nprotocols = ["oue"]\nmodel = "logistic"', "task.kind"),
    ],
)
def test_a_plan_of_the_old_form_is_shown_in_the_new_one(text, field):
    """What the message shows can be put into the file as it stands."""
    with pytest.raises(PlanError, match="older form") as caught:
        Plan.from_toml(f"format = 1\n{text}")
    new = str(caught.value).partition("Hint: write instead\n")[2]

    assert caught.value.field == field
    assert Plan.from_toml(f"format = 1\n{new}").task == CollectTask("oue", model="logistic")


@pytest.mark.parametrize(
    "wrong",
    [
        {"data": "people.csv"},
        {"schema": 3},
        {"task": "classify"},
        {"measures": ["acc", "speed"]},
        {"repeats": True},
        {"seed": 1.5},
        {"name": None},
    ],
)
def test_wrong_parts_of_a_plan_are_refused_by_name(wrong):
    with pytest.raises(InvalidParameterError) as caught:
        Plan(**wrong)

    assert caught.value.parameter == next(iter(wrong))


def test_one_measure_may_be_given_by_itself_and_none_means_all():
    assert Plan(measures="acc").measures == ("acc",)
    assert Plan(measures=()).measures == eh.measure.MEASURES


def test_parts_of_a_plan_are_replaced_in_a_copy():
    plan = Plan()

    assert plan.with_(seed=3).seed == 3
    assert plan.seed == 0


def test_plans_can_be_keys():
    """The web app keeps what it has computed by plan."""
    plans = [Plan(), Plan(seed=1), Plan(data=DataSource(dataset="causal", options={"n": 3}))]

    for one, other in itertools.product(plans, plans):
        assert (hash(one) == hash(other)) == (one == other)


@pytest.mark.parametrize("given", [{"name": "\ud800"}, {"notes": ["\ud800"]}, {"name": 3}, {"notes": "a"}])
def test_what_cannot_be_written_is_no_name_and_no_note(given):
    """Half a character could not be stored, and the study would end at its first write."""
    with pytest.raises(InvalidParameterError, match=f"'{next(iter(given))}' parameter of Plan"):
        Plan(**given)
