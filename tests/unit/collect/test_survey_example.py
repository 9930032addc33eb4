"""The survey script does what the tutorial says, and says what is wrong with wrong arguments."""

import re
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def script(root):
    return root / "examples" / "survey.py"


@pytest.fixture
def survey(script, run_example):
    return run_example(script)


@pytest.mark.figures
def test_it_prints_what_the_tutorial_shows(root, script):
    """A tutorial whose output cannot be had is worse than none."""
    page = (root / "docs" / "start" / "survey-team.md").read_text("utf-8")
    shown = re.search(r"```text\n\$ python examples/survey.py --seed 7\n(.*?)```", page, re.DOTALL).group(1)
    command = [sys.executable, script, "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")

    assert done.stderr == ""
    assert done.stdout.split() == shown.split()


def test_it_collects_from_the_secure_source_unless_told_otherwise(survey):
    """Whoever copies the script for a real survey must get real randomness."""
    done = survey("--people", "1000", "--split", "sample")

    assert done.code is None
    assert "Reports  1,000, from the secure source" in done.stdout
    assert "Seeing one report can change the odds" in done.stdout


def test_it_reads_a_file_of_ones_own(survey, tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("travel,income,behind with rent\n" + "bus,over 4000,no\n" * 60 + ",,\n" * 40, "utf-8")
    done = survey(str(path), "--seed", "1", "--epsilon", "9", "--level", "0.9")

    assert done.code is None
    assert "Read     100 people, 3 answers each" in done.stdout
    assert re.search(r"bus +60\.0%", done.stdout)
    assert re.search(r"no answer +40\.0%", done.stdout)
    assert "90% interval" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epsilon", "0"], "Error: The 'epsilon' parameter of "),
        (["--protocol", "rr"], "Error: Protocol 'rr' is not known. Hint:"),
        (["--people", "3"], "--people must be from 100 to 10000000"),
        (["missing.csv"], "Error: missing.csv was not read: there is no such file."),
        (["--level", "95"], "Error: The 'level' parameter of "),
    ],
)
def test_a_wrong_argument_gets_one_clear_line(survey, arguments, message):
    done = survey(*arguments)

    assert done.code
    assert message in done.stderr
