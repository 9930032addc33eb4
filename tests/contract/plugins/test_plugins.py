"""What another package adds by entry points is found by its name, and one that is broken breaks nothing."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import evenhand as eh
from contract._protocol_claims import assert_draws_follow_the_law, assert_exact_law, assert_private
from contract.plugins._plugin_folder import EXAMPLE, forget_plugins, put_on_path, write_example, write_package
from evenhand._registry import installed_plugins
from evenhand.cli.app import app
from evenhand.collect import PROTOCOLS, protocol_from, protocol_named
from evenhand.collect.protocols.registry import auto_name, compared_names, formula_names
from evenhand.decide.mitigate.registry import MITIGATIONS, free_mitigations, mitigation_kinds
from evenhand.errors import PluginError, UnknownNameError
from evenhand.learn.models import MODELS
from evenhand.measure import MEASURES, group_report
from evenhand.measure.added import ADDED_MEASURES
from evenhand.release import MECHANISMS, mechanism_from, mechanism_named
from evenhand.study import CollectTask, Plan
from evenhand.study.plan.facts import versions
from evenhand.study.tasks.registry import KINDS, task_of_kind
from unit.cli.conftest import ROLES, people

REGISTRIES = {
    "evenhand.protocols": (PROTOCOLS, "saving"),
    "evenhand.mechanisms": (MECHANISMS, "rounded-laplace"),
    "evenhand.mitigations": (MITIGATIONS, "limited-loss"),
    "evenhand.measures": (ADDED_MEASURES, "missed-gap"),
    "evenhand.models": (MODELS, "naive-bayes"),
    "evenhand.tasks": (KINDS, "share"),
}


@pytest.fixture(autouse=True)
def _forget():
    yield
    forget_plugins()


@pytest.fixture
def example(tmp_path, monkeypatch):
    """Put the example package on the path as if it were installed."""
    put_on_path(monkeypatch, EXAMPLE / "src", write_example(tmp_path / "installed"))


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Return a function that puts a package with these entry points and modules on the path."""

    def put(entries, modules=None, **name):
        put_on_path(monkeypatch, write_package(tmp_path / "broken", entries, modules=modules, **name))

    return put


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Return a function that runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVENHAND_LEDGER", raising=False)

    def run(*arguments):
        words = [str(argument) for argument in arguments]
        return CliRunner().invoke(app, words, prog_name="evenhand")

    return run


@pytest.fixture
def file(tmp_path):
    return people(tmp_path / "people.csv")


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "schema.toml"
    values = {"sex": ["female", "male"], "job": ["clerk", "nurse", "cook"]}
    columns = [eh.schema.Column(name, eh.schema.Domain.categorical(known)) for name, known in values.items()]
    eh.Schema(columns, sensitive=list(values)).save(path)
    return path


# --- a sound package ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize("group", REGISTRIES)
def test_a_name_is_listed_after_evenhands_own_and_loads(group):
    registry, name = REGISTRIES[group]

    assert list(registry) == [*registry.own, name]
    assert name in registry
    assert len(registry) == len(registry.own) + 1
    assert registry[name].__module__.startswith(("evenhand_example", "evenhand.")), registry[name]
    assert registry.packages([name]) == ("evenhand-example",)


@pytest.mark.parametrize("group", REGISTRIES)
def test_without_the_package_its_name_is_unknown(group):
    """Else the other tests would show nothing about entry points."""
    registry, name = REGISTRIES[group]

    assert name not in registry
    assert list(registry) == list(registry.own)


@pytest.mark.usefixtures("example")
def test_a_protocol_keeps_the_claims_of_the_contract():
    protocol = protocol_named("saving")(k=4, epsilon=2)

    assert protocol.guarantee.epsilon == 1
    assert protocol_from(protocol.to_dict()) == protocol
    assert_private(protocol)
    assert_exact_law(protocol)
    assert_draws_follow_the_law(protocol_named("SAVING")(k=3, epsilon=2), n=20_000, seed=5)
    assert "saving" in formula_names()


@pytest.mark.usefixtures("example")
def test_a_file_is_privatized_and_estimated_by_it(call, file, schema, tmp_path):
    options = ["--schema", schema, "--epsilon", 4, "--protocol", "saving", "--only-reports"]
    done = call("privatize", file, "reports.parquet", *options)
    back = call("estimate", "reports.parquet", "--json")
    note = json.loads((tmp_path / "reports.parquet.guarantee.json").read_text("utf-8"))

    assert done.exit_code == 0, done.output
    assert "the word of the package 'evenhand-example'" in done.stderr
    assert back.exit_code == 0, back.output
    assert "saving" in json.dumps(note)


