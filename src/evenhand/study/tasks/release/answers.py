"""The three sentences of a study of releases: who is lost, where the error falls, and what is promised.

Each number is computed from the results and each comparative word rests on an interval: where it leaves room
for no difference, the sentence is another one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand.report.words import epsilon_words, number
from evenhand.study.page.comparing import clearly, groups_by_sign, strict
from evenhand.study.page.wording import counted, digits_of, listed
from evenhand.study.tasks.release.reading import ANY
from evenhand.study.tasks.release.wording import amount_text, release_name, share_text, way_text
from evenhand.study.tasks.shared.wording import mechanism_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.release.reading import ReleaseReading
    from evenhand.study.tasks.shared.sizes import Size

__all__ = ["error_answer", "lost_answer", "promise_answer"]


# --- who is lost ----------------------------------------------------------------------------------


def lost_answer(reading: ReleaseReading) -> str:
    """Say which groups the published table loses or gains people of."""
    lost, gained = lost_groups(reading), gained_groups(reading)
    how = release_name(reading.chosen)
    if _exact(reading) and any(_moved(reading)):
        typical = _one_release(reading)
        return f"**No group gains or loses people on average** under {how}, which is exact{typical}."
    if _exact(reading):
        said = f"{how} publishes, in every repeat, as many people of each group as there are"
        return f"**No group gains or loses people**: {said}."
    if not lost and not gained:
        return f"**{_nobody(reading)}**: under {how}, {_widest(reading)}."
    if lost and gained:
        head = f"{reading.names(lost)} {_verb(lost, 'lose')} people in the published table"
        rest = f"{_shares(reading, lost)}, and {_shares(reading, gained)},"
    elif lost:
        head = f"{_all_or_names(reading, lost)} {_verb_all(reading, lost, 'lose')} people"
        rest = _shares(reading, lost)
    else:
        head = (
            f"{_all_or_names(reading, gained)} {_verb_all(reading, gained, 'gain')} people who do not exist"
        )
        rest = _shares(reading, gained)
    return f"**{head}**: {how} publishes {rest} than there are."


def lost_groups(reading: ReleaseReading) -> list[str]:
    """Return the groups that are clearly counted too low, the worst first."""
    losses = reading.losses()
    return sorted(groups_by_sign(losses)[1], key=lambda group: losses[group].value)


def gained_groups(reading: ReleaseReading) -> list[str]:
    """Return the groups that are clearly counted too high, the most first."""
    losses = reading.losses()
    return sorted(groups_by_sign(losses)[0], key=lambda group: -losses[group].value)


def _exact(reading: ReleaseReading) -> bool:
    """Return whether every group has as many people in the published table as there are, in all repeats."""
    known = [found for found in reading.losses().values() if math.isfinite(found.value)]
    return bool(known) and all(found.value == found.low == found.high == 0 for found in known)


def _moved(reading: ReleaseReading) -> list[bool]:
    """Return for each group whether a repeat published another number of its people than there are."""
    return [
        bool(np.nan_to_num(reading.group_runs(reading.chosen, group, "net")).any())
        for group in reading.groups
    ]


def _one_release(reading: ReleaseReading) -> str:
    """Say how far one release is typically off for the group that this is most for, if it is known."""
    known = {group: share for group in reading.groups if math.isfinite(share := reading.varies(group))}
    if not known:
        return ""
    worst = max(known, key=known.__getitem__)
    return f"; one release is typically off by {number(100 * known[worst], 1)}% for {reading.named(worst)}"


def _nobody(reading: ReleaseReading) -> str:
    if reading.repeats < 2:
        return "One repeat cannot tell who is lost"
    return "No group clearly gains or loses people"


def _widest(reading: ReleaseReading) -> str:
    found = reading.losses()
    known = [group for group, each in found.items() if math.isfinite(each.value)]
    if not known:
        return "no cell is done"
    worst = max(known, key=lambda group: abs(found[group].value))
    return f"{reading.named(worst)} is furthest off, by {share_text(found[worst])}"


def _all_or_names(reading: ReleaseReading, groups: list[str]) -> str:
    if len(groups) == len(reading.groups) > 1:
        return "Every group"
    return reading.names(groups)


def _verb(groups: list[str], verb: str) -> str:
    return f"{verb}s" if len(groups) == 1 else verb


def _verb_all(reading: ReleaseReading, groups: list[str], verb: str) -> str:
    return f"{verb}s" if len(groups) == len(reading.groups) > 1 else _verb(groups, verb)


def _shares(reading: ReleaseReading, groups: list[str]) -> str:
    shown = [f"{way_text(reading.lost(group))} of {reading.named(group)}" for group in groups[:2]]
    way = "fewer" if reading.lost(groups[0]).value < 0 else "more"
    rest = [f"{way} of {counted(len(groups) - 2, 'other group')}"] if len(groups) > 2 else []
    return listed([*shown, *rest])


# --- where the error falls ------------------------------------------------------------------------


def error_answer(reading: ReleaseReading) -> str:
    """Say what small and large cells are off by, and which group bears most of it per person."""
    sizes = reading.sizes
    if not sizes:
        return "**No cell has anybody in it**, so nothing can be said of errors."
    small, large = sizes[0], sizes[-1]
    first, last = (reading.of_size("error", size) for size in (small, large))
    parts = [_off(reading, small, first)] + ([_off(reading, large, last)] if large != small else [])
    head = error_heading(reading)
    exact = " These errors are exact." if reading.is_exact(reading.chosen, "error") else ""
    return f"**{head}**: {', and '.join(parts)}{_per_person(reading)}.{exact}"


def error_heading(reading: ReleaseReading) -> str:
    """Return what small and large cells have to do with the error, as far as it is clear."""
    small, large = reading.sizes[0], reading.sizes[-1]
    if small == large:
        return "All cells are of about one size"
    errors = [reading.size_runs("error", size) for size in (small, large)]
    people = [reading.size_runs("size", size) for size in (small, large)]
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = reading.tested(errors[0] / people[0] - errors[1] / people[1], within=ANY)
    larger = reading.tested(errors[1] - errors[0], within=ANY)
    if not shares.is_clear:
        return "Small and large cells do not differ clearly in their share of error"
    if shares.value < 0:
        return "Large cells carry the error"
    if larger.is_clear:
        return "Small cells carry the error, for their size"
    return "Large cells do not err clearly more, so small cells carry the error"


def _off(reading: ReleaseReading, size: Size, found: Estimated) -> str:
    mean, label = reading.of_size("size", size).value, size.label
    if not math.isfinite(found.value):
        return f"a cell of {label} people has no error that is known"
    share = 100 * found.value / mean
    return (
        f"a cell of {label} people is off by {number(found.value, digits_of(found.value))}, or "
        f"{number(share, 0 if share >= 10 else 1)}% of its size"
    )


def _per_person(reading: ReleaseReading) -> str:
    """Say which groups differ most in errors per person, if that is clear among all pairs of groups."""
    means = {group: float(np.nanmean(runs)) for group, runs in _person_runs(reading).items()}
    if len(means) < 2:
        return ""
    high, low = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    runs = _person_runs(reading)
    apart = reading.tested(runs[high] - runs[low], within=ANY, level=strict(math.comb(len(runs), 2)))
    digits = max(digits_of(means[low]), digits_of(means[high]))
    both = (
        f"errors per person are {number(means[high], digits)} for {reading.named(high)} and "
        f"{number(means[low], digits)} for {reading.named(low)}"
    )
    return f"; {both}" if apart.is_clear else "; per person the groups do not differ clearly"


def _person_runs(reading: ReleaseReading) -> dict[str, NDArray[np.float64]]:
    found = {group: reading.group_runs(reading.chosen, group, "person_error") for group in reading.groups}
    return {group: runs for group, runs in found.items() if np.isfinite(runs).any()}


# --- what is promised -----------------------------------------------------------------------------


def promise_answer(reading: ReleaseReading) -> str:
    """Say how many mechanisms promise anything, and which of them errs least."""
    return f"**{promise_heading(reading)}**{_without(reading)}. {_least(reading)}"


def promise_heading(reading: ReleaseReading) -> str:
    """Return how many mechanisms promise something, as a sentence without its full stop."""
    all_of, good = len(reading.beside), len(reading.promising)
    at = "" if reading.epsilon is None else f" at {epsilon_words(reading.epsilon)}"
    if good == all_of:
        return (
            f"All {all_of} mechanisms keep a promise{at}"
            if all_of > 1
            else f"The mechanism keeps a promise{at}"
        )
    if not good:
        which = (
            f"None of the {all_of} mechanisms promises" if all_of > 1 else "The mechanism promises nothing"
        )
        return f"{which}{' anything' if all_of > 1 else ''} that matters{at}"
    verb = "promises" if all_of - good == 1 else "promise"
    return f"{all_of - good} of {all_of} mechanisms {verb} nothing that matters{at}"


def _without(reading: ReleaseReading) -> str:
    bad = [setting for setting in reading.beside if setting not in reading.promising]
    if not bad:
        return ""
    names = listed([mechanism_name(setting) for setting in bad], most=4)
    return f": {names} {'has' if len(bad) == 1 else 'have'} a δ of 0.01 or more"


def _least(reading: ReleaseReading) -> str:
    """Say which mechanism with a promise has the smallest error, if that is clear."""
    field = [setting for setting in reading.promising if math.isfinite(reading.cell_error(setting).value)]
    if not field:
        return "Nothing here can be recommended."
    left_out = len(reading.promising) < len(reading.beside)
    if len(field) == 1:
        only, off = field[0], amount_text(reading.cell_error(field[0]))
        return (
            f"Only {release_name(only)} is left, off by {off} a cell."
            if left_out
            else f"It is off by {off} a cell."
        )
    best = min(field, key=lambda each: reading.cell_error(each).value)
    near = [
        setting
        for setting in field
        if setting != best and not _clearly_more(reading, setting, best, comparisons=len(field) - 1)
    ]
    shown, of_whom = amount_text(reading.cell_error(best)), "Of the others, " if left_out else ""
    if near:
        names = listed([mechanism_name(each) for each in (best, *near)], most=4)
        return f"{of_whom}{names} have the smallest errors and cannot be told apart."
    return f"{of_whom}{mechanism_name(best)} errs least: {shown} a cell."


def _clearly_more(reading: ReleaseReading, other: Setting, best: Setting, *, comparisons: int) -> bool:
    return clearly(reading.less_error(best, other, comparisons=comparisons), -1)
