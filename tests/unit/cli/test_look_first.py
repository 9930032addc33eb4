"""Before an audit runs, what would waste it is said, and the command that is shown instead works as typed."""

import json
import re
import shlex
from html import unescape

import numpy as np
import pytest

from evenhand.cli.retyping import TYPED, retype
from evenhand.study.results.results import Results
from evenhand.study.store.store import Store

COLLECT = ["--target", "hired", "--positive", "1", "--protected", "race", "--privileged", "a"]
QUICK = [
    "--sensitive",
    "race",
    "--epsilon",
    "1",
    "--protocol",
    "grr",
    "--model",
    "logistic",
    "--workers",
    "1",
]
DRAWS = np.random.default_rng(5)


def write(path, **columns):
    """Write columns as a file, and return its name alone, as people type it."""
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path.name


def people(path, race, **more):
    """Write people with a random outcome."""
    rows = len(race)
    columns = {"race": race, "town": DRAWS.integers(0, 3, rows), "hired": DRAWS.integers(0, 2, rows)}
    return write(path, **{**columns, **more})


def shown_command(text, word):
    """Return the words of the command that a terminal shows after a word, as a shell would read them."""
    lines = text.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(word))
    command = [lines[start][len(word) :]]
    while command[-1].endswith("\\"):
        command.append(lines[start + len(command)])
    return shlex.split("".join(line.removesuffix("\\") for line in command))


def few(path):
    return ["audit", people(path, ["a"] * 60 + ["b"] * 60), *COLLECT, *QUICK, "--repeats=2"]


def equal(path):
    hired = DRAWS.integers(0, 2, 400)
    name = people(path, np.tile(["a", "b"], 200), hired=hired, letter=hired + 5, left=1 - hired)
    return ["audit", name, *COLLECT, *QUICK, "--repeats", "2"]


def panel(path):
    who = np.repeat(np.arange(400), 3)
    name = people(path, np.array(["a", "b"])[who % 2], pid=who * 31 % 4001 + 5, age=20 + who % 40)
    return ["audit", name, *COLLECT, *QUICK, "--repeats", "2"]


