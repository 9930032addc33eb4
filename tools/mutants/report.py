"""What came of a sample: how many were noticed, and which were not, each with the reason."""

from __future__ import annotations

import json
import pathlib
import tomllib
from collections import Counter
from typing import TYPE_CHECKING, Any

from draw import package_of

if TYPE_CHECKING:
    from draw import Scope
    from sites import Mutant

__all__ = ["latest_results", "print_report", "read_judged"]

JUDGED = pathlib.Path(__file__).resolve().parent / "judged.toml"


def read_judged() -> dict[str, str]:
    """Return the reason why each mutant that was found equivalent is one."""
    return tomllib.loads(JUDGED.read_text(encoding="utf-8"))["equivalent"]


def latest_results(path: pathlib.Path) -> dict[str, dict[str, Any]]:
    """Return the last result of each mutant."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line["name"]: line for line in lines}


def print_report(head: dict[str, Any], drawn: list[Mutant], results: pathlib.Path, scope: Scope) -> float:
    """Print a table by package and the list of survivors, and return how many percent were caught."""
    known, reasons = latest_results(results), read_judged()
    counts: dict[str, Counter[str]] = {package: Counter() for package in [*scope.packages, "all"]}
    for mutant in drawn:
        outcome = known.get(mutant.name, {"outcome": "waiting"})["outcome"]
        caught = "caught" if outcome in ("killed", "timeout") else outcome
        if caught == "survived" and mutant.name in reasons:
            caught = "equivalent"
        counts[package_of(mutant.path, scope)].update(["drawn", caught])
        counts["all"].update(["drawn", caught])
    print(f"Seed {head['seed']}, commit {head['commit']}, {sum(head['places'].values())} places.")
    columns = ["drawn", "caught", "survived", "equivalent", "gone", "waiting", "undecided"]
    print(f"{'package':10}" + "".join(f"{column:>12}" for column in columns) + "   of those not equivalent")
    for package, count in counts.items():
        judgeable = count["caught"] + count["survived"]
        share = f"{100 * count['caught'] / judgeable:.1f} %" if judgeable else "-"
        print(f"{package:10}" + "".join(f"{count[column]:12}" for column in columns) + f"   {share} caught")
    for mutant in drawn:
        if known.get(mutant.name, {}).get("outcome") == "survived":
            reason = reasons.get(mutant.name, "not equivalent")
            place = f"{mutant.name} {mutant.path}:{mutant.line} {mutant.scope}"
            print(f"{place} {mutant.kind}: {mutant.before} -> {mutant.after}\n    {reason}")
    judgeable = counts["all"]["caught"] + counts["all"]["survived"]
    return 100 * counts["all"]["caught"] / judgeable if judgeable else 100.0
