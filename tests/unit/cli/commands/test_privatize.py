"""evenhand privatize: three files and a promise, or a refusal and nothing."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import typer

from evenhand.cli.commands.privatize import read_outcomes, report_solving
from evenhand.cli.terminal.console import Terminal
from evenhand.cli.terminal.progress import follow_rows, spell_pace
from evenhand.engine.privatize import privatize_file
from evenhand.engine.unfinished import Spool
from evenhand.report.words import epsilon_of
from evenhand.schema import Column, Domain, Schema

TOML = 'weights = [0.7, 0.3]\nrates = [0.2, 0.6]\nsource = "census 2020"\n'
OUT = ["out.csv", "out.csv.guarantee.json", "out.csv.schema.toml"]


@pytest.fixture
def schema():
    made = Schema(
        [
            Column("sex", Domain.categorical(["female", "male"])),
            Column("job", Domain.categorical(["clerk", "nurse", "cook"])),
        ],
        sensitive=["sex", "job"],
    )
    made.save("schema.toml")
    return "schema.toml"


def _here():
    return sorted(path.name for path in Path().iterdir())


def test_three_files_are_written_and_the_promise_is_said(call, file, schema):
    done = call("privatize", file, "out.csv", "--schema", schema, "--epsilon", "2")

    assert done.exit_code == 0
    assert [name for name in _here() if name.startswith("out")] == OUT
    assert "120 of sex, job" in done.stdout
    assert "factor of 7.39" in " ".join(done.stdout.split())
    assert "guarantee.json" in done.stdout


@pytest.mark.parametrize("epsilon", ["2", "2/3", "1/7"])
def test_no_epsilon_is_shown_below_what_it_is(call, file, schema, epsilon):
    """Rounded to the nearest, half of the epsilons shown would promise more than there is."""
    done = call("privatize", file, "out.csv", "--schema", schema, "--epsilon", epsilon)
    shown = dict(re.findall(r"(\w+): grr, \d values, epsilon (\S+) within a row", done.stdout))
    strategy = privatize_file(file, "again.csv", schema=Schema.load(schema), epsilon=epsilon).record.strategy
    for column in ("sex", "job"):
        exact = strategy.epsilon_within_report(column)

        assert shown[column] == epsilon_of(exact, digits=6)
        assert exact <= Fraction(shown[column]) <= exact * (1 + Fraction(1, 10**5))


def test_columns_in_the_clear_are_named_in_a_warning(call, file, schema):
    """Whoever reads past it publishes what they did not mean to."""
    words = ["--columns", "sex", "--keep", "id,age,hired", "--linkable"]
    done = call("privatize", file, "out.csv", "--schema", schema, "--epsilon", 1, *words)

    told = " ".join(done.stderr.split())
    assert "Warning In the clear, and so not protected: id, age, hired." in told
    assert "Left out job" in told
    assert Path("out.csv").read_text().splitlines()[0] == "id,sex,age,hired"


def test_a_column_that_gives_the_order_back_is_named_in_a_warning(call, file, schema):
    """People come out in a random order, and whoever sorts them by their number undoes that."""
    words = ["--keep", "id", "--linkable", "--json"]
    done = call("privatize", file, "out.csv", "--schema", schema, "--epsilon", 1, *words)

    told = " ".join(done.stderr.split())
    assert "in the clear: whoever sorts the reports by id has it back, or nearly so." in told
    assert json.loads(done.stdout)["follow_order"] == ["id"]
    assert json.loads(done.stdout)["in_clear"] == [
        "id",
        "linkable rows (100 % are unique on these columns)",
        "row order (id gives it back)",
    ]
    assert (
        "row order (id gives it back)" in json.loads(Path("out.csv.guarantee.json").read_text())["statement"]
    )


def test_a_column_of_few_values_is_not_said_to_give_the_order_back(call, tmp_path, schema):
    """Said of a column with two values it was false, in a note that is signed; the figure stays here."""
    rows = [f"{'fe' * (place % 2)}male,{int(place % 10 < place // 400)}" for place in range(4_000)]
    (tmp_path / "p.csv").write_text("\n".join(["sex,rate", *rows]))
    done = call(
        "privatize",
        "p.csv",
        "o.csv",
        "--schema",
        schema,
        "--epsilon",
        1,
        "--columns",
        "sex",
        "--keep",
        "rate",
    )

    told, note = " ".join(done.stderr.split()), Path("o.csv.guarantee.json").read_text()
    assert re.search(r"they tell something: rate \(rank correlation 0\.[45]\d\)\. Hint: leave it out", told)
    assert "sorts the reports" not in told
    assert "row order (rate is associated with it)" in json.loads(note)["statement"]
    assert "correlation" not in note


def test_an_order_that_is_kept_is_said_to_be(call, file, schema):
    done = call(
        "privatize", file, "out.csv", "--schema", schema, "--epsilon", 1, "--only-reports", "--keep-order"
    )

    assert "The order of the rows is in the clear" in " ".join(done.stderr.split())
    assert "In the clear, and so not protected: row order." in " ".join(done.stdout.split())
    assert json.loads(Path("out.csv.guarantee.json").read_text())["in_clear"] == ["row order"]


def test_only_reports_are_written_if_asked(call, file, schema):
    done = call("privatize", file, "out.csv", "--schema", schema, "--epsilon", 1, "--only-reports")

    assert "In the clear" not in done.stderr
    assert Path("out.csv").read_text().splitlines()[0] == "sex,job"


def test_the_answer_for_machines(call, file, schema):
    done = call(
        "privatize", file, "out.parquet", "--schema", schema, "--epsilon", "1/2", "--keep", "hired",
        "--protocol", "sex=grr,job=oue", "--split", "uniform", "--batch-rows", 50, "--json",
    )  # fmt: skip

    assert json.loads(done.stdout) == {
        "command": "privatize",
        "out": "out.parquet",
        "schema": "out.parquet.schema.toml",
        "guarantee": "out.parquet.guarantee.json",
        "signature": None,
        "rows": 120,
        "parts": 1,
        "epsilon": "1/2",
        "simulated": False,
        "ledger_entry": None,
        "reported": ["sex", "job"],
        "in_clear": ["hired"],
        "linkable": {"unique_share": 0.0, "is_sampled": False},
        "inferred": [],
        "rarely_true": {},
        "left_out": ["id", "age"],
        "order": "shuffled",
        "follow_order": [],
        "exit": 0,
    }
    said = json.loads(Path("out.parquet.guarantee.json").read_text())
    assert [column["protocol"]["protocol"] for column in said["columns"]] == ["grr", "oue"]


def test_quiet_says_the_paths_alone(call, file, schema):
    done = call("privatize", file, "out.csv", "--schema", schema, "--epsilon", 1, "--only-reports", "-q")

    assert done.stdout.split() == ["out.csv", "out.csv.schema.toml", "out.csv.guarantee.json"]
    assert done.stderr == ""


def test_combined_columns_are_said_to_be(call, file, schema):
    done = call("privatize", file, "out.csv", "--schema", schema, "--epsilon", 1, "--strategy", "combined")

    assert "job: grr, combined, 3 values, epsilon 1 within a row" in done.stdout


def test_a_seed_is_said_to_be_one(call, file, schema):
    done = call("privatize", file, "out.csv", "--schema", schema, "--epsilon", 1, "--simulate", 7)

    assert "These reports are simulated" in done.stderr
    assert "Promise" not in done.stdout
    assert json.loads(Path("out.csv.guarantee.json").read_text())["guarantee"] is None


def test_a_weak_guarantee_is_warned_of_once(call, file, schema):
    done = call("privatize", file, "out.csv", "--schema", schema, "--epsilon", 12, "--only-reports")

    assert done.exit_code == 0
    assert done.stderr.count("Warning") == 1


def test_without_a_schema_it_says_how_to_make_one(call, file):
    done = call("privatize", file, "out.csv", "--epsilon", 1)

    assert done.exit_code == 2
    assert "evenhand schema" in done.stderr
    assert _here() == ["people.csv"]


def test_a_schema_read_from_the_rows_is_a_leak_and_is_said_to_be(call, file):
    done = call("privatize", file, "out.csv", "--epsilon", 1, "--infer-schema", "--columns", "job")

    assert done.exit_code == 0
    assert "that is a leak" in " ".join(done.stderr.split())
    assert Schema.load("out.csv.schema.toml").names == ("job",)


def test_what_is_written_beside_the_reports_says_that_the_schema_was_read_from_the_rows(call, file):
    """The warning on the screen is gone when somebody else gets the files."""
    done = call("privatize", file, "out.csv", "--epsilon", 1, "--infer-schema", "--columns", "job", "--json")
    said = json.loads(Path("out.csv.guarantee.json").read_text("utf-8"))
    leak = "the values of job were read from the private rows, not from a public list"

    assert json.loads(done.stdout)["inferred"] == said["inferred"] == ["job"]
    assert leak in said["statement"]
    assert leak in said["guarantee"]["assumptions"][0]
    assert "the values a person may have are public" not in said["statement"]
    assert leak in Path("out.csv.schema.toml").read_text("utf-8").splitlines()[0]


@pytest.mark.parametrize("rule", ["outside", "nulls"])
def test_a_schema_that_would_leave_people_out_is_refused(call, file, schema, rule):
    """Who has no report would be known to have another value, or none."""
    declared = Schema.load(schema)
    Schema.save(declared.with_columns(replace(declared["job"], **{rule: "drop"})), "drop.toml")
    done = call("privatize", file, "out.csv", "--schema", "drop.toml", "--epsilon", 1)

    assert done.exit_code == 2
    assert f"declare {rule}='other'" in " ".join(done.stderr.split())
    assert "out.csv" not in _here()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--infer-schema"], "--infer-schema needs --columns"),
        (["--schema", "schema.toml", "--infer-schema"], "contradict each other. Hint: leave one"),
        (
            ["--schema", "schema.toml", "--only-reports", "--keep", "id"],
            "contradict each other. Hint: leave one",
        ),
        (["--schema", "schema.toml", "--keep", "id"], "this is not for publication: more rows are unique"),
        (["--schema", "gone.toml"], "no schema file"),
        (["--schema", "schema.toml", "--columns", "wage"], "'wage'"),
        (["--schema", "schema.toml", "--protocol", "xyz"], "'xyz'"),
        (["--schema", "schema.toml", "--strategy", "xyz"], "--strategy must be"),
    ],
)
def test_wrong_use_ends_with_2_and_leaves_nothing(call, file, schema, options, told):
    done = call("privatize", file, "out.csv", "--epsilon", 1, *options)

    assert done.exit_code == 2
    assert told in " ".join(done.stderr.split())
    assert _here() == ["people.csv", "schema.toml"]


def test_the_schema_is_not_written_over(call, file, schema):
    Path(schema).rename("out.csv.schema.toml")
    done = call(
        "privatize", file, "out.csv", "--schema", "out.csv.schema.toml", "--epsilon", 1, "--overwrite"
    )

    assert done.exit_code == 2
    assert "would be written over" in done.stderr


def test_files_are_replaced_only_if_told(call, file, schema):
    again = ["privatize", file, "out.csv", "--schema", schema, "--epsilon", 1]
    codes = [call(*again).exit_code, call(*again).exit_code, call(*again, "--overwrite").exit_code]

    assert codes == [0, 2, 0]


def test_a_broken_file_leaves_nothing(call, file, schema):
    with file.open("a") as rows:
        rows.write("1,S3CRET,3,cook,yes\n")
    done = call("privatize", file, "out.csv", "--schema", schema, "--epsilon", 1)

    assert done.exit_code == 2
    assert "Column 'sex' holds a value outside its declared domain" in " ".join(done.stderr.split())
    assert "S3CRET" not in done.output
    assert _here() == ["people.csv", "schema.toml"]


def test_help_has_an_example(call):
    assert "evenhand privatize people.csv" in call("privatize", "--help").stdout


# --- the line that shows how far it is ----------------------------------------------------------


def test_progress_is_shown_on_a_terminal_only(monkeypatch):
    with follow_rows(Terminal(), "Drawing") as follow:
        assert follow is None

    terminal = Terminal()
    shown = []
    monkeypatch.setattr("rich.progress.Progress.update", lambda self, task, **told: shown.append(told))
    terminal.notices._force_terminal = True
    with follow_rows(terminal, "Drawing") as follow:
        follow(1_000, 0.5)

    assert shown[0]["completed"] == 0.5
    assert shown[0]["rows"].startswith("1,000 rows")


def test_a_pace_is_said_once_it_is_known():
    assert spell_pace(5, 0.0, 1.0) == "5 rows"
    assert spell_pace(5, 0.5, 0.0) == "5 rows"
    assert spell_pace(6_000, 0.5, 90.0) == "6,000 rows, 67/s, 1:30 left"


@pytest.mark.parametrize("name", ["out.csv", "out.csv.schema.toml", "out.csv.guarantee.json"])
def test_a_link_that_leads_nowhere_is_not_follow_study(call, file, schema, name):
    """To follow it would write reports into a folder that nobody named."""
    Path(name).symlink_to("elsewhere")
    again = ["privatize", file, "out.csv", "--schema", schema, "--epsilon", 1]
    refused, replaced = call(*again), call(*again, "--overwrite")

    assert (refused.exit_code, replaced.exit_code) == (2, 0)
    assert "there is a file of that name" in " ".join(refused.stderr.split())
    assert not Path("elsewhere").exists()
    assert not Path(name).is_symlink()


# --- public numbers for the optimal protocol -----------------------------------------------------


@pytest.fixture
def files(tmp_path):
    (tmp_path / "census.toml").write_text(TOML)
    (tmp_path / "census.json").write_text(json.dumps({"weights": [7, 3], "rates": [0.2, 0.6]}))
    (tmp_path / "torn.json").write_text("{")
    return tmp_path


@pytest.mark.parametrize("columns", ["sex", "sex,job"])
def test_the_optimal_protocol_ends_as_every_other(call, file, schema, files, columns):
    """It wrote its reports and charged the ledger, and then ended with an error."""
    made = Schema.load(schema)
    Schema(made.columns, sensitive=["sex", "job"], protected="sex").save(schema)
    options = ["--columns", columns, "--epsilon", "2", "--protocol", "optimal"]
    done = call(
        "privatize", file, "out.csv", "--schema", schema, *options, "--outcomes", files / "census.toml"
    )

    assert done.exit_code == 0, done.output
    assert "sex: optimal, 2 values" in done.output


def test_numbers_are_typed_with_commas():
    found = read_outcomes(None, ["0.7, 0.3"], ["0.2", "0.6"], "Optimal")

    assert (found.weights, found.rates, found.origin) == ((0.7, 0.3), (0.2, 0.6), "public")


def test_numbers_are_read_from_toml_and_json(files):
    assert read_outcomes(files / "census.toml", None, None, "optimal").source == "census 2020"
    assert read_outcomes(files / "census.json", None, None, "optimal").source == "census.json"


def test_other_protocols_take_none():
    assert read_outcomes(None, None, None, "grr") is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("census.toml", None, None, "grr"), "only --protocol optimal"),
        ((None, ["1,2"], None, "oue"), "only --protocol optimal"),
        ((None, None, None, "optimal"), "needs the share and the outcome rate of each group"),
        ((None, ["1,2"], None, "optimal"), "needs the share and the outcome rate of each group"),
        (
            ("census.toml", ["1,2"], None, "optimal"),
            "contradict each other. Hint: leave out one or the other.",
        ),
        ((None, ["1,x"], ["0,1"], "optimal"), "--weights must be numbers"),
        (("torn.json", None, None, "optimal"), "not valid JSON"),
    ],
)
def test_wrong_use_says_what_is_needed(files, given, said):
    path, *rest = given
    with pytest.raises(typer.BadParameter, match=said):
        read_outcomes(None if path is None else files / path, *rest)


def test_a_file_of_endless_brackets_is_refused(tmp_path):
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(typer.BadParameter, match=r"deep\.json is not valid JSON"):
        read_outcomes(tmp_path / "deep.json", None, None, "optimal")


def test_a_long_solve_says_how_far_it_is(monkeypatch):
    """A hundred groups take a minute, in which nothing else is shown; few groups take no time."""
    terminal, lines = Terminal(), []
    terminal.notices._force_terminal = True
    monkeypatch.setattr(terminal, "say", lambda *words: lines.append(words))
    report = report_solving(terminal, groups=100)
    report(1, 10)
    report(2, 10)

    assert lines == [("Solving", "100 groups: 1 of about 10 linear programs")]
    assert report_solving(terminal, groups=5) is None
    assert report_solving(Terminal(quiet=True), groups=100) is None


def test_a_folder_is_privatised_file_by_file(call, file, schema, tmp_path):
    folder = tmp_path / "people"
    folder.mkdir()
    for name in ("a.csv", "b.csv"):
        (folder / name).write_bytes(file.read_bytes())
    options = ["--schema", schema, "--epsilon", "2", "--only-reports", "--workers", "2"]

    done = call("privatize", folder, "out", *options, "--resume")
    pattern = call("privatize", folder / "*.csv", "all.csv", *options, "--json")

    assert done.exit_code == 0
    assert "240 of sex, job" in done.stdout
    assert "2 files of reports" in done.stdout
    assert json.loads(pattern.stdout)["rows"] == 240
    again = call("privatize", folder, "out", *options)
    assert "there is something of that name" in " ".join(again.stderr.split())
    guessed = call("privatize", folder, "other", "--infer-schema", "--columns", "sex", "--epsilon", "1")
    assert "reads one file" in " ".join(guessed.stderr.split())


@pytest.mark.parametrize("typed", [("--decimal", "comma"), ("--encoding", "latin-1"), ("--delimiter", "tab")])
def test_a_run_goes_on_only_with_the_same_reading_of_the_file(call, tmp_path, schema, monkeypatch, typed):
    """If this is false, the key of a run draws for rows that mean something else."""
    (tmp_path / "one.csv").write_text("\n".join(["sex", *["female", "male"] * 50]))
    options = ["one.csv", "out.csv", "--schema", schema, "--columns", "sex", "--epsilon", 2, "--resume"]
    monkeypatch.setattr(Spool, "close", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    stopped = call("privatize", *options)
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    other = call("privatize", *options, *typed)

    assert stopped.exit_code == 130
    assert other.exit_code == 2
    assert f"differs in {typed[0][2:]}. Hint: repeat that run" in " ".join(other.stderr.split())
    assert call("privatize", *options).exit_code == 0
