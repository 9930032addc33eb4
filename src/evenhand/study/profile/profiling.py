"""Tell what the rows of a study are like, as far as it bears on what protection does to groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._notebook import aligned, html_table
from evenhand.errors import InvalidParameterError
from evenhand.measure.counts import Tables
from evenhand.measure.dependence import Bounded, dependence
from evenhand.measure.gaps import limits as gap_limits
from evenhand.measure.intervals import check_level, clopper_pearson, share_difference
from evenhand.report.words import interval_of, number
from evenhand.schema.text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.study.plan.facts import Facts
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.base import Prepared

_EVEN = 0.05  # a share of positive labels this near to one half is not skewed
_SHOWN = 5
_NOT_PRIVATE = "Computed from the true rows: this profile is not private and not for publication."


@dataclass(frozen=True)
class Dependence:
    """Hold how strongly two columns depend on each other.

    Parameters
    ----------
    first, second : str
        The columns.
    v : Bounded
        Cramer's V, corrected for chance, as :mod:`evenhand.measure.dependence` has it; NaN where a column
        has a single value, or so many that V says nothing.
    """

    first: str
    second: str
    v: Bounded


@dataclass(frozen=True)
class GroupProfile:
    """One group of the protected column.

    Parameters
    ----------
    label : str
    people : int
    positive : Bounded
        The share of its people whose label is the positive one.
    privileged : bool
        Whether the schema says so.
    """

    label: str
    people: int
    positive: Bounded
    privileged: bool = False


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Hold what the rows are like, computed from the true ones: it is not private.

    Parameters
    ----------
    label : str
        The name of the data.
    people : int
    protected : str
        The column whose groups are compared.
    positive : Bounded
        The share of positive labels.
    groups : tuple of GroupProfile
        In the schema's order.
    gap : Bounded
        The largest difference between the shares of positive labels of two groups.
    order_is_clear : bool
        Whether the interval of :attr:`ahead` minus :attr:`behind`, corrected for how many pairs of groups
        there are, excludes zero.
    sizes : mapping of str to int
        How many values each sensitive column has.
    among_sensitive : tuple of Dependence
        Each pair of sensitive columns, the strongest first.
    clear_columns : tuple of Dependence
        Each column in the clear with the protected one, the strongest first: what may reveal it.
    has_rows : bool
        Whether it was computed from the rows; if not, the dependences are not known.
    level : float
        Of each interval. Intervals are about the people these rows were drawn from.

    Examples
    --------
    >>> from evenhand.study import DataSource, Plan
    >>> from evenhand.study.run.prepare import prepare
    >>> found = profile(prepare(Plan(data=DataSource(dataset="causal", options={"n": 5000}))))
    >>> found.ahead.label, found.behind.label, found.skew
    ('1', '0', 'unclear')
    >>> [f"{pair.first} {pair.second} {pair.v.value:.2f}" for pair in found.among_sensitive]
    ['A M 0.22', 'C A 0.21', 'C M 0.04']
    """

    label: str
    people: int
    protected: str
    positive: Bounded
    groups: tuple[GroupProfile, ...]
    gap: Bounded
    order_is_clear: bool
    sizes: Mapping[str, int]
    among_sensitive: tuple[Dependence, ...] = ()
    clear_columns: tuple[Dependence, ...] = ()
    has_rows: bool = True
    level: float = 0.95

    @property
    def ahead(self) -> GroupProfile:
        """The group with the largest share of positive labels, whatever the schema calls privileged."""
        return max(self.groups, key=lambda group: group.positive.value)

    @property
    def behind(self) -> GroupProfile:
        """The group with the smallest share of positive labels."""
        return min(reversed(self.groups), key=lambda group: group.positive.value)

    @property
    def smallest(self) -> GroupProfile:
        """The group with the fewest people."""
        return min(self.groups, key=lambda group: group.people)

    @property
    def skew(self) -> str:
        """Return which label most people have: ``"positive"``, ``"negative"``, or ``"unclear"``.

        The interval of the share of positive labels must lie beyond 55 % or 45 %. The literature this is for
        calls shares near 75 % and 25 % skewed and those near 50 % balanced.
        """
        if self.positive.low > 0.5 + _EVEN:
            return "positive"
        return "negative" if self.positive.high < 0.5 - _EVEN else "unclear"

    @property
    def strongest(self) -> Dependence | None:
        """The pair of sensitive columns that depend on each other most, if it is known."""
        known = [pair for pair in self.among_sensitive if not math.isnan(pair.v.value)]
        return known[0] if known else None

    @property
    def combinations(self) -> int:
        """Return how many combinations of values the sensitive columns have."""
        return math.prod(self.sizes.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the profile in JSON's types, null where a figure is undefined."""
        told: dict[str, Any] = vars(self) | {"skew": self.skew, "combinations": self.combinations}
        told |= {name: _numbers(told[name]) for name in ("positive", "gap")}
        told["groups"] = [{**vars(group), "positive": _numbers(group.positive)} for group in self.groups]
        told["sizes"] = dict(self.sizes)
        for name in ("among_sensitive", "clear_columns"):
            told[name] = [{"columns": [p.first, p.second], "v": _numbers(p.v)} for p in told[name]]
        return told

    def __str__(self) -> str:
        return "\n".join([_title(self), *_figures(self), "", *aligned(_rows(self)), "", _NOT_PRIVATE])

    def _repr_html_(self) -> str:
        figures = "".join(f"<p>{escape(line)}</p>" for line in _figures(self))
        title, last = escape(_title(self)), escape(_NOT_PRIVATE)
        return f"<div><p>{title}</p>{figures}{html_table(_rows(self))}<p>{last}</p></div>"


def profile(prepared: Prepared, *, level: float = 0.95) -> Profile:
    """Return what the rows are like: skew, gap of the labels, groups, domains and dependences.

    It is computed from the true rows, so it is not private and not for publication.

    Parameters
    ----------
    prepared : Prepared
    level : float
        Of every interval.

    Returns
    -------
    Profile

    Notes
    -----
    Intervals of shares are exact, those of differences are made of these and corrected for the number of
    pairs of groups, and those of :mod:`evenhand.measure.dependence` for Cramer's V.
    """
    level = check_level(level, owner="profile")
    facts, codes = prepared.facts, prepared.codes
    schema = facts.schema
    groups = len(facts.groups)
    positives = np.bincount(prepared.group[prepared.target == 1], minlength=groups)[:groups]
    pairs = [
        Dependence(first, second, dependence(codes[first], codes[second], level=level))
        for first, second in combinations([name for name in schema.sensitive if name in codes], 2)
    ]
    revealing = [
        Dependence(name, schema.protected_name, dependence(codes[name], prepared.group, level=level))
        for name in codes
        if name not in (*schema.sensitive, *schema.protected_columns)
    ]
    return _build_profile(
        facts,
        positives.astype(np.float64),
        level=level,
        among_sensitive=_strongest_first(pairs),
        clear_columns=_strongest_first(revealing),
    )


def profile_of_results(results: ResultData, *, level: float = 0.95) -> Profile:
    """Return what results alone tell of the rows: no dependences, and shares of labels as in the test rows.

    The share of positive labels of each group is the mean over the test rows of the unprotected runs.

    Raises
    ------
    InvalidParameterError
        If no unprotected run has a result.
    """
    level = check_level(level, owner="profile_of_results")
    arrays, facts = results.arrays, results.facts
    rates = arrays.of_groups[0, :, :, arrays.rates.index("base_rate")][:, : len(facts.groups)]
    run = rates[arrays.done[0]]
    if not len(run):
        must_be, got = "results with an unprotected run", "none"
        raise InvalidParameterError("results", owner="profile_of_results", must_be=must_be, got=got)
    defined = np.isfinite(run)  # where somebody of the group is in the test rows
    shares = np.where(defined, run, 0).sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
    return _build_profile(facts, shares * facts.sizes, level=level, has_rows=False)


def _build_profile(facts: Facts, positives: NDArray[np.float64], *, level: float, **known: Any) -> Profile:
    """Return the profile with all that follows from how many people of each group have a positive label."""
    people = np.array(facts.sizes, dtype=np.float64)
    hopeful, there = np.append(positives, positives.sum()), np.append(people, people.sum())
    numbers = zip(hopeful / there, *clopper_pearson(hopeful, there, level), strict=True)
    *shares, everybody = [Bounded(*map(float, each)) for each in numbers]
    groups = tuple(
        GroupProfile(name, facts.sizes[place], shares[place], privileged=place == facts.privileged)
        for place, name in enumerate(facts.groups)
    )
    gap, order_is_clear = _gap(people, positives, level=level)
    return Profile(
        label=facts.label,
        people=int(people.sum()),
        protected=facts.schema.protected_name,
        sizes={name: facts.schema[name].size for name in facts.schema.sensitive},
        positive=everybody,
        groups=groups,
        gap=gap,
        order_is_clear=order_is_clear,
        level=level,
        **known,
    )


def _gap(
    people: NDArray[np.float64], positives: NDArray[np.float64], *, level: float
) -> tuple[Bounded, bool]:
    """Return the gap between the groups, and whether it is clear which is ahead."""
    shares = positives / people
    cells = np.zeros((len(people), 4))
    cells[:, 0], cells[:, 1] = people - positives, positives  # as if predicted: the gap of selection rates
    low, high = gap_limits("sp_gap", Tables(cells), level)
    first, last = int(shares.argmax()), int(shares.argmin())
    pairs = len(people) * (len(people) - 1) / 2
    ahead, _ = share_difference(
        positives[first], people[first], positives[last], people[last], 1 - (1 - level) / pairs
    )
    return Bounded(float(np.ptp(shares)), float(low), float(high)), bool(ahead > 0)


def _strongest_first(pairs: list[Dependence]) -> tuple[Dependence, ...]:
    """Return pairs by how strong they are; those that are not known come last."""
    return tuple(sorted(pairs, key=lambda pair: -pair.v.value if pair.v.value >= 0 else math.inf))


def _share(share: Bounded, unit: str) -> str:
    """Return a share, or a difference of two, with its interval."""
    return f"{number(100 * share.value)}{unit} {interval_of(100 * share.low, 100 * share.high)}"


def _numbers(figure: Bounded) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in vars(figure).items()}


