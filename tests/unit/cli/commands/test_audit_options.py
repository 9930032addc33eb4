"""What is typed is applied or refused, never passed over: options of other kinds, and beside a plan."""

import pytest

from evenhand.cli.options import RUN_OPTIONS, option_flag
from evenhand.cli.tasks.registry import TASK_COMMANDS, load_task_command
from unit.cli.conftest import ROLES

WHOLE = [*ROLES, "--sensitive", "sex,age", "--workers", 1]
TABLE = ["--columns", "sex,job,hired", "--protected", "sex", "--mechanism", "laplace"]
STUDIES = {
    "collect": WHOLE,
    "release": TABLE,
    "learn": [*ROLES, "--methods", "dp"],
    "decide": ["--count", "age", "--epsilon", "2"],
}
"""What is typed for a study of each kind."""

TYPED = {
    "schema": "s.toml", "rows": "50", "target": "hired", "positive": "no", "protected": "job",
    "privileged": "female", "sensitive": "job", "drop": "job", "band": "age=10", "guess": None,
    "epsilons": "7",
    "protocols": "ss", "splits": "k-based", "strategies": "single", "model": "logistic", "encoder":
    "one-hot", "missing_group": None, "labels": "sex=male:Men",
    "repeats": "3", "columns": "sex", "quasi": "sex",
    "mechanisms": "suppression", "unit":
    None, "threshold": "0", "fill": "zero", "k": "0", "fraction": "0", "delta": "1e-7", "rho": "0.5",
    "bound": "0", "post": "integral", "compare_post": "shrink=2", "methods": "fermi", "gap": "0.5",
    "strength": "3", "group_as_input": None, "rule": "age > 3", "allot": "age", "count": "age",
    "weight": "age", "budget": "0", "name": "job", "groups": "age", "touches": "one input",
    "mitigations": "shrink", "draws": "500", "currency": "EUR", "smallest": "0",
    "person": "job", "rows_per_person": "2", "pool_below": "5", "unwanted": None, "called": "let in",
}  # fmt: skip
"""A value of every option that a plan says otherwise, zeros among them; None is a flag or a unit."""

OTHER_UNITS = {"release": "add or remove one", "learn": "replace one", "decide": "add or remove one"}
OPTIONS = [
    (kind, name, option_flag(name, annotation))
    for kind in TASK_COMMANDS
    for name, annotation in load_task_command(kind).options.items()
    if name not in RUN_OPTIONS
]


def _value(kind, name):
    if name == "unit":
        return [OTHER_UNITS[kind]]
    return [] if TYPED[name] is None else [TYPED[name]]


@pytest.mark.parametrize(
    ("kind", "name", "flag"), OPTIONS, ids=[f"{kind} {flag}" for kind, _, flag in OPTIONS]
)
def test_an_option_beside_a_plan_is_applied_or_refused(call, file, fake, kind, name, flag):
    """A privacy parameter that is dropped without a word is another promise than the person reads."""
    assert call("audit", kind, file, *STUDIES[kind], "--out", "s").exit_code == 0
    done = call("audit", "--plan", "s/plan.toml", "--out", "t", flag, *_value(kind, name))

    if done.exit_code == 0:
        before, after = fake[0]["plan"], fake[1]["plan"]
        assert after != before
    else:
        assert done.exit_code == 2
        assert flag in done.stderr
        assert len(fake) == 1


@pytest.mark.parametrize(
    "words", [["--unit", "nonsense"], ["--gap", "0"], ["--k", "0"], ["--threshold", "0"], ["--bound", "0"]]
)
def test_an_option_of_another_kind_is_refused_however_falsy(call, file, fake, words):
    done = call("audit", file, *WHOLE, *words)

    assert done.exit_code == 2
    assert f"No such option: {words[0]}" in done.stderr
    assert not fake


@pytest.mark.parametrize("kind", [kind for kind in STUDIES if kind != "collect"])
def test_an_unknown_unit_is_refused(call, file, fake, kind):
    done = call("audit", kind, file, *STUDIES[kind], "--unit", "nonsense")

    assert done.exit_code == 2
    assert "--unit must be one of" in done.stderr
    assert not fake


def test_the_unit_of_a_plan_is_overridden_when_it_is_typed(call, file, fake):
    call("audit", "release", file, *TABLE, "--out", "s")
    done = call("audit", "--plan", "s/plan.toml", "--out", "t", "--unit", "add or remove one")

    assert done.exit_code == 0
    assert fake[1]["plan"].task.unit == "add or remove one"


