"""The planter of mutants finds, draws, plants and judges them, and leaves the project as it was."""

import ast
import hashlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tomllib

import pytest

pytestmark = pytest.mark.figures  # workers of its own, which take seconds to start

TOOL = pathlib.Path(__file__).resolve().parents[3] / "tools" / "mutants"

MODULE = '''"""Limits of a toy."""

MESSAGE = "not a mutant"


def is_allowed(spent, budget):
    """Whether 1 + 1 fits; this number is text."""
    return spent <= budget


def clamp_count(count, least=0):
    if count is None:
        raise ValueError(f"no {count + 1}")
    return max(count, least)
'''
TESTS = """
import pytest
from toy.maths.limits import clamp_count, is_allowed

def test_all_of_a_budget_may_be_spent():
    assert is_allowed(1, 1) and not is_allowed(2, 1)

def test_a_clamped_count_is_a_number():
    assert isinstance(clamp_count(3), int)
"""
SCOPE = """
source = "src/toy"
floor = 0.0
marks = ""
options = []
preload = ["pytest"]
[packages]
maths = ["*.py"]
[left_out]
"maths/__init__.py" = "empty"
[tests_left_out]
"tests/house/" = "none"
"""


@pytest.fixture(scope="module")
def tool():
    """Import the parts of the tool, which are no package of the project."""
    sys.path.insert(0, str(TOOL))
    import draw
    import sites
    import trees

    sys.path.remove(str(TOOL))
    return {"draw": draw, "sites": sites, "trees": trees}


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """Return a project of one module with a good test and a weak one."""
    root = tmp_path_factory.mktemp("toy")
    files = {
        "pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib"]\n',
        "scope.toml": SCOPE,
        "src/toy/maths/limits.py": MODULE,
        "src/toy/maths/__init__.py": "",
        "src/toy/__init__.py": "",
        "tests/test_limits.py": TESTS,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def _digests(root):
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }


