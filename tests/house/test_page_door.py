"""One name of a lower layer leads to a higher one: evenhand.measure.page, and it leads there by name."""

import ast

LAYERS = (
    ("schema",), ("table",), ("measure", "privacy"), ("collect", "release"), ("learn", "decide"),
    ("engine", "datasets"), ("report",), ("study",), ("papers",), ("cli",),
)  # fmt: skip
HEIGHT = {package: height for height, layer in enumerate(LAYERS) for package in layer}
DOOR = {("measure/__init__.py", "evenhand.study.predictions.page")}


def _leads_up(path, text):
    """Return the modules of higher layers that the strings of a file name, docstrings apart."""
    height = HEIGHT.get(path.split("/", maxsplit=1)[0])
    if height is None:
        return set()
    tree = ast.parse(text)
    strings = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    names = {
        text for text in strings if text.startswith("evenhand.") and text.replace(".", "").isidentifier()
    }
    return {name for name in names if HEIGHT.get(name.split(".")[1], -1) > height}


def test_only_the_page_of_predictions_is_found_upwards_by_name(root, sources):
    """The linter of layers sees imports and no names; a second door would make the layers a pretence."""
    package = root / "src" / "evenhand"
    texts = {path.relative_to(package).as_posix(): path.read_text("utf-8") for path in sources}

    assert {(path, name) for path, text in texts.items() for name in _leads_up(path, text)} == DOOR


def test_a_second_door_would_be_seen():
    assert _leads_up("measure/gaps.py", 'lazy("evenhand.report.html")') == {"evenhand.report.html"}
    assert _leads_up("report/html.py", 'lazy("evenhand.measure.gaps")') == set()
