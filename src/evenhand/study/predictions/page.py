"""The page of an audit of predictions: three answers, then the evidence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import narwhals as nw

from evenhand.measure.disparities import comparison_named
from evenhand.report.page import KeyNumber, Note, Page
from evenhand.report.words import limits_of, number, plain
from evenhand.schema.crossing import BETWEEN_VALUES, NOT_STATED
from evenhand.study.page.comparing import FEWEST_PEOPLE
from evenhand.study.page.wording import points
from evenhand.study.predictions.answers import answers, capital, comparison_words
from evenhand.study.predictions.audit import HEADLINE, PredictionAudit
from evenhand.study.predictions.columns import check_order, encode_group, read_predictions
from evenhand.study.predictions.rules import Rule
from evenhand.study.predictions.sections import (
    added_section,
    against_section,
    by_group_section,
    calibration_section,
    comparisons_section,
    groups_section,
    rules_section,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.measure.disparities import Disparity
    from evenhand.study.results.estimates import Estimated


def page(  # noqa: PLR0913 - one keyword for each choice
    y_true: Any,
    y_pred: Any,
    group: Any,
    *,
    scores: Any = None,
    threshold: float | None = None,
    positive: Any = None,
    predicted: Any = None,
    privileged: Any = None,
    weights: Any = None,
    headline: str = HEADLINE,
    rules: Sequence[str] = (),
    measures: Sequence[str] = (),
    labels: Mapping[Any, str] | None = None,
    missing_group: bool = False,
    pool_below: int | None = None,
    fewest: int = FEWEST_PEOPLE,
    level: float = 0.95,
    unwanted: bool = False,
    matters: Sequence[str] = (),
    called: str = "selected",
    outcome: str = "",
    protected: str = "",
) -> Page:
    r"""Return the page of somebody's own predictions: who pays, how much, and how to make them fairer.

    It has the form of every report: three answers, rules, groups with intervals, every comparison, every rate
    by group, and calibration where there are scores. Write it with :func:`evenhand.report.write`.

    Parameters
    ----------
    y_true : array, list, series or None
        True outcomes. Without them only selection rates are compared.
    y_pred : array, list, series or None
        Decisions; None if they follow from `scores` and `threshold`.
    group : array, list, series, or mapping of str to these
        The group of each row; several columns are crossed, and shown by themselves too. Who lacks one is
        *not stated*, and in no comparison.
    scores : array, list or series, optional
        Larger means more likely positive; from 0 to 1 they are checked for calibration.
    threshold : float, optional
        The score from which on a decision is positive, where there are no decisions.
    positive : object, optional
        The value that counts as positive, or of numbers a threshold such as ``">= 50000"``. Needed unless
        there are 0 and 1, or truth values.
    predicted : object, optional
        The positive value of `y_pred`, where it is another than that of `y_true`.
    privileged : object, optional
        The group that others are compared with, of crossed columns a value of each; by default the largest.
    weights : array, list or series, optional
        One weight per row, at least 0.
    headline : str
        What the head is about, such as ``"selection_gap"``, ``"tpr_gap"``, ``"odds_gap"`` or
        ``"selection_ratio"``; names of fairlearn such as ``"equalized_odds_difference"`` are understood.
    rules : sequence of str
        Such as ``"80%"`` or ``"odds_gap <= 0.1"``. A rule is kept only if the whole interval keeps it.
    measures : sequence of str
        Measures that other packages add, by name; the page has a table of them.
    labels : mapping, optional
        What groups are called, by their values.
    missing_group : bool
        Whether those who do not state their group are compared as one.
    pool_below : int, optional
        Groups of fewer people than this are compared as one, whatever their outcomes.
    fewest : int
        How many people a rate must rest on to be compared.
    level : float
        Of intervals.
    unwanted : bool
        Whether the positive prediction is bad for people, such as an alarm.
    matters : sequence of str
        The least amount that counts, such as ``"20"`` of 1,000 or ``"wrong=50"``; by default 10 of 1,000.
    called : str
        What happens to somebody whose prediction is positive, such as ``"approved"``.
    outcome, protected : str
        What people call the outcome and the groups; by default the names of the columns.

    Returns
    -------
    Page

    Raises
    ------
    InvalidParameterError
        If columns do not fit together, or hold what they may not. No value of a row is told.
    MissingExtraError
        If altair or vl-convert is not installed.

    Examples
    --------
    >>> import evenhand as eh
    >>> hired = [1] * 40 + [0] * 60 + [1] * 18 + [0] * 82
    >>> sex = ["men"] * 100 + ["women"] * 100
    >>> page = eh.measure.page(None, hired, sex, rules=["80%"], outcome="hired")
    >>> page.answers[0].finding
    'Selection is lowest for women: 18.0%, against 40.0% for men.'
    >>> page.answers[1].finding
    'The gap in selection rate is 22.0 points, and the 80% rule is broken.'
    """
    columns = {"outcome": y_true, "prediction": y_pred, "score": scores, "weight": weights}
    there = {name: values for name, values in columns.items() if values is not None}
    grouped = group if isinstance(group, dict) else {protected or _name_of(group) or "group": group}
    check_order({**there, **grouped})
    names = {name: _name_of(values) or name for name, values in there.items()}
    if outcome:
        names["outcome" if y_true is not None else "prediction" if y_pred is not None else "score"] = outcome
    texts = {str(value): str(text) for value, text in (labels or {}).items()}
    coded = {}
    for name, values in grouped.items():
        codes, found = encode_group(values, name)
        coded[name] = codes, [texts.get(label, label) for label in found]
    rows = read_predictions(
        there,
        coded,
        positive=positive,
        predicted=predicted,
        threshold=threshold,
        names=names,
        missing_group=NOT_STATED if missing_group else "",
        pool_below=pool_below,
    )
    audit = PredictionAudit(
        rows,
        comparison_named(headline),
        tuple(map(Rule.parse, rules)),
        _privileged_label(privileged, texts),
        fewest,
        level,
        unwanted,
        tuple(measures),
        tuple(matters),
        called,
    )
    return build_page(audit)


def _privileged_label(privileged: Any, called: Mapping[str, str]) -> str | None:
    """Return what the privileged group is called; a combination has a value of each column."""
    if privileged is None:
        return None
    values = privileged if isinstance(privileged, list | tuple) else [privileged]
    return BETWEEN_VALUES.join(called.get(str(value), str(value)) for value in values)


def _name_of(values: Any) -> str:
    series = nw.from_native(values, series_only=True, pass_through=True, allow_series=True)
    name = series.name if isinstance(series, nw.Series) else ""
    return name if isinstance(name, str) else ""


def build_page(audit: PredictionAudit, *, command: str = "", next_command: str = "") -> Page:
    """Return the page of an audit; `command` makes it again, `next_command` is what to type next."""
    say, rows = audit.sentences.say, audit.rows
    sections = (
        rules_section(audit),
        groups_section(audit),
        comparisons_section(audit),
        added_section(audit),
        by_group_section(audit),
        against_section(audit),
        calibration_section(audit),
    )
    return Page(
        question=say("head.question", outcome=plain(rows.outcome)),
        answers=answers(audit, command=next_command),
        kicker=say("head.kicker"),
        meta=say("head.meta", people=len(rows.predicted), groups=len(rows.labels)),
        numbers=_key_numbers(audit),
        notes=(
            Note("warn", say("head.not_private")),
            *(Note("plain", plain(note, longest=300)) for note in rows.notes),
        ),
        sections=[section for section in sections if section is not None],
        method=_method(audit),
        limits=[say("limits.sample"), say("limits.clear"), *([say("limits.outcome")] * audit.is_labelled)],
        command=command,
    )


def _key_numbers(audit: PredictionAudit) -> list[KeyNumber]:
    say, rows = audit.sentences.say, audit.rows
    base = audit.headline.rpartition("_")[0]
    numbers = []
    for name in (f"{base}_gap", f"{base}_ratio"):
        found = audit.disparities[name]
        if math.isfinite(found.value):
            shown = number(found.value, 2) if found.is_ratio else points(found.value)
            numbers.append(KeyNumber(capital(comparison_words(audit, name)), shown, "", _limits(found)))
    selected = audit.rate(0, "selection", audit.overall)
    label = say("head.selected", outcome=plain(rows.outcome))
    numbers.append(KeyNumber(label, points(selected.value), "", _range(selected)))
    if audit.is_labelled:
        right = audit.rate(0, "accuracy", audit.overall)
        detail = say("head.same_answer", range=_range(right), same=audit.same_answer)
        numbers.append(KeyNumber(say("head.accuracy"), points(right.value), "", detail))
    areas = {place: audit.area(place) for place in range(len(audit.rankings))}
    known = {place: area for place, area in areas.items() if math.isfinite(area.value)}
    if known:
        least = min(known, key=lambda place: known[place].value)
        limits = limits_of(known[least].low or 0.0, known[least].high or 1.0, 2)
        detail = say("head.area_detail", group=audit.named(least), range=limits)
        numbers.append(
            KeyNumber(say("head.area", groups=len(known)), number(known[least].value, 2), "", detail)
        )
    return numbers


def _limits(found: Disparity) -> str:
    return (
        limits_of(found.low, found.high, 2)
        if found.is_ratio
        else limits_of(100 * found.low, 100 * found.high)
    )


def _range(found: Estimated) -> str:
    return "" if found.low is None or found.high is None else limits_of(100 * found.low, 100 * found.high)


def _method(audit: PredictionAudit) -> list[str]:
    say, rows = audit.sentences.under("method"), audit.rows
    sizes = [
        audit.sentences.say("method.size", group=audit.named(place), size=people)
        for place, people in enumerate(audit.people)
    ]
    source = f"{plain(rows.source)}: " if rows.source else ""
    lines = [
        say("rows", source=source, people=len(rows.predicted), sizes=sizes),
        say("outcome", outcome=plain(rows.outcome)),
    ]
    if rows.left_out:
        columns = [
            say("left_out_column", rows=count, column=plain(name)) for name, count in rows.left_out.items()
        ]
        lines.append(say("left_out", columns=columns))
    if unknown := int((rows.group < 0).sum()):
        lines.append(say("not_stated", people=unknown, protected=plain(rows.protected)))
    if rows.scores is not None and audit.is_labelled and not audit.has_probabilities:
        lines.append(audit.sentences.say("calibration.not_shares"))
    return [*lines, say("intervals"), *([say("weights")] if rows.weights is not None else [])]
