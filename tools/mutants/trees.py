"""Private copies of the project, in which mutants are planted; the project itself is never written to.

numba keeps compiled kernels beside their source and looks only at the time and size of that one file. If a
kernel was compiled into a kernel of another file, the other file does not notice that the first one
changed. So the compiled files of every module that imports the broken one are set aside while a mutant is
planted, and put back afterwards.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sites import Mutant, plant

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterator

__all__ = ["copy_compiled", "copy_tree", "find_kernels", "planted"]

_FUTURE = 4_000_000_000
"""Files with mutants get times from here on, each another, so that nothing compiled before fits them."""


def copy_tree(root: pathlib.Path, tree: pathlib.Path) -> None:
    """Make `tree` hold the files of the project and no others, with their times."""
    wanted = set(_project_files(root))
    changed = [path for path in wanted if not _same(root / path, tree / path)]
    for path in changed:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / path, tree / path)
    for kernel in find_kernels(tree, set(changed)):
        for found in _compiled_files(tree, kernel):
            found.unlink()
    if tree.exists():
        for path in set(_walk(tree)) - wanted:
            (tree / path).unlink()


def copy_compiled(origin: pathlib.Path, tree: pathlib.Path) -> None:
    """Copy numba's compiled files of those sources that are the same in both trees."""
    for index in origin.rglob("*.nb[ic]"):
        source = index.parent.parent / f"{index.name.split('.')[0]}.py"
        target = tree / index.relative_to(origin)
        if not target.exists() and _same(source, tree / source.relative_to(origin)):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(index, target)


@contextmanager
def planted(tree: pathlib.Path, mutant: Mutant | None, number: int) -> Iterator[None]:
    """Plant a mutant in a copy of the project while the block runs; None plants none."""
    if mutant is None:
        yield
        return
    path = tree / mutant.path
    before, times = path.read_bytes(), path.stat()
    aside = tree.parent / f"{tree.name}-compiled"
    moved = _set_aside(tree, find_kernels(tree, {mutant.path}), aside)
    try:
        path.write_bytes(plant(before, mutant))
        os.utime(path, (_FUTURE + number, _FUTURE + number))
        yield
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        _put_back(tree, moved, aside)


def find_kernels(tree: pathlib.Path, paths: set[str]) -> list[str]:
    """Return the files of compiled functions that are, or import, one of some files."""
    sources = {
        str(found.relative_to(tree)): found.read_text(encoding="utf-8")
        for found in (tree / "src").rglob("*.py")
    }
    kernels = [name for name, text in sources.items() if "numba.njit" in text]
    return [name for name in kernels if paths & _all_imports(name, sources, set())]


def _all_imports(name: str, sources: dict[str, str], seen: set[str]) -> set[str]:
    """Return a file and every file of the project that it imports, itself or through others."""
    if name in seen or name not in sources:
        return seen
    seen.add(name)
    for node in ast.walk(ast.parse(sources[name])):
        if isinstance(node, ast.ImportFrom) and node.module:
            base = "src/" + node.module.replace(".", "/")
            for file in (f"{base}.py", *(f"{base}/{alias.name}.py" for alias in node.names)):
                _all_imports(file, sources, seen)
    return seen


def _set_aside(tree: pathlib.Path, kernels: list[str], aside: pathlib.Path) -> list[str]:
    for kernel in kernels:
        for found in _compiled_files(tree, kernel):
            target = aside / found.relative_to(tree)
            target.parent.mkdir(parents=True, exist_ok=True)
            found.replace(target)
    return kernels


def _put_back(tree: pathlib.Path, kernels: list[str], aside: pathlib.Path) -> None:
    for kernel in kernels:
        for found in _compiled_files(tree, kernel):
            found.unlink()
        for found in _compiled_files(aside, kernel):
            found.replace(tree / found.relative_to(aside))


def _compiled_files(tree: pathlib.Path, kernel: str) -> list[pathlib.Path]:
    path = tree / kernel
    return sorted((path.parent / "__pycache__").glob(f"{path.stem}.*.nb[ic]"))


def _same(left: pathlib.Path, right: pathlib.Path) -> bool:
    one, other = left.stat(), right.stat() if right.exists() else None
    return other is not None and (one.st_mtime_ns, one.st_size) == (other.st_mtime_ns, other.st_size)


def _project_files(root: pathlib.Path) -> list[str]:
    """Return the files that git knows or would take; all of them where there is no git."""
    if not (root / ".git").exists():
        return _walk(root)
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")  # noqa: S603
    return [name for name in names if name and (root / name).is_file()]


def _walk(root: pathlib.Path) -> list[str]:
    names = [path.relative_to(root) for path in root.rglob("*") if path.is_file()]
    hidden = {"__pycache__"}
    return [
        str(name)
        for name in names
        if not any(part in hidden or (part.startswith(".") and part != name.name) for part in name.parts)
    ]
