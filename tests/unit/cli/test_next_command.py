"""An audit ends with the command that does what was tested, and the command does it."""

import json
import re
import shlex
from fractions import Fraction
from html import unescape

import pytest

from evenhand.engine.record import Record
from evenhand.schema import Schema
from evenhand.study.plan.cells import UNPROTECTED
from evenhand.study.results.results import Results
from evenhand.study.tasks.collect.task import privatize_command
from evenhand.study.tasks.shared.protection import strategy_of
from evenhand.study.tasks.shared.report_settings import report_setting
from unit.cli.conftest import ROLES

pytestmark = pytest.mark.figures

QUICK = ["--repeats", "1", "--model", "logistic", "--workers", "1", "--anyway", "--out", "audited"]
WAYS = [
    [],
    pytest.param(["--protocol", "grr", "--split", "uniform", "--epsilon", "1/3"], marks=pytest.mark.figures),
    pytest.param(["--protocol", "oue", "--split", "sample"], marks=pytest.mark.figures),
    pytest.param(["--protocol", "ss", "--strategy", "single"], marks=pytest.mark.figures),
    pytest.param(["--strategy", "combined"], marks=pytest.mark.figures),
]


@pytest.fixture
def file(tmp_path):
    """Write people of whom some say nothing, as pandas and R write them, and an identifier."""
    rows = [
        f"{at},{['female', 'male', 'NA', 'male'][at % 4]},{['0.0', '1.0', ''][at % 3]},{18 + at % 60},"
        f"{'yes' if at // 2 % 10 < 6 else 'no'}"
        for at in range(240)
    ]
    path = tmp_path / "my people.csv"
    path.write_text("\n".join(["id,sex,married,age,hired", *rows]) + "\n")
    return path


def _privatized(call, line, folder):
    words = shlex.split(line)
    assert words[:2] == ["evenhand", "privatize"]
    done = call(*words[1:], "--simulate", 1, "--json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    return told, Record.from_json((folder / "reports.csv.guarantee.json").read_bytes(), "reports.csv")


@pytest.mark.parametrize("way", WAYS, ids=lambda way: " ".join(way) or "defaults")
def test_the_command_does_what_was_tested(call, file, tmp_path, way):
    """Otherwise the audit is about one collection and people are given another."""
    done = call("audit", file, *ROLES, "--sensitive", "sex,married,age", *way, *QUICK, "--json")
    audited = Results.load(tmp_path / "audited")
    view, shown = audited.view(), json.loads(done.stdout)["next"]
    line = audited.next_command("my people.csv", file="audited/schema.toml")
    assert shown[-1:] == ([] if view.state == "stop" else [line])  # what must not be used has no command
    told, record = _privatized(call, line, tmp_path)

    chosen = next(each for each in audited.settings if str(each) == (view.recommended or view.page))
    schema = audited.facts.schema
    tested = strategy_of(chosen, schema)
    assert (type(record.strategy), record.strategy.protocols) == (type(tested), tested.protocols)
    assert getattr(record.strategy, "shares", None) == getattr(tested, "shares", None)
    released = Schema.load(tmp_path / "reports.csv.schema.toml")
    assert [released[name] for name in record.strategy.columns] == [
        schema[name] for name in record.strategy.columns
    ]
    header = (tmp_path / "reports.csv").read_text(encoding="utf-8").splitlines()[0]
    assert sorted(header.split(",")) == sorted(record.strategy.columns)  # the others only by --keep
    assert sorted(told["left_out"]) == sorted({"id", *schema.names} - {*record.strategy.columns})


def test_the_terminal_and_the_report_end_with_it(call, file, tmp_path, monkeypatch):
    done = call("audit", file, *ROLES, "--sensitive", "sex", *QUICK)
    page = (tmp_path / "audited" / "report.html").read_text(encoding="utf-8")
    printed = re.search(r"evenhand privatize (?:.*\\\n)*.*", done.stdout)[0].replace("\\\n", " ")
    written = unescape(re.search(r"evenhand privatize [^\n]*", re.sub(r"<[^>]+>", "", page))[0])

    _privatized(call, printed, tmp_path)
    monkeypatch.chdir(tmp_path / "audited")
    _privatized(call, written, tmp_path / "audited")


def test_a_data_set_has_no_file_to_name(call):
    done = call("audit", "causal", "--rows", 300, "--epsilon", 1, *QUICK, "--json")

    assert not any("privatize" in line for line in json.loads(done.stdout)["next"])


@pytest.mark.parametrize(
    "setting",
    [
        report_setting("optimal", Fraction(1), "optimal", "independent"),
        report_setting("olh", Fraction(1), "optimal", "independent", {"as_printed": True}),
        report_setting(UNPROTECTED),
    ],
    ids=str,
)
def test_what_the_command_cannot_do_has_none(setting):
    assert privatize_command(setting, Schema.infer, data="a.csv", file="s.toml") == ""


# --- reports that are rarely true -----------------------------------------------------------------


def test_reports_that_are_rarely_true_are_warned_of(call, tmp_path):
    towns = "\n".join(
        f"{['a', 'b'][at % 2]},town {at % 90},{['yes', 'no'][at // 3 % 2]}" for at in range(360)
    )
    (tmp_path / "p.csv").write_text(f"sex,town,hired\n{towns}\n")
    roles = ["--target", "hired", "--positive", "yes", "--protected", "sex", "--privileged", "a"]
    tried = ["--sensitive", "town", "--protocol", "grr", "--epsilon", "1"]
    audited = call("audit", "p.csv", *roles, *tried, *QUICK)
    page = (tmp_path / "audited" / "report.html").read_text(encoding="utf-8")
    made = call(
        "privatize", "p.csv", "o.csv", "--columns", "town", "--infer-schema", "--epsilon", 1,
        "--protocol", "grr",
    )  # fmt: skip

    assert "Few reports are true: of 'town' only 3" in " ".join(audited.stderr.split())
    shown = re.sub(r"<[^>]+>|\s+", " ", unescape(page)).replace("\N{NO-BREAK SPACE}", " ")
    assert "of 'town' only 3" in shown
    assert "Less than 5 % of the reports are true: town 3 %" in " ".join(made.stderr.split())


def test_reports_that_are_often_true_are_not(call, file):
    done = call(
        "privatize", file, "o.csv", "--columns", "sex", "--infer-schema", "--epsilon", 1, "--protocol", "grr"
    )

    assert "reports are true" not in done.stderr
