"""evenhand release: what is written is a release, what is said is the guarantee; wrong use ends with 2."""

import json
import re
import shlex
from fractions import Fraction
from pathlib import Path

import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest

from evenhand.release import Histogram, Laplace
from evenhand.schema import Column, Domain, Schema

COLUMNS = ["--columns", "sex,job"]
LAPLACE = ["--mechanism", "laplace", "--epsilon", "1"]


@pytest.fixture
def declared(tmp_path):
    """Return a schema file of the people's columns; nobody is a baker."""
    path = tmp_path / "schema.toml"
    Schema(
        (
            Column("sex", Domain.categorical(["female", "male"])),
            Column("job", Domain.categorical(["clerk", "nurse", "cook", "baker"])),
        ),
        quasi_identifiers=["sex"],
    ).save(path)
    return path


def test_a_table_and_what_it_promises_are_written(call, file, declared, tmp_path):
    """Every declared cell is there, and beside it a note without which nobody knows what was published."""
    out = tmp_path / "table.csv"
    found = call("release", file, *COLUMNS, *LAPLACE, "--schema", declared, "--out", out)
    table, note = csv.read_csv(out), json.loads((tmp_path / "table.csv.json").read_text())

    assert found.exit_code == 0, found.output
    assert table.column_names == ["sex", "job", "count"]
    assert table.num_rows == 8
    assert note["rng"] == "secure"
    assert note["guarantee"]["epsilon"] == "1"
    assert "by at most a factor of 2.72" in " ".join(found.output.split())
    assert "unit: replace one" in " ".join(found.output.split())


def test_two_releases_differ(call, file, declared, tmp_path):
    """The source is the system's; with a seed anybody could take the noise off."""
    counts = []
    for number in range(2):
        out = tmp_path / f"table-{number}.csv"
        words = ["--mechanism", "laplace", "--epsilon", "0.01", "--schema", declared, "--out", out]
        assert call("release", file, *COLUMNS, *words).exit_code == 0
        counts.append(csv.read_csv(out)["count"].to_pylist())

    assert counts[0] != counts[1]


def test_parquet_json_and_post_processing(call, file, declared, tmp_path):
    out = tmp_path / "table.parquet"
    words = ["--schema", declared, "--out", out, "--post", "nonnegative,sum_to=120", "--json"]
    found = call("release", file, *COLUMNS, *LAPLACE, *words, "--unit", "add or remove one", "--bound", "99")
    told = json.loads(found.stdout)

    assert parquet.read_table(out).num_rows == 8
    assert told["unit"] == "add or remove one"
    assert told["delta"] == 0
    assert told["meaningful"] is True
    assert len(told["postprocessing"]) == 2
    assert told["mechanism"]["mechanism"] == "laplace"
    assert told["cells"] == 8


@pytest.mark.parametrize("read", ["people", "people/*.csv"])
@pytest.mark.parametrize("name", ["table.csv", "a.csv"])
def test_a_table_is_not_written_among_the_files_that_are_read(call, file, declared, tmp_path, read, name):
    """If this is false, counts are taken for people the next time, or replace them."""
    (tmp_path / "people").mkdir()
    own = file.rename(tmp_path / "people" / "a.csv")
    before = own.read_bytes()

    words = [*COLUMNS, *LAPLACE, "--schema", declared, "--out", f"people/{name}", "--overwrite"]
    done = call("release", read, *words)

    assert done.exit_code == 2
    assert "--out is among the files of IN" in done.stderr
    assert [path.name for path in own.parent.iterdir()] == ["a.csv"]
    assert own.read_bytes() == before


def test_quiet_prints_the_paths_alone(call, file, declared):
    found = call("release", file, *COLUMNS, *LAPLACE, "--schema", declared, "--out", "t.csv", "--quiet")

    assert found.stdout.split() == ["t.csv", "t.csv.json"]


