"""Things by name: those of evenhand, and those that other installed packages add by entry points.

A registry holds names and where each thing is, so that the names cost nothing to list; a thing is loaded when
it is first asked for. Other packages are looked for when a name is not found here, or when all are listed.
What such a package has wrong is told where its name is asked for, and by ``evenhand doctor``: it is in no
list, and whatever evenhand has of its own goes on working.
"""

from __future__ import annotations

import re
import sys
from collections import UserDict
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from inspect import isabstract
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from evenhand.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from importlib.metadata import EntryPoint

Registered = TypeVar("Registered")

_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_+-][a-z0-9]+)*")
_NAME_WORDS = "of small letters, digits and single '-', '_' or '+' between them"
_PREFIX = "evenhand."


class Plugin(NamedTuple):
    """One entry point of another package: its name, where its thing is, and whose it is."""

    name: str
    entry: EntryPoint
    package: str
    version: str


@dataclass(frozen=True)
class PluginRules:
    """What another package may add to a registry, and under which conditions.

    Parameters
    ----------
    group : str
        The group of entry points, such as ``"evenhand.protocols"``.
    word : str
        What one is called in a sentence, such as ``"protocol"``.
    must_be : str
        What it must be, as the end of the sentence "must be ...".
    base : str
        The class that it must derive from or be of, as ``"module:class"``; empty if it may be any.
    is_class : bool
        Whether the thing itself is a class.
    named_by : str
        The attribute that must be the name of the entry point; empty if there is none.
    needs : tuple of str
        Attributes that it must have.
    taken : tuple of str
        Names that mean something else already.
    """

    group: str
    word: str
    must_be: str
    base: str = ""
    is_class: bool = True
    named_by: str = "name"
    needs: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()

    def fault_of(self, name: str, thing: Any) -> str:
        """Return what is wrong with a thing, as the end of "Got ... instead"; empty if nothing is."""
        if isinstance(thing, type) != self.is_class:
            return f"a {type(thing).__name__}" if self.is_class else "a class"
        base = resolve_name(self.base) if self.base else object
        if not (issubclass(thing, base) if self.is_class else isinstance(thing, base)):
            return "another class" if self.is_class else f"a {type(thing).__name__}"
        lacking = [attribute for attribute in self.needs if not hasattr(thing, attribute)]
        if isabstract(thing):
            lacking += sorted(thing.__abstractmethods__)
        if lacking:
            return f"one without {', '.join(lacking)}"
        given = getattr(thing, self.named_by, None) if self.named_by else name
        return "" if given == name else f"one whose '{self.named_by}' is {given!r}"


