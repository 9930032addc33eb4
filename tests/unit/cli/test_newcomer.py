"""What somebody meets who has a file and has read nothing: each sentence names the next thing to type."""

import json
import os
import subprocess
import sys

import pytest

from evenhand.cli.help import name_option
from evenhand.errors import EvenhandError, InvalidParameterError
from evenhand.report.columns import fit
from evenhand.table.file_format import SEPARATORS
from unit.cli.conftest import ROLES, people

WHOLE = [*ROLES, "--sensitive", "sex,age", "--workers", 1]


def _said(done):
    assert "Traceback" not in done.output
    return " ".join(done.stderr.split())


@pytest.fixture
def unused(monkeypatch):
    """Make it an error to time anything."""

    def never(*_, **__):
        raise AssertionError("a cell was run")

    monkeypatch.setattr("evenhand.cli.study.duration", never)
    monkeypatch.setattr("evenhand.cli.study.run_cells", never)


def test_the_command_that_is_shown_names_the_file_as_it_was_typed(call, tmp_path):
    """A command that is pasted and finds no file is worse than none."""
    (tmp_path / "my data").mkdir()
    people(tmp_path / "my data" / "people.csv")

    assert "evenhand audit 'my data/people.csv' \\" in call("audit", "my data/people.csv").stderr


@pytest.mark.parametrize("name", ["people", "people.ods"])
def test_a_file_with_another_ending_is_refused_without_names_of_functions(call, tmp_path, name):
    people(tmp_path / name)
    done = call("audit", name, *WHOLE)

    assert done.exit_code == 2
    assert f"{name} was not read: its name must end with .csv, .tsv, .txt (also packed" in _said(done)
    assert "read_csv" not in _said(done)


def test_an_empty_folder_is_called_one(call, tmp_path):
    (tmp_path / "folder").mkdir()

    assert "folder was not read: no file of it has rows." in _said(call("audit", "folder"))


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_a_file_with_other_marks_between_fields_is_read_and_that_is_said(call, tmp_path, mark):
    """Spreadsheets in half of Europe write semicolons; what was assumed must be seen."""
    (tmp_path / "semi.csv").write_text(f"sex{mark}hired\nf{mark}1\nm{mark}0\n")
    said = _said(call("audit", "semi.csv"))

    assert (
        f"semi.csv as {SEPARATORS[mark]}-separated UTF-8; --delimiter, --encoding, --decimal change it"
        in said
    )
    assert "2 rows, 2 columns, none missing" in said


def test_nothing_is_said_of_plain_commas_and_of_what_was_typed(call, tmp_path):
    """A line that is always there is not read."""
    (tmp_path / "plain.csv").write_text("sex,hired\nf,1\nm,0\n")
    (tmp_path / "tab.csv").write_text("sex\thired\nf\t1\nm\t0\n")
    typed = ["--delimiter", "tab", "--encoding", "utf-8", "--decimal", "point"]

    assert "change it" not in _said(call("audit", "plain.csv"))
    assert "change it" not in _said(call("audit", "tab.csv", *typed))
    assert "1 column," in _said(call("audit", "tab.csv", "--delimiter", "semicolon"))


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--delimiter", "space bar", "--delimiter must be one printable ASCII character or a tab"),
        ("--encoding", "rot13", "--encoding must be an encoding of text, such as utf-8"),
        ("--decimal", ";", "--decimal must be one of '.', ','"),
        ("--sheet", "1", "it is no Excel file, so it has no sheets"),
    ],
)
def test_a_format_that_cannot_be_is_refused(call, file, option, value, said):
    done = call("audit", file, *WHOLE, option, value)

    assert done.exit_code == 2
    assert said in _said(done)


def test_one_column_is_not_one_columns(call, tmp_path):
    (tmp_path / "one.csv").write_text("sex\nf\nm\n")

    assert "2 rows, 1 column, none missing" in _said(call("audit", "one.csv"))


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--epsilon", "0"], "--epsilon must be a number > 0"),
        (["--protocol", "grr,grr"], "--protocol must be distinct"),
        (["--split", "even"], "--split must be one of"),
        (["--strategy", "joint"], "--strategy must be one of"),
        (["--model", "oracle"], "--model must be one of"),
        (["--encoder", "auto"], "--encoder must be one of"),
        (["--repeats", "0"], "--repeats must be a whole number"),
        (["--rows", "0"], "--rows must be a whole number"),
        (["--seed", "-1"], "--seed must be a whole number"),
    ],
)
def test_a_wrong_value_is_said_of_the_option_that_was_typed(call, file, typed, said):
    """Nobody at a command line knows what a parameter of CollectTask is."""
    done = call("audit", file, *WHOLE, *typed)

    assert done.exit_code == 2
    assert said in _said(done)
    assert "parameter of" not in _said(done)


def test_other_errors_keep_their_words():
    """A parameter that no option has is a matter of a file, which the message names."""
    wrong = InvalidParameterError("edges", owner="Domain", must_be="in order", got="others")

    assert name_option(wrong, {"epsilons": "--epsilon"}) == str(wrong)
    assert name_option(EvenhandError("As it is."), {}) == "As it is."


@pytest.mark.parametrize("count", ["0", "-3"])
def test_a_wrong_number_of_workers_is_refused_before_anything_is_timed(call, file, unused, count):
    done = call("audit", file, *ROLES, "--sensitive", "sex", "--workers", count)

    assert done.exit_code == 2
    assert "--workers must be a whole number" in _said(done)


def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_timed(call, file, unused):
    """With two million rows the refusal would come a minute later."""
    done = call("audit", file, *WHOLE, "--out", "people.csv/study")

    assert done.exit_code == 2
    assert "The folder people.csv/study cannot be made. Hint: name another one with --out." in _said(done)


