"""Each answer of a form becomes the part of the task that it names, and of the command that repeats it."""

from fractions import Fraction

import pyarrow as pa
import pytest
from pyarrow import csv

import evenhand as eh
from evenhand.app.tasks import learn
from evenhand.app.tasks.registry import form_of_kind
from evenhand.errors import InvalidParameterError, MissingExtraError
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.cells import Setting
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.tasks.learn.task import LearnTask
from evenhand.study.tasks.release.task import ReleaseTask


@pytest.fixture(scope="module")
def schema():
    return eh.datasets.load("causal", n=100).schema


# --- learning -------------------------------------------------------------------------------------


def test_every_answer_of_learning_is_part_of_the_task_and_of_the_command(schema):
    """An answer that is dropped is a study of something else than what was asked."""
    answers = {
        "methods": ["fermi", "dp"], "epsilons": "1/3,2", "delta": "1e-6", "unit": "add or remove one",
        "gap": "0.1", "strength": "2.5", "group_as_input": True,
    }  # fmt: skip
    form = form_of_kind("learn")
    task = form.task(answers, schema)
    words = form.options(task)

    assert isinstance(task, LearnTask)
    assert set(task.methods) >= {"dp", "fermi"}
    assert task.epsilons == (Fraction(1, 3), Fraction(2))
    assert task.delta == Fraction(1, 10**6)
    assert (task.gap, task.strength, task.group_as_input) == (0.1, 2.5, True)
    for flag in ("--delta", "--gap", "--strength", "--group-as-input"):
        assert flag in words
    assert float(words[words.index("--gap") + 1]) == 0.1
    assert words[words.index("--epsilon") + 1] == "1/3,2"


@pytest.mark.parametrize("kind", ["collect", "learn"])
def test_how_decisions_are_told_is_part_of_the_task_and_of_the_command(schema, kind):
    """Whoever studies a flag would read that being flagged less often is a loss."""
    form = form_of_kind(kind)
    task = form.task({"called": " flagged ", "unwanted": True}, schema)
    plain = form.task({"called": "", "unwanted": False}, schema)
    words = form.options(task)

    assert (task.called, task.unwanted) == ("flagged", True)
    assert (plain.called, plain.unwanted) == ("", False)
    assert words[words.index("--called") + 1] == "flagged"
    assert "--unwanted" in words
    assert not {"--called", "--unwanted"} & set(form.options(plain))


def test_reports_of_people_need_to_know_what_is_reported():
    form = form_of_kind("learn")

    assert "sensitive" in form.needed_roles({"methods": ["local", "dp"]})
    assert "sensitive" not in form.needed_roles({"methods": ["dp"]})


def test_a_package_that_private_training_needs_is_named_before_the_run(schema, monkeypatch):
    """Otherwise the run fails after the data was read."""
    monkeypatch.setattr(learn, "find_spec", lambda name: None)

    with pytest.raises(MissingExtraError, match="dp-accounting"):
        form_of_kind("learn").task({"methods": ["dp"]}, schema)


@pytest.mark.parametrize("methods", [["plain+parity"], ["local"]])
def test_methods_without_private_training_promise_nothing_of_it(schema, methods):
    form = form_of_kind("learn")

    assert form.promise(form.task({"methods": methods}, schema), schema, epsilon="1") is None


def learning(schema, **answers):
    task = form_of_kind("learn").task(answers, schema)
    return Plan(data=DataSource(path="people.csv"), schema=schema, task=task)


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "why"),
    [
        ("plain", None, "Choose a setting that protects."),
        ("dp+projection", Fraction(1), "There is no script for DP logistic regression with Fair Projection"),
        ("local", Fraction(1), "There is no script for logistic regression on local reports"),
    ],
)
def test_what_cannot_be_trained_for_real_has_no_script_and_says_why(schema, mechanism, epsilon, why):
    """A script that voids the promise would be run by somebody who trusts it."""
    plan = learning(schema, methods=["dp"])
    found = form_of_kind("learn").applying(Setting(mechanism, epsilon), plan, data="people.csv")

    assert found.why_not.startswith(why)
    assert (found.script, found.guarantee) == ("", None)
    assert form_of_kind("learn").applying(None, plan, data="people.csv").why_not


@pytest.mark.parametrize("mechanism", ["dp", "dp+parity", "fermi", "fermi+parity"])
def test_the_script_trains_and_spends_what_the_page_says(schema, tmp_path, monkeypatch, capsys, mechanism):
    """Whoever runs it has agreed to this amount and to no other."""
    data = eh.datasets.load("causal", n=600)
    csv.write_csv(pa.table(data.frame), tmp_path / "people.csv")
    schema.save(tmp_path / "schema.toml")
    monkeypatch.chdir(tmp_path)
    plan = learning(schema, methods=[mechanism], epsilons="2")
    found = form_of_kind("learn").applying(Setting(mechanism, Fraction(2)), plan, data="people.csv")
    exec(compile(found.script, "script.py", "exec"), {})

    assert found.why_not == ""
    assert found.guarantee.epsilon == 2
    assert "epsilon = 2" in capsys.readouterr().out


