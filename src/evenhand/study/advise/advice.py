"""Advice: which setting to use under limits or what it would take, why, and what was to be expected."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidParameterError
from evenhand.measure.intervals import check_level
from evenhand.study.advise.answers import answer
from evenhand.study.advise.caveats import caveats, count_unfinished
from evenhand.study.advise.predictions import predict
from evenhand.study.advise.reasons import reasons, tried
from evenhand.study.advise.recommend import Limits, choose, message_bits
from evenhand.study.advise.verdicts import checked, full_settings
from evenhand.study.advise.wording import full_name, say
from evenhand.study.plan.cells import Setting
from evenhand.study.profile.profiling import Profile, profile_of_results
from evenhand.study.results.base import ResultData
from evenhand.study.tasks.collect.reading import CollectReading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.report.page import Answer
    from evenhand.schema import Schema
    from evenhand.study.advise.verdicts import Checked
    from evenhand.study.results.estimates import Estimated


@dataclass(frozen=True, kw_only=True, repr=False)
class Advice:
    """What to use or what it would take, why, and what was expected of the data.

    Printed it is short; :attr:`details` has all of it.

    Parameters
    ----------
    recommendation : Setting or None
        The setting to use.
    outcome : str
        ``"chosen"`` (better than the others at its epsilon), ``"alike"`` (others do as well), or why nothing
        is recommended: ``"none"`` (nothing keeps the limits), ``"useless"`` (no setting tells people apart),
        ``"no-model"`` (not even the unprotected model does), ``"few-repeats"`` (to say who pays),
        ``"too-wide"``, ``"too-few"`` (people of a group), ``"no-candidates"`` or ``"no-intervals"``.
    answer : Answer
        What to use or what it would take: its ``finding``, its ``evidence``, and as its ``action`` a command.
    reasons : tuple of str
        Why: three at most.
    alternatives : tuple of Setting
        The other settings that do as well.
    tried : tuple of str
        A line for each setting that was a candidate.
    predictions : tuple of Checked
        What was expected of these data, with what the study says of it.
    caveats : tuple of str
        What to keep in mind. The first is the same in every advice; the second tells of runs that failed or
        were not run, if there are any.
    unfinished : int
        How many runs failed or were not run.
    limits : Limits
    profile : Profile or None
        What the predictions rest on.
    schema : Schema
    level : float
        At which all that is said of the candidates holds together.
    """

    recommendation: Setting | None
    outcome: str
    answer: Answer
    reasons: tuple[str, ...]
    alternatives: tuple[Setting, ...]
    tried: tuple[str, ...]
    predictions: tuple[Checked, ...]
    caveats: tuple[str, ...]
    unfinished: int
    limits: Limits
    profile: Profile | None
    schema: Schema
    level: float

    @property
    def first_caveats(self) -> tuple[str, ...]:
        """The caveats that the short advice has, too."""
        return self.caveats[: 2 if self.unfinished else 1]

    @property
    def details(self) -> str:
        """The whole advice: every setting that was tried, what the literature says, and every caveat."""
        return as_text(self, details=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole advice in JSON's types."""
        return as_dict(self)

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def advise(
    results: ResultData,
    *,
    max_gap: float | None = None,
    max_accuracy_loss: float | None = None,
    epsilon: Any = None,
    profile: Profile | None = None,
    level: float = 0.95,
    folder: str | None = None,
) -> Advice:
    """Return what a study says of which setting to use.

    Parameters
    ----------
    results : Results
        Of a study with several repeats, such as that of :func:`advice_plan`.
    max_gap : float, optional
        The widest gap in selection rates that is accepted, such as 0.1.
    max_accuracy_loss : float, optional
        How much accuracy may be lost against the unprotected runs, such as 0.02.
    epsilon : number, optional
        The largest epsilon that is accepted.
    profile : Profile, optional
        What the rows are like, see :func:`evenhand.study.profile.profile`. Without one, shares of labels come
        from the test rows and how columns depend on each other is not known.
    level : float
        At which all that is said of the candidates holds together, and so do the verdicts on predictions.
    folder : str, optional
        The study's folder, as it is typed in the commands that the advice ends with; none without it.

    Returns
    -------
    Advice

    Notes
    -----
    The rule by which a setting is recommended is in :mod:`evenhand.study.advise.recommend`, what is predicted
    in :mod:`evenhand.study.advise.predictions`, and how predictions are checked in
    :mod:`evenhand.study.advise.verdicts`.

    Examples
    --------
    >>> from evenhand.study import CollectTask, DataSource, Plan
    >>> from evenhand.study.run.whole import run
    >>> data = DataSource(dataset="causal", options={"n": 600})
    >>> plan = Plan(data=data, task=CollectTask("grr", [1, 4], model="logistic"), repeats=1)
    >>> advice = advise(run(plan, workers=1, progress=False), max_gap=0.1)
    >>> advice.outcome
    'no-intervals'
    >>> advice.answer.finding
    'Run more repeats before choosing: a single one says nothing about chance.'
    """
    kinds: dict[str, tuple[object, Any]] = {
        "results": (results, ResultData),
        "profile": (profile, Profile | None),
    }
    for parameter, (given, kind) in kinds.items():
        if not isinstance(given, kind):
            must_be = "Results" if parameter == "results" else "a Profile"
            got = f"a value of type {type(given).__name__}"
            raise InvalidParameterError(parameter, owner="advise", must_be=must_be, got=got)
    results.plan.task.advised(owner="advise", parameter="results")
    level = check_level(level, owner="advise")
    limits = Limits(max_gap=max_gap, max_accuracy_loss=max_accuracy_loss, epsilon=epsilon)
    rows = _profile(results, profile)
    checks = (
        () if rows is None or not full_settings(results) else checked(predict(rows), results, level=level)
    )
    choice = choose(results, limits, level=level)
    picked = None if choice.picked is None or choice.outcome == "too-wide" else choice.picked
    chosen = None if picked is None else picked.setting
    protected = [each for each in results.settings if each.is_protected]
    reading = CollectReading(results, chosen or (protected or [Setting()])[0])
    return Advice(
        recommendation=chosen,
        outcome=choice.outcome,
        answer=answer(reading, limits, choice, folder=folder),
        reasons=() if picked is None else reasons(reading, limits, choice, picked),
        alternatives=tuple(each.setting for each in choice.equal),
        tried=tried(limits, choice, results.facts.schema),
        predictions=checks,
        caveats=caveats(results, limits, chosen, profile=rows, checks=checks),
        unfinished=count_unfinished(results),
        limits=limits,
        profile=rows,
        schema=results.facts.schema,
        level=level,
    )