def test_asking_whether_a_folder_can_be_made_leaves_none_behind(call, file, unused, tmp_path):
    call("audit", file, *WHOLE, "--out", "a/b")

    assert not (tmp_path / "a").exists()


def test_a_folder_with_a_study_is_refused_before_anything_is_timed(call, file, unused, tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "study.db").write_bytes(b"a store that cannot be read")
    done = call("audit", file, *WHOLE, "--out", "s")

    assert done.exit_code == 2
    assert "There is a study in s already. Hint: go on with it (--resume), or name another" in _said(done)


def test_going_on_with_a_study_that_is_not_there_is_refused(call, file, fake):
    """Somebody who mistypes the folder would start afresh and think that cells were lost."""
    done = call("audit", file, *WHOLE, "--resume", "--out", "nowhere")

    assert done.exit_code == 2
    assert "There is no study in nowhere to go on with" in _said(done)
    assert not fake


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--max-gap", "2"], "--max-gap must be a share from 0 to 1"),
        (["--max-accuracy-loss", "nan"], "--max-accuracy-loss must be a share from 0 to 1"),
        (["--epsilon", "0"], "--epsilon must be"),
    ],
)
def test_limits_of_advice_are_checked_before_the_study_is_run(call, file, unused, typed, said):
    """Otherwise a wrong limit costs a whole study."""
    done = call("advise", file, *WHOLE, *typed)

    assert done.exit_code == 2
    assert said in _said(done)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--protected", "M"], "--privileged (the group that the others are compared with) must be given"),
        (["--target", "C"], "--positive (the value of it that people hope for) must be given"),
        (["--drop", "A"], "Column 'A' has a role and is to be left out too"),
    ],
)
def test_a_role_of_a_data_set_goes_with_its_column(call, typed, said):
    """The privileged group of one column is not one of another."""
    done = call("audit", "causal", *typed)

    assert done.exit_code == 2
    assert said in _said(done)
    assert "None" not in _said(done)


def test_values_that_differ_by_blanks_and_words_for_missing_are_pointed_out(call, tmp_path, fake):
    """Otherwise ' male' and 'male' are two groups, and nobody looks at the list of groups."""
    values = ["male", " male", "female", "?", "NA"]
    rows = "".join(f"{values[row % 5]},{20 + row % 9},{'yes' if row % 3 else 'no'}\n" for row in range(300))
    (tmp_path / "p.csv").write_text(f"sex,age,hired\n{rows}")
    said = _said(call("audit", "p.csv", *WHOLE))

    assert "Values of 'sex' that differ by blanks or capitals only count as different" in said
    assert "'sex' holds '?', which counts as a value like any other" in said
    assert "60 people do not state 'sex': listed apart, and in no gap" in said


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("demo", "[evenhand-demo]"),
        ("audit collect", "[study]"),
        ("audit learn", "Runs of each setting. [10]"),
        ("advise", "[advice]"),
        ("advise", "Runs of each setting. [8]"),
        ("datasets", "Only the names."),
    ],
)
def test_help_states_the_defaults_that_hold(call, command, said):
    assert said in " ".join(call(*command.split(), "--help").stdout.split())


def test_json_says_the_command_and_the_exit_code(call, file, tmp_path):
    """A script reads both in the same place whatever it ran."""
    told = []
    for arguments in (
        ["privatize", file, "r.csv", "--epsilon", 1, "--columns", "sex", "--infer-schema"],
        ["estimate", "r.csv"],
        ["datasets"],
        ["datasets", "show", "causal"],
        ["reproduce"],
    ):
        done = call(*arguments, "--json")
        told.append([json.loads(done.stdout)[key] for key in ("command", "exit")])

    assert told == [[name, 0] for name in ("privatize", "estimate", "datasets", "datasets", "reproduce")]


@pytest.mark.parametrize("arguments", [["datasets"], ["datasets", "--json"], ["--help"]])
def test_output_that_nobody_reads_is_not_exit_code_1(arguments):
    """1 means that cells failed; a script that shows the first lines would stop for nothing."""
    reader, writer = os.pipe()
    os.close(reader)
    program = [sys.executable, "-c", "from evenhand.cli.app import app; app()", *arguments]
    done = subprocess.run(program, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)

    assert done.returncode == 141
    assert done.stderr == b""


def test_values_do_not_look_alike_in_a_terminal_without_their_letters():
    """As question marks, é and ü and the value ? would be one."""
    shown = [fit(value, "ascii") for value in ("é", "ü", "?")]

    assert shown == ["\\xe9", "\\xfc", "?"]
    assert fit("é", "no such encoding") == "\\xe9"
    assert fit("é", None) == "é"


@pytest.mark.parametrize("option", ["--columns", "--keep"])
def test_a_column_that_is_not_in_the_file_is_met_with_those_that_are_declared(call, file, option):
    """'There are none' is not true of a file that has columns."""
    call("privatize", file, "r.csv", "--epsilon", 1, "--columns", "sex,job", "--infer-schema", "--quiet")
    schema = ["--schema", "r.csv.schema.toml"]
    done = call("privatize", file, "s.csv", *schema, "--epsilon", 1, option, "sexx")

    assert done.exit_code == 2
    assert "Column 'sexx' is not in the file. Hint: did you mean 'sex'? There are: sex, job." in _said(done)


def test_reports_that_are_not_there_are_told_from_reports_without_a_guarantee(call, file):
    beside = "people.csv.guarantee.json was not read: there is no such file."
    hint = "Hint: 'evenhand privatize' writes it beside the reports; --guarantee names another."

    assert "nowhere.csv was not read: there is no such file." in _said(call("estimate", "nowhere.csv"))
    assert f"{beside} {hint}" in _said(call("estimate", "people.csv"))
