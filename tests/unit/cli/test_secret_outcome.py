"""A survey's secret outcome on the command line: audited, then collected as the study tested it."""

import shlex

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

ROLES = ["--target", "affair", "--positive", "yes", "--protected", "sex", "--privileged", "man"]
FAST = [
    "--epsilon",
    "1",
    "--protocol",
    "oue",
    "--repeats",
    "1",
    "--workers",
    "1",
    "--model",
    "logistic",
    "-y",
]


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draws = np.random.default_rng(5)
    sex, age = draws.integers(0, 2, 600), draws.integers(20, 60, 600)
    says = draws.random(600) < 0.2 + 0.01 * (age - 20) + 0.1 * sex
    people = {"sex": np.array(["woman", "man"])[sex], "age": age, "affair": np.where(says, "yes", "no")}
    csv.write_csv(pa.table(people), "survey.csv")
    return "survey.csv"


@pytest.mark.figures
def test_what_the_page_advises_randomises_the_outcome_as_it_was_tested(call, file):
    """People would be told that their outcome is hidden, and a command would pass it on as it is."""
    done = call("audit", file, *ROLES, "--sensitive", "affair,sex", *FAST, "--out", "study")
    assert done.exit_code == 0, done.output
    shown = done.stdout[done.stdout.index("evenhand privatize") :].replace("\\\n", " ")
    words = shlex.split(shown.splitlines()[0])
    assert words[words.index("--protocol") + 1] == "sex=oue,affair=grr"

    sent = call(*words[1:])
    assert sent.exit_code == 0, sent.output
    assert "affair: grr, 2 values" in sent.output
    assert "sex: oue, 2 values" in sent.output
    assert "odds between any two values of one person's sex and affair" in " ".join(sent.output.split())

    estimated = call("estimate", "reports.csv", "--column", "affair")
    assert estimated.exit_code == 0, estimated.output
    assert "600 reports by generalized randomized response" in estimated.stdout
    true, told = (csv.read_csv(name)["affair"].to_pylist() for name in (file, "reports.csv"))
    assert set(told) <= {"yes", "no"}
    assert sorted(true) != sorted(told)  # of 600 some 40 % are false


def test_what_does_not_fit_is_said_before_anything_runs(call, file):
    """Somebody would wait for hours and then read of a field of a plan."""
    fast = ["optimal" if word == "oue" else word for word in FAST]
    done = call("audit", file, *ROLES, "--sensitive", "affair,sex", *fast, "--out", "study")
    assert done.exit_code != 0
    assert "leave 'optimal' out, or give it public 'outcomes'" in " ".join(done.output.split())
