"""Draw a sample of mutants by a stated seed, in proportion to the packages, before any is looked at."""

from __future__ import annotations

import ast
import fnmatch
import json
import random
import subprocess
import tomllib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sites import Mutant, find_mutants, plant

if TYPE_CHECKING:
    import pathlib

__all__ = ["Scope", "draw_sample", "find_again", "list_files", "package_of", "read_sample", "share_out"]


@dataclass(frozen=True)
class Scope:
    """Which files are broken, which tests are asked, and how many percent they must catch."""

    source: str
    floor: float
    marks: str
    options: list[str]
    preload: list[str]
    packages: dict[str, list[str]]
    left_out: dict[str, str]
    tests_left_out: dict[str, str]

    @classmethod
    def read(cls, path: pathlib.Path) -> Scope:
        """Read a file such as `scope.toml`."""
        return cls(**tomllib.loads(path.read_text(encoding="utf-8")))


def package_of(path: str, scope: Scope) -> str:
    """Return the package of a file, such as 'privacy'."""
    return path.removeprefix(scope.source).strip("/").split("/")[0]


def list_files(root: pathlib.Path, scope: Scope) -> dict[str, list[str]]:
    """Return the files of each package that are broken, in the order of their names."""
    files = {}
    for package, patterns in scope.packages.items():
        folder = root / scope.source / package
        names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))
        files[package] = [
            f"{scope.source}/{package}/{name}"
            for name in names
            if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
            and not any(fnmatch.fnmatch(f"{package}/{name}", pattern) for pattern in scope.left_out)
        ]
    return files


def share_out(count: int, sizes: dict[str, int]) -> dict[str, int]:
    """Divide `count` among packages in proportion to their sizes, by largest remainders."""
    total = sum(sizes.values())
    shares = {name: count * size // total for name, size in sizes.items()}
    order = sorted(sizes, key=lambda name: (-(count * sizes[name] % total), name))
    for name in order[: count - sum(shares.values())]:
        shares[name] += 1
    return shares


def draw_sample(root: pathlib.Path, scope: Scope, *, seed: int, count: int, target: pathlib.Path) -> None:
    """Write the drawn mutants to a file, one in a line, under a line that says how they were drawn."""
    every = {
        package: [mutant for path in files for mutant in find_mutants((root / path).read_bytes(), path)]
        for package, files in list_files(root, scope).items()
    }
    shares = share_out(count, {package: len(mutants) for package, mutants in every.items()})
    drawn: list[Mutant] = []
    for package, mutants in every.items():
        order = random.Random(f"{seed} {package}").sample(mutants, len(mutants))  # noqa: S311 - a stated draw
        drawn += _take_changes(root, order, shares[package])
    head = {
        "seed": seed,
        "count": count,
        "commit": _commit_of(root),
        "places": {package: len(mutants) for package, mutants in every.items()},
        "drawn": shares,
    }
    lines = [head, *({"name": mutant.name, **asdict(mutant)} for mutant in drawn)]
    target.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def read_sample(path: pathlib.Path) -> tuple[dict[str, Any], list[Mutant]]:
    """Return how a sample was drawn, and its mutants."""
    head, *lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return head, [Mutant(**{key: value for key, value in line.items() if key != "name"}) for line in lines]


def find_again(root: pathlib.Path, mutants: list[Mutant]) -> dict[str, Mutant | None]:
    """Return each mutant where it stands in the present files; None if its place is gone."""
    present: dict[str, Mutant] = {}
    for path in {mutant.path for mutant in mutants}:
        if (root / path).exists():
            present |= {mutant.name: mutant for mutant in find_mutants((root / path).read_bytes(), path)}
    return {mutant.name: present.get(mutant.name) for mutant in mutants}


def _take_changes(root: pathlib.Path, order: list[Mutant], count: int) -> list[Mutant]:
    taken: list[Mutant] = []
    for mutant in order:
        if len(taken) == count:
            break
        if _is_a_change(root, mutant):
            taken.append(mutant)
    return taken


def _is_a_change(root: pathlib.Path, mutant: Mutant) -> bool:
    """Whether the file still parses, and to something else than before."""
    source = (root / mutant.path).read_bytes()
    try:
        return ast.dump(ast.parse(plant(source, mutant))) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


def _commit_of(root: pathlib.Path) -> str:
    command = ["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed words
    return done.stdout.strip()