def test_no_rows_are_not_all_rows_of_a_plan(call, file, fake):
    call("audit", file, *WHOLE, "--out", "s")
    done = call("audit", "--plan", "s/plan.toml", "--out", "t", "--rows", "0")

    assert done.exit_code == 2
    assert "--rows must be" in done.stderr


# --- which kind is meant --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", STUDIES)
@pytest.mark.parametrize(
    "words", [["--plan", "s/plan.toml"], ["--plan=s/plan.toml"], ["--resume", "--out", "s"]]
)
def test_a_plan_says_its_kind_itself(call, file, fake, kind, words):
    call("audit", kind, file, *STUDIES[kind], "--out", "s")
    out = [] if "--resume" in words else ["--out", "t"]
    unnamed, named = call("audit", *words, *out), call("audit", kind, *words, *out)

    assert (unnamed.exit_code, named.exit_code) == (0, 0), unnamed.output
    assert [run["plan"].task.kind for run in fake] == [kind] * 3


def test_a_plan_of_another_kind_is_refused_with_the_right_one(call, file, fake):
    call("audit", "release", file, *TABLE, "--out", "s")
    done = call("audit", "learn", "--plan", "s/plan.toml", "--out", "t")

    assert done.exit_code == 2
    assert "Hint: evenhand audit release --plan s/plan.toml" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    "text", ["", "task = 3", "[task]\nkind = 3", "[task]\nkind = ['a']", "kind =", "\x00"]
)
def test_a_plan_that_says_no_kind_is_explained_where_plans_are_read(call, tmp_path, text):
    (tmp_path / "p.toml").write_text(text)
    done = call("audit", "--plan", "p.toml")

    assert done.exit_code == 2
    assert "Traceback" not in done.stderr
    assert "plan" in done.stderr


def test_a_file_that_is_called_like_a_kind_is_named_with_its_folder(call, file, tmp_path):
    file.rename(tmp_path / "release")

    assert "--columns (what is crossed" not in call("audit", "./release").stderr
    assert "release was not read" in call("audit", "./release").stderr
    assert "DATA is missing" in call("audit", "release").stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["decide", "towns.csv", "--rule", "a > 1"], "Hint: evenhand audit decide DATA --rule FORMULA"),
        (["allocate", "towns.csv"], "Hint: evenhand audit decide DATA --allot FORMULA --budget MONEY"),
        (["audit", "people.csv", "--task", "release"], "evenhand audit release DATA"),
        (["audit", "--task=learn", "people.csv"], "evenhand audit release DATA"),
        (["audit", "learn", "people.csv", "--ways", "dp"], "Hint: it is called --methods now."),
        (["audit", "decide", "towns.csv", "--formula", "a"], "Hint: it is called --allot now."),
    ],
)
def test_a_former_command_line_is_met_with_its_new_form(call, words, hint):
    done = call(*words)

    assert done.exit_code == 2
    assert hint in " ".join(done.stderr.split())


# --- the language -----------------------------------------------------------------------------------


@pytest.fixture
def asked(fake, monkeypatch):
    """Return the languages that reports were asked for in."""
    languages = []

    def report(self, path, language, **_):
        languages.append(language)
        path.write_text("page")

    monkeypatch.setattr("evenhand.study.results.results.Results.report", report)
    return languages


def test_the_report_and_what_is_shown_are_in_the_language_that_was_typed(call, file, asked):
    done = call("audit", file, *WHOLE, "--language", "de")

    assert done.exit_code == 0
    assert asked == ["de"]
    assert "Wer zahlt?" in " ".join(done.stdout.split())
    assert "who pays" not in done.stdout


def test_the_demo_has_it_too(call, asked):
    assert "Wer zahlt?" in " ".join(call("demo", "--language", "de", "--no-open").stdout.split())
    assert asked == ["de"]


def test_a_language_that_nobody_speaks_here_is_refused_with_those_that_are(call, file, fake):
    for words in (["audit", file, *WHOLE], ["demo"]):
        done = call(*words, "--language", "fr")

        assert done.exit_code == 2
        assert "one of 'en', 'de'. Got 'fr'" in " ".join(done.stderr.split())
    assert fake == []
