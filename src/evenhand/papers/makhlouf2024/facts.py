"""What makhlouf2024 states about its data and mechanisms, and what is so."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand import datasets
from evenhand.collect import GRR
from evenhand.collect.joint.split import split_budget
from evenhand.errors import DataSetNotFoundError
from evenhand.papers.claims import AGREES, DIFFERS, Checked, Claim, cannot_check
from evenhand.papers.makhlouf2024 import checks
from evenhand.papers.makhlouf2024.plans import ADULT, COMPAS, SYNTHETIC
from evenhand.papers.rules import fact

if TYPE_CHECKING:
    from evenhand.papers.claims import Evidence

__all__ = ["FACTS"]

_TABLE_1 = {
    SYNTHETIC[0]: (100_000, "A", ("A", "C", "M")),
    COMPAS[0]: (5_915, "race", ("race", "sex", "age_cat")),
    ADULT[1]: (32_561, "gender", ("gender", "age", "race", "marital-status", "native-country")),
}
_KINDS = {"synthetic": SYNTHETIC, "compas": COMPAS, "adult": ADULT}
_SKEWS = ("skewed to 1", "balanced", "skewed to 0")
_BALANCED = 0.1
_QUARTERS = (0.75, 0.5, 0.25)
_NEAR = 0.005
_CLOSE = 1e-6
_LISTED = ("age", "gender", "native-country", "education-num", "marital-status", "hours-per-week")


def _table_1(name: str) -> Claim:
    people, protected, sensitive = _TABLE_1[name]
    kind = name.partition("-")[0]

    def check(evidence: Evidence) -> Checked:
        facts = evidence.studies[name].facts
        ours = (facts.rows, facts.schema.protected, set(facts.schema.sensitive))
        why = f"Ours: {facts.rows:,} rows; sensitive {', '.join(facts.schema.sensitive)}."
        if kind == "adult":
            why += " The authors' code and files have the 45,849 rows of the reconstructed Adult."
        return fact(ours, (people, protected, set(sensitive)), why=why, printed=f"{people:,}")

    text = f"{kind.title()} has {people:,} rows; protected {protected}; sensitive {', '.join(sensitive)}."
    return Claim(f"data-{kind}", text, "Table 1", check, "fact", (name,))


def _skew(rate: float) -> str:
    """Return the word for a share of positive labels.

    >>> _skew(0.76), _skew(0.47), _skew(0.26)
    ('skewed to 1', 'balanced', 'skewed to 0')
    """
    return _SKEWS[1] if abs(rate - 0.5) <= _BALANCED else _SKEWS[0 if rate > 0.5 else 2]


def _rates(evidence: Evidence, kind: str) -> list[float]:
    return [checks.positive_rate(evidence.studies[name]) for name in _KINDS[kind]]


def _shares(rates: list[float]) -> str:
    return ", ".join(f"{each:.3f}" for each in rates)


def _skewed(kind: str) -> Claim:
    def check(evidence: Evidence) -> Checked:
        rates = _rates(evidence, kind)
        why = f"P(Y = 1) is {_shares(rates)}; within {_BALANCED:g} of a half counts as balanced."
        return fact(tuple(map(_skew, rates)), _SKEWS, why=why, printed="")

    text = f"The three thresholds make {kind.title()} skewed to 1, (almost) balanced and skewed to 0."
    return Claim(f"skew-{kind}", text, "5, Datasets", check, "fact", _KINDS[kind])


def _quartiles(kind: str) -> Claim:
    def check(evidence: Evidence) -> Checked:
        rates = _rates(evidence, kind)
        exact = all(abs(rate - share) <= _NEAR for rate, share in zip(rates, _QUARTERS, strict=True))
        return Checked(AGREES if exact else DIFFERS, f"Ours: {_shares(rates)}.", paper="0.75, 0.5, 0.25")

    text = f"The thresholds leave the top three, two and one quarters of {kind.title()} positive."
    return Claim(f"quarters-{kind}", text, "5.3", check, "fact", _KINDS[kind])


def _footnote(evidence: Evidence) -> Checked:
    rates = _rates(evidence, "compas")
    why = f"P(Y = 1) above 1, 3 and 5 is {_shares(rates)}: the footnote has the skew reversed."
    return fact(tuple(map(_skew, rates)), _SKEWS[::-1], why=why, printed="")


def _score(evidence: Evidence) -> Checked:
    rate = checks.positive_rate(evidence.studies[COMPAS[2]])
    why = f"The score runs from 1 to 10: {rate:.3f} of the people are above 5. Section 5 says so too."
    return Checked(DIFFERS if rate > 0 else AGREES, why, paper="[0, 1]")


def _thirty_days(evidence: Evidence) -> Checked:
    people = evidence.studies[COMPAS[0]].facts.rows
    if people != _TABLE_1[COMPAS[0]][0]:
        return cannot_check(f"There are {people:,} rows, so these are not the paper's.")
    why = (
        "The authors' code joins 'at most 30' and 'at least \N{MINUS SIGN}30' with OR: the 5,915 have a "
        "delay of any length. Within 30 days there are 5,278. The 5,915 are used."
    )
    return Checked(DIFFERS, why, paper="5,915")


def _features(evidence: Evidence) -> Checked:
    schema = evidence.studies[ADULT[1]].facts.schema
    ours = {name for name in schema.names if name != schema.target}
    more = ", ".join(sorted(ours - set(_LISTED)))
    return fact(ours, set(_LISTED), why=f"The authors' files also have {more or 'nothing'}.", printed="")


def _middle(evidence: Evidence) -> Checked:
    data = evidence.studies[ADULT[1]].plan.data
    ours = None if data is None else data.options.get("threshold")
    why = f"The code has {ours:,}, the median; Table 1 rounds it to 27K."
    return fact(ours, 26_000, why=why, printed="26K")


def _mediator(evidence: Evidence) -> Checked:
    data = evidence.studies[SYNTHETIC[0]].plan.data
    options: dict[str, Any] = {} if data is None else dict(data.options)
    try:
        rows = datasets.load("causal", backend="pyarrow", **options).frame
    except DataSetNotFoundError:
        return cannot_check("The synthetic rows are not on this machine any more.")
    group, middle = (np.asarray(rows[name]) for name in ("A", "M"))
    shares = [
        np.bincount(middle[group == each], minlength=3) / np.count_nonzero(group == each) for each in (0, 1)
    ]
    printed = np.abs(shares[0] - (0.35, 0.4, 0.25)).max() < 0.02
    words = "; ".join(f"A = {each}: {', '.join(f'{part:.3f}' for part in shares[each])}" for each in (0, 1))
    why = f"In the data P(M = 0, 1, 2) is {words}. The paper prints the two the other way round."
    return Checked(AGREES if printed else DIFFERS, why if not printed else f"In the data: {words}.")


def _epsilons(_: Evidence) -> Checked:
    return Checked(
        DIFFERS, "The paper's own figures, a quote in section 5.2 and the published runs have 4 as well."
    )


def _ratio(_: Evidence) -> Checked:
    off = 0.0
    for size in (2, 3, 12, 32):
        for epsilon in (0.1, 1, 4):
            made = GRR(size, epsilon)
            off = max(off, abs(made.p / made.q / math.exp(epsilon) - 1))
    why = f"Ours is e^epsilon within a factor of {1 + off:.10f}."
    return Checked(AGREES if off < _CLOSE else DIFFERS, why)


def _split(_: Evidence) -> Checked:
    shares = split_budget(1, {"A": 2, "C": 2, "M": 3}, how="k-based", exact=True)
    paper = {"A": Fraction(2, 7), "C": Fraction(2, 7), "M": Fraction(3, 7)}
    words = ", ".join(f"{name} {share}" for name, share in shares.items())
    return fact(dict(shares), paper, why=f"Synthetic: {words} of epsilon.", printed="")


def _combined(evidence: Evidence) -> Checked:
    sizes = {}
    for name in _TABLE_1:
        schema = evidence.studies[name].facts.schema
        sizes[name.partition("-")[0]] = math.prod(schema[column].size for column in schema.sensitive)
    words = ", ".join(f"{name} {size}" for name, size in sizes.items())
    return fact(sizes, {"synthetic": 12, "compas": 12, "adult": 32}, why=f"Ours: {words}.", printed="")


def _second(_: Evidence) -> Checked:
    return cannot_check("The second synthetic data set was not published, nor were its coefficients.")


FACTS: tuple[Claim, ...] = (
    *(_table_1(name) for name in _TABLE_1),
    *(_skewed(kind) for kind in _KINDS),
    *(_quartiles(kind) for kind in _KINDS),
    Claim(
        "footnote-7-skew",
        "The thresholds 1, 3 and 5 make Compas skewed to 0, balanced and skewed to 1.",
        "footnote 7", _footnote, "fact", COMPAS,
    ),
    Claim("footnote-7-score", "Compas's score is in [0, 1].", "footnote 7", _score, "fact", (COMPAS[2],)),
    Claim(
        "compas-days", "The 5,915 people of Compas were scored within 30 days of their arrest.",
        "5, Datasets", _thirty_days, "fact", (COMPAS[0],),
    ),
    Claim(
        "adult-features",
        "Adult's features are age, gender, native country, education, marital status and hours.",
        "5, Datasets", _features, "fact", (ADULT[1],),
    ),
    Claim("adult-middle", "Adult's middle threshold is 26K.", "5, Datasets", _middle, "fact", (ADULT[1],)),
    Claim(
        "mediator", "M has (0.35, 0.4, 0.25) where A = 0 and (0.5, 0.4, 0.1) where A = 1.",
        "Fig. 2", _mediator, "fact", (SYNTHETIC[0],),
    ),
    Claim("epsilons", "Epsilon is 16, 8, 5, 3, 2, 1, 0.5 and 0.1.", "5, Applied settings", _epsilons, "fact"),
    Claim("k-rr", "In k-RR, p / q is e^epsilon.", "Definition 2", _ratio, "fact"),
    Claim("k-based", "The k-based split is in proportion to domain sizes.", "4", _split, "fact"),
    Claim(
        "combined", "combLDP is k-RR on the product of the domains: 12, 12 and 32 values.", "4; Table 1",
        _combined, "fact", tuple(_TABLE_1),
    ),
    Claim("synthetic-2", "With A = 0 privileged the behaviour is reversed.", "footnote 11; A.1", _second),
)  # fmt: skip
"""The claims about data and mechanisms."""
