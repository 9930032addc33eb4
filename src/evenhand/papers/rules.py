"""Rules for verdicts, the same for every paper.

The page on reproductions has them in words, and says which were fixed before any result was looked at.

A number that is meant to show what a protection does has a :class:`Control`: what doing nothing would give.
Its slack is a tenth of the effect, if that is less than 0.005, and if doing nothing is within reach too, the
number cannot tell the two apart. A finding that is not shown says how many repeats could decide, if the
differences stay as they are.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata
from scipy.stats import t as student

from evenhand.measure.repeat_means import estimate_rows
from evenhand.papers.claims import (
    AGREES,
    CONTRADICTED,
    INDISTINCT,
    NOT_SHOWN,
    UNCHECKED,
    Checked,
    Verdict,
    cannot_check,
    number_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.measure.repeat_means import Estimated
    from evenhand.papers.claims import Evidence
    from evenhand.papers.trials import Values
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.results import Results

SLACK = 0.005  # what a number may be off besides its standard errors and its rounding
MARGIN = 0.01  # differences within it are called similar
FEWEST = 5  # repeats below which a number that is not reached contradicts nothing
OF_EFFECT = 0.1  # the slack of a number with a control is at most this share of the effect
MOST_REPEATS = 10_000  # more repeats than these are not told as a number
SHARE = 0.95  # how many values of a table must agree
ERRORS_IN_TABLE = 3.0  # the standard errors that a number of a table may be off: of many, some are off by two

_ERRORS = 2.0

_DECIMALS = 3


@dataclass(frozen=True)
class Control:
    """What doing nothing gives where a number is to show what a protection does.

    `value` is ours without protection, or zero for a gap that a method closes; `printed` is the paper's, by
    default ours.

    >>> from evenhand.measure.repeat_means import Estimated
    >>> ours = Estimated(0.808, runs=20, standard_error=0.0)
    >>> quoted(ours, 0.81, decimals=2, control=Control(0.813)).verdict
    'cannot tell apart'
    """

    value: float
    printed: float | None = None

    def slack(self, paper: float) -> float:
        """Return what a printed number may be off besides its errors: a share of the effect."""
        effect = abs(paper - (self.value if self.printed is None else self.printed))
        return min(SLACK, OF_EFFECT * effect)


def quoted(
    ours: Estimated,
    paper: float,
    *,
    decimals: int,
    spread: float | None = None,
    about: bool = False,
    control: Control | None = None,
    trials: float | None = None,
    errors: float = _ERRORS,
) -> Checked:
    """Check a number that the paper prints with so many decimals, `about` if it has a tilde.

    `spread` is the standard deviation of the published runs behind the number. If the paper says over how
    many repeats (`trials`) its mean is, it has an error of its own, by our spread. `errors` is how many
    standard errors are allowed, besides half a unit of the last digit and 0.005: :data:`ERRORS_IN_TABLE`
    where many numbers are judged together.
    """
    text = f"{'~' if about else ''}{paper:.{decimals}f}".replace("-", "\N{MINUS SIGN}")
    error = ours.standard_error if spread is None else spread / math.sqrt(max(ours.runs, 1))
    if error is None or not ours.runs or not math.isfinite(ours.value):
        why = "A single repeat has no standard error, and there are no published runs."
        return cannot_check(why, ours=ours, paper=text)
    error *= 1.0 if trials is None else math.sqrt(1 + ours.runs / trials)
    reach = errors * error + 0.5 * 10.0**-decimals
    return _within(ours, paper, reach, text, control=control)


def published_mean(
    ours: Estimated, theirs: Values, *, like: Values | None = None, control: Control | None = None
) -> Checked:
    """Check a mean against the published runs, one value per seed.

    `like` has those of the seeds that we ran, where our repeats have the same seeds: only they are compared.
    """
    known = theirs[np.isfinite(theirs)]
    if len(known) < 2 or not ours.runs:
        return cannot_check("There are no two published runs to compare with.", ours=ours)
    like = known if like is None else like[np.isfinite(like)]
    if not len(like):
        return cannot_check("There is no published run of the seeds that we ran.", ours=ours)
    paper = float(like.mean())
    joint = float(known.std(ddof=1)) * math.sqrt(1 / ours.runs + 1 / len(like))
    reach = ERRORS_IN_TABLE * joint
    return _within(ours, paper, reach, number_text(paper), control=control)


def same(ours: Estimated, paper: float, *, decimals: int = _DECIMALS) -> Checked:
    """Check a result that has no randomness left: it must be the same to so many decimals."""
    if not math.isfinite(ours.value - paper):
        whose = "published" if math.isfinite(ours.value) else "of ours"
        return cannot_check(f"There is no value {whose}.", ours=ours, paper=number_text(paper))
    return _within(ours, paper, 0.5 * 10.0**-decimals, number_text(paper), slack=0.0)


def mostly(
    differences: Sequence[Estimated],
    *,
    what: str = "comparisons",
    words: tuple[str, str] = ("clearly for it", "clearly against it"),
) -> Checked:
    """Check a finding in words by differences within repeats; a positive one supports the finding.

    It agrees if in more than half of them the 95 % interval is above zero, is contradicted if in half of them
    or more it is below, and else is not shown.

    `what` and `words` tell in the sentence what they are, and how those for and against the finding are told.

    >>> from evenhand.measure.repeat_means import Estimated
    >>> clear, against = Estimated(0.02, 0.01, 0.03, runs=20), Estimated(-0.02, -0.03, -0.01, runs=20)
    >>> wide = Estimated(0.01, -0.01, 0.03, runs=20, standard_error=0.0096)
    >>> mostly([clear, clear, wide]).verdict, mostly([clear, against]).verdict
    ('agrees', 'contradicted')
    >>> mostly([wide]).why
    'Of 1 comparisons, 0 clearly for it and 0 clearly against it. About 74 repeats could decide, if ...'
    """
    known = [estimate for estimate in differences if estimate.runs and math.isfinite(estimate.value)]
    if not known:
        return cannot_check("No comparison has a value.")
    above, below = (sum(_is_side(estimate, side) for estimate in known) for side in (1, -1))
    counts = f"Of {len(known)} {what}, {above} {words[0]} and {below} {words[1]}."
    verdict = majority(above, below, len(known))
    if verdict == NOT_SHOWN:
        counts = f"{counts} {_repeats_sentence(known)}"
    return Checked(verdict, counts, _middle(known))


def _is_side(estimate: Estimated, side: int) -> bool:
    """Return whether an interval is clear of zero on one side."""
    return estimate.is_clear and side * estimate.value > 0


def majority(above: int, below: int, number: int) -> Verdict:
    """Return what the clear comparisons decide; half against leaves no majority for a finding."""
    if 2 * above > number:
        return AGREES
    return CONTRADICTED if 2 * below >= number else NOT_SHOWN


def repeats_to_decide(differences: Sequence[Estimated]) -> int | None:
    """Return how many repeats could decide, if means and spreads stay; None if none could.

    >>> from evenhand.measure.repeat_means import Estimated
    >>> repeats_to_decide([Estimated(0.01, -0.01, 0.03, runs=20, standard_error=0.0096)])
    74
    """
    sides = {side: sum(_is_side(estimate, side) for estimate in differences) for side in (1, -1)}
    waiting = sorted(
        (repeats_until_clear(estimate), 1 if estimate.value > 0 else -1)
        for estimate in differences
        if not estimate.is_clear and estimate.standard_error and estimate.value
    )
    for repeats, side in waiting:
        sides[side] += 1
        if majority(sides[1], sides[-1], len(differences)) != NOT_SHOWN:
            return repeats
    return None


def repeats_until_clear(estimate: Estimated) -> int:
    """Return the repeats from which on a t interval around the same mean excludes zero."""
    spread = (estimate.standard_error or 0.0) * math.sqrt(estimate.runs)

    def is_clear(repeats: int) -> bool:
        quantile = float(student.ppf((1 + estimate.level) / 2, repeats - 1))
        return quantile * spread / math.sqrt(repeats) < abs(estimate.value)

    return 2 + bisect_left(range(2, MOST_REPEATS + 1), x=True, key=is_clear)


def _repeats_sentence(differences: Sequence[Estimated]) -> str:
    repeats = repeats_to_decide(differences)
    if repeats is None:
        if any(each.standard_error is None for each in differences):
            return "A single repeat has no interval: more repeats could decide."
        none = sum(each.value == each.standard_error == 0 for each in differences)
        equal = f"In {none} there is no difference at all. " if none else ""
        return f"{equal}More repeats of the same would not decide: no side would have a majority."
    if repeats > MOST_REPEATS:
        return f"Not even {MOST_REPEATS:,} repeats could decide, if the differences stay as they are."
    return f"About {repeats:,} repeats could decide, if the differences stay as they are."


def below(amounts: Sequence[Estimated], *, limit: float, what: str = "comparisons") -> Checked:
    """Check that amounts are mostly below a limit.

    >>> from evenhand.measure.repeat_means import Estimated
    >>> small = Estimated(0.005, 0.001, 0.009, runs=20)
    >>> below([small], limit=0.02).verdict, below([small], limit=0.0005).verdict
    ('agrees', 'contradicted')
    """
    room = [shift_estimate(estimate, sign=-1, by=limit) for estimate in amounts]
    words = (f"clearly below {limit:g}", "clearly above it")
    return _show_middle(mostly(room, what=what, words=words), amounts)


def alike(differences: Sequence[Estimated], *, margin: float = MARGIN, what: str = "comparisons") -> Checked:
    """Check that two ways are similar: intervals of their differences within the margin.

    >>> from evenhand.measure.repeat_means import Estimated
    >>> alike([Estimated(0.001, -0.002, 0.004, runs=20)]).verdict
    'agrees'
    >>> alike([Estimated(0.03, 0.02, 0.04, runs=20)]).verdict
    'contradicted'
    """
    room = [_room_within(estimate, margin) for estimate in differences]
    words = (f"clearly within {margin:g} of no difference", "clearly beyond it")
    return _show_middle(mostly(room, what=what, words=words), differences)


def _room_within(estimate: Estimated, margin: float) -> Estimated:
    """Return how far a difference is within a margin, below zero if it is beyond."""
    if estimate.low is None or estimate.high is None:
        return replace(estimate, value=margin - abs(estimate.value))
    ends = (abs(estimate.low), abs(estimate.high))
    least = 0.0 if estimate.low <= 0 <= estimate.high else min(ends)
    return replace(estimate, value=margin - abs(estimate.value), low=margin - max(ends), high=margin - least)


def within_sentence(why: str) -> str:
    """Return a reason for the middle of a sentence.

    >>> within_sentence("Of 3 comparisons, 2 clearly for it.")
    'of 3 comparisons, 2 clearly for it.'
    """
    return why[:1].lower() + why[1:]


def _show_middle(checked: Checked, amounts: Sequence[Estimated]) -> Checked:
    known = [estimate for estimate in amounts if estimate.runs and math.isfinite(estimate.value)]
    return replace(checked, ours=_middle(known)) if known else checked


# The rules for comparisons, by name
RULES: Mapping[str, Callable[..., Checked]] = {"mostly": mostly, "alike": alike, "below": below}


def shift_estimate(estimate: Estimated, *, sign: int = 1, by: float = 0.0) -> Estimated:
    """Return an estimate times a sign, plus something, with its interval.

    >>> from evenhand.measure.repeat_means import Estimated
    >>> shift_estimate(Estimated(0.5, 0.25, 1.0), sign=-1, by=2.0)
    Estimated(value=1.5, low=1.0, high=1.75, ...)
    """
    ends = [None if end is None else sign * end + by for end in (estimate.low, estimate.high)]
    low, high = ends[::sign]
    return replace(estimate, value=sign * estimate.value + by, low=low, high=high)


def share(
    parts: Sequence[Checked], *, least: float = SHARE, what: str = "values", most_alike: float = SHARE
) -> Checked:
    """Check a table by its values; those that cannot be told from doing nothing do not count for it.

    At least so many of the telling values must agree. If doing nothing comes as close to the share
    `most_alike` of all values, the table cannot be told apart, unless a telling value speaks against it.

    >>> agrees, apart = Checked("agrees", ""), Checked("contradicted", "")
    >>> share([agrees] * 19 + [apart]).verdict, share([agrees] * 9 + [apart]).verdict
    ('agrees', 'contradicted')
    >>> share([agrees] + [Checked("cannot tell apart", "")] * 19).verdict
    'cannot tell apart'
    >>> share([agrees] * 2 + [Checked("cannot tell apart", "")] * 4, most_alike=0.5).verdict
    'cannot tell apart'
    """
    known = [part for part in parts if part.verdict != UNCHECKED]
    if not known:
        return cannot_check(f"None of the {what} can be compared.")
    same_as_nothing = sum(part.verdict == INDISTINCT for part in known)
    telling = len(known) - same_as_nothing
    good = sum(part.verdict == AGREES for part in known)
    why = f"{good} of {telling} {what} agree ({good / telling:.1%})" if telling else ""
    if same_as_nothing:
        nothing = f"doing nothing would come as close to {same_as_nothing}"
        why = f"{why}; {nothing} others" if why else f"{nothing.capitalize()} of {same_as_nothing} {what}"
    verdict = AGREES if good >= least * telling else CONTRADICTED
    if same_as_nothing >= (most_alike if verdict == AGREES else SHARE) * len(known):
        verdict = INDISTINCT
    return Checked(verdict, f"{why.replace('%', ' %')}.")


def fact(
    ours: object,
    paper: object,
    *,
    why: str = "",
    printed: str | None = None,
    otherwise: Verdict = CONTRADICTED,
) -> Checked:
    """Check something that is either equal or not; `printed` stands for the paper's value in the table.

    >>> fact(45849, 45849).verdict, fact(4.0, 4.5).verdict
    ('agrees', 'contradicted')
    """
    verdict = AGREES if ours == paper else otherwise
    return Checked(verdict, why or f"Ours: {ours}.", paper=str(paper) if printed is None else printed)


def _within(
    ours: Estimated,
    paper: float,
    reach: float,
    text: str,
    *,
    control: Control | None = None,
    slack: float = SLACK,
) -> Checked:
    """Check that ours is within reach of a number, and that doing nothing is not."""
    allowed = reach + (slack if control is None else control.slack(paper))
    off = abs(ours.value - paper)
    words = f"Off by {_off_text(off)}, allowed {_off_text(allowed)}"
    verdict = AGREES if off <= allowed else CONTRADICTED
    if control is not None:
        words += f"; doing nothing is off by {_off_text(abs(control.value - paper))}"
        if verdict == AGREES and abs(control.value - paper) <= allowed:
            verdict = INDISTINCT
    return Checked(verdict, f"{words}.", ours, text, paper)


def _off_text(value: float) -> str:
    return f"{value:.4f}" if value >= 0.00005 or value == 0 else "less than 0.0001"


def _middle(known: Sequence[Estimated]) -> Estimated:
    """Return the comparison in the middle: what the row of a claim shows of many."""
    ordered = sorted(known, key=lambda estimate: estimate.value)
    return ordered[len(ordered) // 2]


def values(results: Results, setting: Setting, measure: str) -> Values:
    """Return a measure of a setting, one value per repeat."""
    arrays = results.arrays
    return np.asarray(arrays.of_measures[results.place(setting), :, arrays.measures.index(measure)])


def group_rates(results: Results, setting: Setting, rate: str) -> Values:
    """Return a rate of every group, repeats x groups."""
    arrays = results.arrays
    return np.asarray(arrays.of_groups[results.place(setting), :, :, arrays.rates.index(rate)])


def mean_of(
    results: Results, runs: Values, *, within: tuple[float, float] = (-math.inf, math.inf)
) -> Estimated:
    """Return the mean over repeats of a value per repeat, its t interval cut to what is possible."""
    return estimate_rows(
        runs[None], level=0.95, kind="student", within=within, is_exact=results.plan.task.is_exact
    )[0]


def of_each(compare: Callable[[Results, Setting, str], Values]) -> Callable[..., list[Values]]:
    """Return a comparison of many settings and measures, made of one that compares a single setting."""

    def comparison(results: Results, settings: Sequence[Setting], measures: Sequence[str]) -> list[Values]:
        return [compare(results, setting, measure) for setting in settings for measure in measures]

    return comparison


def rank_correlation(first: Any, second: Any) -> float:
    """Return the rank correlation, ties sharing their rank.

    >>> round(rank_correlation([1, 2, 3], [9, 4, 1]), 9)
    -1.0
    """
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])


def check_finding(
    comparisons: Mapping[str, Callable[..., list[Values]]],
    choose: Callable[..., list[Setting]],
    evidence: Evidence,
    *,
    studies: Sequence[str],
    compare: str,
    of: Sequence[str],
    rule: str = "mostly",
    settings: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    **of_rule: Any,
) -> Checked:
    """Check by a rule comparisons that are made in each study and judged together.

    A comparison takes results, settings and what `of` names, the measures or rates, and returns differences,
    one value per repeat. `choose` takes results and what `settings` has; `options` are of the comparison.
    """
    found = []
    for name in studies:
        results = evidence.studies[name]
        chosen = choose(results, **(settings or {}))
        found += [
            mean_of(results, runs) for runs in comparisons[compare](results, chosen, of, **(options or {}))
        ]
    return RULES[rule](found, **of_rule)
