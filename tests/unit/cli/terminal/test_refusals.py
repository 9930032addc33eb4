"""What cannot be right is refused at once, before rows are read and warnings shown."""

from pathlib import Path

import pytest

from unit.cli.conftest import ROLES

AUDIT = [*ROLES, "--sensitive", "sex", "--workers", 1]
INFER = ["--epsilon", 1, "--infer-schema", "--columns", "sex"]


def _said(done):
    return " ".join(done.stderr.split())


@pytest.mark.parametrize("option", ["epsilon", "protocol", "split", "strategy", "sensitive", "drop"])
def test_an_option_with_nothing_in_it_is_not_an_option_left_out(call, file, fake, option):
    """A script whose variable was never set would run another study than it says."""
    done = call("audit", file, *ROLES, f"--{option}", "")

    assert done.exit_code == 2
    assert _said(done) == f"Error --{option} is empty. Hint: leave it out, or say what."
    assert fake == []


def test_the_same_holds_for_advice(call, file, fake):
    assert "--drop is empty" in _said(call("advise", file, *AUDIT, "--drop", " , "))


@pytest.mark.parametrize(
    ("option", "hint"),
    [("columns", "leave it out, or say what."), ("keep", "without it nothing is passed on in the clear.")],
)
def test_an_empty_list_of_columns_never_means_all_of_them(call, file, option, hint):
    """A script whose list came out empty would pass on what nobody named."""
    done = call("privatize", file, "r.csv", "--epsilon", 1, "--schema", "schema.toml", f"--{option}", "")

    assert done.exit_code == 2
    assert _said(done) == f"Error --{option} is empty. Hint: {hint}"


@pytest.mark.parametrize(
    ("out", "epsilon", "said"),
    [
        ("folder.csv", "1", "folder.csv was not written: it is a folder."),
        ("nowhere/r.csv", "1", "r.csv was not written: its folder is not there."),
        ("people.csv", "1", "OUT must be another file than the input. Got 'people.csv' instead."),
        (
            "r.txt",
            "1",
            "OUT must be a path that ends with .csv, .csv.gz, .parquet, .pq. Got 'r.txt' instead.",
        ),
        ("r.csv", "one", "--epsilon must be a number > 0 and <= 1000000. Got 'one' instead."),
    ],
)
def test_the_rows_are_not_read_for_an_output_or_epsilon_that_cannot_be(call, file, out, epsilon, said):
    """A file may take an hour to read, and a warning about a leak that never happens is noise."""
    Path("folder.csv").mkdir()
    done = call(
        "privatize", file, out, "--epsilon", epsilon, "--infer-schema", "--columns", "sex", "--overwrite"
    )

    assert done.exit_code == 2
    assert _said(done).removesuffix(".") == f"Error {said}".removesuffix(".")


def test_a_file_with_semicolons_is_read_by_privatize_too(call, file):
    """What is written stands in UTF-8 with commas, whatever was read."""
    file.write_text(file.read_text().replace(",", ";"))
    names = file.read_text().splitlines()[0].split(";")
    keep = ",".join(name for name in names if name not in INFER)
    done = call("privatize", file, "r.csv", *INFER, "--keep", keep, "--linkable")

    assert done.exit_code == 0
    assert "people.csv as semicolon-separated UTF-8" in _said(done)
    assert Path("r.csv").read_text().splitlines()[0].count(",") == file.read_text().splitlines()[0].count(";")


def test_a_file_that_turns_out_to_be_of_another_encoding_leaves_nothing_written(call, file):
    """The guess from the beginning is wrong from a later line on."""
    text = file.read_text()
    file.write_bytes(text.encode() + (text.splitlines()[1] + "\n").encode() * 10_000 + b"\xe9\n")
    there = sorted(path.name for path in Path().iterdir())
    done = call("privatize", file, "r.csv", *INFER)

    assert done.exit_code == 2
    assert sorted(path.name for path in Path().iterdir()) == there
    assert "(--" in _said(done)


def test_a_file_without_rows_has_no_domains_to_read(call, file):
    file.write_text("sex,age\n")
    done = call("privatize", file, "r.csv", *INFER)

    assert (
        _said(done) == "Error people.csv has column names and no rows. Hint: name a file with people in it."
    )


@pytest.mark.parametrize(
    ("option", "said"), [("--repeats", "a whole number"), ("--rows", "a whole number"), ("--seed", "a whole")]
)
def test_a_word_where_a_number_should_be_is_told_in_plain_words(call, file, option, said):
    done = call("audit", file, *AUDIT, option, "two")

    assert f"Invalid value for '{option}': it must be {said}" in _said(done)


def test_so_is_a_word_where_a_share_should_be(call, file):
    assert "'--max-gap': it must be a number." in _said(call("advise", file, *AUDIT, "--max-gap", "ten"))
