"""What to keep in mind about advice, in sentences with their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.study.advise.predictions import STRONG
from evenhand.study.advise.verdicts import HOLDS_NOT
from evenhand.study.page.wording import change, counted, listed, plain
from evenhand.study.profile.profiling import bounded_text
from evenhand.study.results.estimates import group_estimate, paired_change
from evenhand.study.tasks.collect.wording import setting_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.advise.recommend import Limits
    from evenhand.study.advise.verdicts import Checked
    from evenhand.study.plan.cells import Setting
    from evenhand.study.profile.profiling import Profile
    from evenhand.study.results.base import ResultData

__all__ = ["FIRST_CAVEAT", "caveats"]

FIRST_CAVEAT = (
    "Choosing a protocol or an epsilon by looking at private rows is not covered by the guarantee of what is "
    "collected later. Work from public data, or from a pilot: rows of people who agreed to be looked at. "
    "Give the pilot's file as the data, choose, and then collect from everyone else with the setting chosen."
)
"""The caveat that stands first in every advice."""

_SAME = 0.01  # selection rates this near to 0 or 1 in every group mean that nearly all get the same answer
_ABOUT = {
    "gap": "the gap",
    "reports": "the labels of reported groups",
    "accuracy": "which group loses more accuracy",
    "rates": "whose selection rate moves more",
    "several": "several columns rather than one",
    "combined": "combined or independent reports at a large epsilon",
    "small-epsilon": "combined or independent reports at a small epsilon",
}


def caveats(
    results: ResultData,
    limits: Limits,
    recommended: Setting | None,
    *,
    alternatives: Sequence[Setting] = (),
    profile: Profile | None,
    checks: Sequence[Checked],
) -> tuple[str, ...]:
    """Return what to keep in mind; the first is the same in every advice."""
    told = [FIRST_CAVEAT]
    if not limits.are_set:
        told.append(
            "No limit on the gap or on the loss of accuracy was given, so the smallest epsilon that was "
            "tried is preferred, whatever it costs."
        )
    broken = [each.prediction for each in checks if each.verdict == HOLDS_NOT]
    if broken:
        about = listed([_ABOUT[each.about] for each in broken])
        told.append(f"Where the study contradicts what was expected, go by the study: about {about}.")
    told += _about_gap(results, recommended, alternatives)
    told += _about_rows(results, profile)
    told.append(
        "Intervals cover other splits, models and draws on these rows; other people may differ by more."
    )
    return tuple(told)


def _about_gap(
    results: ResultData, recommended: Setting | None, alternatives: Sequence[Setting]
) -> list[str]:
    """Say what a small gap does not say."""
    told = []
    named = alternatives if recommended is None else (recommended,)
    same = [each for each in named if _says_the_same_to_all(results, each)]
    if same:
        shown = listed([setting_name(each) for each in same], most=3)
        told.append(
            f"With {shown} the model gives nearly everybody the same answer, so that a small gap says little."
        )
    told += [sentence for each in named for sentence in _about_repeats(results, each)]
    if recommended is None:
        return told
    other = paired_change(results, recommended, "eo_gap")
    if other.is_clear and other.value > 0:
        told.append(
            "The gap here is that of selection rates; the larger gap in true or false positive rates grows "
            f"by {change(other, unit=' points')}."
        )
    return told


def _about_repeats(results: ResultData, setting: Setting) -> list[str]:
    """Say where a setting that is named rests on less than the study: failures may not be like the rest."""
    found = paired_change(results, setting, "sp_gap")
    if not found.left_out:
        return []
    repeats = counted(results.plan.repeats, "repeat")
    return [f"{setting_name(setting)} rests on {found.runs} of {repeats}: the others failed or were not run."]


def _says_the_same_to_all(results: ResultData, setting: Setting) -> bool:
    rates = [group_estimate(results, setting, group, "selection").value for group in results.facts.groups]
    return all(rate <= _SAME for rate in rates) or all(rate >= 1 - _SAME for rate in rates)


def _about_rows(results: ResultData, profile: Profile | None) -> list[str]:
    told = []
    if len(results.facts.schema.sensitive) > 1 and any(
        s.option("strategy") == "single" for s in results.settings
    ):
        told.append(
            "Reporting one sensitive column alone leaves the others in the clear, so it is not a candidate."
        )
    revealing = [] if profile is None else [each for each in profile.clear_columns if each.v.above(STRONG)]
    if profile is not None and revealing:
        shown = listed([f"{plain(each.first)} (Cramer's V {bounded_text(each.v)})" for each in revealing])
        told.append(
            f"Whatever is chosen, columns in the clear may reveal {plain(profile.protected)}: {shown}."
        )
    left_out = len(results.failures) + len(results.missing)
    if left_out:
        told.append(f"{counted(left_out, 'cell')} of the study failed or were not run.")
    return told
