"""evenhand measure: predictions of a file, for people and for machines."""

import csv
import html
import json
import re
import shlex

import pytest

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


def text_of(page):
    """Return a page without its tags."""
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")))


ROLES = ["--outcome", "repaid", "--positive", "yes", "--prediction", "approved", "--protected", "sex"]


def test_a_file_becomes_three_sentences_a_table_and_a_page(call, predictions, tmp_path):
    done = call("measure", predictions, *ROLES)

    assert done.exit_code == 0
    shown = " ".join(done.stdout.split())
    assert "Female people fare worse than others." in shown
    assert "Of 1,000 qualified female people, 596 were refused; of 1,000 others 200." in shown
    assert re.search(r"Female +596 .* \+396", done.stdout)
    assert "1 person does not state sex" in done.stderr
    page = (tmp_path / "measure.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "Who fares worse with these decisions on repaid = yes?" in page
    assert "Every measure of the groups, side by side" in page


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
    assert "fare worse than others" in done.stdout


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

    assert all(answer in shown for answer in told["answers"])
    assert told["answer"]["verdict"] in shown
    assert told["next"][0].startswith("evenhand measure ")


def test_numbers_can_be_the_file(call, predictions, tmp_path):
    assert call("measure", predictions, *ROLES, "--out", "numbers.json").exit_code == 0
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    assert (numbers["format"], numbers["people"]) == ("evenhand measure 2", 400)
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
    assert re.search(r"undecided +selection_gap", done.stdout)
    assert re.search(r"broken +80%", done.stdout)


def test_scores_alone_need_a_threshold(call, predictions):
    roles = ["--score", "risk", "--protected", "sex"]
    done = call("measure", predictions, *roles, "--threshold", "0.5", "--json")

    assert json.loads(done.stdout)["overall"]["selection"]["value"] == 0.5
    missing = call("measure", predictions, *roles)
    assert missing.exit_code == 2
    assert "--threshold" in missing.stderr


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
        ([*ROLES, "--language", "fr"], "--language must be"),
        ([*ROLES, "--called", "3"], "--called must be"),
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

    again = pages[0].head.commands[0].line.split()
    assert again[:2] == ["evenhand", "measure"]
    assert call(*again[1:], "--json").exit_code == 0
    assert again[-1] == "--unwanted"


@pytest.mark.parametrize("typed", [[], ["--out", "mine.html"], ["--out", "mine.page", "--format", "html"]])
def test_the_command_of_a_page_writes_it_where_it_is(call, predictions, tmp_path, monkeypatch, typed):
    """If not, it is refused by the very page that offers it."""
    monkeypatch.chdir(tmp_path)
    page = tmp_path / (typed[1] if typed else "measure.html")
    again = json.loads(call("measure", predictions.name, *ROLES, "--wanted", *typed, "--json").stdout)["next"]
    written = page.read_text(encoding="utf-8")
    page.write_text("", encoding="utf-8")

    assert call(*shlex.split(again[0])[1:]).exit_code == 0
    assert page.read_text(encoding="utf-8") == written


@pytest.mark.parametrize(("answer", "option"), [("y", "--unwanted"), ("", "--wanted"), ("n", "--wanted")])
def test_a_terminal_asks_whether_a_prediction_hurts(call, predictions, monkeypatch, tmp_path, answer, option):
    """If it guessed, whoever audits alarms would read of the group that gets too few of them."""
    monkeypatch.setattr("evenhand.cli.terminal.console.Terminal.is_interactive", True)
    done = call("measure", predictions, *ROLES, input=f"{answer}\n")

    assert "Does it hurt people to be predicted approved = 1, as a flag does?" in " ".join(
        done.stderr.split()
    )
    assert done.exit_code == 0
    assert re.search(rf"evenhand measure .* {option}\b", text_of(tmp_path / "measure.html"))
    assert "Nobody said so" not in text_of(tmp_path / "measure.html")


@pytest.mark.parametrize("option", ["--wanted", "--unwanted"])
def test_nobody_is_asked_what_was_typed(call, predictions, monkeypatch, tmp_path, option):
    monkeypatch.setattr("evenhand.cli.terminal.console.Terminal.is_interactive", True)
    done = call("measure", predictions, *ROLES, option, input="")

    assert "Does it hurt" not in done.stderr
    verb = {"--wanted": "is good for people.", "--unwanted": "hurts people, as a flag does."}[option]
    assert f"Read as: being predicted approved = 1 {verb}" in text_of(tmp_path / "measure.html")


def test_without_a_terminal_the_reading_is_told_with_a_command_that_gives_the_other(
    call, predictions, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    done = call("measure", predictions.name, *ROLES, "--json")
    told = json.loads(done.stdout)
    *_, other = told["next"]

    assert (told["unwanted"], told["unwanted_given"]) == (False, False)
    assert "Read as: being predicted approved = 1 is good for people. Nobody said so" in " ".join(
        done.stderr.split()
    )
    assert other in text_of(tmp_path / "measure.html")
    again = call(*shlex.split(other)[1:], "--json")
    assert again.exit_code == 0
    told = json.loads(again.stdout)
    assert (told["unwanted"], told["unwanted_given"], len(told["next"])) == (True, True, 1)
    assert told["files"]["report"].endswith("measure-unwanted.html")


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
    assert "née people fare worse than others" in " ".join(done.stdout.split()).lower()
    assert "--delimiter semicolon --encoding windows-1252" in text_of(tmp_path / "measure.html")


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
    for told in (by_value, by_label):  # but for the command, which says what was typed
        del told["next"], told["answer"]["commands"]
    assert by_value == by_label
    assert by_value["reference"] == "Men"
    assert by_value["answers"][0].startswith("Women fare worse than others")
    assert call("measure", predictions, *ROLES, "--label", "age=20:Young", "--overwrite").exit_code == 2


def test_labels_of_a_schema_file_are_shown(call, predictions):
    column = Column(
        "sex", Domain.categorical(["female", "male"]), nulls="other", value_labels={"male": "Men"}
    )
    Schema([column]).save("labels.toml")
    done = call("measure", predictions, *ROLES, "--schema", "labels.toml", "--privileged", "Men")

    assert done.exit_code == 0, done.stderr
    assert re.search(r"^  Men ", done.stdout, re.MULTILINE)


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
    call("measure", predictions, *ROLES, *typed)
    page = text_of(tmp_path / "measure.html")

    assert "--delimiter comma --label sex=male:Men --weight weight" in page
    assert "--predicted 1" in page


def test_effects_stand_in_the_numbers(call, predictions, tmp_path):
    """A program that reads them must find what the page is about, wherever they are written."""
    told = json.loads(call("measure", predictions, *ROLES, "--json", "--called", "approved").stdout)
    out = tmp_path / "numbers.json"
    call("measure", predictions, *ROLES, "--out", out)

    [row] = [
        row
        for row in told["answer"]["effects"]
        if (row["group"], row["effect"]) == ("female", "wrongly_refused")
    ]
    assert (row["people"], row["after"], row["due"]) == (
        99,
        pytest.approx(1000 * 59 / 99),
        pytest.approx(200),
    )
    assert (row["harm"], row["status"]) == ("more", "clear")
    assert json.loads(out.read_text(encoding="utf-8"))["answer"]["effects"] == told["answer"]["effects"]


def test_what_matters_is_typed_and_repeated_in_the_command(call, predictions, tmp_path):
    asked = ["--matters", "900", "--matters", "wrong=20", "--called", "approved"]
    told = json.loads(call("measure", predictions, *ROLES, *asked, "--json").stdout)

    assert {row["status"] for row in told["answer"]["effects"] if row["effect"] == "wrongly_refused"} == {
        "none"
    }
    assert "--matters 900 --matters wrong=20 --called approved" in text_of(tmp_path / "measure.html")


@pytest.mark.parametrize("word", ["much", "0", "unheard=3"])
def test_what_matters_must_be_an_amount(call, predictions, word):
    done = call("measure", predictions, *ROLES, "--matters", word)

    assert done.exit_code == 2
    assert "--matters" in done.stderr


def test_an_unknown_effect_is_refused_with_those_of_decisions(call, predictions):
    """If those of releases and payments were listed, a person would choose one that nothing reads."""
    told = " ".join(call("measure", predictions, *ROLES, "--matters", "nope=3").stderr.split())

    assert "one of wrongly_refused, wrongly_selected, wrong, selected: wrongly_refused=50." in told
    assert "Got 'nope=3' instead." in told


def test_the_page_can_be_german(call, predictions, tmp_path):
    done = call("measure", predictions, *ROLES, "--language", "de", "--label", "sex=female:Frauen")

    assert "Frauen stehen schlechter als andere." in done.stdout
    assert '<html lang="de"' in (tmp_path / "measure.html").read_text(encoding="utf-8")
    assert "--language de" in text_of(tmp_path / "measure.html")


# --- people with several rows ----------------------------------------------------------------------


@pytest.fixture
def panel(predictions, tmp_path):
    """Write the same people with five decisions each, and a number that says whose they are."""
    head, *rows = predictions.read_text(encoding="utf-8").splitlines()
    lines = [f"{place},{place * 7 % 31 + wave},{row}" for place, row in enumerate(rows) for wave in range(5)]
    path = tmp_path / "panel.csv"
    path.write_text("\n".join([f"nr,wave,{head}", *lines, ""]), encoding="utf-8")
    return path


def test_several_rows_of_a_person_count_as_one_person(call, predictions, panel, tmp_path):
    """If not, whoever was decided on five times would make the page five times as sure."""
    single = json.loads(call("measure", predictions, *ROLES, "--json").stdout)
    done = call("measure", panel, *ROLES, "--person", "nr", "--json", "--overwrite")
    told = json.loads(done.stdout)

    assert (told["people"], told["groups"]) == (400, single["groups"])
    text = text_of(tmp_path / "measure.html")
    assert "--person nr" in text
    assert "Of each 'nr' one row drawn at random counts." in text


def test_rows_that_seem_to_be_of_the_same_people_are_noticed(call, panel):
    """If not, rows would be taken for people without a word."""
    done = call("measure", panel, *ROLES)

    told = " ".join(done.stderr.split())
    assert "One person may have several rows: values of 'nr' repeat." in told
    assert "--person" in told
    assert "--person" not in call("measure", panel, *ROLES, "--person", "nr", "--overwrite").stderr


def test_a_person_must_be_a_column(call, panel):
    done = call("measure", panel, *ROLES, "--person", "nobody")

    assert done.exit_code == 2
    assert "nobody" in done.stderr
