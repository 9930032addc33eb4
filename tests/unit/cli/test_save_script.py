"""--save-script: code that runs as it is and gives the same numbers, for every kind of study."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.study.plan.plan import Plan
from evenhand.study.plan.script import as_notebook, as_script, script_cells
from unit.cli.conftest import ROLES

FAST = ["--workers", 1, "--anyway"]
STUDIES = {
    "collect": [*ROLES, "--sensitive", "sex", "--epsilon", 1, "--protocol", "grr", "--repeats", 2],
    "release": [
        "--columns",
        "sex,job",
        "--protected",
        "sex",
        "--mechanism",
        "laplace",
        "--epsilon",
        1,
        "--repeats",
        2,
    ],
    "learn": [*ROLES, "--epsilon", 1, "--methods", "dp", "--repeats", 1],
    "decide": ["--count", "age", "--epsilon", "2"],
}
"""What is typed for a study of each kind."""


@pytest.mark.figures
@pytest.mark.parametrize("kind", STUDIES)
def test_the_script_of_a_study_gives_its_numbers(call, file, kind):
    done = call("audit", kind, file, *STUDIES[kind], *FAST, "--save-script", "again.py")
    assert done.exit_code == 0, done.stderr
    assert "again.py" in done.stdout

    subprocess.run([sys.executable, "again.py"], check=True, capture_output=True)
    assert Path("again-cells.csv").read_bytes() == Path("study/cells.csv").read_bytes()
    assert Path("again-report.html").stat().st_size > 1_000


@pytest.mark.figures
@pytest.mark.parametrize("kind", STUDIES)
def test_the_cells_of_a_notebook_run_in_order_and_give_the_numbers(call, file, kind):
    call("audit", kind, file, *STUDIES[kind], *FAST, "--save-script", "again.ipynb")
    notebook = json.loads(Path("again.ipynb").read_text("utf-8"))
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)

    assert Path("again-cells.csv").read_bytes() == Path("study/cells.csv").read_bytes()


HARD = ["'''", "\\", '"""', "{x}", "\r\n", "\u2028", "é", "\\'''", "%"]


@pytest.mark.parametrize("name", HARD)
def test_whatever_a_plan_is_called_the_script_has_that_plan(name, monkeypatch):
    plan = Plan(name=name)
    cells = script_cells(plan.to_toml(), title=name, name="x")
    monkeypatch.setattr("evenhand.run", lambda plan: pytest.fail("not here"), raising=False)
    code = next(text for kind, text in cells if kind == "code" and text.startswith("plan ="))
    names = {}
    exec(f"import evenhand as eh\n{code}", names)

    assert names["plan"] == plan
    compile(as_script(cells), "x.py", "exec")


def test_a_title_cannot_leave_its_comment():
    text = as_script(script_cells("", title="a\nimport os; os.abort()", name="x"))

    assert [line for line in text.splitlines() if "abort" in line] == ["# # a import os; os.abort()"]


def test_a_notebook_is_one_of_the_format():
    nbformat = pytest.importorskip("nbformat")
    text = as_notebook(script_cells(Plan().to_toml(), title="x", name="x"))

    nbformat.validate(nbformat.reads(text, as_version=4))


@pytest.mark.parametrize(
    ("path", "message"),
    [("a.txt", "must end with .py or .ipynb"), ("there.py", "There is a file there.py already"),
     ("no/a.py", "The folder no is not there")],
)  # fmt: skip
def test_a_script_that_cannot_be_written_is_refused_before_anything_runs(call, file, path, message):
    Path("there.py").write_text("mine", "utf-8")
    done = call("audit", "collect", file, *STUDIES["collect"], "--save-script", path)

    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert Path("there.py").read_text("utf-8") == "mine"
    assert not Path("study").exists()
