"""Roles guessed from a frame, each with its reason. A guess is only made when somebody asks for it."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.schema.infer import FEW, open_frame
from evenhand.study.intake.draft import draft_column
from evenhand.study.intake.setup import ROLES, RoleOptions, name_columns
from evenhand.study.intake.typed_values import value_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import narwhals as nw

    from evenhand.schema import Domain
    from evenhand.study.intake.opening import Opened

_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_MOST_GROUPS = 10


@dataclass(frozen=True)
class Guess:
    """What was guessed, and why.

    Parameters
    ----------
    words : RoleOptions
        What was given, with what could be guessed added to it.
    reasons : tuple of str
        A sentence for each role that was guessed. They name values, so they are for the person whose data it
        is.
    """

    words: RoleOptions
    reasons: tuple[str, ...] = ()


def guess(opened: Opened, words: RoleOptions | None = None) -> Guess:
    """Guess the roles that are missing, from names of columns and from the rows.

    Whether a guess is right is for a person to say: a name tells little, and the privileged group is guessed
    as the one with the most positive outcomes.

    Parameters
    ----------
    opened : Opened
    words : RoleOptions, optional
        What is known already; it stays as it is.

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
    target is 'hired': it has two values and is named like an outcome.
    """
    given = name_columns(words or RoleOptions(), opened.names, opened.unread)
    frame = open_frame(opened.frame)
    rows = _Rows(frame, _domains(frame, opened, set(given.drop)))
    reasons: list[str] = []
    known = _declared(opened, given)
    for role in ROLES:
        if getattr(known, role):
            continue
        guessed = getattr(rows, f"guess_{role}")(known)
        if guessed is not None:
            value, why = guessed
            change: dict[str, Any] = {role: value}
            known = replace(known, **change)
            shown = ", ".join(value) if isinstance(value, tuple) else value
            reasons.append(f"{role} is '{shown}': {why}.")
    return Guess(known, tuple(reasons))


def _declared(opened: Opened, given: RoleOptions) -> RoleOptions:
    """Return the words with the roles that a declared schema has."""
    schema = opened.schema
    if schema is None:
        return given
    known = given
    for role, owner in (
        ("target", ""),
        ("positive", "target"),
        ("protected", ""),
        ("privileged", "protected"),
    ):
        value = getattr(schema, role)
        same = not owner or getattr(known, owner) == getattr(schema, owner)
        if getattr(known, role) is None and value is not None and same:
            change: dict[str, Any] = {role: str(value)}
            known = replace(known, **change)
    return known if known.sensitive else replace(known, sensitive=schema.sensitive)


def _domains(frame: nw.DataFrame[Any], opened: Opened, drop: set[str]) -> dict[str, Domain]:
    """Return the domain of every column that can be used."""
    if opened.schema is not None:
        return {column.name: column.domain for column in opened.schema if column.name not in drop}
    drafts = {
        name: draft_column(frame, name, "sensitive").column for name in opened.names if name not in drop
    }
    return {name: column.domain for name, column in drafts.items() if column is not None}


@dataclass(frozen=True)
class _Rows:
    """The rows to guess from, and the domain of every column that can be used.

    A guess is a name or a value with its reason, or None.
    """

    frame: nw.DataFrame[Any]
    domains: dict[str, Domain]

    def guess_target(self, known: RoleOptions) -> tuple[str, str] | None:
        taken = {known.protected, *known.sensitive}
        two = [name for name, domain in self.domains.items() if domain.size == 2 and name not in taken]
        outcomes = [name for name in two if _is_named(name, "outcomes")]
        if outcomes:
            return outcomes[-1], "it has two values and is named like an outcome"
        last = self.frame.columns[-1]
        if last in two and not _is_named(last, "personal"):
            return last, "it is the last column and has two values"
        return None

    def guess_positive(self, known: RoleOptions) -> tuple[str, str] | None:
        domain = self.domains.get(known.target or "")
        if domain is None or domain.size != 2:
            return None
        labels = [str(label) for label in domain.labels]
        unwelcome = _is_named(known.target or "", "unwelcome")
        yes = [label for label in labels if _means(label, _WORDS["yes"]) or label.strip().startswith(">")]
        no = [label for label in labels if _means(label, _WORDS["no"]) or label.strip().startswith("<")]
        if len(yes) != 1 and len(no) == 1:
            yes = [label for label in labels if label not in no]
        if len(yes) != 1:
            return None
        if unwelcome:
            other = labels[1 - labels.index(yes[0])]
            return other, f"'{known.target}' is named like something that people hope to avoid"
        return yes[0], "it reads like the welcome one of the two values"

    def guess_protected(self, known: RoleOptions) -> tuple[str, str] | None:
        for word in _WORDS["compared"]:
            for name, domain in self.domains.items():
                if word in _tokens(name) and 2 <= domain.size <= _MOST_GROUPS and name != known.target:
                    why = f"it is named like groups that are often compared, and has {domain.size} values"
                    return name, why
        return None

    def guess_privileged(self, known: RoleOptions) -> tuple[str, str] | None:
        """Return the group with the most positive outcomes, small groups apart."""
        protected, target = self.domains.get(known.protected or ""), self.domains.get(known.target or "")
        if protected is None or target is None or known.positive is None or protected.kind != "categorical":
            return None
        positive = value_of(target, known.positive)
        if positive is None or target.kind != "categorical" or protected.size > FEW:
            return None
        groups = self.frame.get_column(str(known.protected))
        good = self.frame.get_column(str(known.target)) == positive
        fewest = min(30, len(groups) // 10)
        shares = {}
        for label, value in zip(protected.labels, protected.values, strict=True):
            mine = good.filter(groups == value).drop_nulls()
            if len(mine) >= max(fewest, 1):
                shares[label] = float(mine.mean())
        if len(shares) < 2:
            return None
        ahead = max(shares, key=lambda label: shares[label])
        return ahead, "that group has the most positive outcomes in these rows"

    def guess_sensitive(self, known: RoleOptions) -> tuple[tuple[str, ...], str] | None:
        personal = [
            name
            for name in self.domains
            if name != known.target and (name == known.protected or _is_named(name, "personal"))
        ]
        return (tuple(personal), "named like what a person is rather than does") if personal else None


def _tokens(name: str) -> frozenset[str]:
    """Return the words of a column's name, in small letters.

    >>> sorted(_tokens("two_yearRecid"))
    ['recid', 'two', 'year']
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return frozenset(re.findall(r"[a-z]+[0-9]*[a-z]*|[0-9]+", parted.lower()))


def _is_named(name: str, kind: str) -> bool:
    """Return whether a column is named by one of the words of a kind."""
    return not _tokens(name).isdisjoint(_WORDS[kind])


def _means(label: str, words: Iterable[str]) -> bool:
    """Tell whether a value begins with one of the words.

    >>> _means("Yes, hired", _WORDS["yes"]), _means("1", _WORDS["yes"]), _means("10", _WORDS["yes"])
    (True, True, False)
    """
    first = re.findall(r"[a-z]+|[0-9.]+", label.lower())
    return bool(first) and first[0].rstrip(".") in words