@pytest.mark.usefixtures("example")
def test_a_table_is_released_by_it(call, file, schema, tmp_path):
    options = ["--columns", "sex,job", "--schema", schema, "--mechanism", "rounded-laplace", "--epsilon", 1]
    done = call("release", file, *options, "--out", "table.csv")
    lines = (tmp_path / "table.csv").read_text("utf-8").splitlines()
    counts = [int(line.rpartition(",")[2]) for line in lines[1:]]

    assert done.exit_code == 0, done.output
    assert "the word of the package 'evenhand-example'" in done.stderr
    assert [count % 5 for count in counts] == [0] * 6
    assert mechanism_from({"mechanism": "rounded-laplace", "epsilon": "1", "unit": "replace one"})
    assert "rounded-laplace" in call("release", "--help").stdout.replace("\n", "").replace(" ", "")


@pytest.mark.usefixtures("example")
def test_a_mechanism_is_audited_in_a_study(call, file):
    options = ["--mechanism", "rounded-laplace", "--columns", "sex,job", "--protected", "sex", "--yes"]
    done = call("audit", "release", file, *options, "--repeats", 2, "--workers", 1, "--out", "s", "--json")

    assert done.exit_code == 0, done.output
    assert "Rounded Laplace noise" in done.stdout


@pytest.mark.usefixtures("example")
def test_money_is_decided_with_its_mitigation(call, root):
    options = ["--count", "poor", "--weight", "weight", "--name", "district", "--epsilon", "0.1"]
    mitigate = ["--mitigate", "limited-loss=pupils", "--workers", 1, "--out", "s", "--json"]
    done = call("audit", "decide", root / "examples" / "policy.csv", *options, *mitigate)

    assert done.exit_code == 0, done.output
    assert "limited-loss" in [row["options"].get("mitigation") for row in json.loads(done.stdout)["summary"]]
    assert "s amounts are taken to be public" in Path("s/report.html").read_text("utf-8")


@pytest.mark.usefixtures("example")
def test_predictions_are_measured_by_it(call, tmp_path):
    rows = ["sex,true,said", *["f,1,0"] * 30, *["f,0,0"] * 70, *["m,1,0"] * 10, *["m,1,1"] * 90]
    (tmp_path / "said.csv").write_text("\n".join(rows), "utf-8")
    columns = ["--outcome", "true", "--prediction", "said", "--protected", "sex"]
    done = call("measure", "said.csv", *columns, "--measure", "missed-gap", "--json")
    shown = call("measure", "said.csv", *columns, "--measure", "missed-gap", "--overwrite")
    found = json.loads(done.stdout)["measures"]["missed-gap"]

    assert done.exit_code == 0, done.output
    assert found["value"] == pytest.approx(0.2)
    assert found["low"] < 0.2 < found["high"]
    assert "gap in the share of people who are missed: 0.200 (0.0" in shown.stdout
    assert "missed-gap" in (tmp_path / "measure.html").read_text("utf-8")


@pytest.mark.usefixtures("example")
def test_a_group_report_has_its_value_and_interval():
    group = np.repeat([0, 1], 100)
    true, said = np.ones(200, int), np.concatenate([np.zeros(40, int), np.ones(160, int)])
    report = group_report(true, said, group)
    low, high = report.interval("missed-gap")

    assert report.value("missed-gap") == pytest.approx(0.4)
    assert low < 0.4 < high
    assert report.interval("missed-gap") == report.interval("missed-gap")
    assert "missed-gap" not in MEASURES
    assert group_report(None, said, group).value("missed-gap").reason == "No true labels were given."


@pytest.mark.usefixtures("example")
def test_a_study_trains_its_model(call, file):
    options = [*ROLES, "--sensitive", "sex", "--model", "naive-bayes", "--protocol", "grr", "--epsilon", 1]
    done = call("audit", file, *options, "--repeats", 2, "--anyway", "--workers", 1, "--out", "s", "--json")
    plan = Plan.load("s/plan.toml")

    assert done.exit_code == 0, done.output
    assert plan.task.model == "naive-bayes"
    assert plan.task.used_packages == ("evenhand-example",)
    assert versions(plan.task.used_packages)["evenhand-example"] == "0.1"


