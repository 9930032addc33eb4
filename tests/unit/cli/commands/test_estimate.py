"""evenhand estimate: shares with intervals, rates by true group, for people and for machines."""

import csv
import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from evenhand.collect.fairest.group_outcomes import GroupOutcomes
from evenhand.schema import Column, Domain, Schema
from unit.cli.conftest import people
from unit.engine._keeping import privatize_all

SCHEMA = Schema(
    [
        Column("sex", Domain.categorical(["female", "male"])),
        Column("age", Domain.integers(20, 69)),
        Column("hired", Domain.categorical(["no", "yes"])),
    ],
    sensitive=["sex", "age"],
    protected="sex",
    privileged="male",
    target="hired",
    positive="yes",
)


@pytest.fixture
def reports(file):
    return privatize_all(file, "out.csv", schema=SCHEMA, epsilon=6).places.out


def test_shares_are_shown_with_their_intervals(call, reports):
    done = call("estimate", reports, "--column", "sex", "--level", "0.9")

    assert done.exit_code == 0
    assert "sex: 120 reports by generalized randomized response, 2 values" in done.stdout
    assert "90 % interval" in done.stdout
    assert "female" in done.stdout
    assert "age" not in done.stdout


def test_the_rate_of_nobody_is_undefined_in_words(call, tmp_path):
    """A reader who is no programmer does not know what nan is."""
    (tmp_path / "nobody.csv").write_text("sex,age,hired\n", encoding="utf-8")
    out = privatize_all(tmp_path / "nobody.csv", tmp_path / "none.csv", schema=SCHEMA, epsilon=6).places.out
    told = call("estimate", out, "--by", "hired").stdout

    assert "Overall rate: undefined." in told
    assert "nan" not in told


def test_no_epsilon_is_shown_below_what_it_is(call, file):
    """As when the reports were made: the last digit is rounded up."""
    made = privatize_all(file, "out.csv", schema=SCHEMA, epsilon="2/3")
    told = " ".join(call("estimate", made.places.out).stdout.split())
    for column in ("sex", "age"):
        exact = made.record.strategy.epsilon_within_report(column)
        shown = re.search(rf"{column}: 120 reports by [^,]*, \d+ values, epsilon (\S+)", told)[1]

        assert exact <= Fraction(shown) <= exact * (1 + Fraction(1, 10**5))


def test_many_values_are_cut_short_and_said_to_be(call, reports):
    done = call("estimate", reports, "--column", "age", "--consistent")

    assert "The first 40 of 50 values" in done.stdout
    assert "consistent" in done.stdout
    assert "This has a bias" in done.stdout


def test_rates_are_those_of_the_true_groups(call, reports):
    done = call("estimate", reports, "--column", "sex", "--by", "hired")

    told = " ".join(done.stdout.split())
    assert "hired by true group of sex" in told
    assert "male minus this" in told
    assert "only if the outcome does not depend on the reports" in told


def test_groups_that_nobody_can_tell_from_nought_are_named(call, reports):
    done = call("estimate", reports, "--column", "age", "--by", "hired")

    told = " ".join(done.stdout.split())
    rates = json.loads(call("estimate", reports, "--column", "age", "--by", "hired", "--json").stdout)[
        "rates"
    ]["age"]
    known = [row["rate"] for row in rates if row["rate"] is not None]

    assert "Not separated from a share of 0, so that the rate cannot be estimated" in told
    assert "cannot be estimated" in told.partition("by true group")[2]
    assert all(0 <= rate <= 1 for rate in known)
    assert len(known) < len(rates)
    assert "more." in told


