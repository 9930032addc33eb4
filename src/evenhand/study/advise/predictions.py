"""What the literature lets expect of the data at hand, before anything is protected.

Each prediction is an observation of makhlouf2024 [1]_ applied to a :class:`~evenhand.study.profile.Profile`,
and one follows from exact formulas. What counts as skewed, as hardly any gap, or as strong dependence is not
in the paper. The limits here are evenhand's reading of its data sets:

- :data:`NO_GAP`: labels whose gap is at most 2 points count as even.
- :data:`WEAK`, :data:`STRONG`: the strongest pair of sensitive columns has a Cramer's V of 0.19 in the data
  set that the paper calls weakly dependent, and of 0.43 in the one it calls strongly dependent; so below 0.25
  is weak and above 0.35 is strong.
- :data:`SMALL`, :data:`LARGE`: the paper's figures differ from epsilon 4 on and meet towards 1.

A prediction is made only if the whole interval of the figure it rests on is on one side of its limit.

References
----------
.. [1] Makhlouf, Arcolezi, Zhioua, Brahim, Palamidessi (2024). On the impact of multi-dimensional local
       differential privacy on fairness. Data Mining and Knowledge Discovery. Section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand.errors import InvalidParameterError
from evenhand.report.words import plain
from evenhand.study.advise.wording import say
from evenhand.study.profile.profiling import Profile, bounded_text, percent, points

if TYPE_CHECKING:
    from evenhand.study.profile.profiling import GroupProfile

NO_GAP = 0.02
"""A gap up to this counts as none."""

WEAK, STRONG = 0.25, 0.35
"""Cramer's V up to which dependence is weak, and from which it is strong."""

SMALL, LARGE = Fraction(1), Fraction(4)
"""Up to which epsilon is small, and from which it is large, where combined and independent are compared."""

UNSURE = "unsure"
"""What a prediction expects where the evidence does not decide."""


@dataclass(frozen=True)
class Prediction:
    """What is expected, and why.

    Parameters
    ----------
    about : str
        ``"gap"``, ``"reports"``, ``"accuracy"``, ``"rates"``, ``"several"``, ``"combined"`` or
        ``"small-epsilon"``.
    expects : str
        The outcome in a word, such as ``"narrower"`` or ``"combined"``; of ``"accuracy"`` and ``"rates"``
        ``"ahead"`` or ``"behind"``; :data:`UNSURE` where the evidence does not decide.
    sentence : str
        What is expected, in one sentence.
    evidence : str
        The figures it rests on.
    source : str
        Whose claim it is.
    groups : tuple of str
        Where the prediction is about groups: the one with the most positive labels, and that with the fewest.
    """

    about: str
    expects: str
    sentence: str
    evidence: str
    source: str
    groups: tuple[str, ...] = ()

    @property
    def is_sure(self) -> bool:
        """Whether the evidence decides."""
        return self.expects != UNSURE

    def __str__(self) -> str:
        return f"{self.sentence} {self.evidence} [{self.source}]"


def predict(profile: Profile) -> tuple[Prediction, ...]:
    """Return what is expected of data with this profile.

    Parameters
    ----------
    profile : Profile

    Returns
    -------
    tuple of Prediction
        About the gap, the reports, and which group moves; with several sensitive columns also about how they
        are reported.

    Examples
    --------
    >>> from evenhand.study import DataSource, Plan
    >>> from evenhand.study.run.prepare import prepare
    >>> from evenhand.study.profile.profiling import profile
    >>> data = DataSource(dataset="causal", options={"n": 5000})
    >>> for each in predict(profile(prepare(Plan(data=data)))):
    ...     print(each.about, "-", each.expects)
    gap - narrower
    reports - no wider
    accuracy - unsure
    rates - unsure
    several - several
    combined - independent
    small-epsilon - alike
    """
    given: object = profile
    if not isinstance(given, Profile):
        must_be, got = "a Profile", f"a value of type {type(given).__name__}"
        raise InvalidParameterError("profile", owner="predict", must_be=must_be, got=got)
    made = [_gap(profile), _reports(profile), _accuracy(profile), _rates(profile)]
    if len(profile.sizes) > 1:
        made += [_several(profile), _combined(profile), _small_epsilon(profile)]
    return tuple(made)


def _gap(profile: Profile) -> Prediction:
    """Obs1 and recommendation A where there is a gap, Obs8 where there is none."""
    expects = "wider" if profile.gap.below(NO_GAP) else "narrower" if profile.gap.above(NO_GAP) else UNSURE
    evidence = say("expect.gap.evidence", gap=points(profile.gap))
    if expects == UNSURE:
        evidence += say("expect.gap.both_sides", no_gap=100 * NO_GAP)
    return Prediction(
        "gap", expects, say(f"expect.gap.{expects}"), evidence, say(f"expect.gap.{expects}_source")
    )


