"""Where a source file can be broken, and how: the places are found in its syntax tree, in order.

A mutant replaces one piece of text and keeps the number of lines, so every other line stays where the
measured coverage saw it. Left alone are docstrings, messages (what a `raise`, a warning or an f-string
holds), type hints, decorators, `__all__`, options of the compiler, and the functions that only show an
object.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Mutant", "find_mutants", "plant"]

VIEWS = {"__repr__", "__str__", "__format__", "_repr_html_", "_repr_mimebundle_"}
NAMES_LEFT_OUT = {"__all__", "__slots__", "_OPTIONS"}
KEYWORDS_LEFT_OUT = {"stacklevel", "strict"}
CALLS_LEFT_OUT = {"TypeVar", "cast", "isinstance", "issubclass", "warn"}

COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
SIGNS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
ARITHMETIC = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "//", ast.Pow: "*",
    ast.LShift: ">>", ast.RShift: "<<", ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "|",
}  # fmt: skip
OPPOSITES = {
    "min": "max", "minimum": "maximum", "argmin": "argmax", "any": "all", "ceil": "floor",
    "ROUND_CEILING": "ROUND_FLOOR", "ROUND_UP": "ROUND_DOWN",
}  # fmt: skip
OPPOSITES |= {right: left for left, right in OPPOSITES.items()}


@dataclass(frozen=True)
class Mutant:
    """One change of one file: the bytes from `start` to `end` become `text`."""

    path: str
    line: int
    scope: str
    kind: str
    before: str
    after: str
    start: int
    end: int
    text: str
    ordinal: int = 0

    @property
    def name(self) -> str:
        """A name that stays the same when other lines of the file change."""
        words = (self.path, self.scope, self.kind, self.before, self.after, str(self.ordinal))
        return hashlib.sha256("\0".join(words).encode()).hexdigest()[:12]


def find_mutants(source: bytes, path: str) -> list[Mutant]:
    """Return every mutant of a file in the order of its text."""
    found = sorted(
        _Finder(source, path).find(), key=lambda mutant: (mutant.start, mutant.end, mutant.kind, mutant.after)
    )
    seen: Counter[tuple[str, str, str, str]] = Counter()
    mutants = []
    for mutant in found:
        same = (mutant.scope, mutant.kind, mutant.before, mutant.after)
        mutants.append(replace(mutant, ordinal=seen[same]))
        seen[same] += 1
    return mutants


def plant(source: bytes, mutant: Mutant) -> bytes:
    """Return the source with one mutant in it; the lines keep their numbers."""
    return source[: mutant.start] + mutant.text.encode() + source[mutant.end :]


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


class _Finder:
    def __init__(self, source: bytes, path: str) -> None:
        self.source, self.path = source, path
        self.tree = ast.parse(source)
        lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in lines:
            self.starts.append(self.starts[-1] + len(line))

    def find(self) -> Iterator[Mutant]:
        yield from self._visit_all(self.tree.body, "", {})

    # --- walking ---

    def _visit_all(self, nodes: list[ast.stmt], scope: str, names: dict[str, int]) -> Iterator[Mutant]:
        for node in nodes:
            yield from self._visit(node, scope, names)

    def _visit(self, node: ast.AST, scope: str, names: dict[str, int]) -> Iterator[Mutant]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from self._visit_definition(node, scope)
            return
        if self._is_left_out(node):
            return
        yield from self._mutate(node, scope, names)
        for child in self._children(node):
            yield from self._visit(child, scope, names)

    def _visit_definition(self, node: ast.FunctionDef | ast.ClassDef, scope: str) -> Iterator[Mutant]:
        inner = f"{scope}.{node.name}" if scope else node.name
        names: dict[str, int] = {}
        if isinstance(node, ast.FunctionDef):
            if node.name in VIEWS:
                return
            defaults = [*node.args.defaults, *(value for value in node.args.kw_defaults if value is not None)]
            for default in defaults:
                yield from self._visit(default, inner, {})
            names = _first_assignments(node)
        yield from self._visit_all(node.body, inner, names)

    @staticmethod
    def _is_left_out(node: ast.AST) -> bool:
        if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom | ast.pattern):
            return True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return True
        if isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING":
            return True
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return any(_last_name(target) in NAMES_LEFT_OUT for target in targets)
        return isinstance(node, ast.keyword) and node.arg in KEYWORDS_LEFT_OUT

    @staticmethod
    def _children(node: ast.AST) -> list[ast.AST]:
        if isinstance(node, ast.Raise):
            return []
        if isinstance(node, ast.Call):
            name = _last_name(node.func)
            if name in CALLS_LEFT_OUT or name.endswith(("Error", "Warning")):
                return []
        if isinstance(node, ast.AnnAssign):
            return [child for child in (node.target, node.value) if child is not None]
        return list(ast.iter_child_nodes(node))

    # --- places ---

    def _span(self, node: ast.AST) -> tuple[int, int]:
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.AST) -> str:
        start, end = self._span(node)
        return self.source[start:end].decode()

    def _change(self, node: ast.AST, scope: str, kind: str, text: str, *, statement: bool = False) -> Mutant:
        start, end = self._span(node)
        before = self.source[start:end].decode()
        padding = "\n" * (before.count("\n") - text.count("\n"))
        whole = text + padding if statement else f"({text}{padding})"
        words = [" ".join(piece.split()) for piece in (before, text)]
        return Mutant(self.path, node.lineno, scope, kind, *words, start=start, end=end, text=whole)

    # --- changes ---

    def _mutate(self, node: ast.AST, scope: str, names: dict[str, int]) -> Iterator[Mutant]:
        for kind, text, target, statement in self._changes(node, names):
            yield self._change(target, scope, kind, text, statement=statement)

    def _changes(  # noqa: C901 - a list of the kinds of nodes
        self, node: ast.AST, names: dict[str, int]
    ) -> Iterator[tuple[str, str, ast.AST, bool]]:
        match node:
            case ast.Compare():
                yield from self._compare(node)
            case ast.BoolOp():
                other = " or " if isinstance(node.op, ast.And) else " and "
                yield "and/or", other.join(f"({self._text(value)})" for value in node.values), node, False
            case ast.BinOp() if type(node.op) in ARITHMETIC and not _is_text(node):
                sign = ARITHMETIC[type(node.op)]
                yield (
                    "arithmetic",
                    f"({self._text(node.left)}) {sign} ({self._text(node.right)})",
                    node,
                    False,
                )
            case ast.UnaryOp() if not isinstance(node.op, ast.UAdd):
                yield "unary", self._text(node.operand), node, False
            case ast.Constant():
                for text in _other_constants(node.value):
                    yield "constant", text, node, False
            case ast.Name() | ast.Attribute() if _last_name(node).startswith("ROUND_"):
                yield from self._opposite(node)
            case ast.Call():
                yield from self._call(node)
            case ast.IfExp():
                yield from self._condition(node.test)
                yield "branch removed", self._text(node.orelse), node, False
            case ast.comprehension():
                for test in node.ifs:
                    yield from self._condition(test)
            case ast.stmt():
                yield from self._statement(node, names)

    def _compare(self, node: ast.Compare) -> Iterator[tuple[str, str, ast.AST, bool]]:
        values = [node.left, *node.comparators]
        for changed in range(len(node.ops)):
            text = f"({self._text(values[0])})"
            for place, (sign, value) in enumerate(zip(node.ops, values[1:], strict=True)):
                words = COMPARISONS if place == changed else SIGNS
                text += f" {words[type(sign)]} ({self._text(value)})"
            yield "comparison", text, node, False

    def _condition(self, test: ast.expr) -> Iterator[tuple[str, str, ast.AST, bool]]:
        yield "condition negated", f"not ({self._text(test)})", test, False

    def _opposite(self, node: ast.expr) -> Iterator[tuple[str, str, ast.AST, bool]]:
        name = _last_name(node)
        if name in OPPOSITES:
            yield "opposite", self._text(node).removesuffix(name) + OPPOSITES[name], node, False

    def _call(self, node: ast.Call) -> Iterator[tuple[str, str, ast.AST, bool]]:
        name = _last_name(node.func)
        if name in CALLS_LEFT_OUT or name.endswith(("Error", "Warning")):
            return
        yield from self._opposite(node.func)
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        if len(node.args) >= 2 and not any(
            isinstance(value, ast.Starred | ast.GeneratorExp) for value in values
        ):
            first, second = (self._text(value) for value in node.args[:2])
            if first != second:
                rest = [self._text(value) for value in [*node.args[2:], *node.keywords]]
                yield (
                    "arguments swapped",
                    f"{self._text(node.func)}({', '.join([second, first, *rest])})",
                    node,
                    False,
                )

    def _statement(  # noqa: C901 - a list of the kinds of statements
        self, node: ast.stmt, names: dict[str, int]
    ) -> Iterator[tuple[str, str, ast.AST, bool]]:
        match node:
            case ast.If() | ast.While():
                yield from self._condition(node.test)
                only_raises = len(node.body) == 1 and isinstance(node.body[0], ast.Raise) and not node.orelse
                if not only_raises:
                    yield "branch removed", "False", node.test, False
            case ast.Return() if node.value is not None and self._text(node.value) != "None":
                yield "return dropped", "return None", node, True
                if isinstance(node.value, ast.Compare | ast.BoolOp):
                    yield "condition negated", f"not ({self._text(node.value)})", node.value, False
            case ast.Expr() if isinstance(node.value, ast.Call):
                yield "statement deleted", "pass", node, True
            case ast.Raise():
                yield "statement deleted", "pass", node, True
            case ast.AugAssign():
                yield "statement deleted", "pass", node, True
                if type(node.op) in ARITHMETIC:
                    sign = ARITHMETIC[type(node.op)]
                    text = f"{self._text(node.target)} {sign}= {self._text(node.value)}"
                    yield "arithmetic", text, node, True
            case ast.Assign() if any(_is_state(target, node.lineno, names) for target in node.targets):
                yield "statement deleted", "pass", node, True
            case ast.Break():
                yield "break/continue", "continue", node, True
            case ast.Continue():
                yield "break/continue", "break", node, True


def _other_constants(value: object) -> list[str]:
    if isinstance(value, bool):
        return [str(not value)]
    if isinstance(value, int):
        return [str(other) for other in dict.fromkeys((value + 1, value - 1, 0)) if other != value]
    return [repr(value + 1)] if isinstance(value, float) else []


def _first_assignments(function: ast.FunctionDef) -> dict[str, int]:
    """Return the line at which each name of a function is first bound; arguments are bound at its head."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = {argument.arg: function.lineno for argument in every}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names[node.id] = min(node.lineno, names.get(node.id, node.lineno))
    return names


def _is_state(target: ast.expr, line: int, names: dict[str, int]) -> bool:
    """Whether a name was bound before, or something that outlives the function is changed."""
    if isinstance(target, ast.Tuple):
        return all(_is_state(part, line, names) for part in target.elts)
    if isinstance(target, ast.Name):
        return names.get(target.id, line) < line
    return isinstance(target, ast.Attribute | ast.Subscript)