def _profile(results: ResultData, given: Profile | None) -> Profile | None:
    """Return the profile that was given, or what the results tell; None if they tell nothing."""
    if given is not None or not results.arrays.done[0].any():
        return given
    return profile_of_results(results)


_WIDTH = 96


def as_lines(advice: Advice, *, details: bool = False) -> list[tuple[str, str]]:
    """Return each sentence with the indent of its paragraph, and empty texts between the parts.

    The command, if there is one, is a line of its own that must not be wrapped.
    """
    lines = [("", advice.answer.finding), ("  ", advice.answer.evidence)]
    if advice.answer.action:
        lines += [("", ""), ("  ", advice.answer.action)]
    if advice.reasons:
        lines += [("", ""), *(("  ", each) for each in advice.reasons)]
    if details and advice.tried:
        lines += [("", ""), ("", say("headings.tried")), *(("  ", each) for each in advice.tried)]
    if details and advice.predictions:
        lines += [("", ""), ("", say("headings.predictions"))]
        for each in advice.predictions:
            lines += [("  ", f"{_mark(each)}: {each.prediction.sentence}")]
            lines += [("    ", f"{each.prediction.evidence} {each.finding} [{each.prediction.source}]")]
    lines += [("", ""), ("", say("headings.caveats"))]
    lines += [("  ", each) for each in (advice.caveats if details else advice.first_caveats)]
    return [*lines, ("", ""), ("", say("not_private"))]


