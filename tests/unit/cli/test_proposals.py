"""From a file alone to a command that runs, for every kind of study."""

import shlex

import pytest

TERMINAL = "evenhand.cli.terminal.console.Terminal.is_interactive"


@pytest.fixture
def places(tmp_path):
    rows = (f"town {row},{1000 + row * 37},{600 + row * 20},{100 + row}" for row in range(40))
    path = tmp_path / "places.csv"
    path.write_text("\n".join(["town,population,white,black", *rows]))
    return path


def command_in(text):
    """Return the words of the command that stands in what was said."""
    lines = iter(text.splitlines())
    first = next(line for line in lines if line.split()[:2] == ["evenhand", "audit"] or "Command " in line)
    whole = [first.removeprefix("Command").strip()]
    while whole[-1].endswith("\\"):
        whole[-1] = whole[-1].removesuffix("\\")
        whole.append(next(lines).strip())
    return shlex.split(" ".join(whole))[1:]


KINDS = {"collect": "file", "learn": "file", "release": "file", "decide": "places"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_proposed_command_runs_when_it_is_typed(call, request, fake, kind):
    """A command that cannot be typed as it stands helps nobody."""
    path = request.getfixturevalue(KINDS[kind])
    first = call("audit", kind, path, "--epsilon", "1,2", "--seed", "7")
    assert (first.exit_code, fake) == (2, [])
    assert "Guess    " in first.stderr
    words = command_in(first.stderr)

    call(*words, "--workers", "1")
    [typed] = fake
    call("audit", kind, path, "--epsilon", "1,2", "--seed", "7", "--guess", "--workers", "1")
    guessed = fake[1]
    assert typed["plan"].task == guessed["plan"].task
    assert typed["plan"].schema == guessed["plan"].schema
    assert typed["plan"].seed == 7


@pytest.mark.parametrize("kind", KINDS)
def test_a_guess_that_runs_shows_its_command(call, request, fake, kind):
    path = request.getfixturevalue(KINDS[kind])
    done = call("audit", kind, path, "--guess", "--workers", "1")
    again = call(*command_in(done.stderr))

    assert fake[0]["plan"].task == fake[1]["plan"].task
    assert "Guess" not in again.stderr


@pytest.mark.parametrize("kind", ["release", "decide"])
def test_what_cannot_be_guessed_is_named_with_the_columns(call, tmp_path, kind):
    (tmp_path / "n.csv").write_text("a,b\n" + "".join(f"{row / 7},{row / 5}\n" for row in range(60)))
    done = call("audit", kind, tmp_path / "n.csv", "--guess")

    assert done.exit_code == 2
    assert "could not be guessed" in " ".join(done.stderr.split())
    assert "Columns: a, b." in done.stderr


def test_columns_of_two_values_are_named_where_no_outcome_is(call, tmp_path):
    rows = "".join(f"{row % 2},{row % 3},{'ab'[row % 5 > 1]},{row % 4}\n" for row in range(60))
    (tmp_path / "n.csv").write_text(f"female,c,d,e\n{rows}")

    assert "Of two values: female, d." in call("audit", tmp_path / "n.csv").stderr


def test_places_with_several_rows_are_not_run(call, tmp_path, fake):
    rows = "".join(f"{row // 2},{2000 + row % 2},{90 + row}\n" for row in range(40))
    (tmp_path / "n.csv").write_text(f"fips,year,pupils\n{rows}")
    done = call("audit", "decide", tmp_path / "n.csv", "--guess")

    assert (done.exit_code, fake) == (2, [])
    assert "one for each 'year': keep those of one." in done.stderr


def test_on_a_terminal_each_is_asked_for_and_enter_takes_the_proposal(call, places, fake, monkeypatch):
    monkeypatch.setattr(TERMINAL, True)
    asked = call("audit", "decide", places, "--workers", "1", input="wrong\nblack\n\n-\n\ny\n")
    [found] = fake

    assert "'wrong'" in asked.stderr
    assert (found["plan"].task.count, found["plan"].task.budget) == ("black", 1e7)
    assert found["plan"].task.groups == ()
    assert found["plan"].task.name == "town"


def test_on_a_terminal_a_table_is_asked_for(call, file, fake, monkeypatch):
    monkeypatch.setattr(TERMINAL, True)
    call("audit", "release", file, "--workers", "1", input="sex,job\n\ny\n")

    assert fake[0]["plan"].task.columns == ("sex", "job")
    assert fake[0]["plan"].schema.protected == "sex"


def test_the_end_of_input_is_no_answer(call, places, fake, monkeypatch):
    monkeypatch.setattr(TERMINAL, True)
    done = call("audit", "decide", places, input="")

    assert (done.exit_code, fake) == (2, [])
    assert "has no answer" in done.stderr
