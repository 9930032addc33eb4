"""Schemas of any kind, for Hypothesis."""

import datetime as dt

from hypothesis import strategies as st

from evenhand.schema import Column, Domain, Level, Schema
from evenhand.schema.bands import FORMS

TEXTS = st.text(max_size=12)
NAMES = st.text(min_size=1, max_size=12)
INTEGERS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
RULES = st.sampled_from(["error", "other", "drop"])


@st.composite
def categorical(draw):
    values = draw(st.sampled_from([TEXTS, INTEGERS, st.booleans(), FLOATS]))
    return Domain.categorical(
        draw(st.lists(values, min_size=1, max_size=6, unique=True)), ordered=draw(st.booleans())
    )


@st.composite
def ranges(draw):
    low = draw(st.integers(-(2**62), 2**62))
    return Domain.integers(low, low + draw(st.integers(0, 20) | st.integers(0, 2**61)))


@st.composite
def binned(draw):
    edges = sorted(draw(st.lists(FLOATS, min_size=2, max_size=7, unique_by=lambda edge: edge + 0.0)))
    count = len(edges) - 1
    labels = draw(st.none() | st.lists(NAMES, min_size=count, max_size=count, unique=True))
    return Domain.binned(edges, labels=labels)


@st.composite
def dates(draw):
    days = sorted(draw(st.tuples(*[st.dates(dt.date(1900, 1, 1), dt.date(1999, 12, 31))] * 2)))
    return Domain.dates(
        *days, band=draw(st.sampled_from(["100y", "30y", "50y"])), written=draw(st.sampled_from(FORMS))
    )


@st.composite
def thresholds(draw):
    number = draw(st.floats(-1e9, 1e9))
    return Domain.threshold(f"{draw(st.sampled_from(['>=', '>', '<', '<=']))} {number + 0.0!r}")


DOMAINS = categorical() | ranges() | binned() | dates() | thresholds()


def members(domain):
    """Return the public values of a domain, in the order of their codes."""
    if domain.kind == "integers":
        return list(range(domain.low, domain.high + 1))
    return list(domain.values if domain.kind == "categorical" else domain.labels)


@st.composite
def groupings(draw, items, name, of=None):
    """Put `items` into groups, in any order."""
    shuffled = draw(st.permutations(items))
    owners = draw(st.lists(st.integers(0, 3), min_size=len(items), max_size=len(items)))
    labels = draw(st.lists(NAMES, min_size=4, max_size=4, unique=True))
    groups = {}
    for item, owner in zip(shuffled, owners, strict=True):
        groups.setdefault(labels[owner], []).append(item)
    return Level(name, groups, of=of)


@st.composite
def cut_levels(draw, domain, name):
    inner = (
        list(domain.edges[1:-1]) if domain.kind == "binned" else list(range(domain.low + 1, domain.high + 1))
    )
    cuts = sorted(draw(st.sets(st.sampled_from(inner), max_size=4))) if inner else []
    count = len(cuts) + 1
    labels = draw(st.just([]) | st.lists(NAMES, min_size=count, max_size=count, unique=True))
    return Level(name, cuts=cuts, labels=labels)


@st.composite
def hierarchies(draw, domain):
    """Return up to two levels, the second made of the groups of the first."""
    if domain.size > 30 or not draw(st.booleans()):
        return ()
    first, second = draw(st.lists(NAMES, min_size=2, max_size=2, unique=True))
    if domain.form in {"integers", "binned"} and draw(st.booleans()):
        fine = draw(cut_levels(domain, first))
    else:
        fine = draw(groupings(members(domain), first))
    if not draw(st.booleans()):
        return (fine,)
    labels = Column("x", domain, levels=[fine]).level(first).labels
    return (fine, draw(groupings(list(labels), second, of=first)))


@st.composite
def columns(draw, name):
    domain = draw(DOMAINS)
    rules = {"outside": draw(RULES), "nulls": draw(RULES), "inferred": draw(st.booleans())}
    return Column(name, domain, levels=draw(hierarchies(domain)), **rules)


def _values(column):
    """Return a strategy for values of the domain of `column`, or None."""
    domain = column.domain
    inside = (
        st.integers(domain.low, domain.high)
        if domain.kind == "integers"
        else st.sampled_from(members(domain))
    )
    return st.none() | inside


@st.composite
def schemas(draw):
    """Return a schema with any columns and any roles that fit them."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    made = {name: draw(columns(name)) for name in names}
    protected, target = draw(st.none() | st.sampled_from(names)), draw(st.none() | st.sampled_from(names))
    return Schema(
        list(made.values()),
        sensitive=draw(st.sets(st.sampled_from(names))),
        protected=protected,
        privileged=draw(_values(made[protected])) if protected else None,
        target=target,
        positive=draw(_values(made[target])) if target else None,
        quasi_identifiers=draw(st.sets(st.sampled_from(names))),
    )