def as_text(advice: Advice, *, details: bool = False) -> str:
    """Return the advice, wrapped for a terminal."""
    wrapped: list[str] = []
    for indent, line in as_lines(advice, details=details):
        if line and line == advice.answer.action:
            wrapped.append(f"{indent}{line}")
            continue
        hanging = f"{indent}  " if indent else ""
        wrapped += textwrap.wrap(
            line,
            _WIDTH,
            initial_indent=indent,
            subsequent_indent=hanging,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
    return "\n".join(wrapped)


def as_html(advice: Advice) -> str:
    """Return the whole advice as HTML, what is behind it folded; every text is escaped."""
    found = advice.answer
    parts = [f"<p><b>{escape(found.finding)}</b> {escape(found.evidence)}</p>"]
    if found.action:
        parts.append(f"<pre><code>{escape(found.action)}</code></pre>")
    checks = [
        f"{_mark(each)}: {each.prediction.sentence} {each.prediction.evidence} {each.finding} "
        f"[{each.prediction.source}]"
        for each in advice.predictions
    ]
    parts += [_listed(advice.reasons), *(f"<p>{escape(each)}</p>" for each in advice.first_caveats)]
    for heading, lines in (
        ("tried", advice.tried),
        ("predictions", checks),
        ("caveats", advice.caveats[len(advice.first_caveats) :]),
    ):
        if lines:
            title = escape(say(f"headings.{heading}"))
            parts.append(f"<details><summary>{title}</summary>{_listed(lines)}</details>")
    return f"<div>{''.join(parts)}<p>{escape(say('not_private'))}</p></div>"


def as_dict(advice: Advice) -> dict[str, Any]:
    """Return the advice in JSON's types."""
    return {
        "recommendation": None if advice.recommendation is None else _setting(advice, advice.recommendation),
        "outcome": advice.outcome,
        "finding": advice.answer.finding,
        "evidence": advice.answer.evidence,
        "next": advice.answer.action,
        "reasons": list(advice.reasons),
        "alternatives": [_setting(advice, each) for each in advice.alternatives],
        "tried": list(advice.tried),
        "predictions": [
            {
                "about": each.prediction.about,
                "expects": each.prediction.expects,
                "sentence": each.prediction.sentence,
                "evidence": each.prediction.evidence,
                "source": each.prediction.source,
                "verdict": each.verdict,
                "finding": each.finding,
                "estimate": None if each.estimate is None else _numbers(each.estimate),
            }
            for each in advice.predictions
        ],
        "caveats": list(advice.caveats),
        "limits": {
            "max_gap": advice.limits.max_gap,
            "max_accuracy_loss": advice.limits.max_accuracy_loss,
            "epsilon": None if advice.limits.epsilon is None else float(advice.limits.epsilon),
        },
        "level": advice.level,
        "profile": None if advice.profile is None else advice.profile.to_dict(),
        "private": False,
    }


def _mark(each: Checked) -> str:
    if not each.prediction.is_sure:
        return say("check.not_predicted")
    return each.verdict.capitalize()


def _listed(sentences: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(each)}</li>' for each in sentences)}</ul>"


def _setting(advice: Advice, setting: Setting) -> dict[str, Any]:
    return {
        **setting.key,
        "name": full_name(setting, advice.schema),
        "bits_per_report": message_bits(setting, advice.schema),
    }


def _numbers(found: Estimated) -> dict[str, Any]:
    value = None if math.isnan(found.value) else found.value
    return {"value": value, "low": found.low, "high": found.high, "runs": found.runs, "level": found.level}
