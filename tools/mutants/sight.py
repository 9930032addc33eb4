"""Which tests can see which line: measured once by coverage, test by test, and kept.

Coverage does not see compiled kernels, code that ran while a module was imported, a fixture that another
test of the file set up first, or another process. So a line is seen by the tests that ran it, by all tests
of a file whose fixtures ran it, and, for a compiled file, by the tests that ran a line which names it. The
second stage asks every test of every file that ran, or names, any part of the broken file.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
from collections import defaultdict
from typing import TYPE_CHECKING

from coverage.numbits import numbits_to_nums
from trees import copy_tree

if TYPE_CHECKING:
    from draw import Scope
    from sites import Mutant

__all__ = ["Sight", "file_of", "measure"]

HERE = pathlib.Path(__file__).resolve().parent
COPIES_FIRST = 3
"""Cases of a parametrized test that are asked before others, if its file is not that of the module."""


def file_of(test: str) -> str:
    """Return the file of a test."""
    return test.split("::", 1)[0]


def measure(
    root: pathlib.Path, scope: Scope, folder: pathlib.Path, tree: pathlib.Path, *, workers: int
) -> None:
    """Measure the tests that are new or changed since the last time; all of them the first time."""
    files = _test_files(root, scope)
    known: dict[str, str] = {}
    for record in _records(folder):
        known |= json.loads((record / "files.json").read_text(encoding="utf-8"))
    changed = [name for name, digest in files.items() if known.get(name) != digest]
    if not changed:
        return
    print(f"Measuring which lines {len(changed)} files of tests run ...", flush=True)
    copy_tree(root, tree)
    record = folder / f"{len(_records(folder)):03d}"
    partial = folder / "partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "measured_plugin", "-m", scope.marks]
    command += ["-n", str(workers)]  # without worker processes pytest-cov 7.1 does not tell tests apart
    command += [f"--cov={scope.source}/{package}" for package in scope.packages]
    command += ["--cov-context=test", "--cov-report=", *(changed if known else [])]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(tree / "src"), str(HERE)]),
        "COVERAGE_FILE": str(partial / "coverage.db"),
        "MUTANTS_SECONDS": str(partial / "seconds.json"),
    }
    with (partial / "log.txt").open("w", encoding="utf-8") as log:
        subprocess.run(command, cwd=tree, env=environment, stdout=log, stderr=log, check=False)  # noqa: S603
    if not (partial / "seconds.json").exists():
        sys.exit(f"The tests could not be measured; see {partial / 'log.txt'}.")
    (partial / "files.json").write_text(json.dumps({name: files[name] for name in changed}), encoding="utf-8")
    shutil.copytree(tree / scope.source, partial / "source", ignore=shutil.ignore_patterns("__pycache__"))
    partial.replace(record)


def _records(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path for path in folder.glob("[0-9]*") if path.is_dir())


def _test_files(root: pathlib.Path, scope: Scope) -> dict[str, str]:
    patterns = ("tests/**/test_*.py", "docs/**/*.md", "README.md", f"{scope.source}/**/*.py")
    paths = sorted({path for pattern in patterns for path in root.glob(pattern)})
    names = {path.relative_to(root).as_posix(): path for path in paths}
    texts = {name: path.read_text(encoding="utf-8") for name, path in names.items() if "_build" not in name}
    return {
        name: hashlib.sha256(text.encode()).hexdigest()
        for name, text in texts.items()
        if name.startswith("tests/") or ">>>" in text
    }


class Sight:
    """What was measured, asked for the tests that can see a mutant."""

    def __init__(self, root: pathlib.Path, scope: Scope, folder: pathlib.Path) -> None:
        self.root, self.scope = root, scope
        self.records = _records(folder)
        self.seconds: dict[str, float] = {}
        self.home: dict[str, pathlib.Path] = {}  # the last measurement of each file of tests
        for record in self.records:
            for name in json.loads((record / "files.json").read_text(encoding="utf-8")):
                self.home[name] = record
        for record in self.records:
            measured = json.loads((record / "seconds.json").read_text(encoding="utf-8"))
            self.seconds |= {test: took for test, took in measured.items() if self._is_asked(test, record)}
        self.by_file: dict[str, list[str]] = defaultdict(list)
        for test in self.seconds:
            self.by_file[file_of(test)].append(test)
        self.texts = {
            name: (root / name).read_text(encoding="utf-8") for name in self.by_file if (root / name).exists()
        }
        self._seen: dict[tuple[pathlib.Path, str], dict[str, set[int]]] = {}

    def _is_asked(self, test: str, record: pathlib.Path) -> bool:
        name = file_of(test)
        left_out = any(name.startswith(start) for start in self.scope.tests_left_out)
        return not left_out and self.home.get(name) == record

    def choose(self, mutant: Mutant, *, stage: int, limit: float) -> list[str]:
        """Return the tests that can see a mutant, the most direct first, as many as `limit` seconds allow."""
        chosen: set[str] = set()
        for record in self.records:
            lines = _lines_of(mutant, self.root, record, self.scope)
            chosen |= self._tests_of(record, mutant.path, lines if stage == 1 else None)
            if lines is None:  # a constant of the module may be read by tests that call nothing in it
                near = [name for name in self.by_file if self._distance(name, mutant.path) == 0]
                chosen |= {test for name in near for test in self.by_file[name]}
        if self.is_compiled(mutant.path) or not chosen:
            chosen |= self._tests_of_callers(mutant.path)
        if stage > 1 or not chosen:
            names = {file_of(test) for test in chosen} | self._files_that_name(mutant.path)
            chosen |= {test for name in names for test in self.by_file[name]}
        return self._order(chosen, mutant, limit)

    def is_compiled(self, path: str) -> bool:
        """Whether a file holds kernels."""
        return "numba.njit" in (self.root / path).read_text(encoding="utf-8")

    def _tests_of(self, record: pathlib.Path, path: str, lines: set[int] | None) -> set[str]:
        """Return the tests of one measurement that ran any of the lines; None means any of a function."""
        found: set[str] = set()
        for context, seen in self._contexts(record, path).items():
            test, _, when = context.rpartition("|")
            if not self._is_asked(test, record) or (lines is not None and not seen & lines):
                continue
            found |= set(self.by_file[file_of(test)]) if when == "setup" else {test}
        return found & self.seconds.keys()

    def _contexts(self, record: pathlib.Path, path: str) -> dict[str, set[int]]:
        if (record, path) not in self._seen:
            inside = _function_lines(record / "source" / path.removeprefix(f"{self.scope.source}/"))
            with sqlite3.connect(record / "coverage.db") as database:
                rows = database.execute(
                    "SELECT context.context, line_bits.numbits FROM line_bits"
                    " JOIN file ON file.id = line_bits.file_id"
                    " JOIN context ON context.id = line_bits.context_id"
                    " WHERE file.path LIKE ? AND context.context <> ''",
                    (f"%/{path}",),
                )
                seen = {context: set(numbits_to_nums(bits)) & inside for context, bits in rows}
            self._seen[record, path] = {context: lines for context, lines in seen.items() if lines}
        return self._seen[record, path]

    def _tests_of_callers(self, path: str) -> set[str]:
        """Return the tests that ran a line which names the file: all that coverage sees of compiled code."""
        stem = pathlib.PurePath(path).stem
        found: set[str] = set()
        for record in self.records:
            for caller in (record / "source").rglob("*.py"):
                text = caller.read_text(encoding="utf-8")
                if not re.search(rf"import.*\b{stem}\b|\.{stem} import", text):
                    continue
                lines = {number for number, line in enumerate(text.splitlines(), 1) if stem in line}
                name = f"{self.scope.source}/{caller.relative_to(record / 'source').as_posix()}"
                found |= self._tests_of(record, name, lines)
        return found

    def _files_that_name(self, path: str) -> set[str]:
        module = path.removeprefix("src/").removesuffix(".py").replace("/", ".")
        package, _, stem = module.rpartition(".")
        named = re.compile(
            rf"{re.escape(module)}\b|from {re.escape(package)} import [^\n]*\b{stem}\b|test_{stem}\b"
        )
        return {name for name, text in self.texts.items() if named.search(text) or named.search(name)}

    # --- the order ---

    def _order(self, tests: set[str], mutant: Mutant, limit: float) -> list[str]:
        files: dict[str, list[str]] = defaultdict(list)
        for test in tests:
            files[file_of(test)].append(test)
        took = {name: sum(self.seconds[test] for test in members) for name, members in files.items()}
        order = sorted(files, key=lambda name: (self._distance(name, mutant.path), took[name], name))
        first, rest = [], []
        for name in order:
            if not name.endswith(".py"):  # a page: its examples use what the ones before them made
                (first if took[name] < limit / 10 else rest).append(self.by_file[name])
                continue
            nearest = self._distance(name, mutant.path) == 0
            copies = len(files[name]) if nearest else COPIES_FIRST
            early, late = self._split_copies(files[name], copies, limit / (2 if nearest else 5))
            first += [[test] for test in early]
            rest += [[test] for test in late]
        return self._cut([*first, *rest], limit)

    def _distance(self, name: str, path: str) -> int:
        stem, package = pathlib.PurePath(path).stem.strip("_"), pathlib.PurePath(path).parent.name
        if name == path or f"test_{stem}.py" in name or f"test_{package}_{stem}.py" in name:
            return 0
        if name.startswith(f"tests/unit/{package}/"):
            return 1 if stem.split("_")[0] in name else 2
        return 3 if not name.startswith("tests/unit/") else 4

    def _split_copies(self, tests: list[str], copies: int, most: float) -> tuple[list[str], list[str]]:
        """Part the tests of a file: a few cases of every test for a start, and all the others."""
        early: list[str] = []
        late: list[str] = []
        counts: dict[str, int] = defaultdict(int)
        spent = 0.0
        for test in sorted(tests, key=lambda test: (self.seconds[test], test)):
            counts[test.split("[", 1)[0]] += 1
            is_one_of_few = counts[test.split("[", 1)[0]] <= copies
            is_early = is_one_of_few and (spent + self.seconds[test] <= most or not early)
            (early if is_early else late).append(test)
            spent += self.seconds[test] if is_early else 0.0
        return early, late

    def _cut(self, groups: list[list[str]], limit: float) -> list[str]:
        taken: list[str] = []
        left = limit
        for group in groups:
            takes = sum(self.seconds[test] for test in group)
            if taken and takes > left:
                continue
            taken += group
            left -= takes
        return taken

    def with_its_page(self, test: str) -> list[str]:
        """Return a test, or the examples of its page if it is one of them."""
        name = file_of(test)
        return [test] if name.endswith(".py") else self.by_file[name]


def _function_lines(path: pathlib.Path) -> set[int]:
    """Return the lines inside functions: the others ran in whichever test imported the module first."""
    if not path.exists():
        return set()
    lines: set[int] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.FunctionDef):
            lines |= set(range(node.body[0].lineno, node.body[-1].end_lineno + 1))
    return lines


def _lines_of(mutant: Mutant, root: pathlib.Path, record: pathlib.Path, scope: Scope) -> set[int] | None:
    """Return the lines of the mutant's statement as they were numbered when the tests were measured."""
    then = record / "source" / mutant.path.removeprefix(f"{scope.source}/")
    now = (root / mutant.path).read_text(encoding="utf-8")
    span = _statement_span(ast.parse(now), mutant.line)
    if not then.exists() or not span & _function_lines(root / mutant.path):
        return None
    before = then.read_text(encoding="utf-8")
    if before == now:
        return span
    matcher = difflib.SequenceMatcher(None, before.splitlines(), now.splitlines(), autojunk=False)
    numbers = {
        new + step + 1: old + step + 1
        for old, new, size in matcher.get_matching_blocks()
        for step in range(size)
    }
    return {numbers[line] for line in span if line in numbers} or None


def _statement_span(tree: ast.Module, line: int) -> set[int]:
    """Return the lines of the statement at a line, of its head alone if it holds others."""
    span = {line}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno:
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno
            if node.lineno <= line <= last:
                span = set(range(node.lineno, last + 1))
    return span
