"""Name the groups of a schema in a sentence, and alone in a picture or a table.

Text that came from data goes through :func:`plain`, so that a label can fill no page.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

from evenhand.answer.case import Name
from evenhand.report.words import capital, plain
from evenhand.schema.crossing import OTHER_GROUPS
from evenhand.schema.text import is_bare
from evenhand.study.page.wording import value_words
from evenhand.study.page.words import words_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evenhand.answer.words import Words
    from evenhand.study.plan.facts import Facts

_PLURAL_OF = {"woman": "women", "man": "men", "child": "children", "person": "people"}
_PLURALS = tuple(_PLURAL_OF.values())
_SMALL = frozenset({*_PLURALS, "girls", "boys", "female", "male"})
"""Words that begin with a small letter inside a sentence; of others that is not known."""


def name_groups(facts: Facts, language: str = "en") -> dict[str, Name]:
    """Return the names of all groups, and of the margins of crossed ones, by their label in the results.

    A plural noun stands as it is (*women*, also of a label *woman*), other words have *people* after them
    (*Asian people*), and a label that says nothing alone has its column before it (*people with race = 2*).
    In German a label stands as it is, for it cannot be declined. Where two labels would read the same (*man*
    and *Man*), each has its column before it.
    """
    words = words_in(language)
    names = {group: name_values(words, values) for group, values in _values(facts)}
    times = Counter(name.words for name in names.values())
    for group, values in _values(facts):
        if values and times[names[group].words] > 1:
            columns = [value_words(column, value) for column, value in values.items()]
            names[group] = Name(words.say("group.with_values", values=columns), ", ".join(columns))
    return names


def _values(facts: Facts) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield every group and margin with its value of each column; a pool of small groups has none."""
    crossing = facts.schema.crossing
    if crossing is None:
        for group in facts.groups:
            pooled = facts.schema.pool_below and group.startswith(OTHER_GROUPS)
            yield group, {} if pooled else {facts.schema.protected_name: group}
        return
    names = [column.name for column in crossing.columns]
    combined = zip(crossing.column.domain.values, product(*crossing.values), strict=True)
    known = {group: dict(zip(names, values, strict=True)) for group, values in combined}
    for group in facts.groups:
        yield group, known.get(group, {})
    for name, values in zip(names, crossing.values, strict=True):
        for margin, value in zip(facts.margins[name], values, strict=True):
            yield margin, {name: value}


def name_values(words: Words, values: Mapping[str, str]) -> Name:
    """Return the name of a group by its value of each column; without any it is a pool of small groups."""
    if not values:
        pooled = words.say("group.pooled")
        return Name(pooled, capital(pooled))
    shown = [plain(value) for value in values.values()]
    columns = [value_words(column, value) for column, value in values.items()]
    if any(map(_says_nothing, shown)):
        alone = [full if _says_nothing(value) else value for value, full in zip(shown, columns, strict=True)]
        return Name(words.say("group.with_values", values=columns), ", ".join(alone))
    label = capital(_join_words(shown))
    shown = [_PLURAL_OF.get(value.lower(), value) for value in shown]
    nouns = sum(map(_is_plural, shown))
    if nouns > 1 or any(_is_phrase(column, value) for column, value in values.items()):
        return Name(words.say("group.with_values", values=columns), label)
    name = _join_words(shown)
    return Name(name if nouns else words.say("group.people", label=name), label)


def _says_nothing(value: str) -> bool:
    """Return whether a value needs its column: a number, a range, a comparison, a mark, yes or no."""
    return is_bare(value) or any(letter.isdigit() for letter in value) or value.startswith(tuple("<>≤≥="))


def _is_phrase(column: str, value: str) -> bool:
    """Return whether no *people* may follow a value: it names its column besides, or ends in a small word."""
    words = value.split()
    small = len(words) > 1 and words[-1].islower() and not _is_plural(value)
    return small or (column.lower() in value.lower() and column.lower() != value.lower())


def _is_plural(value: str) -> bool:
    last = value.lower().split()[-1]
    return last in _PLURALS or last.endswith("s")


def _join_words(values: list[str]) -> str:
    """Return values as one phrase, nouns last and known words with a small letter."""
    nouns_last = sorted(values, key=_is_plural)
    return " ".join(value.lower() if value.lower() in _SMALL else value for value in nouns_last)
