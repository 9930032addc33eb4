"""evenhand doctor: what is installed here, what is missing, and what is in force."""

from __future__ import annotations

import os
import platform
import re
import shutil
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import evenhand
from evenhand._registry import installed_plugins
from evenhand.cli import options as shared  # noqa: TC001 - typer reads the annotations
from evenhand.cli.compiled import compile_folder, count_compiled, may_write
from evenhand.cli.options import registry_named
from evenhand.cli.terminal.console import Terminal
from evenhand.cli.terminal.ending import FAILED
from evenhand.datasets.download.files import places
from evenhand.errors import EvenhandError
from evenhand.privacy.ledger import find_ledger
from evenhand.privacy.randomness import SecureSource

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = """\
  evenhand doctor
  evenhand doctor --json
"""
_WIDTH = 10
_STYLES = {"Ready": "green", "Missing": "yellow", "Faulty": "yellow", "None": "dim", "Broken": "red"}
_PLUGINS = ("protocols", "mechanisms", "mitigations", "measures", "models", "kinds")
_CORE = ("numpy", "scipy", "scikit-learn", "pyarrow", "numba", "cryptography")
_ENGINES = ("polars", "duckdb", "ibis-framework", "dask", "pyspark")
_REQUIREMENT = re.compile(r"""([\w.-]+)(?:\[([\w,-]+)\])?.*extra\s*==\s*['"]([\w-]+)['"]""")


@dataclass(frozen=True)
class Finding:
    """One line of the examination.

    Parameters
    ----------
    state : {"Ready", "Missing", "Faulty", "None", "Broken"}
        None is a thing that nobody has to have, and faulty is one of another package that is not used; only
        what is broken keeps evenhand from working.
    topic : str
        What was looked at, for machines.
    text : str
    """

    state: str
    topic: str
    text: str


def doctor(*, as_json: shared.AsJson = False) -> None:
    """Show what is installed here, what is missing, what is in force.

    Versions, extras, engines, folders and the ledger; nothing is changed. Ends with 1 only if something is
    broken without which evenhand does not work.
    """
    terminal = Terminal(as_json=as_json)
    findings = list(examine())
    broken = [finding for finding in findings if finding.state == "Broken"]
    code = FAILED if broken else 0
    for finding in findings:
        terminal.mark(finding.state, finding.text, style=_STYLES[finding.state], width=_WIDTH)
    terminal.object(
        {"command": "doctor", "findings": [asdict(finding) for finding in findings], "exit": code}
    )
    if code:
        raise typer.Exit(code)


def examine() -> Iterator[Finding]:
    """Yield what is found on this machine, the most needed first."""
    yield _examine_versions()
    yield _examine_secure_source()
    yield _examine_compile_cache()
    for extra, packages in _extras().items():
        yield _examine_extra(extra, packages)
    yield from _examine_engines()
    yield from _examine_plugins()
    yield _examine_data()
    yield _examine_ledger()


def _examine_versions() -> Finding:
    """Say which versions there are of what evenhand cannot do without."""
    system = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    own = f"evenhand {evenhand.__version__}, {system}"
    missing = [name for name in _CORE if _version(name) is None]
    if missing:
        text = f"{own}; evenhand does not work without {', '.join(missing)}. Hint: pip install evenhand"
        return Finding("Broken", "versions", text)
    versions = ", ".join(f"{name} {_version(name)}" for name in _CORE)
    return Finding("Ready", "versions", f"{own}; {versions}.")


def _examine_secure_source() -> Finding:
    words = SecureSource().words(4)
    if len({int(word) for word in words}) < len(words):  # 1 in 10^18 by chance
        return Finding("Broken", "secure source", "The system's secure source repeats itself.")
    return Finding("Ready", "secure source", "The system's secure source of random numbers answers.")


def _examine_compile_cache() -> Finding:
    """Say whether compiled loops are kept from one command to the next."""
    if kept := count_compiled():
        loops = "1 compiled loop is" if kept == 1 else f"{kept:,} compiled loops are"
        return Finding("Ready", "compile cache", f"{loops} kept: first uses are quick.")
    if may_write(compile_folder()):
        text = "No loop is compiled yet: the first use of each takes some seconds, later ones do not."
        return Finding("Ready", "compile cache", text)
    text = "The folder for compiled loops cannot be written, so commands may compile them again."
    return Finding("None", "compile cache", f"{text} Hint: NUMBA_CACHE_DIR names another folder.")


