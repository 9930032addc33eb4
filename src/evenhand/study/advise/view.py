"""Advice as text for a terminal, as HTML and in JSON's types."""

from __future__ import annotations

import math
import textwrap
from html import escape
from typing import TYPE_CHECKING, Any

from evenhand.study.advise.recommend import message_bits
from evenhand.study.tasks.collect.wording import setting_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.study.advise.advice import Advice
    from evenhand.study.advise.verdicts import Checked
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated

__all__ = ["as_dict", "as_html", "as_lines", "as_text"]

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
