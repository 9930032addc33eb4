"""A kind of study is known to its own folders alone: everything else asks the registry."""

import ast
import tomllib

import pytest

from evenhand.study.tasks.registry import KINDS

ROOMS = (*(f"study/tasks/{kind}" for kind in KINDS), "cli/tasks")


def _names_a_kind(node):
    if isinstance(node, ast.Constant):
        return node.value in KINDS
    return isinstance(node, ast.Tuple | ast.List | ast.Set) and any(map(_names_a_kind, node.elts))


def _is_kind(node):
    named = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return named == "kind"


def _branches(tree):
    """Yield the lines that ask which kind a study is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(_is_kind, sides)) and any(map(_names_a_kind, sides)):
                yield node.lineno
        if isinstance(node, ast.Match) and _is_kind(node.subject):
            yield node.lineno
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            kinds = {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
            if any(name.endswith("Task") and name != "Task" for name in kinds):
                yield node.lineno


def test_nothing_outside_its_folders_asks_for_a_kind(sources, root):
    """A fifth kind must need one line in the registry, not a branch in twenty files."""
    package = root / "src" / "evenhand"
    outside = [path for path in sources if not path.relative_to(package).as_posix().startswith(ROOMS)]
    found = [
        f"{path.relative_to(package)}:{line}"
        for path in outside
        for line in _branches(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert found == []


def test_every_kind_is_kept_apart_from_the_others(root):
    """A kind that the contract does not list could import another without anybody noticing."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (apart,) = [contract["modules"] for contract in contracts if contract["type"] == "independence"]

    assert sorted(apart) == sorted(f"evenhand.study.tasks.{kind}" for kind in KINDS)


@pytest.mark.parametrize(
    "code",
    [
        "if plan.task.kind == 'learn': pass",
        "rows = kind in {'release', 'decide'}",
        "isinstance(task, LearnTask)",
        "isinstance(plan.task, ReleaseTask | DecideTask)",
    ],
)
def test_a_branch_is_seen(code):
    assert list(_branches(ast.parse(code))) == [1]


@pytest.mark.parametrize("code", ["domain.kind == 'binned'", "isinstance(task, Task)", "kind = 'learn'"])
def test_other_questions_are_left_alone(code):
    assert list(_branches(ast.parse(code))) == []