def test_a_mechanism_that_promises_nothing_is_warned_of(call, file, declared):
    """Suppression looks like protection."""
    words = ["--mechanism", "suppression", "--threshold", "5", "--schema", declared, "--out", "t.csv"]
    found = call("release", file, *COLUMNS, *words)

    assert found.exit_code == 0
    assert "No meaningful guarantee" in found.stderr


@pytest.mark.parametrize("unit", ["replace one", "add or remove one"])
def test_what_gives_a_guarantee_instead_is_told_with_its_cost(call, file, declared, unit):
    """A warning alone leaves people where they were."""
    words = ["--mechanism", "suppression", "--threshold", "5", "--schema", declared, "--unit", unit]
    made = call("release", file, "--columns", "sex,job", *words, "--out", "t.csv", "--json")
    [typed] = json.loads(made.stdout)["next"]
    done = call(*shlex.split(typed)[1:], "--json")
    plain = call("release", file, "--columns", "sex,job", *words, "--out", "t.csv", "--overwrite")
    table = Histogram.of([7], Schema([Column("a", Domain.categorical(["x"]))]))
    [error] = Laplace(1, unit=unit).exact_absolute_error(table)

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["meaningful"]
    assert json.loads(done.stdout)["mechanism"]["threshold"] == 5
    assert json.loads(done.stdout)["next"] == []
    assert f"a count is off by {error:.2f} people on average" in " ".join(plain.stdout.split())


def test_people_who_say_nothing_are_not_called_other(call, tmp_path):
    (tmp_path / "p.csv").write_text("sex,job\n" + "f,a\nm,b\n,a\n" * 30)
    words = ["--columns", "sex,job", "--infer-schema", "--mechanism", "laplace", "--epsilon", "1"]
    call("release", tmp_path / "p.csv", *words, "--out", "t.csv")

    assert {row.split(",")[0] for row in Path("t.csv").read_text().splitlines()[1:]} == {
        '"f"',
        '"m"',
        '"not stated"',
    }


def test_suppressed_cells_are_blank_in_the_file_and_marked(call, file, declared):
    """Half of the threshold in a cell of nobody is an invented count."""
    words = ["--mechanism", "suppression", "--threshold", "500", "--schema", declared]
    blank = call("release", file, *COLUMNS, *words, "--out", "t.csv")
    filled = call("release", file, *COLUMNS, *words, "--out", "u.csv", "--fill", "half-threshold")
    tables = [Path(name).read_text().splitlines() for name in ("t.csv", "u.csv")]
    found = [{tuple(row.split(",")[2:]) for row in rows} for rows in tables]

    assert (blank.exit_code, filled.exit_code) == (0, 0), blank.output + filled.output
    assert found == [{('"count"', '"suppressed"'), (each, "true")} for each in ("", "250")]
    assert "Blanks suppressed cells have no count; the column 'suppressed' marks them" in " ".join(
        blank.stdout.split()
    )
    assert "Filled suppressed cells hold 250, which nobody counted" in " ".join(filled.stdout.split())
    note = json.loads(Path("t.csv.json").read_text())
    assert (note["fill"], note["cells_without_a_count"]) == (None, "suppressed")


def test_a_fill_that_there_is_not_and_one_that_is_not_taken_are_refused(call, file, declared):
    words = [*COLUMNS, "--schema", declared, "--out", "t.csv"]
    unknown = call(
        "release", file, *words, "--mechanism", "suppression", "--threshold", "5", "--fill", "half"
    )
    other = call("release", file, *words, *LAPLACE, "--fill", "zero")

    assert (unknown.exit_code, other.exit_code) == (2, 2)
    assert "--fill must be one of 'blank', 'zero', 'half-threshold'" in unknown.stderr
    assert "--fill does not go with laplace" in other.stderr


def test_columns_in_the_clear_are_warned_of(call, file, declared):
    words = ["--mechanism", "record-swapping", "--epsilon", "1", "--schema", declared, "--out", "t.csv"]
    found = call("release", file, *COLUMNS, *words)

    assert found.exit_code == 0, found.output
    assert "In the clear" in found.stderr


