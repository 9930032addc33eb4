"""Hold what a page needs beside its table of effects: question, names, promise, warnings and commands.

A kind of study, an audit of predictions or a plugin fills a :class:`Case`, and nothing else that judges or
words results. :func:`evenhand.answer.compose.compose` makes a :class:`~evenhand.answer.view.View` of it, from
which page, terminal, JSON and workbench are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from evenhand.answer.choice import CostLimits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.answer.effects import EffectTable
    from evenhand.report.page import Fact, Section


class Name(NamedTuple):
    """Name a group.

    `words` stand inside a sentence, in the plural unless `is_one`: "women", "people with A = 0", "Ash
    County". `label` stands alone in pictures and tables: "Women", "A = 0", "Ash County".
    """

    words: str
    label: str
    is_one: bool = False


class OptionName(NamedTuple):
    """Name an option: inside a sentence ("Optimal", "parity"), and above a column ("by Optimal").

    `use` is what to do with it, as an order without a full stop ("Use Optimal at the same ε"). `note` says in
    a few words what it takes, such as "costs no ε".
    """

    words: str
    column: str = ""
    use: str = ""
    note: str = ""


class Warned(NamedTuple):
    """A warning: a few words in bold with their full stop, then a sentence."""

    head: str
    text: str


class Promise(NamedTuple):
    """Hold what people are promised: one paragraph, and the technical statement, which is folded."""

    text: str
    facts: tuple[Fact, ...] = ()


class Command(NamedTuple):
    """A command to copy: what it does, what it takes, and the line itself.

    `option` is the name of the option that it applies, or empty: the page shows those of its own option or of
    the recommended one, and those of none.
    """

    label: str
    note: str
    line: str
    option: str = ""


@dataclass(frozen=True, eq=False)
class Case:
    """A table of effects with what a page says around it.

    Parameters
    ----------
    table : EffectTable
    kind : str
        A few words above the question, such as "Collect answers, then decide with a model".
    question : str
    groups : mapping of str to Name
        By the group's name in the table; a group without one is called by that.
    options : mapping of str to OptionName
        By the option's name in the table.
    protection : str
        What is asked about, as the subject of "costs women 22 of 1,000": "Privacy", "Noise", "Suppression".
    called : str
        A past participle, the verb of ``selected``: "hired".
    heads : (str, str)
        One and several of those whom the table counts, such as ("child", "children").
    entities : (str, str)
        One and several of the entities: ("county", "counties").
    currency : str
    is_between_groups : bool
        Whether groups are compared with everybody else, and not with what they had before.
    repeats : int
        How many repeats the sampled rows rest on; 1 where everything is exact.
    costs : CostLimits
    meta : str
        A few words in the corner: which study, how many people, how many repeats.
    warnings : sequence of Warned
        The most important first: not for publication, then leaks, then limits of the data.
    promise : Promise, optional
    commands : sequence of Command
    evidence : sequence of Section
        The kind's own evidence, folded; two sections at most.
    method, limits, sources : sequence of str
        How it was computed, what it cannot show, which rows and versions; folded.
    language : str
    """

    table: EffectTable
    kind: str
    question: str
    groups: Mapping[str, Name] = field(default_factory=dict)
    options: Mapping[str, OptionName] = field(default_factory=dict)
    protection: str = ""
    called: str = ""
    heads: tuple[str, str] = ("", "")
    entities: tuple[str, str] = ("", "")
    currency: str = "$"
    is_between_groups: bool = False
    repeats: int = 1
    costs: CostLimits = field(default_factory=CostLimits)
    meta: str = ""
    warnings: tuple[Warned, ...] = ()
    promise: Promise | None = None
    commands: tuple[Command, ...] = ()
    evidence: tuple[Section, ...] = ()
    method: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    language: str = "en"
