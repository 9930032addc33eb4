"""Roles guessed from a frame, each with its reason. A guess is only made when somebody asks for it."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from evenhand.schema import Column, Domain, Schema
from evenhand.schema.bands import rule_text
from evenhand.schema.crossing import as_names
from evenhand.schema.infer import FEW, open_frame
from evenhand.schema.roles import cut_target
from evenhand.schema.typed_values import value_of
from evenhand.study.intake.draft import draft_column
from evenhand.study.intake.setup import ROLES, RoleOptions, name_columns, with_declared_roles
from evenhand.table.encode import Table
from evenhand.table.repeated_people import find_repeated_people

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from evenhand.study.intake.opening import Opened

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Words by which roles are guessed, by what they are."""

_MOST_GROUPS = 10
_FEWEST_OF_A_VALUE = 10
_MET_BY_CHANCE = 10  # rows with 1 in two columns, if these had nothing to do with each other
_ZERO_ONE = (["0", "1"], ["0.0", "1.0"], ["False", "True"])


@dataclass(frozen=True)
class Reason:
    """Why a role was guessed, without a full stop, and its value as it is shown; its text is the sentence."""

    role: str
    value: str
    why: str

    def __str__(self) -> str:
        return f"{self.role} is '{self.value}': {self.why}."


@dataclass(frozen=True)
class Guess:
    """Hold what was given, with what could be guessed added to it, and why each role was guessed.

    Reasons name values, so they are for the person whose data it is.
    """

    words: RoleOptions
    by_role: dict[str, Reason] = field(default_factory=dict)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The sentences, in the order of the roles."""
        return tuple(map(str, self.by_role.values()))


def guess(
    opened: Opened,
    words: RoleOptions | None = None,
    *,
    rows: Rows | None = None,
    person: bool = False,
) -> Guess:
    """Guess the roles that are missing, from names of columns and from the rows.

    Whether a guess is right is for a person to say: a name tells little, and the privileged group is guessed
    as the one with the most positive outcomes. What the `words` say already stays as it is; `rows` that were
    read for another guess need not be read again. With `person`, a column that seems to number people
    with several rows is looked for too.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evenhand.study import DataSource
    >>> from evenhand.study.intake.opening import Opened
    >>> people = pa.table({"sex": ["f", "m", "m", "f"] * 20, "hired": ["no", "yes", "yes", "yes"] * 20})
    >>> found = guess(Opened(DataSource(path="people.csv"), people))
    >>> found.words.target, found.words.positive, found.words.protected, found.words.privileged
    ('hired', 'yes', 'sex', 'm')
    >>> print(found.reasons[0])
    target is 'hired': it has two values and is named like an outcome; it is the last column.
    """
    given = name_columns(words or RoleOptions(), opened.names, opened.unread)
    reasons: dict[str, Reason] = {}
    known_people = opened.schema is not None or given.person is not None or not person
    whose = None if known_people else find_repeated_people(open_frame(opened.frame).to_arrow())
    if whose is not None and whose.column not in given.named:
        why = "its values repeat, and what a person is stays the same within each"
        reasons["person"] = Reason("person", whose.column, why)
        given, rows = replace(given, person=whose.column), None
    rows = rows or read_rows(opened, given)
    known = with_declared_roles(given, opened.schema)
    for role in ROLES:
        if getattr(known, role):
            continue
        guessed = getattr(rows, f"guess_{role}")(known)
        if guessed is not None:
            value, why = guessed
            change: dict[str, Any] = {role: value}
            known = replace(known, **change)
            shown = ", ".join(value) if isinstance(value, tuple) else value
            reasons[role] = Reason(role, shown, why)
    dropped = [] if opened.schema else rows.useless(known)
    if dropped:
        names = tuple(name for names, _ in dropped for name in names)
        known = replace(known, drop=(*known.drop, *names))
        reasons["drop"] = Reason("drop", ", ".join(names), "; ".join(why for _, why in dropped))
    return Guess(known, reasons)


def read_rows(opened: Opened, words: RoleOptions) -> Rows:
    """Return what roles are guessed from: the rows, and the domain of every column that can be used.

    Bands and the sides of a threshold are groups and outcomes like any other, so such a column is read as its
    labels.
    """
    named = name_columns(words, opened.names, opened.unread)
    frame, drop = open_frame(opened.frame), {*named.drop, named.weight, named.person}
    columns: Iterable[Column | None] = opened.schema or (
        draft_column(frame.select(name), name, "sensitive", band=named.bands.get(name, "")).column
        for name in opened.names
        if name not in drop
    )
    kept = [column for column in columns if column is not None and column.name not in drop]
    cut, _ = cut_target(kept, named.target, named.positive)
    domains = {column.name: column.domain for column in cut}
    for name, domain in domains.items():
        if domain.kind == "categorical" or (domain.size > 2 and name not in named.bands):
            continue
        column = Column(name, domain, outside="other", nulls="other")
        codes = Table.encode(frame.select(name), Schema([column]))[name]
        labels = [*domain.labels, None]
        texts = [labels[code] for code in codes.tolist()]
        series = nw.new_series(name, texts, nw.String(), backend=frame.implementation)
        frame, domains[name] = frame.with_columns(series), Domain.categorical(list(domain.labels))
    return Rows(frame, domains)


@dataclass(frozen=True)
class Rows:
    """The rows to guess from, and the domain of every column that can be used.

    A guess is a name or a value with its reason, or None.
    """

    frame: nw.DataFrame[Any]
    domains: dict[str, Domain]

    def is_amount(self, name: str | None) -> bool:
        """Return whether a column holds so many numbers that an outcome needs a threshold."""
        domain = self.domains.get(name or "")
        if domain is None or domain.kind == "categorical":
            return False
        return bool(self.frame.get_column(str(name)).dtype.is_numeric())

    def guess_target(self, known: RoleOptions) -> tuple[str, str] | None:
        """Return a column of two values, or else one of numbers, by its name and its place."""
        taken = {*known.protected_columns, *known.sensitive, *known.drop}
        free = [
            name
            for name in self.domains
            if name not in taken and not self.is_identifier(name) and not self._is_transformed(name)
        ]
        two = [name for name in free if self.domains[name].size == 2]
        outcomes = [name for name in two if is_named(name, "outcomes")]
        if outcomes:
            chosen = max(outcomes, key=self._outcome_rank)
            why = f"it has two values and is named like an outcome{self._place(chosen)}"
            return chosen, f"{why}{_others(outcomes, chosen)}"
        several = [name for name in free if self._is_outcome_of_several(name)]
        amounts = [name for name in free if self.is_amount(name)]
        named = [name for name in amounts if is_named(name, "amounts")]
        named = named or [name for name in amounts if any(stem in name.lower() for stem in WORDS["stems"])]
        for place, chosen in (("last", self.frame.columns[-1]), ("first", self.frame.columns[0])):
            if chosen not in two or self._is_of_a_person(chosen) or self._is_derived(chosen, known):
                continue
            if not several and (place == "last" or all(map(len, _welcome(self.domains[chosen])))):
                return chosen, f"it is the {place} column and has two values"
        if named:
            chosen = max(named, key=self._outcome_rank)
            why = f"it holds numbers and is named like an outcome{self._place(chosen)}"
            return chosen, f"{why}{_others(named, chosen)}"
        if several:
            chosen = max(several, key=self._outcome_rank)
            why = f"it has {self.domains[chosen].size} values and is named like an outcome"
            return chosen, f"{why}{self._place(chosen)}{_others(several, chosen)}"
        return None

    def _is_of_a_person(self, name: str) -> bool:
        """Whether a column tells what somebody is: by its name, or as one value of several of a variable."""
        return is_named(name, "personal") or is_named(name, "dummies") or bool(self.siblings(name))

    def _is_outcome_of_several(self, name: str) -> bool:
        """Return whether a column of a few values is named like an outcome; people say which is welcome."""
        domain = self.domains[name]
        is_few = domain.kind == "categorical" and 2 < domain.size <= _MOST_GROUPS
        return is_few and is_named(name, "outcomes") and not is_named(name, "personal")

    def _is_derived(self, name: str, known: RoleOptions) -> bool:
        """Return whether a column follows from another one, or from two, and is not named like an outcome."""
        if is_named(name, "unwelcome"):
            return False
        if list(self.domains[name].labels) in _ZERO_ONE:
            mine = self._ones[name]
            others = [each for each in self._ones.values() if (each != mine).any()]
            wider = [each for each in others if not (mine & ~each).any()]
            if len(wider) > 1 and (np.logical_and.reduce(wider) == mine).all():
                return True
        twins = self.twins_of_target(replace(known, target=name))
        return any(self.domains[twin].size > self.domains[name].size for twin in twins)

    def is_identifier(self, name: str) -> bool:
        """Whether a column is named like a number of people or things, and has as many values."""
        domain = self.domains[name]
        return is_named(name, "identifiers") and (domain.kind != "categorical" or domain.size > FEW)

    def _is_transformed(self, name: str) -> bool:
        """Whether a column is named as the logarithm or the square of another one."""
        return any(
            name in {f"l{other}", f"log{other}", f"log_{other}", f"{other}sq", f"{other}_sq"}
            for other in self.frame.columns
        )

    def siblings(self, name: str) -> tuple[str, ...]:
        """Return the other columns that are values of the same variable as one of 0 and 1."""
        mine = next((names for names in self._variables if name in names), ())
        return tuple(other for other in mine if other != name)

    @cached_property
    def _variables(self) -> tuple[tuple[str, ...], ...]:
        """Columns of 0 and 1 that are values of one variable: nobody has 1 in two of them.

        Two such columns would often be 1 together if they had nothing to do with each other.
        """
        found: list[tuple[list[str], Any]] = []
        for name, mine in self._ones.items():
            for names, others in found:
                if not (mine & others).any() and mine.mean() * others.sum() >= _MET_BY_CHANCE:
                    names.append(name)
                    others[mine] = True
                    break
            else:
                found.append(([name], mine.copy()))
        return tuple(tuple(names) for names, _ in found if len(names) > 1)

    @cached_property
    def _ones(self) -> dict[str, Any]:
        """Who has 1 in each column of 0 and 1."""
        return {
            name: self._are(name, domain.values[1])
            for name, domain in self.domains.items()
            if domain.kind == "categorical" and list(domain.labels) in _ZERO_ONE
        }

    def _are(self, name: str, value: Any) -> Any:
        """Return whose value in a column is this one; nobody's is that misses."""
        same = (self.frame.get_column(name) == value).to_list()
        return np.array([each is True for each in same])

    def _outcome_rank(self, name: str) -> tuple[bool, bool, int]:
        """Return what makes one outcome likelier than another: its name, its place, and then its order."""
        return not is_named(name, "unwelcome"), bool(self._place(name)), self.frame.columns.index(name)

    def _place(self, name: str) -> str:
        places = {self.frame.columns[0]: "first", self.frame.columns[-1]: "last"}
        return f"; it is the {places[name]} column" if name in places else ""

    def guess_positive(self, known: RoleOptions) -> tuple[str, str] | None:
        """Return the welcome one of two values, by what it reads like and what the column is named."""
        domain = self.domains.get(known.target or "")
        if domain is None or domain.size != 2:
            return None
        labels = [str(label) for label in domain.labels]
        unwelcome = is_named(known.target or "", "unwelcome")
        yes, no = _welcome(domain)
        if len(yes) != 1 and len(no) == 1:
            yes = [label for label in labels if label not in no]
        if len(yes) != 1:
            return None
        if unwelcome:
            other = labels[1 - labels.index(yes[0])]
            return other, f"'{known.target}' is named like something that people hope to avoid"
        return yes[0], "it reads like the welcome one of the two values"

    def guess_protected(self, known: RoleOptions) -> tuple[str, str] | None:
        """Return a column of a few groups, by its name."""
        for word in WORDS["compared"]:
            for name, domain in self.domains.items():
                if word in name_tokens(name) and 2 <= domain.size <= _MOST_GROUPS and name != known.target:
                    why = f"it is named like groups that are often compared, and has {domain.size} values"
                    return name, why
        for word in WORDS["dummies"]:
            for name, domain in self.domains.items():
                if word in name_tokens(name) and domain.size == 2 and name != known.target:
                    return name, "it has two values and is named after a group of people"
        return None

    def guess_privileged(self, known: RoleOptions) -> tuple[str, str] | None:
        """Return the group with the most positive outcomes, small groups apart."""
        if len(known.protected_columns) > 1:  # then the largest difference of any two groups is compared
            return None
        protected = self.domains.get("".join(known.protected_columns))
        target = self.domains.get(known.target or "")
        if protected is None or target is None or protected.kind != "categorical" or protected.size > FEW:
            return None
        outcomes, why, best = self.frame.get_column(str(known.target)), "the most positive outcomes", max
        if self.is_amount(known.target):
            best = min if is_named(str(known.target), "unwelcome") else max
            why = f"the {'lowest' if best is min else 'highest'} '{known.target}' on average"
        elif target.kind == "categorical" and known.positive is not None:
            value = value_of(target, rule_text(known.positive) or known.positive)
            outcomes = outcomes == value
        else:
            return None
        groups = self.frame.get_column(str(known.protected))
        fewest = min(30, len(groups) // 10)
        means = {}
        for label, value in zip(protected.labels, protected.values, strict=True):
            mine = outcomes.filter(groups == value).drop_nulls()
            if len(mine) >= max(fewest, 1):
                means[label] = float(mine.mean())
        if len(means) < 2:
            return None
        ahead = best(means, key=lambda label: means[label])
        return ahead, f"that group has {why} in these rows"

    def guess_sensitive(self, known: RoleOptions) -> tuple[tuple[str, ...], str] | None:
        """Return the columns that are named like what a person is."""
        personal = [
            name
            for name in self.domains
            if name != known.target
            and (name in known.protected_columns or is_named(name, "personal") or self._is_dummy(name))
        ]
        apart = {other for name in known.protected_columns for other in self.siblings(name)}
        beside = [name for one in personal for name in self.siblings(one) if name != known.target]
        whole = tuple(dict.fromkeys(name for name in (*personal, *beside) if name not in apart))
        return (whole, "named like what a person is rather than does") if whole else None

    def useless(self, known: RoleOptions) -> list[tuple[tuple[str, ...], str]]:
        """Return columns that should be no features, with why: numbers, and what gives a role away."""
        roles = {known.target, *known.protected_columns, *known.sensitive, *known.drop}
        free = [name for name in self.domains if name not in roles]
        twins = self.twins_of_target(known)
        gives = "it gives" if len(twins) == 1 else "they give"
        reasons: dict[str, Collection[str]] = {
            "it numbers rows or people, and is no feature": [
                name
                for name in free
                if self.is_identifier(name) and draft_column(self.frame, name, "clear").column is not None
            ],
            f"{gives} '{known.target}' away, and a model would use nothing else": twins,
        }
        for role in (*known.protected_columns, *as_names(known.target)):
            reasons[f"of the same variable as '{role}', which would be given away"] = self.siblings(role)
        whole = []
        for why, names in reasons.items():
            chosen = tuple(name for name in free if name in names)
            free = [name for name in free if name not in chosen]
            whole += [(chosen, why)] if chosen else []
        return whole

    def twins_of_target(self, known: RoleOptions) -> tuple[str, ...]:
        """Return the columns of which each value comes with one value of the target only.

        There are none where little else would be left.
        """
        target = self.domains.get(known.target or "")
        if target is None or not (target.size == 2 or self.is_amount(known.target)):
            return ()
        kept = {known.target, *known.protected_columns, *known.sensitive, *known.drop}
        twins = tuple(
            name
            for name, domain in self.domains.items()
            if name not in kept
            and (
                self._orders_target(name, str(known.target))
                if self.is_amount(name)
                else target.size == 2
                and domain.kind == "categorical"
                and domain.size <= FEW
                and self._says_target(name, str(known.target))
            )
        )
        return twins if len(self.domains) - len(twins) >= 2 else ()

    def _says_target(self, name: str, target: str) -> bool:
        pairs = self.frame.select([name, target]).drop_nulls()
        seen = pairs.unique()
        values, outcomes = seen.get_column(name).n_unique(), seen.get_column(target).n_unique()
        often = len(pairs) >= _FEWEST_OF_A_VALUE * len(self.domains[name].labels)
        return often and outcomes == 2 and len(seen) == values

    def _orders_target(self, name: str, target: str) -> bool:
        """Whether a column of numbers gives the target: in its order, the target only rises or only falls."""
        pairs = self.frame.select([name, target]).drop_nulls()
        numbers, outcomes = pairs.get_column(name).to_numpy(), pairs.get_column(target)
        values = outcomes.unique().to_list()
        if len(pairs) < _FEWEST_OF_A_VALUE * 2 or len(values) < 2:
            return False
        if not self.is_amount(target):
            outcomes = outcomes == values[0]
            if not _FEWEST_OF_A_VALUE <= int(outcomes.sum()) <= len(pairs) - _FEWEST_OF_A_VALUE:
                return False
        found = outcomes.to_numpy().astype(float)
        return any((np.diff(way[np.lexsort((-way, numbers))]) >= 0).all() for way in (found, -found))

    def _is_dummy(self, name: str) -> bool:
        return self.domains[name].size == 2 and is_named(name, "dummies")


def dummy_labels(column: Column) -> dict[str, str]:
    """Return labels for a column of 0 and 1 that says whether somebody is in a group; empty if it is another.

    >>> from evenhand.schema import Column, Domain
    >>> dummy_labels(Column("female", Domain.categorical([0, 1])))
    {'0': 'not female', '1': 'female'}
    """
    word = next((word for word in WORDS["dummies"] if word in name_tokens(column.name)), "")
    if not word or list(column.domain.labels) not in _ZERO_ONE:
        return {}
    no, yes = column.domain.labels
    return {no: word.removeprefix("non") if word.startswith("non") else f"not {word}", yes: word}


def name_tokens(name: str) -> frozenset[str]:
    """Return the words of a column's name, in small letters.

    >>> sorted(name_tokens("two_yearRecid"))
    ['recid', 'two', 'year']
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return frozenset(re.findall(r"[a-z]+[0-9]*[a-z]*|[0-9]+", parted.lower()))


def is_named(name: str, kind: str) -> bool:
    """Return whether a column is named by one of the words of a kind, a year after it or not.

    >>> is_named("born60", "personal"), is_named("bornite", "personal")
    (True, False)
    """
    tokens = name_tokens(name)
    return not {*tokens, *(token.rstrip("0123456789") for token in tokens)}.isdisjoint(WORDS[kind])


def _welcome(domain: Domain) -> tuple[list[str], list[str]]:
    """Return the values that read like the welcome ones, and those that read like the others."""
    labels = [str(label) for label in domain.labels]
    yes = [label for label in labels if _means(label, WORDS["yes"]) or label.strip().startswith(">")]
    no = [label for label in labels if _means(label, WORDS["no"]) or label.strip().startswith("<")]
    return yes, no


def _others(names: Iterable[str], chosen: str) -> str:
    """Return which other columns could be meant, for the end of a reason."""
    hoped = [name for name in names if is_named(name, "unwelcome") <= is_named(chosen, "unwelcome")]
    others = [f"'{name}'" for name in hoped if name != chosen][:3]
    return f"; so could be {', '.join(others)}" if others else ""


def _means(label: str, words: Iterable[str]) -> bool:
    """Tell whether a value begins with one of the words.

    >>> _means("Yes, hired", WORDS["yes"]), _means("1", WORDS["yes"]), _means("10", WORDS["yes"])
    (True, True, False)
    """
    first = re.findall(r"[a-z]+|[0-9.]+", label.lower())
    return bool(first) and first[0].rstrip(".") in words
