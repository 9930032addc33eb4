"""The rules about size, names and forbidden calls hold by machine, not by good will."""

import ast
from collections import Counter

import pytest

LONGEST_FILE = 500
LONGEST_FUNCTION = 50
MOST_FILES = 20

LOADS_CODE = {
    "pickle.load", "pickle.loads", "joblib.load", "dill.load", "dill.loads", "marshal.load", "marshal.loads",
    "shelve.open", "eval", "exec", "compile", "yaml.load", "__import__",
}  # fmt: skip


def _length_of(function):
    """Lines of a function without its docstring, which may be as long as the matter needs."""
    first = function.body[0]
    text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return function.end_lineno - (first.end_lineno if text else function.lineno - 1)


def _dotted(node):
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _code_loading_calls(nodes):
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    named = [_dotted(call.func) for call in calls if _dotted(call.func) in LOADS_CODE]
    unpickling = [
        keyword.arg
        for call in calls
        for keyword in call.keywords
        if keyword.arg == "allow_pickle"
        and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
    ]
    return named + unpickling


@pytest.fixture(scope="module")
def found(sources):
    """Return what every file holds of each kind; all are read once, which takes longest."""
    kinds = {"long functions": [], "asserts": [], "loads code": []}
    for path in sources:
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        kinds["long functions"] += [
            f"{path.name}:{each.name}" for each in functions if _length_of(each) > LONGEST_FUNCTION
        ]
        kinds["asserts"] += [f"{path.name}:{each.lineno}" for each in nodes if isinstance(each, ast.Assert)]
        kinds["loads code"] += [f"{path.name}:{call}" for call in _code_loading_calls(nodes)]
    return kinds


def test_a_file_holds_one_idea(sources):
    """A page nobody wants to read hides its faults."""
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sources}

    assert [str(path) for path, length in lengths.items() if length > LONGEST_FILE] == []


def test_a_file_of_tests_holds_one_idea_too(root):
    lengths = {
        path: len(path.read_text(encoding="utf-8").splitlines()) for path in (root / "tests").rglob("*.py")
    }

    assert [path.name for path, length in lengths.items() if length > LONGEST_FILE] == []


def test_a_folder_holds_at_most_twenty_files(root):
    """A reader finds a file by its folder, not by reading a hundred names."""
    files = [path for room in ("src", "tests") for path in (root / room).rglob("*.py")]
    sizes = Counter(path.parent.relative_to(root).as_posix() for path in files)

    assert {folder: size for folder, size in sizes.items() if size > MOST_FILES} == {}


def test_no_prefix_repeats_the_name_of_a_folder_beside_it(sources):
    """What belongs to a folder stands in it."""
    beside = [
        str(path)
        for path in sources
        for folder in path.parent.iterdir()
        if folder.is_dir() and path.stem.lstrip("_").startswith(f"{folder.name}_")
    ]

    assert beside == []


def test_a_function_fits_on_a_screen(found):
    assert found["long functions"] == []


def test_no_code_is_loaded_from_data(found):
    """A file somebody sends must never run."""
    assert found["loads code"] == []


@pytest.mark.parametrize(
    "planted",
    [
        "import pickle\npickle.load(f)",
        "eval(text)",
        "import numpy as np\nnp.load(f, allow_pickle=True)",
        "joblib.load(f)",
    ],
)
def test_the_check_for_loaded_code_can_see(planted):
    assert _code_loading_calls(ast.walk(ast.parse(planted)))


def test_no_assert_guards_what_people_give(found):
    """Python may run without asserts; a guarantee may not hang on one."""
    assert found["asserts"] == []