def test_tables_are_written_beside_each_other(call, reports):
    done = call("estimate", reports, "--by", "hired", "--csv", "shares.csv", "-q")

    assert done.stdout.split() == ["shares.csv", "shares.rates.csv"]
    with Path("shares.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 52
    assert {row["column"] for row in rows} == {"sex", "age"}
    call("estimate", reports, "--csv", "alone.csv")
    assert not Path("alone.rates.csv").exists()


def test_the_answer_for_machines(call, reports):
    said = json.loads(call("estimate", reports, "--by", "hired", "--json", "--batch-rows", 50).stdout)

    assert (said["rows"], said["simulated"], said["outcome"]) == (120, False, "hired")
    assert [row["value"] for row in said["columns"]["sex"]["values"]] == ["female", "male"]
    assert said["columns"]["sex"]["reports"] == 120
    assert [row["group"] for row in said["rates"]["sex"]] == ["female", "male"]
    assert said["files"] == []


def test_crossed_columns_have_rates_of_their_combinations(call, file, tmp_path):
    source = people(tmp_path / "many.csv", rows=6_000)
    schema = Schema(
        [SCHEMA["sex"], Column("job", Domain.categorical(["nurse", "clerk", "cook"])), SCHEMA["hired"]],
        sensitive=["sex", "job"],
    )
    made = privatize_all(source, "many-out.csv", schema=schema, epsilon=8).places.out
    options = ["--by", "hired", "--positive", "yes", "--protected", "job,sex"]

    done = call("estimate", made, *options, "--privileged", "cook,male", "--csv", "shares.csv")
    told = json.loads(call("estimate", made, *options, "--json").stdout)

    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert "hired by true group of job × sex" in said
    assert "cook, male minus this" in said
    assert "nurse, female" in said
    assert [*told["rates"]] == ["sex", "job", "job × sex"]
    assert len(told["rates"]["job × sex"]) == 6
    with Path("shares.rates.csv").open(newline="") as table:
        assert sum(row["column"] == "job × sex" for row in csv.DictReader(table)) == 6


def test_no_reports_have_no_shares(call, file):
    header = file.read_text().splitlines()[0]
    file.write_text(f"{header}\n")
    path = privatize_all(file, "none.csv", schema=SCHEMA, epsilon=1, keep=["hired"]).places.out
    done = call("estimate", path, "--by", "hired")

    assert done.exit_code == 0
    assert "undefined" in done.stdout


def test_domains_that_were_read_from_rows_are_warned_of(call, file, reports):
    """Whoever reads the estimates must learn that the list of values is itself a leak."""
    declared = call("estimate", reports)
    call("privatize", file, "read.csv", "--infer-schema", "--columns", "sex", "--epsilon", "1")
    done = call("estimate", "read.csv")

    assert "were read from the private rows" in " ".join(done.stderr.split())
    assert "read from the private rows" not in declared.stderr
    assert json.loads(call("estimate", "read.csv", "--json").stdout)["inferred"] == ["sex"]


def test_simulated_reports_are_refused_unless_allowed(call, file):
    path = privatize_all(file, "sim.csv", schema=SCHEMA, epsilon=6, simulate=1).places.out
    refused, allowed = call("estimate", path), call("estimate", path, "--simulated")

    assert (refused.exit_code, allowed.exit_code) == (2, 0)
    assert "--simulated" in refused.stderr
    assert "simulated" in allowed.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--guarantee", "gone.json"], "gone.json was not read"),
        (["--schema", "gone.toml"], "no schema file"),
        (["--column", "wage"], "'wage'"),
        (["--by", "wage"], "'wage'"),
        (["--by", "hired", "--positive", "maybe"], "--positive must be"),
        (["--level", "95"], "--level must be"),
    ],
)
def test_wrong_use_ends_with_2(call, reports, options, told):
    done = call("estimate", reports, *options)

    assert done.exit_code == 2
    assert told in " ".join(done.stderr.split())


def test_help_has_an_example(call):
    assert "evenhand estimate reports.csv" in call("estimate", "--help").stdout