def _reports(profile: Profile) -> Prediction:
    """Return what holds for every mechanism that sees the protected value and not the label."""
    evidence = say("expect.reports.evidence", gap=points(profile.gap))
    said = say("expect.reports.sentence"), evidence, say("expect.reports.source")
    return Prediction("reports", "no wider", *said)


def _accuracy(profile: Profile) -> Prediction:
    """Obs6, statement 1 and recommendation D."""
    expects, names, why = _moved(profile)
    sentence = say("expect.accuracy.unsure", why=why) if why else say("expect.accuracy.sentence", **names)
    said = sentence, _group_evidence(profile), say("expect.accuracy.source")
    return Prediction("accuracy", expects, *said, _ends(profile))


def _rates(profile: Profile) -> Prediction:
    """Obs7, statement 2 and recommendation D."""
    expects, names, why = _moved(profile)
    way = "rise" if expects == "behind" else "fall"
    sentence = say("expect.rates.unsure", why=why) if why else say(f"expect.rates.{way}", **names)
    said = sentence, _group_evidence(profile), say("expect.rates.source")
    return Prediction("rates", expects, *said, _ends(profile))


def _ends(profile: Profile) -> tuple[str, str]:
    return profile.ahead.label, profile.behind.label


def _moved(profile: Profile) -> tuple[str, dict[str, str], str]:
    """Return who is expected to move more, the names of both groups, and why that cannot be said, if so."""
    if not profile.order_is_clear:
        return UNSURE, {}, say("expect.groups.no_order")
    if profile.skew == "unclear":
        return UNSURE, {}, say("expect.groups.no_skew")
    groups = {"ahead": profile.ahead, "behind": profile.behind}
    expects, still = ("behind", "ahead") if profile.skew == "positive" else ("ahead", "behind")
    names = {"more": _name(profile, groups[expects]), "less": _name(profile, groups[still])}
    return expects, names, ""


def _group_evidence(profile: Profile) -> str:
    high, low = profile.ahead, profile.behind
    first, last = _name(profile, high), _name(profile, low)
    shares = {"first_share": percent(high.positive), "last_share": percent(low.positive)}
    told = say("expect.groups.evidence", all=percent(profile.positive), first=first, last=last, **shares)
    privileged = [group for group in profile.groups if group.privileged]
    if profile.order_is_clear and privileged and privileged[0] != high:
        told += say("expect.groups.privileged", called=_name(profile, privileged[0]), first=first)
    return told


def _name(profile: Profile, group: GroupProfile) -> str:
    """Return a group as in a sentence, with the column's name where its label says nothing alone."""
    label = plain(group.label)
    tells = len(label) > 2 and any(letter.isalpha() for letter in label)
    key = "name" if tells else "name_with_column"
    return say(f"expect.groups.{key}", label=label, column=plain(profile.protected))


def _several(profile: Profile) -> Prediction:
    """Obs2 and recommendation B."""
    source = say("expect.several.source")
    if profile.gap.above(NO_GAP):
        evidence = say("expect.several.evidence", count=len(profile.sizes))
        return Prediction("several", "several", say("expect.several.sentence"), evidence, source)
    evidence = say("expect.several.unsure_evidence", gap=points(profile.gap))
    return Prediction("several", UNSURE, say("expect.several.unsure"), evidence, source)


def _combined(profile: Profile) -> Prediction:
    """Obs4 and recommendation C, at large epsilon."""
    pair, expects, strength = profile.strongest, UNSURE, "between"
    evidence = say("expect.combined.unknown")
    if pair is not None:
        if pair.v.above(STRONG):
            expects, strength = "combined", "strong"
        elif pair.v.below(WEAK):
            expects, strength = "independent", "weak"
        slots = {"first": plain(pair.first), "second": plain(pair.second), "v": bounded_text(pair.v)}
        evidence = say("expect.combined.evidence", strength=say(f"expect.combined.{strength}"), **slots)
    sentence = say(f"expect.combined.{expects}", large=LARGE)
    return Prediction("combined", expects, sentence, evidence, say("expect.combined.source"))


def _small_epsilon(profile: Profile) -> Prediction:
    """Obs5 and recommendation C, at small epsilon."""
    evidence = say("expect.small.evidence", combinations=profile.combinations)
    said = say("expect.small.sentence", small=SMALL), evidence, say("expect.small.source")
    return Prediction("small-epsilon", "alike", *said)