def _run_tool(root, folder, *words):
    command = [sys.executable, str(TOOL), "--root", str(root), "--scope", str(root / "scope.toml")]
    command += ["--folder", str(folder / "kept"), "--copies", str(folder / "copies"), "--workers", "1"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def run(toy, tmp_path_factory):
    """Return what a run over all mutants of the toy left behind."""
    folder = tmp_path_factory.mktemp("run")
    before = _digests(toy)
    shown = _run_tool(toy, folder, "--seed", "1", "--count", "12")
    sample = [json.loads(line) for line in (folder / "kept" / "sample-1-12.jsonl").read_text().splitlines()]
    lines = [json.loads(line) for line in (folder / "kept" / "results-1-12.jsonl").read_text().splitlines()]
    results = {line["name"]: line for line in lines}
    return {
        "before": before,
        "folder": folder,
        "shown": shown,
        "sample": sample,
        "by change": {mutant["after"]: results[mutant["name"]] for mutant in sample[1:]},
    }


def test_a_known_mutant_is_noticed_by_the_test_of_its_line(run):
    result = run["by change"]["(spent) < (budget)"]

    assert result["outcome"] == "killed"
    assert result["by"] == "tests/test_limits.py::test_all_of_a_budget_may_be_spent"
    assert result["tests"] == 1


def test_a_mutant_behind_a_weak_test_survives_and_is_listed(run):
    """A tool that calls every mutant noticed would flatter the suite."""
    result = run["by change"]["min"]

    assert result["outcome"] == "survived"
    assert result["stage"] == 2
    assert "max -> min" in run["shown"]


def test_too_few_that_are_caught_make_the_command_fail(run, toy, tmp_path):
    high = tmp_path / "high.toml"
    high.write_text(SCOPE.replace("floor = 0.0", "floor = 90.0"), encoding="utf-8")
    with pytest.raises(AssertionError, match="fewer than 90 %"):
        _run_tool(toy, run["folder"], "--seed", "1", "--count", "12", "--scope", str(high))


def test_every_equivalent_mutant_has_a_reason():
    judged = tomllib.loads((TOOL / "judged.toml").read_text(encoding="utf-8"))["equivalent"]

    assert {name for name, reason in judged.items() if len(name) != 12 or not reason.endswith(".")} == set()


def test_the_project_is_left_untouched(run, toy):
    assert _digests(toy) == run["before"]


def test_a_second_run_has_nothing_left_to_do(run, toy):
    shown = _run_tool(toy, run["folder"], "--seed", "1", "--count", "12")

    assert "Stage" not in shown


def test_a_sample_follows_from_its_seed(tool, toy, tmp_path):
    draw = tool["draw"]
    scope = draw.Scope.read(toy / "scope.toml")
    for name, seed in [("first", 5), ("again", 5), ("other", 6)]:
        draw.draw_sample(toy, scope, seed=seed, count=5, target=tmp_path / name)

    assert (tmp_path / "first").read_text() == (tmp_path / "again").read_text()
    assert (tmp_path / "first").read_text() != (tmp_path / "other").read_text()


def test_shares_of_packages_are_in_proportion_and_whole(tool):
    shares = tool["draw"].share_out(10, {"a": 1, "b": 1, "c": 4})

    assert shares == {"a": 2, "b": 2, "c": 6}
    assert sum(tool["draw"].share_out(320, {"a": 4772, "b": 11697, "c": 878}).values()) == 320


def test_words_are_left_alone(tool):
    changes = tool["sites"].find_mutants(MODULE.encode(), "limits.py")

    assert [change for change in changes if "count + 1" in change.before and change.kind == "constant"] == []
    assert {change.kind for change in changes} >= {"comparison", "statement deleted", "opposite", "constant"}


def test_a_mutant_is_found_again_when_lines_above_it_change(tool, toy, tmp_path):
    sites, draw = tool["sites"], tool["draw"]
    before = sites.find_mutants(MODULE.encode(), "src/toy/maths/limits.py")
    target = tmp_path / "src/toy/maths/limits.py"
    target.parent.mkdir(parents=True)
    target.write_text("# a new line\n" + MODULE.replace("least)", "least + 0)"), encoding="utf-8")
    found = draw.find_again(tmp_path, before)

    compared = next(mutant for mutant in before if mutant.kind == "comparison" and "spent" in mutant.before)
    returned = next(mutant for mutant in before if mutant.kind == "return dropped" and "max" in mutant.before)
    assert found[compared.name].line == compared.line + 1
    assert found[returned.name] is None


def test_every_mutant_parses_and_keeps_the_lines(tool, root):
    """A mutant that moved the lines below it would be asked about by the wrong tests."""
    sites = tool["sites"]
    paths = ["privacy/rational.py", "collect/kernels/bits.py", "study/store/store.py"]
    for path in (root / "src" / "evenhand" / name for name in paths):
        source = path.read_bytes()
        mutants = sites.find_mutants(source, path.name)
        for mutant in random.Random(1).sample(mutants, 60):
            changed = sites.plant(source, mutant)

            assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source)), mutant
            assert changed.count(b"\n") == source.count(b"\n"), mutant


def test_compiled_files_of_importers_are_set_aside_while_a_mutant_is_planted(tool, tmp_path):
    """numba would go on using what it compiled from the file as it was."""
    tree = tmp_path / "tree"
    compiled = tree / "src" / "toy" / "__pycache__"
    compiled.mkdir(parents=True)
    texts = {
        "constants.py": "LIMIT = 7\n",
        "kernel.py": "from toy import constants\nimport numba\nnumba.njit(print)\n",
        "other.py": "import numba\nnumba.njit(print)\n",
    }
    for name, text in texts.items():
        (tree / "src" / "toy" / name).write_text(text, encoding="utf-8")
    for name in ("kernel", "other"):
        (compiled / f"{name}.f-1.py311.nbi").write_bytes(b"old")
    mutant = tool["sites"].find_mutants(b"LIMIT = 7\n", "src/toy/constants.py")[0]
    times = (tree / mutant.path).stat().st_mtime_ns
    with tool["trees"].planted(tree, mutant, 1):
        assert (tree / mutant.path).read_text() == "LIMIT = (0)\n"
        assert (tree / mutant.path).stat().st_mtime_ns != times
        assert [path.name for path in compiled.glob("*.nbi")] == ["other.f-1.py311.nbi"]
        (compiled / "kernel.f-1.py311.nbi").write_bytes(b"new")

    assert (tree / mutant.path).read_text() == "LIMIT = 7\n"
    assert (tree / mutant.path).stat().st_mtime_ns == times
    assert (compiled / "kernel.f-1.py311.nbi").read_bytes() == b"old"
