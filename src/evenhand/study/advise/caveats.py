"""What to keep in mind about advice, in sentences with their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.words import plain
from evenhand.study.advise.predictions import STRONG
from evenhand.study.advise.verdicts import HOLDS_NOT
from evenhand.study.advise.wording import full_name, say
from evenhand.study.profile.profiling import bounded_text
from evenhand.study.results.estimates import group_estimate, paired_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.advise.recommend import Limits
    from evenhand.study.advise.verdicts import Checked
    from evenhand.study.plan.cells import Setting
    from evenhand.study.profile.profiling import Profile
    from evenhand.study.results.base import ResultData

_SAME = 0.01  # selection rates this near to 0 or 1 in every group mean that nearly all get the same answer


def caveats(
    results: ResultData,
    limits: Limits,
    recommended: Setting | None,
    *,
    profile: Profile | None,
    checks: Sequence[Checked],
) -> tuple[str, ...]:
    """Return what to keep in mind; the first is the same in every advice, then come runs that failed."""
    told = [say("caveat.looking")]
    unfinished = count_unfinished(results)
    if unfinished:
        told.append(say("caveat.missing", count=unfinished))
    if recommended is not None and not limits.are_set:
        told.append(say("caveat.no_limits"))
    broken = [say(f"caveat.about.{each.prediction.about}") for each in checks if each.verdict == HOLDS_NOT]
    if broken:
        told.append(say("caveat.broken", about=broken))
    if recommended is not None:
        told += _about_gap(results, recommended)
    told += _about_rows(results, profile)
    told.append(say("caveat.rows"))
    return tuple(told)


def count_unfinished(results: ResultData) -> int:
    """Return how many runs of a study failed or were not run."""
    return len(results.failures) + len(results.missing)


def _about_gap(results: ResultData, recommended: Setting) -> list[str]:
    """Say what a small gap does not say, and on how many repeats it rests."""
    told = []
    if _says_the_same_to_all(results, recommended):
        told.append(say("caveat.same", setting=full_name(recommended, results.facts.schema)))
    found = paired_change(results, recommended, "sp_gap")
    if found.left_out:
        repeats, setting = results.plan.repeats, full_name(recommended, results.facts.schema)
        told.append(say("caveat.repeats", setting=setting, runs=found.runs, repeats=repeats))
    other = paired_change(results, recommended, "eo_gap")
    if other.is_clear and other.value > 0:
        told.append(say("caveat.other_gap", change=other))
    return told


def _says_the_same_to_all(results: ResultData, setting: Setting) -> bool:
    rates = [group_estimate(results, setting, group, "selection").value for group in results.facts.groups]
    return all(rate <= _SAME for rate in rates) or all(rate >= 1 - _SAME for rate in rates)


def _about_rows(results: ResultData, profile: Profile | None) -> list[str]:
    told = []
    if len(results.facts.schema.sensitive) > 1 and any(
        s.option("strategy") == "single" for s in results.settings
    ):
        told.append(say("caveat.single"))
    revealing = [] if profile is None else [each for each in profile.clear_columns if each.v.above(STRONG)]
    if profile is not None and revealing:
        shown = [
            say("caveat.reveal_one", column=plain(each.first), v=bounded_text(each.v)) for each in revealing
        ]
        told.append(say("caveat.reveal", protected=plain(profile.protected), columns=shown))
    return told
