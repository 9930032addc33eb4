"""No file stays beside a table that it does not speak of, whichever commands write to one name in turn."""

from pathlib import Path

import pytest

from evenhand.schema import Column, Domain, Schema

REPORTS = {"t.csv", "t.csv.guarantee.json", "t.csv.schema.toml"}
TABLE = {"t.csv", "t.csv.json"}
CLASSES = {*TABLE, "t.classes.csv"}
SHARES = {"t.csv"}
RATES = {"t.csv", "t.rates.csv"}
SIDE = [
    "t.csv.guarantee.json", "t.csv.json", "t.csv.schema.toml", "t.csv.guarantee.json.sig", "t.csv.json.sig",
    "t.classes.csv", "t.rates.csv",
]  # fmt: skip
INFER = ["--infer-schema", "--columns", "sex"]
LAPLACE = ["--mechanism", "laplace", "--epsilon", "1"]
K = ["--mechanism", "k-anonymity", "--k", "2"]


@pytest.fixture
def run(call, file):
    """Return a function that writes to `t.csv` by a command, named by what it leaves."""
    schema = Schema([Column("sex", Domain.categorical(["female", "male"]))], quasi_identifiers=["sex"])
    schema.save("schema.toml")
    words = {
        "reports": ["privatize", file, "t.csv", *INFER, "--epsilon", "1"],
        "table": ["release", file, *INFER, *LAPLACE, "--out", "t.csv"],
        "classes": ["release", file, "--schema", "schema.toml", "--columns", "sex", *K, "--out", "t.csv"],
        "shares": ["estimate", "read.csv", "--csv", "t.csv"],
        "rates": ["estimate", "read.csv", "--csv", "t.csv", "--by", "hired", "--positive", "yes"],
    }
    made = call("privatize", file, "read.csv", *INFER, "--keep", "hired", "--epsilon", "6")
    assert made.exit_code == 0, made.output

    return lambda name, *more: call(*words[name], *more)


def _left():
    return {path.name for path in Path().glob("t.*")}


LEAVES = {"reports": REPORTS, "table": TABLE, "classes": CLASSES, "shares": SHARES, "rates": RATES}
REPLACED = [
    (first, then)
    for first in LEAVES
    for then in ("reports", "table", "classes")
] + [("rates", "shares"), ("shares", "rates"), ("rates", "rates")]  # fmt: skip


@pytest.mark.parametrize(("first", "then"), REPLACED)
def test_a_table_that_is_replaced_leaves_no_file_beside_the_new_one(run, first, then):
    """A note at epsilon 1 beside reports at 10 promises what nobody gets."""
    overwrite = [] if then in {"shares", "rates"} else ["--overwrite"]
    before = run(first)
    after = run(then, *overwrite)

    assert (before.exit_code, after.exit_code) == (0, 0), before.output + after.output
    assert _left() == LEAVES[then]


@pytest.mark.parametrize("then", ["reports", "table", "classes"])
@pytest.mark.parametrize("there", SIDE)
def test_without_overwrite_any_file_beside_the_table_is_named_and_kept(run, there, then):
    Path(there).write_text("old")
    refused = run(then)

    assert refused.exit_code == 2
    assert there in " ".join(refused.stderr.split())
    assert "--overwrite" in refused.stderr
    assert (_left(), Path(there).read_text()) == ({there}, "old")


@pytest.mark.parametrize("then", ["shares", "rates"])
@pytest.mark.parametrize("first", ["reports", "table", "classes"])
def test_estimates_are_not_written_over_reports_or_a_released_table(run, first, then):
    """There is no --overwrite to ask for it, and a release cannot be drawn again."""
    run(first)
    before = {name: Path(name).read_bytes() for name in _left()}
    refused = run(then)

    assert refused.exit_code == 2
    assert "Hint: choose another name" in " ".join(refused.stderr.split())
    assert {name: Path(name).read_bytes() for name in _left()} == before


@pytest.mark.parametrize("then", LEAVES)
@pytest.mark.parametrize("name", ["t.classes.csv", "t.rates.csv"])
def test_a_table_of_its_own_is_not_taken_for_a_part_of_another(run, name, then):
    """Its guarantee would be left alone, or stand beside what it does not speak of."""
    for place in (name, f"{name}.guarantee.json"):
        Path(place).write_text("other")
    refused = run(then, *([] if then in {"shares", "rates"} else ["--overwrite"]))

    assert refused.exit_code == 2
    assert name in " ".join(refused.stderr.split())
    assert "Hint: choose another name" in " ".join(refused.stderr.split())
    assert _left() == {name, f"{name}.guarantee.json"}


@pytest.mark.parametrize("name", ["t.csv", *SIDE])
@pytest.mark.parametrize("command", ["privatize", "release"])
def test_what_is_read_is_neither_replaced_nor_removed(call, file, command, name):
    schema = Schema([Column("sex", Domain.categorical(["female", "male"]))], sensitive="sex")
    schema.save(name)
    words = {
        "privatize": [file, "t.csv", "--epsilon", "1"],
        "release": [file, *LAPLACE, "--out", "t.csv"],
    }[command]
    refused = call(command, *words, "--schema", name, "--columns", "sex", "--overwrite")

    assert refused.exit_code == 2
    assert "written over or removed" in " ".join(refused.stderr.split())
    assert Schema.load(name) == schema


@pytest.mark.parametrize("name", ["t.csv.json", "t.csv.guarantee.json"])
def test_a_file_of_outcomes_is_neither_replaced_nor_removed(call, file, name):
    Path(name).write_text('{"weights": [0.5, 0.5], "rates": [0.2, 0.6], "source": "a census"}')
    words = ["--protocol", "optimal", "--outcomes", name, "--epsilon", "1", "--overwrite"]
    refused = call("privatize", file, "t.csv", *INFER, *words)

    assert refused.exit_code == 2
    assert "written over or removed" in " ".join(refused.stderr.split())
    assert Path(name).exists()


@pytest.mark.parametrize("name", ["t.classes.csv", "t.rates.csv"])
@pytest.mark.parametrize("command", ["privatize", "release"])
def test_the_input_is_not_removed_as_a_file_beside_the_table(call, file, command, name):
    source = file.rename(name)
    words = {
        "privatize": [source, "t.csv", "--epsilon", "1"],
        "release": [source, *LAPLACE, "--out", "t.csv"],
    }
    refused = call(command, *words[command], *INFER, "--overwrite")

    assert refused.exit_code == 2
    assert source.exists()