def write_plan_of_shares(file):
    """Write a plan of the kind that the example adds."""
    roles = {"protected": "sex", "target": "hired", "positive": "yes"}
    columns = [
        eh.schema.Column("sex", eh.schema.Domain.categorical(["female", "male"])),
        eh.schema.Column("hired", eh.schema.Domain.categorical(["no", "yes"])),
    ]
    data, task = eh.study.DataSource(path=str(file)), task_of_kind("share")(("1/2", "2"))
    Plan(data=data, schema=eh.Schema(columns, **roles), task=task, repeats=3).save("plan.toml")


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_effects_of_its_kind_without_a_number_are_refused(number, call, file, tmp_path, monkeypatch):
    """If not, a page would send people to run a study again that never has an answer."""
    write_plan_of_shares(file)
    module = task_of_kind("share").effects.__globals__
    monkeypatch.setitem(module, "group_runs", lambda *_: np.full(3, number))
    done = call("audit", "--plan", "plan.toml", "--workers", 1, "--out", "s")

    assert done.exit_code == 2, done.output
    assert "The kind of study 'share' of the package evenhand_example gives no finite number" in done.output
    assert not list((tmp_path / "s").glob("report*"))
    assert not (tmp_path / "s" / "effects.csv").exists()


@pytest.mark.usefixtures("example")
def test_a_plan_of_its_kind_becomes_a_report(call, file, tmp_path):
    write_plan_of_shares(file)
    done = call("audit", "--plan", "plan.toml", "--workers", 1, "--out", "s")

    assert done.exit_code == 0, done.output
    assert "How far cells are off" in done.stdout
    assert '"female"' in (tmp_path / "s" / "effects.csv").read_text("utf-8")
    assert "How far off is a share?" in (tmp_path / "s" / "report.html").read_text("utf-8")


@pytest.mark.usefixtures("example")
def test_what_is_done_without_a_name_does_not_depend_on_what_is_installed():
    """Else the same seeded study would draw otherwise on another machine."""
    assert compared_names(5) == ("grr", "oue", "ss")
    assert auto_name(2, 1.0) == "grr"
    assert "limited-loss" not in [kind.name for kind in mitigation_kinds("allotment")]
    assert "limited-loss" not in free_mitigations(100, is_rule=False)
    assert [protocol.name for protocol in CollectTask().protocols] == ["auto"]


@pytest.mark.usefixtures("example")
def test_doctor_lists_what_is_added(call):
    found = json.loads(call("doctor", "--json").stdout)["findings"]
    texts = [finding["text"] for finding in found if finding["topic"].startswith("plugin")]

    assert len(texts) == 6
    assert "The kind of study 'share' is added by evenhand-example 0.1." in texts


# --- a package with something wrong ------------------------------------------------------------------

WRONG = {
    "no module": ("evenhand_absent:Thing", {}, "cannot be loaded: there is no module 'evenhand_absent'"),
    "no such name": ("broken_a:Thing", {"broken_a": ""}, "cannot be loaded: it ends with AttributeError"),
    "raises": (
        "broken_b:Thing",
        {"broken_b": "raise ValueError('secret /home/x')"},
        "it ends with ValueError",
    ),
    "exits": ("broken_c:Thing", {"broken_c": "import os.nothing"}, "there is no module 'os.nothing'"),
    "leaves": ("broken_exit:Thing", {"broken_exit": "raise SystemExit(3)"}, "it ends with SystemExit"),
    "wrong thing": ("broken_d:Thing", {"broken_d": "Thing = 3"}, "must be .* Got a(nother)? "),
    "wrong class": ("broken_e:Thing", {"broken_e": "class Thing: pass"}, "must be .* Got "),
}


@pytest.mark.parametrize("fault", WRONG)
@pytest.mark.parametrize("group", REGISTRIES)
def test_a_broken_thing_is_told_by_its_package_when_it_is_asked_for(group, fault, broken):
    place, modules, said = WRONG[fault]
    registry, _ = REGISTRIES[group]
    broken({group: {"thing": place}}, modules)

    with pytest.raises(PluginError, match=said) as caught:
        registry["thing"]
    assert (caught.value.package, caught.value.plugin) == ("evenhand-broken", "thing")
    assert "of the package 'evenhand-broken' 2.5" in str(caught.value)
    assert "secret" not in str(caught.value)
    for module in modules:
        sys.modules.pop(module, None)


@pytest.mark.parametrize("group", REGISTRIES)
def test_a_broken_thing_is_in_no_list_and_what_evenhand_has_goes_on(group, broken):
    """A package that somebody else installed must not stop a release."""
    registry, _ = REGISTRIES[group]
    broken({group: {"thing": "evenhand_absent:Thing"}})

    assert list(registry) == list(registry.own)
    assert [name for name, _ in registry.items()] == list(registry.own)
    assert all(registry[name] for name in registry.own)
    assert formula_names()[-1] == "auto"