def test_a_column_that_cannot_be_undone_has_a_sentence_and_the_others_their_shares(call):
    """One such column must neither stop the file nor blame an option that this command does not have."""
    schema = Schema(
        [Column("race", Domain.categorical(["a", "b", "c"])), Column("job", Domain.categorical(["x", "y"]))],
        sensitive=["race", "job"],
        protected="race",
    )
    census = GroupOutcomes.public([0.6, 0.2, 0.2], [0.5, 0.7, 0.3], source="census")
    Path("people.csv").write_text("race,job\n" + "a,x\nb,y\nc,x\n" * 100)
    privatize_all("people.csv", "r.csv", schema=schema, epsilon=2, protocol=census, split="uniform")
    done = call("estimate", "r.csv")
    told = json.loads(call("estimate", "r.csv", "--json").stdout)

    assert done.exit_code == 0
    assert "race: There is no estimate" in " ".join(done.stdout.split())
    assert "job: 300 reports" in done.stdout
    assert "error" not in done.stdout.replace("std. error", "")
    assert list(told["refused"]) == ["race"]
    assert list(told["columns"]) == ["job"]
    alone = call("estimate", "r.csv", "--column", "race", "--csv", "none.csv")
    assert alone.exit_code == 0
    assert not Path("none.csv").exists()
    assert json.loads(call("estimate", "r.csv", "--column", "race", "--json").stdout)["columns"] == {}


@pytest.mark.parametrize(
    "name",
    ["{}", "{}.guarantee.json", "{}.schema.toml", "link.csv"],
    ids=["reports", "terms", "schema", "link"],
)
def test_a_table_is_not_written_over_what_is_read(call, reports, name):
    """It would stand beside the guarantee of the reports that it replaced."""
    Path("link.csv").symlink_to(reports)
    before = Path(reports).read_bytes()
    refused = call("estimate", reports, "--csv", name.format(reports))

    assert refused.exit_code == 2
    assert "written over" in refused.stderr
    assert Path(reports).read_bytes() == before


@pytest.mark.parametrize(("flag", "name"), [("--csv", "shares.csv"), ("--aggregate", "sum.json")])
@pytest.mark.parametrize("read", ["parts", "parts/*"])
def test_nothing_is_written_among_the_reports_that_are_read(call, file, tmp_path, flag, name, read):
    """If this is false, the next estimate of the folder reads what this one wrote."""
    (tmp_path / "parts").mkdir()
    privatize_all(file, "parts/a.csv", schema=SCHEMA, epsilon=6)

    done = call("estimate", read, flag, f"parts/{name}")

    assert done.exit_code == 2
    assert f"{flag} is among the files of REPORTS" in done.stderr
    assert not (tmp_path / "parts" / name).exists()


def test_sums_are_written_and_merged(call, reports, tmp_path):
    """Collectors send sums; the folder of sums is estimated as the file would be."""
    said = json.loads(call("estimate", reports, "--json", "--aggregate", tmp_path / "north.json").stdout)
    merged = json.loads(call("estimate", tmp_path / "north.json", "--json").stdout)

    assert said["columns"] == merged["columns"]
    assert said["files"] == [str(tmp_path / "north.json")]
    taken = call("estimate", reports, "--aggregate", tmp_path / "north.json")
    assert "There is a file" in " ".join(taken.stderr.split())
    other = call("estimate", reports, "--aggregate", tmp_path / "a.txt")
    assert "must end with" in " ".join(other.stderr.split())
    nowhere = call("estimate", reports, "--aggregate", tmp_path / "none" / "a.json")
    assert "is not there" in " ".join(nowhere.stderr.split())


def test_a_command_that_was_killed_as_it_wrote_can_be_repeated(call, reports, monkeypatch):
    """A sum is never written over: were it there before the table, the same command would be refused."""
    command = ["estimate", reports, "--csv", "shares.csv", "--aggregate", "sum.json"]
    with monkeypatch.context() as killed:
        killed.setattr(
            "evenhand.cli.commands.estimate._write", lambda *_: (_ for _ in ()).throw(SystemExit(137))
        )
        assert call(*command).exit_code == 137
    again = call(*command)

    assert again.exit_code == 0, again.stderr
    assert Path("shares.csv").exists()
    assert Path("sum.json").exists()