def test_gaussian_noise_by_rho(call, file, declared):
    words = ["--mechanism", "discrete-gaussian", "--rho", "1/10", "--schema", declared, "--out", "t.csv"]
    found = call("release", file, *COLUMNS, *words, "--json")

    assert json.loads(found.stdout)["rho"] == "1/10"


def test_quasi_identifiers_can_be_typed(call, file, declared):
    words = ["--mechanism", "record-swapping", "--epsilon", "1", "--schema", declared, "--quasi", "job"]
    found = call("release", file, *COLUMNS, *words, "--out", "t.csv")

    assert "sex" in found.stderr
    assert found.exit_code == 0


def test_domains_are_read_from_the_rows_only_if_asked_for_and_that_is_warned_of(call, file):
    """A domain of the rows lists a rare value because somebody has it."""
    refused = call("release", file, *COLUMNS, *LAPLACE, "--out", "t.csv")
    asked = call("release", file, *COLUMNS, *LAPLACE, "--out", "t.csv", "--infer-schema")

    assert refused.exit_code == 2
    assert "--schema is missing" in refused.stderr
    assert asked.exit_code == 0
    assert asked.stderr.count("leak") == asked.stderr.count("Warning") == 1
    assert "In the clear, and so not protected: domains read from the rows" in " ".join(asked.stdout.split())
    note = json.loads(Path("t.csv.json").read_text())
    assert "read from the rows" in note["warnings"][0]
    assert "were read from the private rows" in note["guarantee_in_words"]


def test_a_data_set_brings_its_schema(call):
    words = ["--columns", "A,Y", *LAPLACE, "--out", "t.csv"]

    assert call("release", "causal", *words).exit_code == 0


def test_files_that_are_there_stay(call, file, declared):
    """A release cannot be drawn again: what was published must not be lost by a slip."""
    words = [*COLUMNS, *LAPLACE, "--schema", declared, "--out", "t.csv"]
    first = call("release", file, *words)
    refused = call("release", file, *words)
    replaced = call("release", file, *words, "--overwrite")

    assert (first.exit_code, refused.exit_code, replaced.exit_code) == (0, 2, 0)
    assert "--overwrite" in refused.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mechanism", "laplac", "--epsilon", "1"], "did you mean 'laplace'"),
        (["--mechanism", "laplace"], "--epsilon is missing"),
        (["--mechanism", "laplace", "--epsilon", "0"], "--epsilon must be"),
        (["--mechanism", "laplace", "--epsilon", "1", "--k", "3"], "--k does not go with laplace"),
        (["--mechanism", "laplace", "--epsilon", "1", "--unit", "x"], "--unit must be"),
        (["--mechanism", "laplace", "--epsilon", "1", "--post", "up"], "--post must be"),
        (["--mechanism", "laplace", "--epsilon", "1", "--post", ","], "--post is empty"),
        (["--mechanism", "laplace", "--epsilon", "1", "--bound", "0"], "--bound must be"),
        (["--mechanism", "suppression", "--threshold", "-1"], "--threshold must be"),
        (["--mechanism", "suppression", "--epsilon", "1", "--threshold", "3"], "--epsilon does not go with"),
        (["--mechanism", "suppression"], "--threshold is missing"),
        (["--mechanism", "k-anonymity"], "--k is missing"),
        (["--mechanism", "swapping"], "--fraction is missing"),
        (["--mechanism", "discrete-gaussian", "--epsilon", "1"], "--delta is missing"),
        (["--mechanism", "discrete-gaussian", "--rho", "1", "--delta", "1e-9"], "contradict"),
        (["--mechanism", "discrete-gaussian", "--rho", "1", "--epsilon", "1"], "and --rho"),
    ],
)
def test_wrong_use_is_told_in_the_words_of_the_command(call, file, declared, words, said):
    found = call("release", file, *COLUMNS, "--schema", declared, "--out", "t.csv", *words)

    assert found.exit_code == 2
    assert said in " ".join(found.stderr.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--columns", "sex,jb", "--out", "t.csv"], "did you mean 'job'"),
        (["--columns", "sex", "--out", "t.txt"], "--out must end with"),
        (["--columns", "sex", "--out", "people.csv"], "written over"),
        (["--columns", "sex", "--out", "t.csv", "--infer-schema"], "contradict"),
        (["--columns", "sex", "--out", "nowhere/t.csv"], "nowhere"),
    ],
)
def test_wrong_files_and_columns_are_refused(call, file, declared, words, said):
    found = call("release", "people.csv", *LAPLACE, "--schema", declared, *words)

    assert found.exit_code == 2
    assert said in " ".join(found.stderr.split())