def counties(path, rate, *options):
    pop, poor = DRAWS.integers(1_000, 9_000, 40), DRAWS.integers(100, 900, 40)
    name = write(path, place=range(40), pop=pop, npoor=poor, **{rate: 100 * poor // pop})
    return ["audit", "decide", name, *options, "--epsilon", "1", "--mitigate", "none"]


STOPS = {
    "groups": few,
    "equal": equal,
    "people": panel,
    "percent of a rule": lambda path: counties(path, "pctpoor", "--rule", "pctpoor > 5 and pop > 10"),
    "percent of a count": lambda path: counties(path, "pctpoor", "--count", "pctpoor", "--budget", "1e6"),
    "percent of a share": lambda path: counties(path, "pctpoor", "--allot=pctpoor*place", "--budget", "1e6"),
    "percent of groups": lambda path: counties(
        path, "pctpoor", "--count", "pop", "--budget", "1e6", "--groups", "pctpoor"
    ),
}


@pytest.mark.figures
@pytest.mark.parametrize("name", STOPS)
def test_what_would_waste_a_run_stops_and_the_command_shown_instead_runs(call, tmp_path, name):
    """If not, people read a page that cannot answer, or retype a command that fails too."""
    typed = STOPS[name](tmp_path / "my people.csv")
    done = call(*typed, "--out", "s")
    again = shown_command(done.stderr, "Instead")

    assert done.exit_code == 2
    assert not (tmp_path / "s").exists()
    assert again[0] == "evenhand"
    assert "my people.csv" in again
    assert call(*again[1:]).exit_code == 0
    assert Store.count_results(tmp_path / "s") > 0


@pytest.mark.figures
@pytest.mark.parametrize("name", ["groups", "people", "percent of a count"])
def test_whoever_says_so_goes_on_as_typed(call, tmp_path, name):
    """If not, somebody who knows better has no way on."""
    typed = STOPS[name](tmp_path / "people.csv")

    assert call(*typed, "--out", "s", "--anyway").exit_code == 0
    assert call("audit", "--plan", "s/plan.toml", "--out", "t").exit_code == 0  # which has been told


def test_what_is_guessed_of_people_with_several_rows_is_not_stopped(call, tmp_path, fake):
    """If not, --guess proposes a command that is refused."""
    typed = panel(tmp_path / "people.csv")
    done = call(*typed, "--guess")

    assert done.exit_code == 0, done.stderr
    assert fake[0]["plan"].schema.person == "pid"


def test_a_script_is_told_what_stops_without_a_figure(call, tmp_path):
    """If not, a script stores figures of private rows."""
    done = call(*panel(tmp_path / "people.csv"), "--json")
    told = json.loads(done.stdout)

    assert (told["stopped"], told["exit"], done.exit_code) == (["people"], 2, 2)
    assert told["next"][0].endswith("--json --person pid")


def test_percentages_that_no_run_takes_are_not_offered_anyway(call, tmp_path):
    """If not, a person types --anyway and is refused again."""
    name = write(tmp_path / "c.csv", place=range(30), rate=np.linspace(0.5, 99.5, 30))
    said = call("audit", "decide", name, "--rule", "rate > 20").stderr

    assert "holds percentages" in said
    assert "--anyway" not in said


def implied(path):
    hired = DRAWS.integers(0, 2, 600)
    return people(path, np.tile(["a", "b"], 300), hired=hired, joined=hired * DRAWS.integers(0, 2, 600))


WARNS = {
    "pool": lambda path: people(path, ["a"] * 300 + ["b"] * 300 + ["c"] * 60 + ["d"] * 70),
    "implied": implied,
    "secret": lambda path: people(path, np.tile(["a", "b"], 200), tribe=np.tile([7, 8], 200)),
}


@pytest.mark.parametrize("name", WARNS)
def test_what_weakens_a_run_is_warned_of_and_the_command_shown_runs(call, tmp_path, fake, name):
    """If not, people are told of a fault and not how to mend it."""
    typed = ["audit", WARNS[name](tmp_path / "people.csv"), *COLLECT, *QUICK]
    done = call(*typed, "--out", "s")
    again = shown_command(done.stderr, "Type")
    mended = call(*again[1:-2], "--out", "t", *again[-2:])

    assert done.exit_code == mended.exit_code == 0
    assert len(fake) == 2
    assert "Warning" in done.stderr
    assert "\nType" not in mended.stderr


SMALL_GROUPS = ["--repeats", "4", "--epsilon", "1,9"]


@pytest.mark.figures
def test_what_would_settle_a_page_is_a_command_that_runs(call, tmp_path):
    """If not, a page says what it takes and leaves people to find out how to type it."""
    name = WARNS["pool"](tmp_path / "my people.csv")
    done = call("audit", name, *COLLECT, *QUICK[:2], *QUICK[4:], *SMALL_GROUPS, "--out", "my study")
    page = (tmp_path / "my study" / "report.html").read_text(encoding="utf-8")
    page = unescape(re.sub(r"<[^>]+>", "", page))
    told = Results.load(tmp_path / "my study").view("my study")
    commands = [each.line for each in told.commands if each.line.startswith("evenhand audit")]

    assert done.exit_code == 0, done.stderr
    assert any("--pool-below 100" in line for line in commands)
    for place, line in enumerate(commands):
        assert line in page
        words = [word.replace("plan.toml", "my study/plan.toml") for word in shlex.split(line)[1:]]
        shown = " ".join(done.stdout.replace("\\\n", " ").split())
        assert "--language" in line or line.endswith("plan.toml") or shlex.join(words) in shown
        again = call(*words, "--out", f"again {place}", "--workers", 1)
        assert again.exit_code == 0, again.stderr
    pooled = next(place for place, line in enumerate(commands) if "--pool-below" in line)
    assert "other groups" in Results.load(tmp_path / f"again {pooled}").facts.groups


def test_built_in_data_never_stops(call, fake):
    """If not, the first example that somebody types ends with an error."""
    assert call("audit", "causal", "--rows", 60, "--repeats", 1, "--workers", 1).exit_code == 0


@pytest.mark.parametrize(
    ("typed", "renamed", "line"),
    [
        (["--rule", "`a b` > 3"], {"a b": "c"}, "--rule 'c > 3'"),
        (
            ["--rule=rate > 3 and rates > 1"],
            {"rate": "100 * `x y` / `z`"},
            "--rule '100 * `x y` / z > 3 and rates > 1'",
        ),
        (["--groups", "a,b"], {"a": ""}, "--groups b"),
    ],
)
def test_a_column_is_renamed_where_it_is_meant_and_nowhere_else(typed, renamed, line):
    token = TYPED.set(("audit", "decide", "./x.csv", *typed))
    try:
        assert retype({}, renamed) == f"evenhand audit decide ./x.csv {line}"
    finally:
        TYPED.reset(token)