def _title(profile: Profile) -> str:
    people = f"{profile.people:,} {'person' if profile.people == 1 else 'people'}"
    return f"Profile of {visible(profile.label)}: {people}, groups of {visible(profile.protected)}"


def _figures(profile: Profile) -> list[str]:
    domains = ", ".join(f"{visible(name)} {size:,}" for name, size in profile.sizes.items())
    lines = [
        f"Positive labels: {_share(profile.positive, '%')}",
        f"Gap of the labels: {_share(profile.gap, ' points')}",
        f"Values of the sensitive columns: {domains}; {profile.combinations:,} combinations",
    ]
    if not profile.has_rows:
        return [*lines, "How columns depend on each other is not known without the rows"]
    lines += _dependences("Sensitive columns that depend on each other", profile.among_sensitive)
    return lines + _dependences("Columns in the clear that may reveal the groups", profile.clear_columns)


def _dependences(title: str, pairs: Sequence[Dependence]) -> list[str]:
    """Return one line that names the strongest pairs, if there are any."""
    if not pairs:
        return []
    shown = [f"{visible(p.first)} with {visible(p.second)} {_strength(p.v)}" for p in pairs[:_SHOWN]]
    shown += [f"{len(pairs) - _SHOWN:,} weaker"] if len(pairs) > _SHOWN else []
    return [f"{title} (Cramer's V): {'; '.join(shown)}"]


def _strength(v: Bounded) -> str:
    if math.isnan(v.value):
        return "undefined"
    return f"{number(v.value, 2)} {interval_of(v.low, v.high, 2)}"


def _rows(profile: Profile) -> list[list[str]]:
    rows = [["group", "people", "positive", f"{100 * profile.level:g} % interval"]]
    for group in profile.groups:
        value, low, high = (number(100 * share) for share in vars(group.positive).values())
        name = f"{visible(group.label)}{' (privileged)' if group.privileged else ''}"
        rows.append([name, f"{group.people:,}", f"{value}%", f"{low} to {high}"])
    return rows