def test_a_file_without_rows_cannot_tell_its_domains(call, tmp_path):
    (tmp_path / "empty.csv").write_text("sex,job\n")
    found = call("release", "empty.csv", *COLUMNS, *LAPLACE, "--infer-schema", "--out", "t.csv")

    assert found.exit_code == 2
    assert "no rows" in found.stderr


def test_no_true_count_is_said(call, tmp_path):
    """A count of private rows in a message is a leak that no noise covers."""
    (tmp_path / "few.csv").write_text("sex,job\n" + "male,cook\n" * 7919)
    found = call("release", "few.csv", *COLUMNS, *LAPLACE, "--infer-schema", "--out", "t.csv", "--json")

    assert "7919" not in found.output
    assert "7,919" not in found.output


def test_help_shows_examples(call):
    found = call("release", "--help")

    assert "evenhand release people.csv" in found.output


def test_the_classes_of_a_k_anonymous_table_are_written_beside_it(call, file, declared, tmp_path):
    """The classes are what k-anonymity publishes; counts rebuilt from them are for comparing."""
    out = tmp_path / "table.csv"
    words = ["--mechanism", "k-anonymity", "--k", "2", "--schema", declared, "--out", out]
    found = call("release", file, *COLUMNS, *words)
    again = call("release", file, *COLUMNS, *words)
    note = json.loads((tmp_path / "table.csv.json").read_text())
    classes = csv.read_csv(tmp_path / "table.classes.csv")

    assert found.exit_code == 0, found.output
    assert again.exit_code == 2
    assert list(note["files"]) == ["table.csv", "table.classes.csv"]
    assert classes.column_names == ["sex", "job", "count"]
    assert "table.classes.csv" in found.output


def test_classes_of_an_earlier_release_are_removed(call, file, declared, tmp_path):
    """They would stand beside a table that they are no part of, without a note of what they promise."""
    out = tmp_path / "table.csv"
    words = ["--schema", declared, "--out", out, "--overwrite"]
    first = call("release", file, *COLUMNS, "--mechanism", "k-anonymity", "--k", "3", *words)
    again = call("release", file, *COLUMNS, "--mechanism", "k-anonymity", "--k", "3", *words)
    there = (tmp_path / "table.classes.csv").exists()
    other = call("release", file, *COLUMNS, *LAPLACE, *words)

    assert (first.exit_code, again.exit_code, other.exit_code) == (0, 0, 0), other.output
    assert there
    assert not (tmp_path / "table.classes.csv").exists()


def test_delta_is_never_told_smaller_than_it_is(call, file, declared, tmp_path):
    """A promise that is rounded in favour of whoever makes it is broken."""
    out = tmp_path / "table.csv"
    words = ["--mechanism", "random-swapping", "--epsilon", "2", "--schema", declared, "--out", out, "--json"]
    found = call("release", file, *COLUMNS, *words)
    exact = Fraction(json.loads((tmp_path / "table.csv.json").read_text())["guarantee"]["delta"])
    told = re.search(r"delta = ([0-9.]+)\.", found.stderr).group(1)

    assert found.exit_code == 0, found.output
    assert Fraction(json.loads(found.stdout)["delta"]) >= exact
    assert exact <= Fraction(told) < exact + Fraction(1, 1000)


