r"""Rules for verdicts, fixed before any result was looked at.

``quoted``
    A number printed in the paper agrees if ours is within two standard errors, half a unit of the last
    printed digit and 0.005 of it. The standard error is the spread of the published runs over
    :math:`\sqrt n` for our :math:`n` repeats; without published runs it is ours.
``published mean``
    As ``quoted``, without the rounding, against the mean of the published runs. Where both used the same
    seeds, the mean is over the seeds that we ran.
``same``
    A result without randomness agrees if it is the published one to three decimals.
``mostly``
    A finding in words becomes comparisons, pair by pair in the same repeats, each oriented so that a positive
    difference supports the finding. It agrees if in more than half of them the 95 % interval is above zero.
``below``
    "Minor" agrees if in more than half of the comparisons the 95 % interval is below the limit.
``alike``
    "Similar" agrees if in more than half of the comparisons the 95 % interval is within the margin, and
    differs if in more than half it is beyond it.
``share``
    A table agrees if at least 95 % of its values do.
``fact``
    Counts, sizes and formulas agree if they are equal.

A comparison of fewer than :data:`FEWEST` repeats is open unless it is clear. Where open comparisons of so few
repeats decide the verdict, the claim cannot be checked; with more repeats a finding that they do not show
differs.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.papers.claims import AGREES, DIFFERS, UNCHECKED, Checked, cannot_check

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.study.results.estimates import Estimated

SLACK = 0.005
"""What a number may be off besides its standard errors and its rounding."""

MARGIN = 0.01
"""Differences within it are called similar."""

FEWEST = 5
"""Repeats below which an open comparison speaks neither for nor against a finding."""

SHARE = 0.95
"""How many values of a table must agree."""

_ERRORS = 2.0
_DECIMALS = 3


def number_text(value: float) -> str:
    """Return a number with three decimals and a true minus.

    >>> number_text(-0.17)
    '\u22120.170'
    """
    if not math.isfinite(value):
        return "no value"
    return f"{round(value, _DECIMALS) + 0.0:.{_DECIMALS}f}".replace("-", "\N{MINUS SIGN}")


def quoted(
    ours: Estimated, paper: float, *, decimals: int, spread: float | None = None, about: bool = False
) -> Checked:
    """Check a number that the paper prints.

    Parameters
    ----------
    ours : Estimated
    paper : float
    decimals : int
        How many are printed.
    spread : float, optional
        Standard deviation of the published runs behind the number.
    about : bool
        Whether the paper prints it with a tilde.
    """
    text = f"{'~' if about else ''}{paper:.{decimals}f}".replace("-", "\N{MINUS SIGN}")
    error = _error(ours, spread)
    if error is None:
        return cannot_check(_ALONE, ours=ours, paper=text)
    reach = _ERRORS * error + 0.5 * 10.0**-decimals + SLACK
    return _within(ours, paper, reach, text)


def published_mean(ours: Estimated, theirs: NDArray[np.float64], *, same_seeds: bool) -> Checked:
    """Check a mean against the published runs, one value per seed.

    Parameters
    ----------
    ours : Estimated
        Of repeats 0, 1, ... with the seeds 0, 1, ... where `same_seeds`.
    theirs : array
    same_seeds : bool
        Compare with the published runs of the seeds that we ran instead of all of them.
    """
    known = theirs[np.isfinite(theirs)]
    if len(known) < 2 or not ours.runs:
        return cannot_check("There are no two published runs to compare with.", ours=ours)
    like = theirs[: ours.runs + ours.left_out] if same_seeds else known
    like = like[np.isfinite(like)]
    if not len(like):
        return cannot_check("There is no published run of the seeds that we ran.", ours=ours)
    paper = float(like.mean())
    reach = _ERRORS * float(known.std(ddof=1)) / math.sqrt(ours.runs) + SLACK
    return _within(ours, paper, reach, number_text(paper))


def same(ours: Estimated, paper: float, *, decimals: int = _DECIMALS) -> Checked:
    """Check a result that has no randomness left: it must be the same to so many decimals."""
    if not math.isfinite(ours.value):
        return cannot_check("There is no value of ours.", ours=ours, paper=number_text(paper))
    return _within(ours, paper, 0.5 * 10.0**-decimals, number_text(paper))


def mostly(differences: Sequence[Estimated], *, what: str = "comparisons") -> Checked:
    """Check a finding in words by comparisons in which a positive difference supports it.

    Parameters
    ----------
    differences : sequence of Estimated
        Means of differences within repeats.
    what : str
        What they are, for the sentence.

    Examples
    --------
    >>> from evenhand.study.results.estimates import Estimated
    >>> clear = Estimated(0.02, 0.01, 0.03, runs=20)
    >>> unclear = Estimated(0.0, -0.01, 0.01, runs=20)
    >>> mostly([clear, clear, unclear]).verdict, mostly([clear, unclear, unclear]).verdict
    ('agrees', 'differs')
    """
    known = [each for each in differences if each.runs and math.isfinite(each.value)]
    if not known:
        return cannot_check("No comparison has a value.")
    number = len(known)
    above = sum(each.low is not None and each.low > 0 for each in known)
    below = sum(each.high is not None and each.high < 0 for each in known)
    few = sum(not each.is_clear and each.runs < FEWEST for each in known)
    middle = _middle(known)
    counts = f"Of {number} {what}, {above} clearly for it and {below} clearly against it"
    if 2 * above > number:
        return Checked(AGREES, f"{counts}.", middle)
    if 2 * (above + few) > number:
        return Checked(UNCHECKED, f"{counts}; {few} are open, of fewer than {FEWEST} repeats.", middle)
    return Checked(DIFFERS, f"{counts}.", middle)


def below(amounts: Sequence[Estimated], *, limit: float, what: str = "comparisons") -> Checked:
    """Check that amounts are mostly below a limit.

    Examples
    --------
    >>> from evenhand.study.results.estimates import Estimated
    >>> small = Estimated(0.005, 0.001, 0.009, runs=20)
    >>> below([small], limit=0.02).verdict, below([small], limit=0.001).verdict
    ('agrees', 'differs')
    """
    found = mostly([shift_estimate(each, sign=-1, by=limit) for each in amounts], what=what)
    known = [each for each in amounts if each.runs and math.isfinite(each.value)]
    return replace(found, ours=_middle(known)) if known else found


def alike(differences: Sequence[Estimated], *, margin: float = MARGIN, what: str = "comparisons") -> Checked:
    """Check that two ways are similar: intervals of their differences within the margin.

    Examples
    --------
    >>> from evenhand.study.results.estimates import Estimated
    >>> alike([Estimated(0.001, -0.002, 0.004, runs=20)]).verdict
    'agrees'
    >>> alike([Estimated(0.03, 0.02, 0.04, runs=20)]).verdict
    'differs'
    """
    known = [each for each in differences if each.runs and math.isfinite(each.value)]
    if not known:
        return cannot_check("No comparison has a value.")
    number = len(known)
    within = sum(
        each.low is not None and each.high is not None and -margin <= each.low and each.high <= margin
        for each in known
    )
    beyond = sum(_beyond(each, margin) for each in known)
    counts = (
        f"Of {number} {what}, {within} have an interval within {margin:g} of each other and {beyond} beyond"
    )
    if 2 * within > number:
        return Checked(AGREES, f"{counts}.", _middle(known))
    if 2 * beyond > number:
        return Checked(DIFFERS, f"{counts}.", _middle(known))
    return Checked(UNCHECKED, f"{counts}; the others are too wide to tell.", _middle(known))


RULES: Mapping[str, Callable[..., Checked]] = {"mostly": mostly, "alike": alike, "below": below}
"""The rules for comparisons, by name."""


def shift_estimate(each: Estimated, *, sign: int = 1, by: float = 0.0) -> Estimated:
    """Return an estimate times a sign, plus something, with its interval.

    >>> from evenhand.study.results.estimates import Estimated
    >>> shift_estimate(Estimated(0.5, 0.25, 1.0), sign=-1, by=2.0)
    Estimated(value=1.5, low=1.0, high=1.75, ...)
    """
    ends = [None if end is None else sign * end + by for end in (each.low, each.high)]
    low, high = ends[::sign]
    return replace(each, value=sign * each.value + by, low=low, high=high)


def share(parts: Sequence[Checked], *, least: float = SHARE, what: str = "values") -> Checked:
    """Check a table by its values.

    >>> agrees, differs = Checked("agrees", ""), Checked("differs", "")
    >>> share([agrees] * 19 + [differs]).verdict, share([agrees] * 9 + [differs]).verdict
    ('agrees', 'differs')
    """
    known = [each for each in parts if each.verdict != UNCHECKED]
    if not known:
        return cannot_check(f"None of the {what} can be compared.")
    good = sum(each.verdict == AGREES for each in known)
    why = f"{good} of {len(known)} {what} agree ({good / len(known):.1%})".replace("%", " %")
    return Checked(AGREES if good >= least * len(known) else DIFFERS, f"{why}.")


def fact(ours: object, paper: object, *, why: str = "", printed: str | None = None) -> Checked:
    """Check something that is either equal or not.

    Parameters
    ----------
    ours, paper : object
    why : str
        The sentence; by default what ours is.
    printed : str, optional
        What stands for the paper's value in the table; by default the value itself.

    Examples
    --------
    >>> fact(45849, 45849).verdict, fact(4.0, 4.5).verdict
    ('agrees', 'differs')
    """
    verdict = AGREES if ours == paper else DIFFERS
    return Checked(verdict, why or f"Ours: {ours}.", paper=str(paper) if printed is None else printed)


# --- parts ----------------------------------------------------------------------------------------

_ALONE = "A single repeat has no standard error, and there are no published runs."


def _error(ours: Estimated, spread: float | None) -> float | None:
    if not ours.runs or not math.isfinite(ours.value):
        return None
    return ours.standard_error if spread is None else spread / math.sqrt(ours.runs)


def _within(ours: Estimated, paper: float, reach: float, text: str) -> Checked:
    off = abs(ours.value - paper)
    words = f"Off by {_off_text(off)}, allowed {_off_text(reach)}."
    return Checked(AGREES if off <= reach else DIFFERS, words, ours, text, paper)


def _off_text(value: float) -> str:
    return f"{value:.4f}" if value >= 0.00005 or value == 0 else "less than 0.0001"


def _beyond(each: Estimated, margin: float) -> bool:
    return each.low is not None and each.high is not None and (each.low > margin or each.high < -margin)


def _middle(known: Sequence[Estimated]) -> Estimated:
    """Return the comparison in the middle: what the row of a claim shows of many."""
    ordered = sorted(known, key=lambda each: each.value)
    return ordered[len(ordered) // 2]
