"""The script and the notebook that a person takes along run as they are and give the numbers of the study."""

import json
import shutil
import subprocess
import sys

import pytest

from evenhand.app.flow.question import write_plan
from unit.app.flow.conftest import FORMS, PUBLIC

pytestmark = pytest.mark.figures  # real studies, which take a while

GAUSSIAN = {"mechanisms": ["laplace", "discrete-gaussian"], "delta": "1e-7", "epsilons": "0.5,1"}


def code_of(file):
    """Return the code of a script, or that of the cells of a notebook."""
    if file.suffix == ".py":
        return file.read_text()
    cells = json.loads(file.read_text())["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


@pytest.mark.parametrize("kind", ["collect", "decide"])
def test_script_and_notebook_give_the_numbers_of_the_study(study, kind, tmp_path):
    """If this is false, somebody who repeats a study elsewhere publishes other numbers than its report."""
    answers = {**FORMS[kind], **(GAUSSIAN if kind == "decide" else {})}
    made = study(kind, form={kind: answers}, **({} if kind == "decide" else {"columns": PUBLIC}))
    write_plan(made.folder, made.record)
    words = [sys.executable, "-P", "-m", "evenhand.app.state.worker", str(made.folder)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as worker:
        assert worker.wait() == 0  # it ends its process once nobody holds its input
    out = made.folder / "study"
    for name in ("study.py", "study.ipynb"):
        place = tmp_path / name.partition(".")[2]
        place.mkdir()
        shutil.copy(made.folder / "data" / made.record.data.file, place / made.record.data.label)
        (place / "again.py").write_text(code_of(out / name))
        done = subprocess.run(
            [sys.executable, "again.py"], cwd=place, capture_output=True, text=True, check=False
        )

        assert done.returncode == 0, done.stderr
        assert (place / "study-cells.csv").read_bytes() == (out / "cells.csv").read_bytes()
