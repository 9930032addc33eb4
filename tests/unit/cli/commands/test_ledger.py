"""evenhand ledger: what is typed reaches the ledger, what it says is shown, and wrong use ends with 2."""

import json

import pytest

from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.ledger.charging import BESIDE, VARIABLE
from evenhand.schema import Column, Domain, Schema

HALF = Guarantee.pure("1/2", unit="replace one", trust="central")
NONE = Guarantee.no_guarantee(unit="replace one")


@pytest.fixture
def ledger(tmp_path):
    made = Ledger(tmp_path / "ledger.db", epsilon=1, delta="1e-6", people="respondents of 2026")
    made.spend(HALF, purpose="county by race")
    return made


@pytest.fixture
def declared(tmp_path):
    path = tmp_path / "schema.toml"
    sex = Column("sex", Domain.categorical(["female", "male"]))
    Schema((sex, Column("age", Domain.integers(0, 120))), sensitive="sex").save(path)
    return path


def read_object(done):
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_ledger_is_made_with_its_budget(call, tmp_path):
    words = ["--epsilon", "3/2", "--delta", "1e-6", "--people", "all of us", "--period", "year"]
    done = call("ledger", "init", "ledger.db", *words, "--unit", "add or remove one")
    budget = Ledger(tmp_path / "ledger.db").budget

    assert done.exit_code == 0, done.output
    assert "Budget   epsilon = 1.5, delta = 1e-06 per year, unit 'add or remove one'" in done.stdout
    assert (str(budget.epsilon), budget.people, budget.period) == ("3/2", "all of us", "year")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger.db", "ledger.db.anchor"]


def test_what_was_spent_and_what_is_left_is_shown(call, ledger):
    shown = call("ledger", "show", "ledger.db").stdout
    told = read_object(call("ledger", "show", "ledger.db", "--json"))

    assert "Spent    epsilon = 0.5, delta = 0, in 1 charge" in shown
    assert "Left     epsilon = 0.5, delta = 1e-06" in shown
    assert "For      county by race: epsilon = 0.5" in shown
    assert told["spent"] == {"epsilon": "1/2", "delta": "0"}
    assert told["remaining"] == {"epsilon": "1/2", "delta": "1/1000000"}
    assert told["by_purpose"] == {"county by race": told["spent"]}


def test_an_unbounded_total_says_so_until_it_is_retired(call, ledger):
    ledger.spend(NONE, purpose="k-anonymous table")

    assert "Unbounded: entry 3 has no meaningful guarantee" in call("ledger", "show", "ledger.db").stderr
    assert call("ledger", "retire", "ledger.db", 3, "--purpose", "rows deleted").exit_code == 0
    assert read_object(call("ledger", "show", "ledger.db", "--json"))["unbounded"] == []


@pytest.mark.parametrize(("epsilon", "fits"), [("1/2", True), ("0.51", False)])
def test_a_preview_spends_nothing(call, ledger, epsilon, fits):
    told = read_object(call("ledger", "preview", "ledger.db", "--epsilon", epsilon, "--json"))

    assert told["fits"] is fits
    assert len(ledger.history()) == 2
    shown = call("ledger", "preview", "ledger.db", "--epsilon", epsilon).stdout
    assert ("would be granted" if fits else "would be refused") in " ".join(shown.split())


def test_the_history_lists_every_entry(call, ledger):
    shown = call("ledger", "history", "ledger.db").stdout
    told = read_object(call("ledger", "history", "ledger.db", "--json"))

    assert "county by race" in shown
    assert [entry["kind"] for entry in told["entries"]] == ["open", "spend"]
    assert told["entries"][1]["hash"] == ledger.history()[1].hash


def test_a_ledger_that_was_changed_is_not_whole(call, ledger):
    assert read_object(call("ledger", "verify", "ledger.db", "--json"))["entries"] == 2
    ledger.anchor.unlink()
    done = call("ledger", "verify", "ledger.db")

    assert done.exit_code == 2
    assert "The anchor 'ledger.db.anchor' of ledger 'ledger.db' is missing." in " ".join(done.stderr.split())


def test_an_export_is_imported(call, ledger):
    assert call("ledger", "export", "ledger.db", "--out", "ledger.json").exit_code == 0
    done = call("ledger", "import", "ledger.json", "other.db")

    assert done.exit_code == 0, done.output
    assert "What was spent after the export is not known" in done.stderr
    assert len(Ledger("other.db").history()) == 3


def test_the_ledger_of_everything_needs_no_name(call, ledger, monkeypatch):
    assert call("ledger", "show").exit_code == 2
    monkeypatch.setenv(VARIABLE, str(ledger.path))
    assert call("ledger", "show").exit_code == 0