# --- publishing -----------------------------------------------------------------------------------


def test_every_answer_of_a_release_is_part_of_the_task_and_of_the_command(schema):
    answers = {
        "columns": ["Y", "A", "C"], "quasi": ["C"], "unit": "add or remove one", "bound": "500",
        "mechanisms": ["laplace", "k-anonymity", "suppression"], "k": "4", "threshold": "7",
        "post": "nonnegative", "epsilons": "1/3",
    }  # fmt: skip
    form = form_of_kind("release")
    table = form.prepare_schema(schema, answers)
    task = form.task(answers, table)
    words = form.options(task)
    parameters = {each.name: each.parameters for each in task.mechanisms}

    assert isinstance(task, ReleaseTask)
    assert table.quasi_identifiers == ("C",)
    assert set(table.names) == {"Y", "A", "C"}
    assert parameters["k-anonymity"]["k"] == 4
    assert parameters["suppression"]["threshold"] == 7
    assert (task.bound, task.unit, list(task.post)) == (500, "add or remove one", ["nonnegative"])
    for flag, value in (("--k", "4"), ("--threshold", "7"), ("--bound", "500"), ("--epsilon", "1/3")):
        assert words[words.index(flag) + 1] == value


def test_a_release_without_an_answer_is_of_the_columns_that_have_a_role(schema):
    form = form_of_kind("release")
    task = form.task({}, schema)

    assert set(task.columns) == {*schema.protected_columns, *schema.sensitive, schema.target}
    assert form.crossed({"columns": ["A", "gone"]}, ("A", "B")) == ("A",)
    assert [field.default for field in form.fields(None, ("a", "b")) if field.name == "columns"] == [()]


@pytest.mark.parametrize(
    ("answers", "field"),
    [
        ({"columns": ["A", "gone"]}, "columns"),
        ({"columns": ["Y", "C"]}, "columns"),
        ({"mechanisms": ["k-anonymity"]}, "quasi"),
        ({"mechanisms": ["laplace"], "k": "3"}, "k"),
        ({"mechanisms": ["suppression"], "threshold": "few"}, "threshold"),
    ],
)
def test_a_release_that_cannot_be_is_refused_at_its_question(schema, answers, field):
    with pytest.raises(InvalidParameterError) as caught:
        form_of_kind("release").task(answers, schema)
    assert caught.value.parameter == field


def test_a_table_without_columns_is_refused():
    with pytest.raises(InvalidParameterError, match="the columns of the table"):
        form_of_kind("release").task({}, None)


def test_mechanisms_without_epsilon_promise_nothing_and_take_none(schema):
    form = form_of_kind("release")
    task = form.task({"mechanisms": ["suppression"]}, schema)

    assert form.promise(task, schema, epsilon="1") is None
    assert "--epsilon" not in form.options(task)


def releasing(schema, **answers):
    form = form_of_kind("release")
    table = form.prepare_schema(schema, answers)
    return Plan(data=DataSource(path="people.csv"), schema=table, task=form.task(answers, table))


def test_only_a_setting_that_protects_is_published(schema):
    plan = releasing(schema, mechanisms=["laplace"])
    form = form_of_kind("release")

    for setting in (None, Setting()):
        assert "protects" in form.applying(setting, plan, data="people.csv").why_not


def test_a_mechanism_whose_promise_means_nothing_is_called_so(schema):
    """Suppression is not differentially private: people must not believe that it is."""
    plan = releasing(schema, mechanisms=["suppression"], threshold="7")
    setting = next(each for each in plan.task.settings() if each.is_protected)
    found = form_of_kind("release").applying(setting, plan, data="people.csv")

    assert found.command[:2] == ("release", "people.csv")
    assert found.command[found.command.index("--threshold") + 1] == "7"
    assert found.command[found.command.index("--out") + 1] == "table.csv"
    assert any("promises nothing that means anything" in sentence for sentence in found.sentences)


def test_columns_of_every_type_can_be_in_a_table(schema):
    """What is promised is computed from the schema alone, without a row."""
    typed = Schema(
        [
            Column("n", Domain.integers(0, 3)),
            Column("flag", Domain.categorical([True, False])),
            Column("size", Domain.binned([0.0, 1.5, 3.0])),
            Column("sex", Domain.categorical(["f", "m"])),
        ],
        protected="sex",
    )
    form = form_of_kind("release")
    task = form.task({"columns": list(typed.names), "mechanisms": ["laplace"]}, typed)

    assert "epsilon = 1" in str(form.promise(task, typed, epsilon="1"))
