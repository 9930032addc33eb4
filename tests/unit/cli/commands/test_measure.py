"""evenhand measure: predictions of a file, for people and for machines."""

import csv
import html
import json
import re

import pytest
from scipy.stats import binomtest

from evenhand.schema import Column, Domain, Schema


@pytest.fixture
def predictions(tmp_path):
    """Write a file of 400 people: women are found less often."""
    path = tmp_path / "predictions.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["sex", "age", "repaid", "approved", "risk", "weight"])
        for row in range(400):
            sex = ("male", "female")[row % 2]
            repaid = row // 2 % 2
            approved = int(repaid and row // 4 % 10 < (8 if row % 2 == 0 else 4))
            shown = "" if row == 399 else sex
            lines.writerow([shown, 20 + row % 60, ("no", "yes")[repaid], approved, row / 400, 1 + repaid])
    return path


ROLES = ["--outcome", "repaid", "--positive", "yes", "--prediction", "approved", "--protected", "sex"]


def test_a_file_becomes_three_sentences_a_table_and_a_page(call, predictions, tmp_path):
    done = call("measure", predictions, *ROLES)

    assert done.exit_code == 0
    assert "1. Selection is lowest for female: 20.1%, against 40.0% for male." in done.stdout
    assert "evenhand audit learn" in done.stdout
    exact = binomtest(40, 199).proportion_ci(method="exact")
    limits = f"{100 * exact.low:.1f} to {100 * exact.high:.1f}"
    assert re.search(rf"female +199 +20\.1 \({limits}\)", done.stdout)
    assert "1 person does not state sex" in done.stderr
    page = (tmp_path / "measure.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "Who pays for these predictions of repaid = yes" in page


def test_the_command_that_it_names_is_one_that_exists(call, predictions):
    """A person copies it; an option that does not exist would end there."""
    shown = call("measure", predictions, *ROLES, "--score", "risk").stdout
    command = next(line.strip() for line in shown.splitlines() if line.strip().startswith("evenhand audit"))
    flags = re.findall(r" (--[a-z-]+)", command)
    known = call("audit", "learn", "--help").stdout

    assert flags
    assert all(flag in known for flag in flags)
    assert "--drop approved,risk" in command


@pytest.mark.parametrize("header", ["sex,age, repaid,approved", " sex ,age,repaid , approved"])
def test_blanks_around_the_names_of_columns_do_not_count(call, tmp_path, header):
    """Files of other programs often have a blank after the comma, and nobody types it."""
    people = [(row % 2, row // 2 % 2, row // 4 % 10) for row in range(400)]
    rows = [
        f"{'mf'[woman]},{20 + place},{repaid},{int(repaid and place < 8 - 4 * woman)}"
        for woman, repaid, place in people
    ]
    (tmp_path / "blanks.csv").write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    roles = ["--outcome", "repaid", "--prediction", "approved", "--protected", "sex"]
    done = call("measure", "blanks.csv", *roles)

    assert done.exit_code == 0, done.output
    assert "evenhand audit learn blanks.csv" in done.stdout


def test_json_holds_every_number(call, predictions):
    done = call("measure", predictions, *ROLES, "--score", "risk", "--rule", "80%", "--json")
    result = json.loads(done.stdout)

    assert result["command"] == "measure"
    assert result["exit"] == 0
    assert result["groups"]["male"]["tpr"]["value"] == 0.8
    assert result["rules"][0]["verdict"] == "fail"
    assert result["groups"]["male"]["calibration"]["bins"]
    assert result["not_stated"]["people"] == 1
    assert len(result["answers"]) == 3


def test_json_says_what_the_terminal_says(call, predictions):
    shown = " ".join(call("measure", predictions, *ROLES).stdout.split())
    told = json.loads(call("measure", predictions, *ROLES, "--json", "--overwrite").stdout)

    assert all(answer.replace("**", "") in shown for answer in told["answers"])
    assert told["next"][0].startswith("evenhand audit learn ")
    assert told["next"][0] in shown


def test_numbers_can_be_the_file(call, predictions, tmp_path):
    assert call("measure", predictions, *ROLES, "--out", "numbers.json").exit_code == 0
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    assert (numbers["format"], numbers["people"]) == ("evenhand measure 1", 400)
    assert call("measure", predictions, *ROLES, "--out", "numbers", "--format", "json").exit_code == 0
    assert not (tmp_path / "measure.html").exists()


@pytest.mark.parametrize(
    ("rule", "code"),
    [("80%", 1), ("selection_gap <= 0.6", 0), ("selection_gap <= 0.2", 3), ("tpr_gap<=1", 0)],
)
def test_rules_decide_the_exit_code_only_on_request(call, predictions, rule, code):
    assert call("measure", predictions, *ROLES, "--rule", rule).exit_code == 0
    assert call("measure", predictions, *ROLES, "--rule", rule, "--check", "--overwrite").exit_code == code


def test_what_is_broken_outweighs_what_cannot_be_told(call, predictions):
    rules = ["--rule", "selection_gap <= 0.2", "--rule", "80%"]
    done = call("measure", predictions, *ROLES, *rules, "--check")

    assert done.exit_code == 1
    assert re.search(r"cannot tell +selection_gap", done.stdout)
    assert re.search(r"broken +80%", done.stdout)


def test_scores_alone_need_a_threshold(call, predictions):
    roles = ["--score", "risk", "--protected", "sex"]
    done = call("measure", predictions, *roles, "--threshold", "0.5", "--json")

    assert json.loads(done.stdout)["overall"]["selection"]["value"] == 0.5
    missing = call("measure", predictions, *roles)
    assert missing.exit_code == 2
    assert "--threshold" in missing.stderr


def test_the_headline_can_have_the_name_of_another_library(call, predictions):
    done = call("measure", predictions, *ROLES, "--headline", "equalized_odds_difference", "--json")

    assert json.loads(done.stdout)["headline"] == "odds_gap"


def test_numbers_of_a_protected_column_are_put_into_bands(call, predictions):
    done = call("measure", predictions, *ROLES[:-1], "age", "--fewest", "5", "--json")
    groups = json.loads(done.stdout)["groups"]

    assert 2 <= len(groups) <= 10
    assert sum(group["people"] for group in groups.values()) == 400


def test_weights_count(call, predictions):
    """Of 100 men who repaid, with a weight of 2, 80 are approved; 100 others have a weight of 1."""
    done = call("measure", predictions, *ROLES, "--weight", "weight", "--json")

    assert json.loads(done.stdout)["groups"]["male"]["selection"]["value"] == pytest.approx(160 / 300)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--outcome", "repaid", "--prediction", "approved", "--protected", "sex"],
            "Values of repaid: no, yes",
        ),
        ([*ROLES, "--privileged", "children"], "Groups: female, male"),
        ([*ROLES, "--rule", "80 points"], "cannot be read at column"),
        ([*ROLES, "--rule", "parity <= 0.1"], "selection_gap"),
        ([*ROLES, "--headline", "fairness"], "selection_gap"),
        ([*ROLES, "--check"], "--check needs a rule"),
        ([*ROLES, "--threshold", "0.5"], "--threshold goes with --score"),
        ([*ROLES, "--out", "page.pdf"], ".html or .json"),
        ([*ROLES, "--out", "nowhere/page.html"], "folder"),
        ([*ROLES[:-1], "gender"], "gender"),
        ([*ROLES, "--fewest", "0"], "--fewest must be"),
        ([*ROLES, "--level", "1"], "--level must be"),
        ([*ROLES[:3], "maybe", *ROLES[4:]], "--positive must be"),
        (["--prediction", "age", "--protected", "sex"], "--positive must be"),
        ([*ROLES, "--weight", "sex"], "no number"),
    ],
)
def test_wrong_use_says_what_to_do_and_writes_nothing(call, predictions, tmp_path, options, words):
    done = call("measure", predictions, *options)

    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == ["predictions.csv"]


def test_the_file_itself_is_never_written_over(call, predictions):
    before = predictions.read_bytes()
    done = call("measure", predictions, *ROLES, "--out", predictions, "--format", "html")

    assert done.exit_code == 2
    assert predictions.read_bytes() == before


def test_the_page_says_how_to_make_it_again(call, predictions, monkeypatch):
    pages = []
    monkeypatch.setattr("evenhand.cli.commands.measure.write", lambda page, _: pages.append(page))
    call("measure", predictions, *ROLES, "--rule", "80%", "--unwanted")

    again = pages[0].command.split()
    assert again[:2] == ["evenhand", "measure"]
    assert call(*again[1:], "--json").exit_code == 0
    assert again[-1] == "--unwanted"


@pytest.mark.parametrize("mark", ["semicolon", ";"])
def test_how_a_file_is_written_can_be_typed_and_is_repeated(call, predictions, tmp_path, mark):
    """The line that says what was assumed names these options; a file may need them."""
    twin = tmp_path / "twin.csv"
    text = predictions.read_text(encoding="utf-8").replace(",", ";").replace("female", "née")
    twin.write_bytes(text.encode("windows-1252"))
    done = call(
        "measure", twin, *ROLES, "--delimiter", mark, "--encoding", "windows-1252", "--decimal", "point"
    )

    assert done.exit_code == 0, done.stderr
    assert "change it" not in done.stderr
    assert "Selection is lowest for née: 20.1%, against 40.0% for male." in done.stdout
    assert "--delimiter semicolon --encoding windows-1252" in " ".join(done.stdout.split())
    assert "--delimiter semicolon" in (tmp_path / "measure.html").read_text(encoding="utf-8")


def measured(call, *typed):
    done = call("measure", *typed, "--json", "--overwrite")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_a_page_that_is_there_is_kept_unless_forced(call, predictions, tmp_path):
    page = tmp_path / "measure.html"
    page.write_text("mine", "utf-8")
    done = call("measure", predictions, *ROLES)

    assert done.exit_code == 2
    assert "There is a file measure.html already" in done.stderr
    assert page.read_text("utf-8") == "mine"
    assert call("measure", predictions, *ROLES, "--overwrite").exit_code == 0
    assert page.read_text("utf-8") != "mine"


def test_a_file_of_another_format_has_the_same_numbers(call, predictions, tmp_path):
    text = predictions.read_text("utf-8").replace(".", "#").replace(",", ";").replace("#", ",")
    twin = tmp_path / "twin.txt"
    twin.write_text(text.replace("female", "weiblich, älter"), "windows-1252")
    typed = ["--delimiter", "semicolon", "--decimal", "comma", "--encoding", "windows-1252"]
    first, second = (
        measured(call, *words, *ROLES, "--score", "risk", "--weight", "weight")["groups"]
        for words in ([predictions], [twin, *typed])
    )

    assert first["male"] == second["male"]
    assert first["female"] == second["weiblich, älter"]
    assert call("measure", twin, *ROLES, "--delimiter", "pipe", "--out", "other.html").exit_code == 2


def test_groups_are_called_by_their_labels_and_meant_by_either(call, predictions):
    typed = [*ROLES, "--label", "sex=female:Women", "--label", "sex=male:Men"]
    by_value = measured(call, predictions, *typed, "--privileged", "male")
    by_label = measured(call, predictions, *typed, "--privileged", "Men")

    assert set(by_value["groups"]) == {"Women", "Men"}
    assert by_value == by_label
    assert by_value["reference"] == "Men"
    assert "Selection is lowest for Women" in by_value["answers"][0]
    assert call("measure", predictions, *ROLES, "--label", "age=20:Young", "--overwrite").exit_code == 2


def test_labels_of_a_schema_file_are_shown(call, predictions, tmp_path):
    """The command that it names knows no schema file, so it has the value."""
    column = Column(
        "sex", Domain.categorical(["female", "male"]), nulls="other", value_labels={"male": "Men"}
    )
    Schema([column]).save("labels.toml")
    done = call("measure", predictions, *ROLES, "--schema", "labels.toml", "--privileged", "Men")

    assert done.exit_code == 0, done.stderr
    assert "against 40.0% for Men" in done.stdout
    assert "--privileged male" in done.stdout


def test_a_threshold_makes_an_outcome_of_numbers(call, tmp_path):
    """Predictions of 0 and 1 stay as they are; predicted numbers are cut at the same amount."""
    rows = [(20_000 + 997 * row, row % 2, 19_000 + 1003 * row, "fm"[row // 2 % 2]) for row in range(80)]
    path = tmp_path / "pay.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["pay", "offer", "guess", "sex"], *rows])
    typed = ["--outcome", "pay", "--positive", ">=50000", "--protected", "sex"]
    cut = measured(call, path, *typed, "--prediction", "offer")
    both = measured(call, path, *typed, "--prediction", "guess")
    women = [row for row in rows if row[3] == "f"]

    assert cut["outcome"] == "pay >= 50000"
    assert cut["groups"]["f"]["base_rate"]["value"] == sum(row[0] >= 50_000 for row in women) / len(women)
    assert cut["groups"]["f"]["selection"]["value"] == 0.5
    assert both["groups"]["f"]["selection"]["value"] == sum(row[2] >= 50_000 for row in women) / len(women)
    one_side = call("measure", path, *typed, "--positive", "> 1", "--prediction", "offer", "--overwrite")
    assert one_side.exit_code == 2
    assert "--positive must be a threshold with rows on both sides" in one_side.stderr


def test_dates_can_be_banded_as_the_error_says(call, tmp_path):
    path = tmp_path / "born.csv"
    lines = ["birth,offer", *(f"{1960 + row % 20}-01-0{1 + row % 9},{row % 2}" for row in range(200))]
    path.write_text("\n".join(lines), "utf-8")
    typed = ["measure", path, "--prediction", "offer", "--protected", "birth"]

    assert "--band birth=10y" in " ".join(call(*typed).stderr.split())
    assert set(measured(call, *typed[1:], "--band", "birth=10y")["groups"]) == {"1960–1969", "1970–1979"}
    assert call(*typed, "--band", "offer=10", "--overwrite").exit_code == 2


def test_the_command_on_the_page_repeats_what_was_typed(call, predictions, tmp_path):
    typed = ["--label", "sex=male:Men", "--weight", "weight", "--delimiter", "comma", "--predicted", "1"]
    done = call("measure", predictions, *ROLES, *typed)
    page = html.unescape((tmp_path / "measure.html").read_text("utf-8"))

    assert "--delimiter comma --label sex=male:Men --weight weight" in page
    assert "--predicted 1" in page
    next_command = next(line for line in done.stdout.splitlines() if "evenhand audit" in line)
    assert "--label sex=male:Men --weight weight" in next_command
    assert "--drop approved" in next_command


def test_effects_stand_in_the_numbers(call, predictions, tmp_path):
    """A program that reads them must find what the page is about, wherever they are written."""
    told = json.loads(call("measure", predictions, *ROLES, "--json", "--called", "approved").stdout)
    out = tmp_path / "numbers.json"
    call("measure", predictions, *ROLES, "--out", out)

    [row] = [row for row in told["effects"] if (row["group"], row["effect"]) == ("female", "wrongly_refused")]
    assert (row["people"], row["after"], row["due"]) == (
        99,
        pytest.approx(1000 * 59 / 99),
        pytest.approx(200),
    )
    assert (row["harm"], row["status"]) == ("more", "clear")
    assert told["called"] == "approved"
    assert json.loads(out.read_text(encoding="utf-8"))["effects"] == told["effects"]


def test_what_matters_is_typed_and_repeated_in_the_command(call, predictions, tmp_path):
    asked = ["--matters", "900", "--matters", "wrong=20", "--called", "approved"]
    told = json.loads(call("measure", predictions, *ROLES, *asked, "--json").stdout)

    assert {row["status"] for row in told["effects"] if row["effect"] == "wrongly_refused"} == {"none"}
    assert "--matters 900 --matters wrong=20 --called approved" in html.unescape(
        (tmp_path / "measure.html").read_text(encoding="utf-8")
    )


@pytest.mark.parametrize("word", ["much", "0", "unheard=3"])
def test_what_matters_must_be_an_amount(call, predictions, word):
    done = call("measure", predictions, *ROLES, "--matters", word)

    assert done.exit_code == 2
    assert "--matters" in done.stderr