def test_a_table_of_one_cell_has_one_cell(call, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("sex\nf\n")
    words = ["--columns", "sex", "--infer-schema", "--out", tmp_path / "o.csv", *LAPLACE]
    found = call("release", path, *words)

    assert "sex: 1 cell, by" in " ".join(found.output.split())


def test_a_column_of_the_name_of_the_marks_is_refused_where_there_are_marks(call, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("suppressed,sex\n1,f\n")
    words = ["release", path, "--columns", "sex,suppressed", "--infer-schema", "--out", tmp_path / "o.csv"]
    marked = call(*words, "--mechanism", "suppression", "--threshold", "3")

    assert "--columns names 'suppressed', as the column of suppressed cells" in " ".join(
        marked.stderr.split()
    )
    assert (marked.exit_code, call(*words, *LAPLACE).exit_code) == (2, 0)


def test_a_column_of_the_name_of_the_counts_is_refused_before_the_rows_are_read(call, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("count,sex\n1,f\n")
    words = ["--columns", "sex,count", "--infer-schema", "--out", tmp_path / "o.csv", *LAPLACE]
    found = call("release", path, *words)

    assert found.exit_code == 2
    assert "--columns names 'count', as the column of counts is called" in " ".join(found.stderr.split())
    assert "Reading" not in found.stderr


@pytest.mark.parametrize("name", ["t.csv", "t.csv.json", "t.classes.csv"])
def test_a_link_that_leads_nowhere_is_not_follow_study(call, file, declared, tmp_path, name):
    """To follow it would write a table into a folder that nobody named."""
    words = [*COLUMNS, *LAPLACE, "--schema", declared, "--out", "t.csv"]
    (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    refused = call("release", file, *words)
    links = (tmp_path / name).is_symlink()
    replaced = call("release", file, *words, "--overwrite")

    assert (refused.exit_code, links, replaced.exit_code) == (2, True, 0)
    assert "--overwrite" in refused.stderr
    assert not (tmp_path / "elsewhere").exists()


def test_the_input_is_not_taken_for_the_classes_beside_the_table(call, file, declared, tmp_path):
    """With --overwrite the people would be gone."""
    source = file.rename(tmp_path / "t.classes.csv")
    words = ["--mechanism", "k-anonymity", "--k", "2", "--schema", declared, "--out", "t.csv", "--overwrite"]
    refused = call("release", source, *COLUMNS, *words)

    assert refused.exit_code == 2
    assert "written over" in refused.stderr


def test_a_data_set_may_have_a_schema_of_its_own(call, tmp_path):
    """A data set brings a schema, and one that is typed replaces it."""
    Schema([Column("A", Domain.categorical([0, 1]))]).save("s.toml")
    words = ["--columns", "A", "--mechanism", "laplace", "--epsilon", 1, "--out", "t.csv"]
    done = call("release", "causal", "--schema", "s.toml", *words)

    assert done.exit_code == 0, done.output
    assert (tmp_path / "t.csv").exists()


def test_a_folder_is_published_as_one_table(call, tmp_path):
    """Counts of two files are added up; noise is added once."""
    folder = tmp_path / "people"
    folder.mkdir()
    for place in range(2):
        (folder / f"{place}.csv").write_text("sex\nf\nm\nf\n")
    Schema([Column("sex", Domain.categorical(["f", "m"]))]).save("sexes.toml")
    options = ["--columns", "sex", "--mechanism", "laplace", "--epsilon", "1000", "--post", "nonnegative"]

    done = call("release", folder, "--schema", "sexes.toml", *options, "--out", "table.csv")

    assert done.exit_code == 0
    assert Path("table.csv").read_text().replace('"', "").split() == ["sex,count", "f,4", "m,2"]
    guessed = call("release", folder, "--infer-schema", *options, "--out", "other.csv")
    assert "reads one file" in " ".join(guessed.stderr.split())