class Registry(UserDict[str, Registered]):
    """A mapping from names to things, each loaded when it is taken.

    Parameters
    ----------
    own : dict
        For each name the thing, or where it is as ``"module:name"``.
    plugins : PluginRules, optional
        What other packages may add; nothing if left out.

    Examples
    --------
    >>> registry = Registry({"fraction": "fractions:Fraction"})
    >>> list(registry), registry["fraction"].__name__
    (['fraction'], 'Fraction')
    """

    data: dict[str, Any]

    def __init__(self, own: Mapping[str, Any], plugins: PluginRules | None = None) -> None:
        super().__init__(own)
        self.plugins = plugins

    def __getitem__(self, name: str) -> Registered:
        if name in self.data:
            home = self.data[name]
            registered: Registered = resolve_name(home) if isinstance(home, str) else home
            return registered
        return self._load(name, self._offered(name))

    def __contains__(self, name: object) -> bool:
        return name in self.data or bool(self._offered(name))

    def __iter__(self) -> Iterator[str]:
        """Yield the names of evenhand's own, then those of other packages that load."""
        yield from list(self.data)
        for name in dict.fromkeys(plugin.name for plugin in self._all_offered()):
            if name not in self.data and not self.fault_of(name):
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<{', '.join(self)}>"

    @property
    def own(self) -> tuple[str, ...]:
        """The names that do not depend on which other packages are installed."""
        return tuple(self.data)

    def home(self, name: str) -> str:
        """Return where the thing of a name is, as ``"module:name"``."""
        home = self.data[name] if name in self.data else self._offered(name)[0].entry.value
        return home if isinstance(home, str) else f"{home.__module__}:{home.__qualname__}"

    def packages(self, names: Iterable[object]) -> tuple[str, ...]:
        """Return the other packages that things of these names come from, each once."""
        added = [plugin.package for name in names if name not in self.data for plugin in self._offered(name)]
        return tuple(dict.fromkeys(added))

    def fault_of(self, name: str) -> str:
        """Return the sentence that tells why a thing of another package cannot be used; empty if it can."""
        try:
            self[name]
        except PluginError as error:
            return str(error)
        return ""

    def examine(self) -> Iterator[tuple[Plugin, str]]:
        """Yield what other packages add, each with the sentence that says what is wrong; empty if nothing."""
        for plugin in self._all_offered():
            yield plugin, self._refusal(plugin) or self.fault_of(plugin.name)

    def _all_offered(self) -> tuple[Plugin, ...]:
        return () if self.plugins is None else installed_plugins().get(self.plugins.group, ())

    def _offered(self, name: object) -> list[Plugin]:
        return [plugin for plugin in self._all_offered() if plugin.name == name]

    def _load(self, name: str, offered: list[Plugin]) -> Registered:
        if not offered or self.plugins is None:
            raise KeyError(name)
        if len(offered) > 1:
            packages = " and ".join(f"'{plugin.package}'" for plugin in offered)
            raise self._error(offered[0], f"is also in another package: {packages} both have one.",
                              "uninstall one of the two.")  # fmt: skip
        refusal = self._refusal(offered[0])
        if refusal:
            raise PluginError(refusal, package=offered[0].package, plugin=name)
        thing, fault = _loaded(offered[0], self.plugins)
        if fault:
            raise self._error(offered[0], fault, "update the package, or uninstall it.")
        registered: Registered = thing
        return registered

    def _refusal(self, plugin: Plugin) -> str:
        """Return why a name cannot be taken, whatever stands behind it; empty if it can."""
        taken = plugin.name in self.data or (self.plugins is not None and plugin.name in self.plugins.taken)
        if taken:
            return str(self._error(plugin, "must have another name. Got one that evenhand has itself."))
        if not _NAME.fullmatch(plugin.name):
            return str(self._error(plugin, f"must have a name {_NAME_WORDS}. Got another one instead."))
        return ""

    def _error(self, plugin: Plugin, fault: str, hint: str = "tell its authors.") -> PluginError:
        word = "plugin" if self.plugins is None else self.plugins.word
        message = (
            f"The {word} '{plugin.name[:40]}' of the package '{plugin.package}' {plugin.version} {fault}"
        )
        return PluginError(f"{message} Hint: {hint}", package=plugin.package, plugin=plugin.name)


@cache
def installed_plugins() -> dict[str, tuple[Plugin, ...]]:
    """Return what installed packages add to evenhand, by the group of entry points; nothing is loaded.

    It is read once in a process; ``installed_plugins.cache_clear()`` forgets it.
    """
    from importlib.metadata import distributions  # noqa: PLC0415 - slow, and most commands do not need it

    found: dict[str, list[Plugin]] = {}
    seen = set()
    for distribution in distributions():
        try:
            added = [entry for entry in distribution.entry_points if entry.group.startswith(_PREFIX)]
            name, version = (distribution.name, distribution.version) if added else ("", "")
        except Exception:  # noqa: BLE001, S112 - a package that is half installed has nothing to add
            continue
        if name and name not in seen:  # of two in one place the first is imported
            seen.add(name)
            for entry in added:
                found.setdefault(entry.group, []).append(Plugin(entry.name, entry, name, version))
    return {group: tuple(plugins) for group, plugins in found.items()}


@cache
def _loaded(plugin: Plugin, rules: PluginRules) -> tuple[Any, str]:
    """Return the thing of a plugin, and what is wrong with it; it is tried once in a process.

    What a package prints while it is loaded goes to standard error: standard output is for results.
    """
    try:
        with redirect_stdout(sys.stderr):
            thing = plugin.entry.load()
        fault = rules.fault_of(plugin.name, thing)
    except ModuleNotFoundError as error:
        return None, f"cannot be loaded: there is no module '{error.name}'."
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever another package does, it is told
        return None, f"cannot be loaded: it ends with {type(error).__name__}."
    return thing, f"must be {rules.must_be}. Got {fault} instead." if fault else ""
