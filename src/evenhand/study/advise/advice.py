"""Advice: what to expect of protection, whether it came true, and which setting to use under limits."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidParameterError
from evenhand.measure.intervals import check_level
from evenhand.study.advise.caveats import caveats
from evenhand.study.advise.predictions import predict
from evenhand.study.advise.reasons import has_no_gap, reasons
from evenhand.study.advise.recommend import Limits, choose, message_bits
from evenhand.study.advise.trial_plan import advice_plan
from evenhand.study.advise.verdicts import checked, full_settings
from evenhand.study.profile.profiling import Profile, profile_of_results
from evenhand.study.results.base import ResultData
from evenhand.study.tasks.collect.wording import setting_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.schema import Schema
    from evenhand.study.advise.recommend import Choice
    from evenhand.study.advise.verdicts import Checked
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated

__all__ = ["Advice", "advice_plan", "advise", "as_lines"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Advice:
    """What to expect, what came true, and what to use.

    Parameters
    ----------
    recommendation : Setting or None
        The setting to use; None where the study does not single one out.
    outcome : str
        ``"chosen"``, ``"alike"``, ``"none"`` (nothing meets the limits), ``"no-gap"`` (there is none to
        reduce), ``"no-candidates"`` or ``"no-intervals"``.
    reasons : tuple of str
        Why, in sentences with their figures.
    alternatives : tuple of Setting
        Without a recommendation, the settings to choose from by another criterion.
    predictions : tuple of Checked
        What was expected of these data, with what the study says of it.
    caveats : tuple of str
        What to keep in mind. The first is the same in every advice.
    limits : Limits
    profile : Profile or None
        What the predictions rest on.
    schema : Schema
    level : float
        At which all that is said of the candidates holds together.
    """

    recommendation: Setting | None
    outcome: str
    reasons: tuple[str, ...]
    alternatives: tuple[Setting, ...]
    predictions: tuple[Checked, ...]
    caveats: tuple[str, ...]
    limits: Limits
    profile: Profile | None
    schema: Schema
    level: float

    def to_dict(self) -> dict[str, Any]:
        """Return the advice in JSON's types."""
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
    >>> data = DataSource(dataset="causal", options={"n": 300})
    >>> plan = Plan(data=data, task=CollectTask("grr", [1, 4], model="logistic"), repeats=1)
    >>> advice = advise(run(plan, workers=1, progress=False), max_gap=0.1)
    >>> advice.recommendation is None, advice.outcome
    (True, 'no-intervals')
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
    no_gap = bool(choice.candidates) and has_no_gap(results, limits, level=level)
    chosen = None if no_gap or choice.chosen is None else choice.chosen.setting
    alternatives = _alternatives(choice, no_gap=no_gap)
    told = caveats(results, limits, chosen, alternatives=alternatives, profile=rows, checks=checks)
    return Advice(
        recommendation=chosen,
        outcome="no-gap" if no_gap else choice.outcome,
        reasons=reasons(results, limits, choice, no_gap=no_gap),
        alternatives=alternatives,
        predictions=checks,
        caveats=told,
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


def _alternatives(choice: Choice, *, no_gap: bool) -> tuple[Setting, ...]:
    if no_gap and choice.chosen is not None:
        return (choice.chosen.setting,)
    return tuple(each.setting for each in choice.alike)


_WIDTH = 96
_NOT_PRIVATE = "Computed from the true rows: this advice is not private and not for publication."


def headline(advice: Advice) -> str:
    """Return the answer in one line."""
    if advice.recommendation is None:
        return "No recommendation."
    return f"Recommended: {setting_name(advice.recommendation)}."


def as_lines(advice: Advice) -> list[tuple[str, str]]:
    """Return each sentence with the indent of its paragraph, and empty texts between the parts."""
    lines = [("", headline(advice))]
    lines += [("  ", each) for each in advice.reasons]
    if advice.predictions:
        lines += [("", ""), ("", "What the data lets expect, and what the study says:")]
        for each in advice.predictions:
            lines += [("  ", f"{_mark(each)}: {each.prediction.sentence}")]
            lines += [("    ", f"{each.prediction.evidence} {each.finding} [{each.prediction.source}]")]
    lines += [("", ""), ("", "Keep in mind:")]
    lines += [("  ", each) for each in advice.caveats]
    return [*lines, ("", ""), ("", _NOT_PRIVATE)]


def as_text(advice: Advice) -> str:
    """Return the advice, wrapped for a terminal."""
    wrapped: list[str] = []
    for indent, line in as_lines(advice):
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
    """Return the advice as HTML; every text is escaped."""
    parts = [f"<p><b>{escape(headline(advice))}</b></p>", _listed(advice.reasons)]
    if advice.predictions:
        checks = [
            f"{_mark(each)}: {each.prediction.sentence} {each.prediction.evidence} {each.finding} "
            f"[{each.prediction.source}]"
            for each in advice.predictions
        ]
        parts += ["<p>What the data lets expect, and what the study says:</p>", _listed(checks)]
    parts += ["<p>Keep in mind:</p>", _listed(advice.caveats), f"<p>{escape(_NOT_PRIVATE)}</p>"]
    return f"<div>{''.join(parts)}</div>"


def as_dict(advice: Advice) -> dict[str, Any]:
    """Return the advice in JSON's types."""
    return {
        "recommendation": None if advice.recommendation is None else _setting(advice, advice.recommendation),
        "outcome": advice.outcome,
        "reasons": list(advice.reasons),
        "alternatives": [_setting(advice, each) for each in advice.alternatives],
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
        return "Not predicted"
    return each.verdict.capitalize()


def _listed(sentences: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(each)}</li>' for each in sentences)}</ul>"


def _setting(advice: Advice, setting: Setting) -> dict[str, Any]:
    return {
        **setting.key,
        "name": setting_name(setting),
        "bits_per_report": message_bits(setting, advice.schema),
    }


def _numbers(found: Estimated) -> dict[str, Any]:
    value = None if math.isnan(found.value) else found.value
    return {"value": value, "low": found.low, "high": found.high, "runs": found.runs, "level": found.level}