def _extras() -> dict[str, tuple[str, ...]]:
    """Return the packages of each extra for people who use evenhand: those that the extra 'all' brings."""
    declared: dict[str, list[str]] = {}
    for extra, name, inner in _requirements("evenhand"):
        more = [other for own, other, _ in _requirements(name) if own in inner]
        declared.setdefault(extra, []).extend([name, *more])
    brought = set(declared.pop("all", ()))
    return {extra: tuple(names) for extra, names in sorted(declared.items()) if brought.issuperset(names)}


def _requirements(package: str) -> list[tuple[str, str, list[str]]]:
    """Return what the extras of an installed package bring: the extra, what it brings, and extras of that."""
    try:
        lines = metadata.requires(package) or ()
    except metadata.PackageNotFoundError:
        return []
    matches = [match for line in lines if (match := _REQUIREMENT.match(line))]
    return [(match[3], match[1], (match[2] or "").split(",")) for match in matches if match[1] != package]


def _examine_extra(extra: str, packages: tuple[str, ...]) -> Finding:
    missing = [name for name in packages if _version(name) is None]
    if missing:
        text = f"Extra {extra}: {', '.join(missing)}. Hint: pip install 'evenhand[{extra}]'"
        return Finding("Missing", f"extra {extra}", text)
    there = ", ".join(f"{name} {_version(name)}" for name in packages)
    return Finding("Ready", f"extra {extra}", f"Extra {extra}: {there}.")


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _examine_engines() -> Iterator[Finding]:
    there = [f"{name} {version}" for name in _ENGINES if (version := _version(name))]
    if there:
        yield Finding("Ready", "engines", f"Engines of frames: {', '.join(there)}.")
    else:
        yield Finding("None", "engines", "No other engine is installed; files and Arrow tables need none.")
    if _version("pyspark") and shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        hint = "Hint: install a Java runtime, version 17 or later."
        yield Finding("Missing", "java", f"Spark needs Java, which is not on the path. {hint}")


def _examine_plugins() -> Iterator[Finding]:
    """Say what other packages add to evenhand, and which of it cannot be used."""
    registries = [registry_named(name) for name in _PLUGINS]
    for registry in registries:
        for plugin, fault in registry.examine():
            word = registry.plugins.word
            there = f"The {word} '{plugin.name}' is added by {plugin.package} {plugin.version}."
            yield Finding("Faulty" if fault else "Ready", f"plugin {plugin.name}", fault or there)
    known = [registry.plugins.group for registry in registries]
    for group, plugins in installed_plugins().items():
        if group not in known:
            packages = ", ".join(sorted({plugin.package for plugin in plugins}))
            text = f"{packages} adds entry points '{group}', which evenhand has not. Hint: there are"
            yield Finding("Faulty", f"plugins {group}", f"{text} {', '.join(known)}.")


def _examine_data() -> Finding:
    """Say in which folders data sets are looked for."""
    found = [str(place.folder) for place in places(None) if place.folder.is_dir()]
    if os.environ.get("EVENHAND_DATA") and not Path(os.environ["EVENHAND_DATA"]).expanduser().is_dir():
        return Finding("Missing", "data", "EVENHAND_DATA names a folder that is not there.")
    if not found:
        text = "No folder of data sets yet: they are downloaded when they are first used."
        return Finding("None", "data", text)
    return Finding("Ready", "data", f"Data sets are looked for in {', then in '.join(found)}.")


def _examine_ledger() -> Finding:
    """Say which ledger a release from this folder would charge."""
    try:
        ledger = find_ledger(None, data=Path.cwd() / "data")
        total = None if ledger is None else ledger.total()
    except EvenhandError as error:
        return Finding("Broken", "ledger", f"The ledger that is in force is refused. {error}")
    if ledger is None or total is None:
        text = "No ledger is in force here: what is released is not counted. Hint: evenhand ledger init"
        return Finding("None", "ledger", text)
    return Finding("Ready", "ledger", f"Ledger {ledger.path.name} is in force: {total}")