@pytest.mark.parametrize("lacking", ["METADATA", "entry_points.txt"])
def test_a_package_that_is_half_installed_adds_nothing_and_stops_nothing(lacking, broken, tmp_path):
    """A damaged package of somebody else kept every unknown name from being told."""
    broken({"evenhand.protocols": {"thing": "evenhand_absent:Thing"}})
    (info,) = tmp_path.rglob("evenhand_broken-*.dist-info")
    if lacking == "METADATA":
        (info / lacking).unlink()
    else:
        (info / lacking).write_text("[evenhand.protocols]\nthing\n", "utf-8")
    installed_plugins.cache_clear()
    registry, _ = REGISTRIES["evenhand.protocols"]

    assert "thing" not in registry
    assert list(registry) == list(registry.own)


def test_a_class_without_its_abstract_methods_is_refused_by_their_names(broken):
    text = "from evenhand.release import ReleaseMechanism\nclass Thing(ReleaseMechanism):\n"
    text += "    name, title, label = 'thing', 'a thing', 'Thing'\n"
    broken({"evenhand.mechanisms": {"thing": "broken_f:Thing"}}, {"broken_f": text})

    with pytest.raises(PluginError, match="Got one without _publish, guarantee_for instead"):
        mechanism_named("thing")


def test_a_thing_that_calls_itself_otherwise_is_refused(broken):
    """Its files would name a protocol that nobody finds."""
    text = "from evenhand.collect import GRR\nclass Thing(GRR):\n    name = 'other'\n"
    broken({"evenhand.protocols": {"thing": "broken_g:Thing"}}, {"broken_g": text})

    with pytest.raises(PluginError, match="Got one whose 'name' is 'other' instead"):
        protocol_named("thing")


TAKEN = {
    "evenhand.protocols": ("grr", "auto"),
    "evenhand.mechanisms": ("laplace", "none"),
    "evenhand.mitigations": ("shrink", "clamp"),
    "evenhand.measures": ("acc", "odds_gap"),
    "evenhand.models": ("logistic", "lightgbm"),
    "evenhand.tasks": ("release", "collect"),
}


@pytest.mark.parametrize("group", TAKEN)
def test_a_name_that_is_taken_stays_what_it_was_and_doctor_tells(group, broken, call):
    """A package that could replace GRR could replace what it promises."""
    registry, before = REGISTRIES[group][0], list(REGISTRIES[group][0])
    broken({group: dict.fromkeys(TAKEN[group], "evenhand_absent:Thing")})
    done = call("doctor", "--json")
    faults = [each for each in json.loads(done.stdout)["findings"] if each["state"] == "Faulty"]

    assert list(registry) == before
    assert all(registry[name] for name in registry.own)
    assert len(faults) == 2
    assert all("must have another name" in each["text"] for each in faults)
    assert all("'evenhand-broken'" in each["text"] for each in faults)
    assert done.exit_code == 0


def test_two_packages_with_one_name_are_both_named(example, tmp_path, monkeypatch):
    other = {"evenhand.protocols": {"saving": "evenhand_absent:Thing"}}
    put_on_path(monkeypatch, write_package(tmp_path / "other", other, name="evenhand-other"))

    with pytest.raises(PluginError, match=r"'evenhand-(example|other)' and 'evenhand-(example|other)' both"):
        protocol_named("saving")
    assert list(PROTOCOLS) == list(PROTOCOLS.own)


@pytest.mark.parametrize("name", ["Loud", "two words", "-x", "a--b", "é", "a/b", "[bold]"])
def test_a_name_that_nobody_can_type_is_refused(name, broken, call):
    broken({"evenhand.protocols": {name: "evenhand_absent:Thing"}})
    found = json.loads(call("doctor", "--json").stdout)["findings"]

    assert list(PROTOCOLS) == list(PROTOCOLS.own)
    assert any("must have a name of small letters" in finding["text"] for finding in found)


def test_doctor_tells_of_a_group_that_there_is_not(broken, call):
    broken({"evenhand.protocol": {"thing": "evenhand_absent:Thing"}})
    found = json.loads(call("doctor", "--json").stdout)["findings"]

    assert any("evenhand-broken adds entry points 'evenhand.protocol'" in each["text"] for each in found)


