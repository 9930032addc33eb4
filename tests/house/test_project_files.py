"""The project's own files keep their promises."""

import pathlib
import re
import subprocess
import sys
import tomllib

import pytest

PAPERS = {"arcolezi2023", "fioretto2021", "ghoukasian2024", "makhlouf2024", "zhu2023"}


@pytest.fixture(scope="module")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_five_papers_are_cited_by_their_keys(root):
    text = (root / "CITATION.cff").read_text(encoding="utf-8")

    assert set(re.findall(r'key: (\w+)"', text)) == PAPERS


def test_locked_versions_hold_no_address(root):
    lines = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()

    assert len(lines) > 50
    assert [line for line in lines if "://" in line or " @ " in line or line.startswith("-")] == []


def test_every_core_dependency_is_locked(root, project):
    locked = {
        re.split(r"[=\s]", line)[0]
        for line in (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    }

    assert {re.split(r"[>=\[]", each)[0] for each in project["dependencies"]} <= locked


def test_the_version_is_said_once(root, project):
    assert "version" in project["dynamic"]


def test_make_help_lists_every_command(root):
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    phony = next(line for line in makefile.splitlines() if line.startswith(".PHONY:")).split()[1:]
    shown = subprocess.run(["make", "help"], cwd=root, capture_output=True, text=True, check=True).stdout

    assert [each for each in phony if f"make {each} " not in shown] == []


def test_every_path_in_the_makefile_exists(root):
    """A moved file must not be found missing by the slowest command."""
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\b(?:tests|tools|docs|benchmarks)/[\w/]+\.(?:py|toml)", makefile))

    assert named
    assert sorted(path for path in named if not (root / path).is_file()) == []


def test_an_old_python_gets_one_clear_line(root):
    """The check itself must be readable by an old Python, so it is run with its version changed."""
    source = (root / "tools" / "check_python.py").read_text(encoding="utf-8")
    code = "import sys\nsys.version_info = (3, 9, 1)\n" + source.split("import sys", 1)[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "evenhand needs Python 3.11 or later and this is Python 3.9. Hint: make PYTHON=python3.12 demo"
    ]


def test_the_first_look_runs(root):
    """The example shows the data, its schema and a group report."""
    script = pathlib.Path(root) / "examples" / "first_look.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)

    assert "schema" in done.stdout.lower()
    assert "gap" in done.stdout.lower()
    assert done.stderr == ""
