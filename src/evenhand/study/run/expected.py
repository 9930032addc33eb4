"""How many runs a plan has and how long they are expected to take, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.study.page.wording import counted

if TYPE_CHECKING:
    from evenhand.study.plan.plan import Plan

_ROUND_SECONDS = sorted(
    unit * amount
    for unit, amounts in (
        (1, (*range(1, 11), 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 70, 80)),
        (60, (1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50)),
        (3600, (1, 1.5, 2, 2.5, 3, 3.5, *range(4, 11), 12, 14, 16, 18, 20, 24, 28, 32, 36, 40, 48, 60)),
    )
    for amount in amounts
)


def round_range(seconds: float) -> tuple[float, float]:
    """Return two round times around an expected one, the longer at most twice the shorter.

    >>> round_range(11), round_range(150), round_range(9_000)
    ((8, 16), (120, 210.0), (7200, 12600.0))
    """
    if seconds > _ROUND_SECONDS[-1] / 2:
        hours = round(seconds / 3600 / 2**0.5)
        return 3600 * hours, 7200 * hours
    pairs = [(low, high) for low in _ROUND_SECONDS for high in _ROUND_SECONDS if low < high <= 2 * low]
    return min(pairs, key=lambda pair: max(pair[0] / seconds, seconds / pair[1]))


def spell_range(low: float, high: float) -> str:
    """Return a range of times as people say it, with its unit once unless it is a wide one.

    >>> spell_range(20, 40), spell_range(120, 180), spell_range(80, 150), spell_range(90, 180)
    ('20 to 40 s', '2 to 3 min', '80 to 150 s', '1.5 to 3 min')
    >>> spell_range(6, 360)
    '6 s to 6 min'
    """
    (unit, name), (last_unit, last_name) = _unit_of(low), _unit_of(high)
    if high > 4 * low and unit != last_unit:
        return f"{low / unit:.4g} {name} to {high / last_unit:.4g} {last_name}"
    return f"{low / unit:.4g} to {high / unit:.4g} {name}"


def _unit_of(seconds: float) -> tuple[int, str]:
    """Return the largest unit in which a time is a whole number, or a whole one and a half."""
    units = ((3600, "h"), (60, "min"), (1, "s"))
    return next(
        (unit, name) for unit, name in units if (seconds >= unit and seconds % (unit / 2) == 0) or unit == 1
    )


def spell_expected(seconds: float) -> str:
    """Return an expected time as a range.

    >>> spell_expected(150)
    'about 2 to 3.5 min'
    """
    return f"about {spell_range(*round_range(seconds))}"


def grid_size(plan: Plan) -> str:
    """Return how many settings, repeats and runs a plan has, in words; settings are those that protect."""
    protected = [setting for setting in plan.settings() if setting.is_protected]
    settings, repeats = counted(len(protected), "setting"), counted(plan.repeats, "repeat")
    baseline = " and the unprotected one" if len(protected) < len(plan.settings()) else ""
    return f"{settings}{baseline}, {repeats} each: {counted(len(plan.cells()), 'run')}"
