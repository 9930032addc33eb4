"""evenhand audit: from a file and a few words to a study, and every way this goes wrong."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.plan import Plan
from unit._study_results import failed
from unit.cli.conftest import ROLES, finished

WHOLE = [*ROLES, "--sensitive", "sex,age", "--workers", 1, "--anyway"]


def test_a_file_and_its_roles_become_a_study(call, file, fake):
    done = call("audit", file, *WHOLE, "--epsilon", "1,2", "--repeats", 2, "--seed", 5)

    (made,) = fake
    schema = made["plan"].schema
    assert done.exit_code == 0
    assert (schema.target, schema.positive, schema.protected, schema.privileged) == (
        "hired",
        "yes",
        "sex",
        "male",
    )
    assert schema.sensitive == ("sex", "age")
    assert "id" not in schema
    assert [float(each) for each in made["plan"].task.epsilons] == [1, 2]
    assert (made["plan"].repeats, made["plan"].seed, made["resume"]) == (2, 5, False)
    assert made["frame"].num_rows == 120


def test_one_row_is_said_as_one(call, tmp_path):
    (tmp_path / "one.csv").write_text("sex,hired\nf,yes\n", encoding="utf-8")

    assert "Reading  one.csv, 1 row, 2 columns" in call("audit", tmp_path / "one.csv").stderr


def test_it_says_what_it_does_and_ends_with_the_answer_and_paths(call, file, fake):
    done = call("audit", file, *WHOLE)

    notices, result = done.stderr, done.stdout
    assert "Reading  people.csv, 120 rows, 5 columns, none missing" in notices
    assert "Warning  domains were learnt from the rows, and that is a leak" in notices
    assert "Left out id (numbers the rows, as identifiers do)" in notices
    assert "16 settings and the unprotected one, 10 repeats each: 170 runs, on 120 rows" in notices
    assert "If people's answer to sex is randomised and a model then predicts hired, who" in result
    assert "  Who         " in result
    assert "  What to do  " in result
    assert "Report   study/report.html" in result


def test_a_column_that_tells_the_target_is_warned_of(call, tmp_path, fake):
    """On such a file every setting looks good, and no model can be used."""
    lines = [f"{'fm'[at % 2]},{'ab'[at % 3 == 0]},{'xy'[at % 5 < 2]},{'ny'[at % 5 < 2]}" for at in range(300)]
    path = tmp_path / "told.csv"
    path.write_text("\n".join(["sex,job,letter,hired", *lines]), encoding="utf-8")
    roles = [
        "--target",
        "hired",
        "--positive",
        "y",
        "--protected",
        "sex",
        "--privileged",
        "m",
        "--sensitive",
        "sex",
        "--workers",
        "1",
    ]
    notices = " ".join(call("audit", path, *roles).stderr.split())

    assert "Error 'letter' alone tells 'hired' for 100.0% of people or more" in notices
    assert "--drop letter" in notices
    assert "'job'" not in notices


def test_a_second_study_does_not_overwrite_the_first(call, file, fake):
    os.makedirs("study")  # noqa: PTH103 - the folder of the test
    Path("study/study.db").write_text("a store that cannot be read")
    done = call("audit", file, *WHOLE)

    assert str(fake[0]["out"]) == "study-2"
    assert "study holds results already: these go to study-2." in done.stderr


def test_a_folder_somewhere_else_is_said_whole(call, file, fake, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "s"
    done = call("audit", file, *WHOLE, "--out", elsewhere)

    assert f"Report   {elsewhere}/report.html" in done.stdout


def test_many_rows_are_timed_in_part_and_that_is_said(call, file, fake, monkeypatch):
    monkeypatch.setattr("evenhand.cli.study.MANY_ROWS", 100)

    assert "Timing   a few runs on a part of the rows" in call("audit", file, *WHOLE).stderr


def test_quiet_prints_paths_only(call, file, fake):
    done = call("audit", file, *WHOLE, "--quiet")

    assert done.stdout.split() == [
        f"study/{name}" for name in ("report.html", "plan.toml", "effects.csv", "cells.csv", "study.db")
    ]
    assert "Warning" in done.stderr
    assert "Reading" not in done.stderr


def test_json_is_one_object_with_every_number(call, file, fake):
    done = call("audit", file, *WHOLE, "--json")

    told = json.loads(done.stdout)
    assert told["exit"] == 0
    assert told["answers"][0] == told["answer"]["sentences"]["who"]["text"]
    assert {row["group"] for row in told["answer"]["effects"]} >= {"women", "men"}
    assert len(told["summary"]) == 5
    assert told["summary"][1]["acc"]["change"]["value"] == pytest.approx(-0.01, abs=0.002)
    assert told["summary"][1]["f1"]["value"] is None
    assert told["files"]["report"].endswith("study/report.html")
    assert "Reading" in done.stderr


def test_nothing_in_a_pipe_is_a_control_character(call, file, fake):
    done = call("audit", file, *WHOLE)

    assert all(letter.isprintable() or letter == "\n" for letter in done.output)


def test_failed_cells_are_said_and_are_exit_code_1(call, file, fake, monkeypatch):
    """A script that goes on after half of the cells failed would publish the other half."""
    broken = finished(failures=[(1, failed), (2, failed)])
    monkeypatch.setattr("evenhand.cli.study.run_cells", lambda plan, **_: broken)
    os.makedirs("study")  # noqa: PTH103 - what the run makes
    done = call("audit", file, *WHOLE)

    assert done.exit_code == 1
    assert "2 of 15 runs failed: InvalidParameterError. The 'x' parameter" in done.stderr


def test_ctrl_c_says_how_to_go_on(call, file, fake, monkeypatch):
    def stopped(plan, out, **_):
        out.mkdir()
        (out / "study.db").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr("evenhand.cli.study.run_cells", stopped)
    done = call("audit", file, *WHOLE, "--out", "my study")

    assert done.exit_code == 130
    assert "Go on with: evenhand audit --resume --out 'my study'" in done.stderr


def test_a_stopped_study_goes_on_from_its_folder_alone(call, file, fake):
    call("audit", file, *WHOLE, "--out", "s", "--repeats", 2)
    done = call("audit", "--resume", "--out", "s")

    first, second = fake
    assert done.exit_code == 0
    assert second["resume"]
    assert second["plan"].cells() == first["plan"].cells()
    assert second["plan"].schema == first["plan"].schema
    assert second["frame"].num_rows == 120


def test_a_plan_runs_again_with_what_is_typed_besides(call, file, fake):
    call("audit", file, *WHOLE, "--out", "s")
    call("audit", "--plan", "s/plan.toml", "--epsilon", 8, "--model", "logistic", "--rows", 50, "--out", "t")

    plan = fake[1]["plan"]
    assert [float(each) for each in plan.task.epsilons] == [8]
    assert (plan.task.model, plan.data.rows) == ("logistic", 50)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--resume"], "There is no study in study to go on with"),
        (["--plan", "nowhere.toml"], "nowhere.toml"),
        (["--plan", "empty.toml"], "empty.toml names no data"),
        (["--plan", "empty.toml", "--target", "x"], "--target cannot be given with a plan"),
    ],
)
def test_a_plan_that_cannot_be_used_is_refused(call, fake, arguments, said):
    Plan().save("empty.toml")
    done = call("audit", *arguments)

    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())


def test_missing_roles_are_asked_for_in_one_sentence_with_a_whole_command(call, file):
    done = call("audit", file.name, "--target", "hired")

    reading, _, said = done.stderr.partition("Error")
    assert done.exit_code == 2
    assert reading.startswith("Reading")
    assert "Guess    protected is 'sex': it is named like groups that are often compared" in reading
    assert " ".join(said.split()) == (
        "--positive, --protected, --privileged and --sensitive must be given; type, for example (and "
        "check it): evenhand audit people.csv \\ --target hired --positive yes \\ --protected sex "
        "--privileged male \\ --sensitive sex,age"
    )


def test_a_column_with_a_comma_is_suggested_as_it_must_be_typed(call, tmp_path):
    """A list of columns needs quotation marks around it, and an option that takes one column must not."""
    rows = "\n".join(f"{'fm'[row % 2]},{'yes' if row % 3 else 'no'}" for row in range(60))
    (tmp_path / "p.csv").write_text(f'"sex, stated","hired, ever"\n{rows}\n')
    said = call("audit", "p.csv", "--target", "hired, ever", "--protected", '"sex, stated"').stderr

    assert "--target 'hired, ever' --positive" in said
    assert """--protected '"sex, stated"' --privileged""" in said


def test_columns_are_listed_where_no_command_can_be_suggested(call, tmp_path):
    (tmp_path / "p.csv").write_text("a,b\n1,x\n2,y\n3,x\n")
    said = call("audit", "p.csv").stderr

    assert "--protected COLUMN --privileged GROUP" in said
    assert said.rstrip().endswith("Columns: a, b.")


def test_values_of_an_outcome_are_listed_where_none_reads_like_the_welcome_one(call, tmp_path):
    rows = "".join(f"{'fm'[row % 2]},{1 + row % 3}\n" for row in range(60))
    (tmp_path / "p.csv").write_text(f"sex,status\n{rows}")
    said = call("audit", "p.csv", "--guess").stderr

    assert "--target status --positive VALUE" in said
    assert "Values of status: 1, 2, 3." in said


def test_roles_are_guessed_when_asked_and_the_reasons_said(call, file, fake):
    done = call("audit", file, "--guess", "--workers", 1)

    assert done.exit_code == 0
    assert "Guess    target is 'hired': it has two values" in done.stderr
    assert fake[0]["plan"].schema.privileged == "male"


def test_what_cannot_be_guessed_is_asked_for(call, tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("a,b\n" + "".join(f"{row % 7},{row % 5}\n" for row in range(60)))
    done = call("audit", path, "--guess")

    assert done.exit_code == 2
    assert "could not be guessed" in " ".join(done.stderr.split())
    assert "--target COLUMN" in done.stderr


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (["--target", "hird"], "did you mean 'hired'"),
        (["--sensitive", "sex,agee"], "did you mean 'age'"),
        (["--positive", "maybe"], "Values of hired: no, yes."),
        (["--privileged", "men"], "Values of sex: female, male."),
        (["--drop", "sex"], "has a role and is to be left out too"),
        (["--target", "id"], "Values of id: '[0, 20)'"),
        (["--epsilon", "0"], "--epsilon must be"),
        (["--epsilon", "x"], "--epsilon must be"),
        (["--protocol", "rr"], "Protocol 'rr' is not known"),
        (["--split", "even"], "--split must be"),
        (["--strategy", "joint"], "--strategy must be"),
        (["--model", "oracle"], "model"),
        (["--encoder", "auto"], "encoder"),
        (["--repeats", "0"], "repeats"),
        (["--rows", "0"], "rows"),
        (["--schema", "none.toml"], "none.toml"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would(call, file, changed, said):
    done = call("audit", file, *WHOLE, *changed)

    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_values_list_is_short(call, tmp_path):
    path = tmp_path / "towns.csv"
    rows = "".join(f"town {row % 30:02d},{'yn'[row % 2]}\n" for row in range(90))
    path.write_text(f"town,ok\n{rows}")
    roles = ["--target", "ok", "--positive", "y", "--protected", "town", "--sensitive", "town"]
    done = call("audit", path, *roles, "--privileged", "Paris")

    assert "and 18 more" in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", b"", "it is empty"),
        ("head.csv", b"a,b\n", "no rows"),
        ("ragged.csv", b"a,b\n1,2\n1,2,3\n", "line 3"),
        ("binary.csv", b"\x00\x01\x02\xff", "was not read"),
        ("twice.csv", b"a,a\n1,2\n", "the same name"),
        ("bad.parquet", b"PAR1 not at all", "was not read"),
        ("notes.ods", b"a,b\n1,2\n", ".csv"),
        ("mixed.csv", b"a;b;c\n1;2;3\n1,2,3\n", "by semicolons, or say what separates them (--delimiter)"),
        (
            "both.csv",
            b"a;b\n1,5;2.5\n3,5;1.5\n",
            "say which are numbers (--decimal comma or --decimal point)",
        ),
        ("late.csv", b"a,b\n" + b"1,2\n" * 40_000 + b"1,\xe9\n", "line 40,002 is not UTF-8 text"),
        ("cyrillic.csv", "имя,город\nАнна,Омск\n".encode("cp1251"), "say which encoding it has"),
        ("odd.csv", "a,b\n1,2\n".encode("utf-16") + b"x", "is not UTF-16 text"),
        ("book.xlsx", b"PK\x03\x04 not at all", "save it as CSV"),
    ],
)
def test_a_broken_file_is_refused_in_a_sentence(call, tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    done = call("audit", name, *WHOLE)

    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())


def test_a_folder_and_a_missing_file_are_refused(call, tmp_path):
    (tmp_path / "folder.csv").mkdir()

    assert "no file of it has rows" in call("audit", "folder.csv").stderr
    assert "there is no such file" in call("audit", "nowhere.csv").stderr
    assert "Data 'adlt' is not a data set, nor a file" in call("audit", "adlt").stderr


@pytest.mark.parametrize("typed", ["patients.cvs", "patient.csv", "Patients.csv"])
def test_a_slip_in_the_name_of_a_file_is_answered_with_the_file_that_is_there(call, tmp_path, typed):
    (tmp_path / "patients.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    done = call("audit", typed, "--guess")

    assert done.exit_code == 2
    said = " ".join(done.stderr.split())
    assert said.endswith("there is no such file. Hint: did you mean 'patients.csv'?")
    assert len(said) < 100


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_refused(call, file):
    file.chmod(0)

    assert "you may not read it" in call("audit", file).stderr


def test_a_parquet_file_works_too(call, tmp_path, fake):
    rows = {"sex": ["m", "f"] * 60, "x": [1.5, 2.5, None] * 40, "ok": [True, False, True, True] * 30}
    pq.write_table(pa.table(rows), tmp_path / "p.parquet")
    words = [
        "--target",
        "ok",
        "--positive",
        "true",
        "--protected",
        "sex",
        "--privileged",
        "m",
        "--sensitive",
        "sex",
    ]
    done = call("audit", "p.parquet", *words, "--workers", 1)

    assert done.exit_code == 0
    assert fake[0]["plan"].schema.positive is True
    assert "Missing values of 'x' count as a value of their own" in done.stderr
    assert "'true' was taken as True" in done.stderr


def test_a_data_set_by_name_needs_no_roles(call, fake):
    done = call("audit", "causal", "--repeats", 1, "--workers", 1)

    assert done.exit_code == 0
    assert fake[0]["plan"].data.dataset == "causal"


@pytest.mark.parametrize("answer", ["y\n", "n\n"])
def test_a_long_study_offers_fewer_rows(call, file, fake, monkeypatch, answer):
    slow = SimpleNamespace(
        workers=2, seconds=lambda rows=None: 7_200 if rows is None else 540, rows_within=lambda _: 60
    )
    monkeypatch.setattr("evenhand.cli.study.duration", lambda *_, **__: slow)
    monkeypatch.setattr("evenhand.cli.study.MANY_ROWS", 100)
    monkeypatch.setattr("evenhand.cli.terminal.console.Terminal.is_interactive", True)
    done = call("audit", file, *WHOLE, input=answer)

    assert "All rows take about 1.5 to 3 h; --rows 60 would take about 6 to 12 min" in " ".join(
        done.stderr.split()
    )
    assert fake[0]["plan"].data.rows == (60 if answer == "y\n" else None)


def test_without_anybody_to_ask_a_long_study_goes_on_with_a_notice(call, file, fake, monkeypatch):
    slow = SimpleNamespace(
        workers=2, seconds=lambda rows=None: 7_200 if rows is None else 540, rows_within=lambda _: 60
    )
    monkeypatch.setattr("evenhand.cli.study.duration", lambda *_, **__: slow)
    monkeypatch.setattr("evenhand.cli.study.MANY_ROWS", 100)
    done = call("audit", file, *WHOLE, "--yes")

    assert "going on with all rows" in " ".join(done.stderr.split())
    assert fake[0]["plan"].data.rows is None


VALUES = {"sex": ["female", "male"], "job": ["clerk", "nurse", "cook"], "hired": ["no", "yes"]}
DECLARED = Schema(
    [Column(name, Domain.categorical(values)) for name, values in VALUES.items()],
    sensitive=["sex"],
    protected="sex",
    privileged="male",
    target="hired",
    positive="yes",
)


@pytest.mark.parametrize(
    "words", [["audit"], ["audit learn"], ["audit", "--guess"], ["advise"]], ids=" ".join
)
@pytest.mark.parametrize("name", ["id", " id", "age,id"])
def test_a_column_that_the_schema_does_not_declare_may_be_dropped(call, file, fake, words, name):
    """It is in the file, and it is left out already: what is asked for is what happens."""
    DECLARED.save("s.toml")
    done = call(
        *words[0].split(), file, *words[1:], "--schema", "s.toml", "--drop", name, "--epsilon", 1, "--yes"
    )

    assert "is not in the data" not in done.stderr
    assert fake[0]["plan"].schema.names == ("sex", "job", "hired")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--drop", "sx"], "Column 'sx' is not in the data. Hint: did you mean 'sex'?"),
        (["--target", "id"], "Column 'id' is not in the schema."),
        (["--protected", "age"], "Column 'age' is not in the schema."),
        (["--sensitive", "age"], "Column 'age' is not in the schema."),
        (["--guess", "--sensitive", "age"], "Column 'age' is not in the schema."),
    ],
)
def test_a_column_of_the_file_is_not_said_to_be_missing_from_it(call, file, words, said):
    DECLARED.save("s.toml")
    done = call("audit", file, "--schema", "s.toml", *words)

    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())


def test_nor_is_a_column_of_a_table(call, file):
    DECLARED.save("s.toml")
    done = call("audit", "release", file, "--schema", "s.toml", "--columns", "sex,age")

    assert "Column 'age' is not in the schema." in " ".join(done.stderr.split())
