"""Roles guessed from a frame, each with its reason. A guess is only made when somebody asks for it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.schema.infer import FEW, open_frame
from evenhand.study.intake.draft import draft_column
from evenhand.study.intake.setup import RoleOptions, column_named, columns_to_drop, value_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import narwhals as nw

    from evenhand.schema import Domain
    from evenhand.study.intake.opening import Opened

__all__ = ["Guess", "guess"]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_OUTCOMES = _words("""
    accepted admission admit admitted approval approved bar class coverage credit decision default defaulted
    denied employed esr fraud granted hire hired income insured invited label loan offer offered outcome pass
    passed pubcov readmitted recid recidivism rejected result salary score selected status success survived
    target y
""")
_UNWELCOME = _words("""
    arrest arrested bad churn default defaulted denial denied fail failed fraud readmitted recid recidivism
    refused rejected rejection risk
""")
_YES = _words("""
    1 1.0 accepted admitted approved good granted high hired invited offered paid pass passed positive
    selected success survived t true y yes
""")
_NO = _words("""
    0 0.0 bad declined denied f fail failed false low n negative no none not refused rejected unpaid
""")
_COMPARED = _words("""
    sex gender race racial ethnicity ethnic minority foreign migration nationality citizenship disability
    disabled religion marital
""")
_PERSONAL = _words("""
    age birth born caste children citizen citizenship color country dis disability disabled ethnic ethnicity
    family foreign gender health hispanic language marital married migration military minority nationality
    native nativity origin orientation pregnant race rac1p racial religion sex veteran
""")
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
    given = _named(opened, words or RoleOptions())
    frame = open_frame(opened.frame)
    domains = _domains(frame, opened, set(given.drop))
    reasons: list[str] = []
    known = _declared(opened, given)
    for role, find in (
        ("target", _target),
        ("positive", _positive),
        ("protected", _protected),
        ("privileged", _privileged),
        ("sensitive", _sensitive),
    ):
        if getattr(known, role):
            continue
        found = find(frame, domains, known)
        if found is not None:
            value, why = found
            told: dict[str, Any] = {role: value}
            known = replace(known, **told)
            shown = ", ".join(value) if isinstance(value, tuple) else value
            reasons.append(f"{role} is '{shown}': {why}.")
    return Guess(known, tuple(reasons))


def _named(opened: Opened, given: RoleOptions) -> RoleOptions:
    """Return the words with names as the data has them."""
    known, others = opened.names, opened.unread
    return replace(
        given,
        target=given.target and column_named(given.target, known, others),
        protected=given.protected and column_named(given.protected, known, others),
        sensitive=tuple(column_named(name, known, others) for name in given.sensitive),
        drop=columns_to_drop(given.drop, known, others),
    )


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
            told: dict[str, Any] = {role: str(value)}
            known = replace(known, **told)
    return known if known.sensitive else replace(known, sensitive=schema.sensitive)


def _domains(frame: nw.DataFrame[Any], opened: Opened, drop: set[str]) -> dict[str, Domain]:
    """Return the domain of every column that can be used."""
    if opened.schema is not None:
        return {column.name: column.domain for column in opened.schema if column.name not in drop}
    drafts = {
        name: draft_column(frame, name, "sensitive").column for name in opened.names if name not in drop
    }
    return {name: column.domain for name, column in drafts.items() if column is not None}


def _target(
    frame: nw.DataFrame[Any], domains: dict[str, Domain], known: RoleOptions
) -> tuple[str, str] | None:
    taken = {known.protected, *known.sensitive}
    two = [name for name, domain in domains.items() if domain.size == 2 and name not in taken]
    outcomes = [name for name in two if _tokens(name).intersection(_OUTCOMES)]
    if outcomes:
        return outcomes[-1], "it has two values and is named like an outcome"
    last = frame.columns[-1]
    if last in two and not _tokens(last).intersection(_PERSONAL):
        return last, "it is the last column and has two values"
    return None


def _positive(
    frame: nw.DataFrame[Any],  # noqa: ARG001 - each guess is given the same
    domains: dict[str, Domain],
    known: RoleOptions,
) -> tuple[str, str] | None:
    domain = domains.get(known.target or "")
    if domain is None or domain.size != 2:
        return None
    labels = [str(each) for each in domain.labels]
    unwelcome = bool(_tokens(known.target or "").intersection(_UNWELCOME))
    yes = [label for label in labels if _means(label, _YES) or label.strip().startswith(">")]
    no = [label for label in labels if _means(label, _NO) or label.strip().startswith("<")]
    if len(yes) != 1 and len(no) == 1:
        yes = [label for label in labels if label not in no]
    if len(yes) != 1:
        return None
    if unwelcome:
        other = labels[1 - labels.index(yes[0])]
        return other, f"'{known.target}' is named like something that people hope to avoid"
    return yes[0], "it reads like the welcome one of the two values"


def _protected(
    frame: nw.DataFrame[Any],  # noqa: ARG001 - as above
    domains: dict[str, Domain],
    known: RoleOptions,
) -> tuple[str, str] | None:
    for word in _COMPARED:
        for name, domain in domains.items():
            if word in _tokens(name) and 2 <= domain.size <= _MOST_GROUPS and name != known.target:
                return name, f"it is named like groups that are often compared, and has {domain.size} values"
    return None


def _privileged(
    frame: nw.DataFrame[Any], domains: dict[str, Domain], known: RoleOptions
) -> tuple[str, str] | None:
    """Return the group with the most positive outcomes, small groups apart."""
    protected, target = domains.get(known.protected or ""), domains.get(known.target or "")
    if protected is None or target is None or known.positive is None or protected.kind != "categorical":
        return None
    positive = value_of(target, known.positive)
    if positive is None or target.kind != "categorical" or protected.size > FEW:
        return None
    groups = frame.get_column(str(known.protected))
    good = frame.get_column(str(known.target)) == positive
    fewest = min(30, len(groups) // 10)
    shares = {}
    for label, value in zip(protected.labels, protected.values, strict=True):
        mine = good.filter(groups == value).drop_nulls()
        if len(mine) >= max(fewest, 1):
            shares[label] = float(mine.mean())
    if len(shares) < 2:
        return None
    return max(
        shares, key=lambda label: shares[label]
    ), "that group has the most positive outcomes in these rows"


def _sensitive(
    frame: nw.DataFrame[Any],  # noqa: ARG001 - as above
    domains: dict[str, Domain],
    known: RoleOptions,
) -> tuple[tuple[str, ...], str] | None:
    personal = [
        name
        for name in domains
        if name != known.target and (name == known.protected or _tokens(name).intersection(_PERSONAL))
    ]
    return (tuple(personal), "named like what a person is rather than does") if personal else None


def _tokens(name: str) -> frozenset[str]:
    """Return the words of a column's name, in small letters.

    >>> sorted(_tokens("two_yearRecid"))
    ['recid', 'two', 'year']
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return frozenset(re.findall(r"[a-z]+[0-9]*[a-z]*|[0-9]+", parted.lower()))


def _means(label: str, words: Iterable[str]) -> bool:
    """Tell whether a value begins with one of the words.

    >>> _means("Yes, hired", _YES), _means("1", _YES), _means("10", _YES)
    (True, True, False)
    """
    first = re.findall(r"[a-z]+|[0-9.]+", label.lower())
    return bool(first) and first[0].rstrip(".") in words
