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
from evenhand.study.page.wording import plain
from evenhand.study.profile.profiling import Profile, bounded_text, percent, points

if TYPE_CHECKING:
    from evenhand.study.profile.profiling import GroupProfile

__all__ = ["LARGE", "NO_GAP", "SMALL", "STRONG", "UNSURE", "WEAK", "Prediction", "predict"]

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
    evidence = f"The shares of positive labels of the groups differ by up to {points(profile.gap)}."
    if profile.gap.below(NO_GAP):
        sentence = (
            "Protecting the data is expected to create a gap: the labels have hardly any to begin with."
        )
        return Prediction("gap", "wider", sentence, evidence, "makhlouf2024, Obs8")
    if profile.gap.above(NO_GAP):
        sentence = "The gap of the model is expected to narrow, and more so the smaller epsilon is."
        return Prediction("gap", "narrower", sentence, evidence, "makhlouf2024, Obs1 and recommendation A")
    sentence = "Whether protection narrows a gap or creates one cannot be said beforehand."
    evidence += f" The interval holds values on both sides of {100 * NO_GAP:g} points."
    return Prediction("gap", UNSURE, sentence, evidence, "makhlouf2024, Obs1 and Obs8")


def _reports(profile: Profile) -> Prediction:
    """Return what holds for every mechanism that sees the protected value and not the label."""
    sentence = (
        "Between the groups as reported, the labels differ no more than between the true groups, because "
        "each reported group is a mixture of the true ones: a gap that shrinks in the reports says nothing "
        "about the people."
    )
    evidence = f"The true gap is {points(profile.gap)}."
    return Prediction("reports", "no wider", sentence, evidence, "exact, for every such mechanism")


def _accuracy(profile: Profile) -> Prediction:
    """Obs6, statement 1 and recommendation D."""
    source = "makhlouf2024, Obs6, statement 1 and recommendation D"
    unsure, evidence = _undecided(profile), _group_evidence(profile)
    groups = (profile.ahead.label, profile.behind.label)
    if unsure:
        sentence = f"Which group loses more accuracy cannot be said beforehand: {unsure}."
        return Prediction("accuracy", UNSURE, sentence, evidence, source, groups)
    expects, moved, still = _moved(profile)
    more, less = _name(profile, moved), _name(profile, still)
    sentence = f"The {more} is expected to lose more accuracy than the {less}."
    return Prediction("accuracy", expects, sentence, evidence, source, groups)


def _rates(profile: Profile) -> Prediction:
    """Obs7, statement 2 and recommendation D."""
    source = "makhlouf2024, Obs7, statement 2 and recommendation D"
    unsure, evidence = _undecided(profile), _group_evidence(profile)
    groups = (profile.ahead.label, profile.behind.label)
    if unsure:
        sentence = f"Which group's selection rate moves more cannot be said beforehand: {unsure}."
        return Prediction("rates", UNSURE, sentence, evidence, source, groups)
    expects, moved, still = _moved(profile)
    more, less = _name(profile, moved), _name(profile, still)
    way = "rise" if expects == "behind" else "fall"
    sentence = (
        f"The gap is expected to move mostly by the selection rate of the {more}, which should {way}; "
        f"that of the {less} should move less."
    )
    return Prediction("rates", expects, sentence, evidence, source, groups)


def _undecided(profile: Profile) -> str:
    """Return why it cannot be said which group moves, if so."""
    if not profile.order_is_clear:
        return "it is not clear which group has more positive labels"
    if profile.skew == "unclear":
        return "positive and negative labels are about as frequent"
    return ""


def _moved(profile: Profile) -> tuple[str, GroupProfile, GroupProfile]:
    """Return who is expected to move more, in a word and as a group, and who less."""
    if profile.skew == "positive":
        return "behind", profile.behind, profile.ahead
    return "ahead", profile.ahead, profile.behind


def _group_evidence(profile: Profile) -> str:
    high, low = profile.ahead, profile.behind
    first, last = _name(profile, high), _name(profile, low)
    told = (
        f"Of all labels {percent(profile.positive)} are positive: {percent(high.positive)} in the {first}, "
        f"{percent(low.positive)} in the {last}."
    )
    privileged = [group for group in profile.groups if group.privileged]
    if profile.order_is_clear and privileged and privileged[0] != high:
        called = _name(profile, privileged[0])
        told += f" The schema calls the {called} privileged, though the {first} has more positive labels."
    return told


def _name(profile: Profile, group: GroupProfile) -> str:
    """Return a group as in a sentence, with the column's name where its label says nothing alone."""
    label = plain(group.label)
    tells = len(label) > 2 and any(letter.isalpha() for letter in label)
    return f"group {label}" if tells else f"group {plain(profile.protected)} = {label}"


def _several(profile: Profile) -> Prediction:
    """Obs2 and recommendation B."""
    sentence = (
        "At the same epsilon, reporting all sensitive columns is expected to narrow the gap more than "
        "reporting the protected one alone."
    )
    evidence = f"There are {len(profile.sizes)} sensitive columns."
    source = "makhlouf2024, Obs2 and recommendation B"
    if profile.gap.above(NO_GAP):
        return Prediction("several", "several", sentence, evidence, source)
    sentence = "Whether several columns narrow the gap more than one cannot be said beforehand."
    evidence = f"The gap of the labels is {points(profile.gap)}: there may be none to narrow."
    return Prediction("several", UNSURE, sentence, evidence, source)


def _combined(profile: Profile) -> Prediction:
    """Obs4 and recommendation C, at large epsilon."""
    source = "makhlouf2024, Obs4 and recommendation C"
    pair = profile.strongest
    large = f"At a large epsilon, {LARGE} or more,"
    open_ = (
        f"{large} it cannot be said beforehand whether combined or independent reports narrow the gap more."
    )
    if pair is None:
        evidence = "How the sensitive columns depend on each other is not known."
        return Prediction("combined", UNSURE, open_, evidence, source)
    evidence = (
        f"The sensitive columns that depend on each other most are {plain(pair.first)} and "
        f"{plain(pair.second)}, with a Cramer's V of {bounded_text(pair.v)}"
    )
    if pair.v.above(STRONG):
        sentence = f"{large} combined reports are expected to narrow the gap more than independent ones."
        return Prediction("combined", "combined", sentence, f"{evidence}, which is strong.", source)
    if pair.v.below(WEAK):
        sentence = f"{large} independent reports are expected to narrow the gap more than combined ones."
        return Prediction("combined", "independent", sentence, f"{evidence}, which is weak.", source)
    evidence += ", neither clearly weak nor clearly strong."
    return Prediction("combined", UNSURE, open_, evidence, source)


def _small_epsilon(profile: Profile) -> Prediction:
    """Obs5 and recommendation C, at small epsilon."""
    sentence = (
        f"At a small epsilon, {SMALL} or less, combined and independent reports are expected to leave about "
        "the same gap."
    )
    evidence = f"The sensitive columns have {profile.combinations:,} combinations of values."
    return Prediction("small-epsilon", "alike", sentence, evidence, "makhlouf2024, Obs5 and recommendation C")