def test_an_anchor_is_taken_with_the_ledger_of_everything(call, ledger, monkeypatch, tmp_path):
    """If --anchor were passed over, a ledger would be called whole by an anchor that nobody looked at."""
    monkeypatch.setenv(VARIABLE, str(ledger.path))
    assert call("ledger", "verify", "--anchor", "elsewhere.anchor").exit_code == 2
    ledger.anchor.rename(tmp_path / "elsewhere.anchor")

    assert call("ledger", "verify").exit_code == 2
    assert read_object(call("ledger", "verify", "--anchor", "elsewhere.anchor", "--json"))["entries"] == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["init", "new.db", "--epsilon", "much"], "must be a number > 0"),
        (["init", "new.db", "--epsilon", "-1"], "must be a number > 0"),
        (["init", "new.db", "--epsilon", "1", "--delta", "1"], "must be below 0.01"),
        (["init", "new.db", "--epsilon", "1", "--unit", "week"], "must be one of"),
        (["init", "new.db", "--epsilon", "1", "--period", "week"], "--period must be one of year, month"),
        (["init", "ledger.db", "--epsilon", "1"], "There is a file ledger.db already"),
        (["show", "nowhere.db"], "There is no ledger 'nowhere.db'"),
        (["preview", "ledger.db", "--epsilon", "1", "--unit", "week"], "must be one of"),
        (["retire", "ledger.db", "2", "--purpose", "no"], "is not unbounded"),
        (["import", "nowhere.json", "new.db"], "is no export of a ledger"),
    ],
)
def test_wrong_use_ends_with_2_and_makes_nothing(call, ledger, tmp_path, words, told):
    done = call("ledger", *words)

    assert done.exit_code == 2, done.output
    assert told in " ".join(done.stderr.split())
    assert not (tmp_path / "new.db").exists()


# --- what charges it ------------------------------------------------------------------------------


def test_a_table_is_charged_to_the_ledger_that_is_typed(call, file, declared, ledger):
    words = ["--columns", "sex", "--mechanism", "laplace", "--schema", declared, "--ledger", ledger.path]
    done = call("release", file, *words, "--epsilon", "1/4", "--purpose", "by sex", "--out", "table.csv")
    refused = call("release", file, *words, "--epsilon", "1/2", "--out", "other.csv")

    assert done.exit_code == 0, done.output
    assert "Charged  entry 3, epsilon = 0.25: by sex" in done.stdout
    assert refused.exit_code == 2
    assert "asks for epsilon = 0.5; ledger 'ledger.db' has 0.25 left of 1" in " ".join(refused.stderr.split())
    assert len(ledger.history()) == 3


def test_a_ledger_beside_the_data_is_charged_with_reports(call, file, declared, tmp_path):
    beside = Ledger(tmp_path / BESIDE, epsilon=1)
    words = ["--schema", declared, "--only-reports"]
    done = call("privatize", file, "reports.csv", *words, "--epsilon", "3/4", "--json")
    refused = call("privatize", file, "more.csv", *words, "--epsilon", "3/4")

    assert read_object(done)["ledger_entry"]["number"] == 2
    assert refused.exit_code == 2
    assert not (tmp_path / "more.csv").exists()
    assert len(beside.history()) == 2


# --- the page -------------------------------------------------------------------------------------


def test_a_page_is_written_once_and_never_over_the_ledger(call, ledger, tmp_path):
    done = call("ledger", "show", "ledger.db", "--html", "budget.html")
    told = read_object(call("ledger", "show", "ledger.db", "--html", "budget.html", "--overwrite", "--json"))
    page = (tmp_path / "budget.html").read_text(encoding="utf-8")

    assert "Page     budget.html" in done.stdout
    assert told["page"] == "budget.html"
    assert "is spent and" in page
    assert "evenhand ledger show ledger.db --html budget.html" in page
    assert "<script" not in page


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--html", "ledger.db", "--overwrite"], "--html must end with .html"),
        (["--html", "taken.html"], "There is a file taken.html already"),
    ],
)
def test_a_page_is_not_written_over_another_file(call, ledger, tmp_path, words, told):
    (tmp_path / "taken.html").write_text("taken")
    done = call("ledger", "show", "ledger.db", *words)

    assert done.exit_code == 2
    assert told in " ".join(done.stderr.split())
    assert (tmp_path / "taken.html").read_text() == "taken"
    assert ledger.total().charges == 1


def test_a_ledger_that_is_called_like_a_page_is_not_written_over(call, tmp_path):
    made = Ledger(tmp_path / "ledger.html", epsilon=1)
    done = call("ledger", "show", "ledger.html", "--html", "ledger.html", "--overwrite")

    assert done.exit_code == 2
    assert "which would be written over" in " ".join(done.stderr.split())
    assert made.verify() == 1


def test_periods_retirements_and_many_purposes_are_told_in_words(call, tmp_path):
    made = Ledger(tmp_path / "ledger.db", epsilon=1, period="year")
    made.spend(NONE, purpose="k-anonymous table")
    made.retire(2, purpose="rows deleted")
    for number in range(21):
        guarantee = Guarantee.pure("1/100", unit="replace one", trust="central")
        made.spend(guarantee, purpose=f"count {number}")
    shown = call("ledger", "show", "ledger.db").stdout
    listed = " ".join(call("ledger", "history", "ledger.db").stdout.split())

    assert f"in {made.total().period}" in shown
    assert "and 2 purposes that cost less; --json and --html have all" in shown
    assert "entry 2 retired: rows deleted" in listed
    assert "opened" in listed