def test_commands_tell_which_package_is_broken(broken, call, file, schema):
    groups = ("protocols", "mechanisms", "models", "measures")
    broken({f"evenhand.{group}": {"thing": "evenhand_absent:Thing"} for group in groups})
    commands = [
        ("privatize", file, "r.csv", "--schema", schema, "--epsilon", 1, "--protocol", "thing"),
        ("release", file, "--columns", "sex", "--schema", schema, "--mechanism", "thing", "--epsilon", 1,
         "--out", "table.csv"),
        ("audit", file, *ROLES, "--sensitive", "sex", "--model", "thing"),
        ("measure", file, "--prediction", "hired", "--positive", "yes", "--protected", "sex",
         "--measure", "thing"),
    ]  # fmt: skip
    for command in commands:
        done = call(*command)

        assert done.exit_code == 2, done.output
        assert "of the package 'evenhand-broken' 2.5 cannot be loaded" in " ".join(done.stderr.split())
        assert "Traceback" not in done.output


def test_what_a_package_prints_while_it_loads_is_no_result(broken, call, file, schema, tmp_path):
    """If this is false `--json` is no JSON, and a note does not tell whose word its promise is."""
    text = "print('loud'); from evenhand.release import Laplace\nclass Loud(Laplace): name = 'loud'"
    broken({"evenhand.mechanisms": {"loud": "evenhand_loud:Loud"}}, modules={"evenhand_loud": text})
    typed = [
        "--columns",
        "sex",
        "--schema",
        schema,
        "--epsilon",
        1,
        "--out",
        tmp_path / "table.csv",
        "--json",
    ]
    done = call("release", file, *typed, "--mechanism", "loud")

    assert json.loads(done.stdout)["exit"] == 0
    [warning] = json.loads((tmp_path / "table.csv.json").read_text("utf-8"))["warnings"]
    assert "the word of the package 'evenhand-broken'" in warning


def test_what_evenhand_has_is_released_without_loading_another_package(broken, call, file, schema, tmp_path):
    """If this is false a package that hangs, or reads along, is in every release that does not name it."""
    text = f"open({str(tmp_path / 'loaded')!r}, 'w').close()"
    broken({"evenhand.mechanisms": {"spy": "evenhand_spy:Spy"}}, modules={"evenhand_spy": text})
    typed = ["--columns", "sex", "--schema", schema, "--epsilon", 1, "--out", tmp_path / "table.csv"]

    done = call("release", file, *typed, "--mechanism", "thresholded-laplace", "--threshold", 3)
    assert done.exit_code == 0, done.output
    assert not (tmp_path / "loaded").exists()


@pytest.mark.parametrize(
    ("protocol", "split"), [("grr", "optimal"), ("auto", "optimal"), ("auto", "sample"), ("oue", "uniform")]
)
def test_several_columns_are_privatized_without_loading_another_package(
    protocol, split, broken, call, file, schema, tmp_path
):
    """If this is false a protocol that hangs as it is loaded stops all who do not use it."""
    text = f"open({str(tmp_path / 'loaded')!r}, 'w').close(); raise ImportError"  # so that it is tried again
    broken({"evenhand.protocols": {f"spy-{protocol}-{split}": "evenhand_spy:Spy"}}, {"evenhand_spy": text})
    typed = ["--schema", schema, "--epsilon", 1, "--protocol", protocol, "--split", split]
    done = call("privatize", file, "reports.csv", *typed, "--only-reports")
    back = call("estimate", "reports.csv", "--json")

    assert done.exit_code == 0, done.output
    assert back.exit_code == 0, back.output
    assert not (tmp_path / "loaded").exists()


def test_a_name_that_no_package_has_is_unknown_as_before():
    with pytest.raises(UnknownNameError, match="nonsense"):
        protocol_named("nonsense")
    with pytest.raises(UnknownNameError, match="nonsense"):
        group_report([1], [1], [0]).value("nonsense")


def test_nothing_is_looked_for_before_a_name_is_missed():
    """Reading the entry points of all packages takes as long as a small command."""
    code = (
        "import evenhand as eh; from evenhand._registry import installed_plugins as found;"
        "eh.collect.GRR(5, 1).privatize([0, 1], rng=1); eh.collect.protocol_named('oue');"
        "eh.release.mechanism_named('laplace'); print(found.cache_info().misses)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "0"


# --- the page that explains it -------------------------------------------------------------------------


def test_the_page_shows_the_files_as_they_are(root):
    page = (root / "docs" / "how-to" / "write-a-plugin.md").read_text("utf-8")
    files = [EXAMPLE / "pyproject.toml", *sorted((EXAMPLE / "src" / "evenhand_example").glob("[!_]*.py"))]

    assert len(files) == 7
    for path in files:
        included = f"```{{literalinclude}} ../../{path.relative_to(root).as_posix()}\n"
        assert included in page or path.read_text("utf-8").strip() in page, path.name
