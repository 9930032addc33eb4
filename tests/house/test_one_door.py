"""Randomness enters evenhand through two files and nowhere else.

A generator made on the side cannot be told secure from seeded, is not recorded, and may be shared by two
people. The check reads the source: names are followed through their imports, aliases included.
"""

import ast

import pytest

DOORS = {"privacy/randomness.py", "privacy/sampling.py"}

FORBIDDEN = {
    "numpy.random", "scipy.stats.qmc", "random", "secrets", "cryptography", "os.urandom", "os.getrandom",
    "uuid.uuid1", "uuid.uuid4", "ssl.RAND_bytes", "sklearn.utils.check_random_state", "builtins.hash",
}  # fmt: skip
DRAWING_METHODS = {"rvs"}  # of scipy's distributions


def _forbidden(dotted):
    return any(dotted == name or dotted.startswith(f"{name}.") for name in FORBIDDEN)


def _only_for_types(node):
    test = node.test if isinstance(node, ast.If) else None
    return getattr(test, "id", getattr(test, "attr", None)) == "TYPE_CHECKING"


class _Reader(ast.NodeVisitor):
    """Collects every use of a forbidden name; `known` maps local names to what they stand for."""

    def __init__(self):
        self.known = {"hash": "builtins.hash"}
        self.found = []

    def visit_If(self, node):
        for each in node.orelse if _only_for_types(node) else [node.test, *node.body, *node.orelse]:
            self.visit(each)

    def visit_Import(self, node):
        for alias in node.names:
            self._note(alias.name)
            self.known[alias.asname or alias.name.split(".")[0]] = (
                alias.name if alias.asname else alias.name.split(".")[0]
            )

    def visit_ImportFrom(self, node):
        for alias in node.names:
            dotted = f"{node.module or ''}.{alias.name}" if node.level == 0 else ""
            self._note(dotted)
            self.known[alias.asname or alias.name] = dotted
            if alias.name == "*" and _forbidden(node.module or ""):
                self._note(node.module)

    def visit_FunctionDef(self, node):
        # Annotations are texts here (`from __future__ import annotations`), never code that draws.
        # An object may say its own hash; nothing may be seeded with one.
        before = dict(self.known)
        if node.name == "__hash__":
            self.known.pop("hash")
        for each in [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults, *node.body]:
            if each is not None:
                self.visit(each)
        self.known = before

    def visit_AsyncFunctionDef(self, node):
        self.visit_FunctionDef(node)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def visit_Attribute(self, node):
        dotted = self._dotted(node)
        if dotted and _forbidden(dotted):
            self._note(dotted)
            return
        if node.attr in DRAWING_METHODS:
            self.found.append(f".{node.attr}")
        self.generic_visit(node)

    def visit_Name(self, node):
        self._note(self.known.get(node.id, ""))

    def _dotted(self, node):
        if isinstance(node, ast.Attribute):
            head = self._dotted(node.value)
            return f"{head}.{node.attr}" if head else ""
        return self.known.get(node.id, "") if isinstance(node, ast.Name) else ""

    def _note(self, dotted):
        if dotted and _forbidden(dotted):
            self.found.append(dotted)


def uses_of_randomness(source):
    """Return what a file draws from, as dotted names."""
    tree, reader = ast.parse(source), _Reader()
    for node in ast.walk(tree):  # names first: a function may use what the file imports further down
        if isinstance(node, ast.Import | ast.ImportFrom):
            reader.visit(node)
    reader.found.clear()
    reader.visit(tree)
    return reader.found


def test_there_is_one_door_to_randomness(root, sources):
    package = root / "src" / "evenhand"
    texts = {path.relative_to(package).as_posix(): path.read_text("utf-8") for path in sources}
    found = {name: uses_of_randomness(text) for name, text in texts.items() if name not in DOORS}

    assert {name: uses for name, uses in found.items() if uses} == {}


def test_the_doors_are_where_the_check_thinks(root):
    package = root / "src" / "evenhand"

    assert uses_of_randomness((package / "privacy/randomness.py").read_text("utf-8"))
    assert (package / "privacy/sampling.py").exists()


def test_keys_are_drawn_through_the_door_and_nobody_else_names_a_cipher(root, sources):
    """The package cryptography has a generator of its own, which signing must not use."""
    package = root / "src" / "evenhand"
    texts = {path.relative_to(package).as_posix(): path.read_text("utf-8") for path in sources}
    named = {name for name, text in texts.items() if 'lazy("cryptography' in text}

    assert named == {"privacy/randomness.py", "privacy/signing/keys.py"}
    assert ".generate(" not in texts["privacy/signing/keys.py"]


@pytest.mark.parametrize(
    "planted",
    [
        "import random",
        "import random as r",
        "from random import choice",
        "import secrets",
        "from secrets import token_bytes as t",
        "import numpy as np\nnp.random.default_rng()",
        "import numpy\nx = numpy.random",
        "import numpy.random as r",
        "import numpy.random",
        "from numpy import random",
        "from numpy import random as r",
        "from numpy.random import default_rng",
        "from numpy.random import *",
        "import os\nos.urandom(8)",
        "import os as o\no.urandom(8)",
        "from os import urandom",
        "from os import urandom as u",
        "import os\nos.getrandom(8)",
        "import uuid\nuuid.uuid4()",
        "from uuid import uuid4",
        "from cryptography.hazmat.primitives.ciphers import Cipher",
        "import cryptography",
        "from scipy import stats\nstats.norm.rvs(size=3)",
        "from scipy.stats import laplace\nlaplace(0, 1).rvs(3)",
        "def f(law):\n    return law.rvs(10)",
        "def __hash__(self):\n    return hash(1)\nseed = hash(2)",
        "seed = hash('cell')",
        "seeds = map(hash, cells)",
        "def f():\n    import numpy as np\n    return np.random.rand()",
        "def f():\n    return np.random.rand()\nimport numpy as np",
        "class A:\n    import secrets",
        "async def f():\n    import random",
        "if True:\n    import random",
        "try:\n    import secrets\nexcept ImportError:\n    pass",
        "if TYPE_CHECKING:\n    pass\nelse:\n    import random",
        "import numpy as np\ndef f(x=np.random.rand()): ...",
        "import numpy as np\nx: float = np.random.rand()",
        "import numpy as np\n@np.random.rand\ndef f(): ...",
    ],
)
def test_the_check_sees_a_planted_use(planted):
    assert uses_of_randomness(planted)


@pytest.mark.parametrize(
    "innocent",
    [
        "import numpy as np\nnp.zeros(3)",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from numpy.random import Generator",
        "import typing\nif typing.TYPE_CHECKING:\n    import random",
        "import numpy as np\ndef f(rng: np.random.Generator) -> np.random.Generator: ...",
        "import numpy as np\nx: np.random.Generator",
        "from evenhand.privacy.randomness import SeededSource",
        "import hashlib\nhashlib.sha256(b'')",
        "import os\nos.path.join('a')",
        "class A:\n    def __hash__(self):\n        return hash(self.key)",
        "from .random import thing",
        "from . import random",
        "text = 'numpy.random'",
        "import uuid\nuuid.UUID('a')",
        "randomness = 3",
    ],
)
def test_the_check_leaves_the_innocent_alone(innocent):
    assert uses_of_randomness(innocent) == []
