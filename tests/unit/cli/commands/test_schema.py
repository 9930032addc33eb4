"""evenhand schema: drafts that can be loaded, checks without a value, and questions on a terminal."""

import csv
import json
import os
import pty
import select
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest

from evenhand.schema import Schema

TERMINAL = "evenhand.cli.terminal.console.Terminal.is_interactive"


def write(path, header, rows):
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture
def loans(tmp_path):
    rows = [[row, row % 2, (row // 2) % 2, 1 - (row // 2) % 2, f"town {row % 3}"] for row in range(80)]
    return write(tmp_path / "loans.csv", ["id", "male", "approve", "reject", "town"], rows)


def test_a_draft_can_be_loaded_and_says_what_it_read(call, loans):
    done = call("schema", loans)
    text = Path("schema.toml").read_text("utf-8")
    schema = Schema.load("schema.toml")

    assert done.exit_code == 0
    assert (schema.target, schema.positive, schema.protected) == ("approve", 1, "male")
    assert schema.inferred == ("male", "approve", "town")
    assert "# target is 'approve': it has two values and is named like an outcome." in text
    assert "# Read from the rows: replace the values by a public code list" in text
    assert 'value_labels = { "0" = "not male", "1" = "male" }' in text
    assert "# Left out: 'id' numbers the rows, as identifiers do." in text
    assert "it gives 'approve' away" in text
    assert call("schema", loans, "--check", "schema.toml").exit_code == 0


def test_roles_and_labels_that_are_typed_stand_in_the_draft(call, loans):
    typed = ["--protected", "town", "--label", "male=1:Men", "--label", "approve=1:granted"]
    done = call("schema", loans, *typed, "--positive", "granted", "--out", "own.toml")
    schema = Schema.load("own.toml")

    assert done.exit_code == 0
    assert (schema.protected, schema.positive, schema.positive_label) == ("town", 1, "granted")
    assert schema["male"].display_labels == ("0", "Men")


@pytest.mark.parametrize("second", ["male=1:Women", "male=0:Men"])
def test_a_label_given_twice_writes_nothing(call, loans, second):
    done = call("schema", loans, "--label", "male=1:Men", "--label", second)

    assert done.exit_code == 2
    assert "--label must be" in done.stderr
    assert "twice" in done.stderr
    assert not Path("schema.toml").exists()


def test_a_file_that_is_there_is_kept_unless_forced(call, loans):
    Path("schema.toml").write_text("mine", "utf-8")

    assert call("schema", loans).exit_code == 2
    assert Path("schema.toml").read_text("utf-8") == "mine"
    assert call("schema", loans, "--overwrite").exit_code == 0
    assert Schema.load("schema.toml").target == "approve"


@pytest.mark.parametrize("out", ["schema.csv", "nowhere/schema.toml"])
def test_a_place_that_cannot_be_is_refused(call, loans, out):
    assert call("schema", loans, "--out", out).exit_code == 2


def test_a_name_with_odd_letters_makes_no_broken_file(call, tmp_path):
    file = write(tmp_path / "odd.csv", ['a "b"', "c\x0bd\ttarget = 1", "y"], [["x", 1, 0], ["z", 2, 1]] * 40)

    assert call("schema", file).exit_code == 0
    assert len(Schema.load("schema.toml")) == 3


def test_what_is_not_guessed_is_missing_and_the_file_says_so(call, tmp_path):
    file = write(tmp_path / "birds.csv", ["species", "sex"], [["a", "f"], ["b", "m"], ["c", "f"]] * 20)
    done = call("schema", file, "--json")

    assert json.loads(done.stdout)["missing"] == ["target", "positive", "privileged"]
    assert "# target (the column that is predicted) is not given" in Path("schema.toml").read_text("utf-8")


def test_an_amount_needs_a_threshold_that_is_typed(call, tmp_path):
    file = write(tmp_path / "pay.csv", ["wage", "female"], [[row / 7, row % 2] for row in range(80)])
    done = call("schema", file)

    assert "evenhand schema" in done.stdout
    assert "--target wage --positive '>= AMOUNT'" in done.stdout
    assert "--positive '>= AMOUNT'" in call("audit", file).stderr


def test_a_data_set_keeps_what_it_declares(call):
    assert call("schema", "causal").exit_code == 0
    assert Schema.load("schema.toml").inferred == ()


SCHEMA = """
format = 1
[[columns]]
name = "age"
kind = "integers"
low = 0
high = 50
[[columns]]
name = "town"
kind = "categorical"
values = ["here"]
outside = "other"
[[columns]]
name = "pay"
kind = "binned"
edges = [0, 10]
[[columns]]
name = "gone"
kind = "categorical"
values = [1]
"""


def test_a_check_lists_by_column_what_does_not_fit_without_a_value(call, tmp_path):
    rows = [[51, "secret place", "much", 1], [99, "here", "3", 1], ["", "here", "4", 1]]
    file = write(tmp_path / "people.csv", ["age", "town", "pay", "extra"], rows)
    Path("s.toml").write_text(SCHEMA, "utf-8")
    done = call("schema", file, "--check", "s.toml", "--json")
    misfits = {(misfit["column"], misfit["kind"]): misfit for misfit in json.loads(done.stdout)["misfits"]}

    assert done.exit_code == 1
    assert set(misfits) == {
        ("age", "outside"), ("age", "nulls"), ("town", "outside"), ("pay", "type"), ("gone", "missing"),
        ("extra", "undeclared"),
    }  # fmt: skip
    assert misfits["age", "outside"]["rows"] == 2
    assert not misfits["town", "outside"]["problem"]
    shown = call("schema", file, "--check", "s.toml")
    for value in ("51", "99", "secret", "much"):
        assert value not in shown.stdout + shown.stderr
    assert "2 rows have a value outside the domain" in shown.stdout
    assert "3 of 4 columns do not fit" in shown.stdout


def test_a_parquet_file_of_another_type_does_not_fit(call, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = tmp_path / "people.parquet"
    pq.write_table(pa.table({"age": ["x", "y"], "town": ["here", "here"], "pay": [1.0, 2.0]}), file)
    Path("s.toml").write_text(SCHEMA.partition('[[columns]]\nname = "gone"')[0], "utf-8")
    done = call("schema", file, "--check", "s.toml", "--json")

    assert [(m["column"], m["kind"]) for m in json.loads(done.stdout)["misfits"]] == [("age", "type")]


def test_a_schema_that_is_none_is_refused(call, loans):
    assert call("schema", loans, "--check", "none.toml").exit_code == 2


# --- questions ------------------------------------------------------------------------------------


def test_a_terminal_is_asked_with_the_values_shown(call, tmp_path, monkeypatch):
    monkeypatch.setattr(TERMINAL, True)
    file = write(tmp_path / "birds.csv", ["species", "sex"], [["a", "f"], ["b", "m"], ["c", "f"]] * 20)
    done = call("schema", file, input="specie\nspecies\nz\nb\n\n")
    schema = Schema.load("schema.toml")

    assert (schema.target, schema.positive, schema.privileged) == ("species", "b", "m")
    assert "of species: a, b, c" in done.stderr
    assert "did you mean 'species'" in done.stderr
    assert "'species' has no such value" in done.stderr


@pytest.mark.figures
def test_an_audit_asks_for_missing_roles_and_offers_to_leave_twins_out(call, loans, monkeypatch):
    monkeypatch.setattr(TERMINAL, True)
    answers = "\n" * 5 + "y\n" + "y\n"  # the twins are left out, and the few rows are enough
    typed = ["--repeats", "2", "--epsilon", "1", "--protocol", "grr", "--model", "logistic", "--quiet"]
    done = call("audit", loans, *typed, input=answers)
    plan = Path("study/plan.toml").read_text("utf-8")

    assert done.exit_code == 0, done.stderr
    assert 'target = "approve"' in plan
    assert "reject" not in plan


def test_the_end_of_input_is_no_answer(call, loans, monkeypatch):
    """Enter and the end of input leave roles of a draft out; an audit ends with the command to type."""
    monkeypatch.setattr(TERMINAL, True)
    done = call("audit", loans, input="")

    assert done.exit_code == 2
    assert "--target approve --positive 1" in done.stderr


@pytest.mark.figures
def test_an_audit_of_a_table_asks_whose_groups_are_compared(call, loans, monkeypatch):
    monkeypatch.setattr(TERMINAL, True)
    typed = ["--columns", "male,approve", "--mechanism", "laplace", "--epsilon", "1", "--repeats", "2"]
    done = call("audit", "release", loans, *typed, "--workers", "1", input="town\n\n")

    assert done.exit_code == 0, done.stderr
    assert "Column 'town' is not in the data" in done.stderr
    assert 'protected = "male"' in Path("study/plan.toml").read_text("utf-8")


def test_yes_asks_nothing(call, loans, monkeypatch):
    monkeypatch.setattr(TERMINAL, True)

    assert call("audit", loans, "--yes").exit_code == 2


def test_ctrl_c_at_a_question_leaves_no_file(tmp_path):
    """On a terminal of its own, with the signal that a keyboard sends."""
    file = write(tmp_path / "birds.csv", ["species", "sex"], [["a", "f"], ["b", "m"]] * 20)
    child, keyboard = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # workers of a test run ignore it
        signal.alarm(60)
        program = "from evenhand.cli import main; main()"
        os.execv(sys.executable, [sys.executable, "-c", program, "schema", str(file), "--drop", "sex"])
    shown, end = b"", time.monotonic() + 60
    while b"predicted" not in shown.partition(b"Columns")[2] and time.monotonic() < end:
        if select.select([keyboard], [], [], 1)[0]:
            shown += os.read(keyboard, 4096)
    ended, status = 0, 0
    while not ended:  # Python drops an interrupt that arrives while it frees an object
        os.write(keyboard, b"\x03")
        wait = time.monotonic() + 5  # a second one while it ends would kill it
        while not ended and time.monotonic() < wait:
            time.sleep(0.1)
            ended, status = os.waitpid(child, os.WNOHANG)

    assert os.waitstatus_to_exitcode(status) == 130
    assert not (tmp_path / "schema.toml").exists()


# --- labels elsewhere -----------------------------------------------------------------------------


def test_a_published_table_keeps_codes_and_its_terms_have_the_labels(call, loans):
    typed = ["--columns", "male,approve", "--mechanism", "laplace", "--epsilon", "1", "--out", "t.csv"]
    done = call("release", loans, "--infer-schema", *typed, "--label", "male=1:Men")

    assert done.exit_code == 0, done.stderr
    assert json.loads(Path("t.csv.json").read_text("utf-8"))["value_labels"] == {"male": {"1": "Men"}}
    assert "Men" not in Path("t.csv").read_text("utf-8")


def test_estimates_show_the_labels_of_the_schema(call, loans):
    call("schema", loans, "--label", "male=1:Men", "--label", "male=0:Women", "--out", "s.toml")
    typed = ["--schema", "s.toml", "--columns", "male", "--epsilon", "3", "--keep", "approve"]
    made = call("privatize", loans, "reports.csv", *typed)
    done = call("estimate", "reports.csv", "--by", "approve", "--privileged", "Men")

    assert made.exit_code == 0, made.stderr
    assert done.exit_code == 0, done.stderr
    assert "Women" in done.stdout
    assert "Men minus this" in done.stdout
    assert "Men" not in Path("reports.csv").read_text("utf-8")


@pytest.fixture
def people(tmp_path):
    """Write a semicolon file with decimal commas, dates, weights and persons; wages need a threshold."""
    path = tmp_path / "people.csv"
    lines = ["pid;wgt;birth;sex;wage"]
    for row in range(120):
        born = f"{1 + row % 28:02d}.03.{1950 + row % 40}"
        wage = str(5 + row / 10).replace(".", ",")
        lines.append(f"p{row // 2};{1 + row % 3},5;{born};{'fm'[row % 2]};{wage}")
    text = "\n".join(lines)
    path.write_text(text + "\n", encoding="windows-1252")
    return path


FORMAT = ["--delimiter", "semicolon", "--decimal", "comma", "--encoding", "windows-1252"]
BESIDE = ["--band", "birth=10y", "--weight", "wgt", "--person", "pid", "--rows-per-person", 2]


def test_a_draft_knows_formats_bands_weights_and_persons(call, people):
    done = call("schema", people, *FORMAT, *BESIDE, "--json")
    schema = Schema.load("schema.toml")
    result = json.loads(done.stdout)

    assert done.exit_code == 0, done.stderr
    assert schema.names == ("birth", "sex", "wage")
    assert schema["birth"].domain.band == "10y"
    assert (schema.weight, schema.person, schema.rows_per_person) == ("wgt", "pid", 2)
    assert (result["roles"]["weight"], result["roles"]["person"]) == ("wgt", "pid")
    assert call("schema", people, *FORMAT, "--check", "schema.toml").exit_code == 0


def test_the_command_for_a_threshold_works_once_an_amount_is_typed(call, people):
    """It repeats what was typed, and replaces the draft that was just written."""
    shown = call("schema", people, *FORMAT, *BESIDE, "--out", "own.toml").stdout
    command = next(line.strip() for line in shown.splitlines() if "AMOUNT" in line)
    words = shlex.split(command)[1:]
    done = call(*[word.replace("AMOUNT", "10") for word in words])
    schema = Schema.load("own.toml")

    assert done.exit_code == 0, done.stderr
    assert (schema.target, schema.positive) == ("wage", ">= 10")
    assert (schema.weight, schema.person, schema["birth"].domain.band) == ("wgt", "pid", "10y")
    check = next(line for line in shown.splitlines() if "--check" in line)
    assert call(*shlex.split(check)[1:]).exit_code == 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--weight", "sex"], "sex: holds no weights"),
        (["--weight", "heavy"], "heavy: not in the file"),
        (["--band", "birth=10y"], "--band goes with a draft"),
        (["--rows-per-person", 2], "--rows-per-person is typed without --person"),
    ],
)
def test_a_check_says_what_is_wrong_with_columns_beside_the_schema(call, people, more, message):
    call("schema", people, "--drop", "pid,wgt,birth")
    done = call("schema", people, "--check", "schema.toml", *more)

    assert done.exit_code in {1, 2}
    assert message in " ".join((done.stdout + done.stderr).split())


def test_a_draft_with_weights_that_are_none_writes_nothing(call, people):
    done = call("schema", people, "--weight", "sex")

    assert done.exit_code == 2
    assert "give every row a number of at least 0" in " ".join(done.stderr.split())
    assert not Path("schema.toml").exists()


def test_columns_of_which_the_same_is_to_be_said_stand_in_one_line(call, tmp_path):
    (tmp_path / "p.csv").write_text("sex,age,job\nf,1,a\nm,2,b\n")
    (tmp_path / "q.csv").write_text("sex\nf\nm\n")
    drafted = call("schema", "p.csv")
    done = call("schema", "q.csv", "--check", "schema.toml")
    lines = [line for line in done.output.splitlines() if line.startswith("misfit")]

    assert "that is a leak" not in drafted.output  # the draft marks it and says what to do
    assert "replace what is marked 'inferred' by public lists" in drafted.output
    assert done.exit_code == 1
    assert len(lines) == 1
    assert "age, job: not in the file" in lines[0]
    assert "2 of 3 columns do not fit." in done.output
