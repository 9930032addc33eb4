"""Modules stand in an order: none imports one that leads back to it, and few imports hide in functions."""

import ast

import pytest

MOST_HIDDEN_IMPORTS = 80


def _module_of(path, root):
    parts = path.relative_to(root / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree, modules):
    """Yield every module of ours that a file imports, wherever the import stands in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                yield whole if whole in modules else node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def _edges(trees):
    return {
        module: {found for found in _imports(tree, trees) if found in trees and found != module}
        for module, tree in trees.items()
    }


def _cycles(edges):
    """Return what is left after modules that import none of the rest are taken away, again and again."""
    left = {module: set(found) for module, found in edges.items()}
    while True:
        ends = {module for module, found in left.items() if not found & left.keys()}
        if not ends:
            break
        left = {module: found for module, found in left.items() if module not in ends}
    while True:
        starts = left.keys() - {name for found in left.values() for name in found}
        if not starts:
            return sorted(left)
        left = {module: found for module, found in left.items() if module not in starts}


@pytest.fixture(scope="module")
def trees(sources):
    """Return the code of every file of the package, parsed."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sources}


def test_no_module_imports_another_that_leads_back_to_it(trees, root):
    """Imports inside functions and those for types alone count too: a reader follows all of them."""
    modules = {_module_of(path, root): tree for path, tree in trees.items() if path.name != "__init__.py"}

    assert _cycles(_edges(modules)) == []


def test_a_cycle_is_seen():
    """The twin: a ring of three, with one module above it and one below."""
    ring = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"a"}}

    assert _cycles(ring) == ["a", "b", "c"]
    assert _cycles({**ring, "c": {"d"}}) == []


def test_few_imports_stand_inside_functions(trees):
    """Each is there because an optional or heavy library is avoided; loading by name stands in registries."""
    hidden = [
        f"{path}:{node.lineno}"
        for path, tree in trees.items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]

    assert len(set(hidden)) < MOST_HIDDEN_IMPORTS
