"""The page of an audit of predictions: three answers, then the evidence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import narwhals as nw

from evenhand.measure.counts import Tables
from evenhand.measure.disparities import COMPARED_RATES, comparison_named
from evenhand.report.charts import bars_chart, calibration_chart
from evenhand.report.marks import Axis, Bar, Estimate
from evenhand.report.page import KeyNumber, Note, Page, Section, Table
from evenhand.report.words import limits_of, number
from evenhand.study.page.comparing import FEWEST_PEOPLE
from evenhand.study.page.parts import cell_text, fold_rows
from evenhand.study.page.wording import mark, percent, plain, points
from evenhand.study.predictions.answers import (
    answers,
    as_estimate,
    capital,
    comparison_words,
    meaning,
    rate_words,
    ratio_text,
)
from evenhand.study.predictions.audit import GROUP_RATES, HEADLINE, PredictionAudit
from evenhand.study.predictions.columns import check_order, encode_group, read_predictions
from evenhand.study.predictions.rules import Rule
from evenhand.study.results.estimates import Estimated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.measure.counts import Shares
    from evenhand.measure.disparities import Disparity

NOT_STATED = "not stated"
_MOST_DRAWN = 12
_MOST_PANELS = 8
_TONES: dict[str, Any] = {"pass": "ok", "fail": "bad", "unclear": "warn"}
_WIDE_RATES = ("base_rate", "selection", "tpr", "fpr", "precision", "npv", "accuracy")


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
    labels: Mapping[Any, str] | None = None,
    missing_group: bool = False,
    fewest: int = FEWEST_PEOPLE,
    level: float = 0.95,
    unwanted: bool = False,
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
        The group of each row; several columns are crossed. Who has none is *not stated*, and in no
        comparison.
    scores : array, list or series, optional
        Larger means more likely positive; from 0 to 1 they are checked for calibration.
    threshold : float, optional
        The score from which on a decision is positive, where there are no decisions.
    positive : object, optional
        The value that counts as positive. Needed unless there are 0 and 1, or truth values.
    predicted : object, optional
        The positive value of `y_pred`, where it is another than that of `y_true`.
    privileged : object, optional
        The group that others are compared with; by default the largest.
    weights : array, list or series, optional
        One weight per row, at least 0.
    headline : str
        What the head is about, such as ``"selection_gap"``, ``"tpr_gap"``, ``"odds_gap"`` or
        ``"selection_ratio"``; names of fairlearn such as ``"equalized_odds_difference"`` are understood.
    rules : sequence of str
        Such as ``"80%"`` or ``"odds_gap <= 0.1"``. A rule is kept only if the whole interval keeps it.
    labels : mapping, optional
        What groups are called, by their values.
    missing_group : bool
        Whether those who do not state their group are compared as one.
    fewest : int
        How many people a rate must rest on to be compared.
    level : float
        Of intervals.
    unwanted : bool
        Whether the positive prediction is bad for people, such as an alarm.
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
    called = {str(value): str(text) for value, text in (labels or {}).items()}
    coded = {}
    for name, values in grouped.items():
        codes, found = encode_group(values, name)
        coded[name] = codes, [called.get(label, label) for label in found]
    rows = read_predictions(
        there,
        coded,
        positive=positive,
        predicted=predicted,
        threshold=threshold,
        names=names,
        missing_group=NOT_STATED if missing_group else "",
    )
    audit = PredictionAudit(
        rows,
        comparison_named(headline),
        tuple(map(Rule.parse, rules)),
        None if privileged is None else called.get(str(privileged), str(privileged)),
        fewest,
        level,
        unwanted,
    )
    return build_page(audit)


def _name_of(values: Any) -> str:
    series = nw.from_native(values, series_only=True, pass_through=True, allow_series=True)
    name = series.name if isinstance(series, nw.Series) else ""
    return name if isinstance(name, str) else ""


def build_page(audit: PredictionAudit, *, command: str = "", next_command: str = "") -> Page:
    """Return the page of an audit; `command` makes it again, `next_command` is what to type next."""
    say, rows = audit.sentences.say, audit.rows
    sections = (
        _rules_section(audit),
        _groups_section(audit),
        _comparisons_section(audit),
        _by_group_section(audit),
        _against_section(audit),
        _calibration_section(audit),
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
        right, share = (audit.rate(0, rate, audit.overall) for rate in ("accuracy", "base_rate"))
        same = max(share.value, 1 - share.value)
        detail = say("head.same_answer", range=_range(right), same=same)
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


# --- sections -------------------------------------------------------------------------------------


def _rules_section(audit: PredictionAudit) -> Section | None:
    if not audit.verdicts:
        return None
    say = audit.sentences.under("rules")
    verdicts = [verdict for _, verdict in audit.verdicts]
    worst = next(verdict for verdict in ("fail", "unclear", "pass") if verdict in verdicts)
    rows, tags = [], {}
    for place, (rule, verdict) in enumerate(audit.verdicts):
        found = audit.disparities[rule.comparison]
        value = say_undefined(audit) if found.reason else _comparison_cell(found)
        rows.append([plain(rule.text), comparison_words(audit, rule.comparison), value, say(verdict)])
        tags[place, 3] = _TONES[verdict]
    table = Table(
        header=[say(f"column_{name}") for name in ("rule", "measure", "value", "verdict")],
        rows=rows,
        numeric=[False, False, True, False],
        caption=say("caption", level=audit.level),
        tags=tags,
        name="rules",
        data=_columns_of([audit.rule_numbers(*judged) for judged in audit.verdicts]),
    )
    heading = say(f"heading_{worst}", count=verdicts.count(worst)) if worst != "pass" else say("heading_pass")
    return Section(heading, say("lead"), tables=[table], anchor="rules")


def _groups_section(audit: PredictionAudit) -> Section:
    say, head, rate = audit.sentences.under("groups"), audit.head, audit.head_rate
    words, pair = rate_words(audit, rate), () if head.reason else audit.payer
    heading = say("heading_undefined", rate=words)
    if pair:
        payer, other = (audit.named(place) for place in pair)
        gap = abs(audit.rate(pair[0], rate).value - audit.rate(pair[1], rate).value)
        key = "heading_clear" if head.is_clear else "heading_unclear"
        heading = say(key, Payer=capital(payer), other=other, gap=gap, rate=words)
    order = sorted(range(len(audit.people)), key=lambda place: (place not in pair, -audit.people[place]))
    shown = sorted(order[:_MOST_DRAWN])
    bars, texts = [], []
    for place in shown:
        found, label = audit.rate(place, rate), audit.named(place)
        few = place in head.too_few
        named = say("few", group=label, people=audit.trials(place, rate)) if few else label
        bars.append(Bar(named, mark(found), strong=place in pair))
        if math.isfinite(found.value):
            texts.append(say("alt_group", group=label, rate=found))
    if audit.not_stated is not None:
        apart = audit.rate(0, rate, Tables.of(audit.not_stated, None).groups)
        bars.append(Bar(say("not_stated"), mark(apart)))
    hidden = len(audit.people) - len(shown)
    chart = bars_chart(
        Axis(words, say("axis"), 100.0),
        bars,
        name=f"groups-{rate}",
        alt=say("alt", heading=heading, rates=texts),
        caption=say("caption", level=audit.level, hidden=say("hidden", count=hidden) if hidden else ""),
    )
    return Section(heading, say("lead", means=meaning(audit, rate)), charts=[chart], anchor="groups")


def _comparisons_section(audit: PredictionAudit) -> Section:
    say = audit.sentences.under("comparisons")
    bases = ["selection", *(["odds", *COMPARED_RATES[1:]] if audit.is_labelled else [])]
    rows, clear = [], 0
    for base in bases:
        gap, ratio = audit.disparities[f"{base}_gap"], audit.disparities[f"{base}_ratio"]
        clear += gap.is_clear
        ends = [gap.lowest, gap.highest] if base != "odds" else [None, None]
        rows.append(
            [
                _rate_cell(audit, base),
                *(say("undefined") if found.reason else _comparison_cell(found) for found in (gap, ratio)),
                *("" if place is None else audit.named(place) for place in ends),
            ]
        )
    key = "heading_some" if clear else "heading_none"
    few = say("few", fewest=audit.fewest)
    table = Table(
        header=[say(f"column_{name}") for name in ("rate", "gap", "ratio", "lowest", "highest")],
        rows=rows,
        numeric=[False, True, True, False, False],
        caption=say("caption", level=audit.level, few=few),
        name="comparisons",
        data=_columns_of(
            [
                {"comparison": name, **audit.comparison_numbers(found)}
                for name, found in audit.disparities.items()
            ]
        ),
    )
    return Section(say(key, count=clear, total=len(bases)), say("lead"), tables=[table], anchor="comparisons")


def _rate_cell(audit: PredictionAudit, base: str) -> str:
    say = audit.sentences.say
    if base == "odds":
        return f"{say('odds.row')}\n{say('odds.known')}"
    known = say(f"rate.{base}.known")
    return f"{rate_words(audit, base)}\n{known}" if known else rate_words(audit, base)


def _comparison_cell(found: Disparity) -> str:
    """Return a comparison with its interval below; bold where it leaves out no difference."""
    shown = ratio_text(found) if found.is_ratio else cell_text(as_estimate(found))
    value, _, limits = shown.partition("\n")
    return f"**{value}**\n{limits}" if found.is_clear else shown


def say_undefined(audit: PredictionAudit) -> str:
    """Return that a number cannot be estimated."""
    return audit.sentences.say("comparisons.undefined")


def _by_group_section(audit: PredictionAudit) -> Section:
    say = audit.sentences.under("by_group")
    rates = _WIDE_RATES if audit.is_labelled else ("selection",)
    header = [say("column_group"), say("column_people"), *(rate_words(audit, rate) for rate in rates)]
    header += [say("balanced")] * audit.is_labelled + [say("selected")]
    header += [say("area")] * bool(audit.rankings)
    everybody: list[tuple[str, int, Shares, int]] = [
        (audit.named(place), people, audit.shares, place) for place, people in enumerate(audit.people)
    ]
    if audit.not_stated is not None:
        unknown = int((audit.rows.group < 0).sum())
        everybody.append((say("not_stated"), unknown, Tables.of(audit.not_stated, None).groups, -1))
    everybody.append((say("everybody"), len(audit.rows.predicted), audit.overall, -1))
    rows = [_group_row(audit, entry, rates) for entry in everybody]
    labels = audit.rows.labels
    table = Table(
        header=header,
        rows=rows,
        numeric=[False, *([True] * (len(header) - 1))],
        caption=say("caption", level=audit.level),
        sunk=len(rows) - 1,
        fold=fold_rows(len(rows)),
        name="by-group",
        data=_columns_of(
            [
                {"group": labels[place], "rate": rate, **vars(mark(audit.rate(place, rate)))}
                for place in range(len(labels))
                for rate in GROUP_RATES
            ]
        ),
    )
    return Section(say("heading"), say("lead"), tables=[table], anchor="by-group")


def _group_row(
    audit: PredictionAudit, entry: tuple[str, int, Shares, int], rates: Sequence[str]
) -> list[str]:
    label, people, shares, place = entry
    at = max(place, 0)
    cells = [_cell(audit, audit.rate(at, rate, shares)) for rate in rates]
    if audit.is_labelled:
        cells.append(_cell(audit, audit.balanced(at, shares)))
    selected = audit.table.counts[:, :, 1].sum(axis=1)
    has_share = place >= 0 and bool(selected.sum())
    cells.append(percent(float(selected[place] / selected.sum())) if has_share else "")
    if audit.rankings:
        cells.append(_cell(audit, audit.area(place), 1.0, 2) if place >= 0 else "")
    return [label, number(people, 0), *cells]


def _cell(audit: PredictionAudit, found: Estimated, times: float = 100.0, digits: int = 1) -> str:
    if not math.isfinite(found.value):
        return say_undefined(audit)
    return cell_text(found, times=times, digits=digits)


def _against_section(audit: PredictionAudit) -> Section | None:
    say, reference = audit.sentences.under("against"), audit.reference
    others = [place for place in range(len(audit.people)) if place != reference]
    if not others:
        return None
    rates = COMPARED_RATES if audit.is_labelled else ("selection",)
    rows = []
    for place in others:
        cells = []
        for rate in rates:
            _, ratio = audit.against(place, rate)
            clear = ratio.low is not None and ratio.high is not None and not ratio.low <= 1 <= ratio.high
            is_known = math.isfinite(ratio.value)
            cells.append(
                cell_text(ratio, times=1.0, digits=2, bold=clear) if is_known else say_undefined(audit)
            )
        rows.append([audit.named(place), *cells])
    table = Table(
        header=[audit.sentences.say("by_group.column_group"), *(rate_words(audit, rate) for rate in rates)],
        rows=rows,
        numeric=[False, *([True] * len(rates))],
        caption=say("caption", level=audit.level),
        fold=fold_rows(len(rows)),
        name="against-reference",
        data=_columns_of(
            [
                {"group": audit.rows.labels[place], "rate": rate, **vars(mark(audit.against(place, rate)[1]))}
                for place in others
                for rate in rates
            ]
        ),
    )
    named = audit.named(reference)
    return Section(
        say("heading", reference=named), say("lead", reference=named), tables=[table], anchor="against"
    )


def _calibration_section(audit: PredictionAudit) -> Section | None:
    if not audit.calibrations:
        return None
    say = audit.sentences.under("calibration")
    off = {place: _off(audit, place) for place in range(len(audit.people))}
    clear = [place for place, found in off.items() if found.is_clear and audit.people[place] >= audit.fewest]
    heading = say("heading_right")
    if clear:
        worst = max(clear, key=lambda place: abs(off[place].value))
        direction = say("high" if off[worst].value > 0 else "low")
        heading = say("heading_off", direction=direction, group=audit.named(worst), off=off[worst])
    drawn = [place for place in off if audit.calibrations[place].bins]
    drawn = sorted(sorted(drawn, key=lambda place: -audit.people[place])[:_MOST_PANELS])
    hidden = [audit.named(place) for place in off if place not in drawn]
    texts = [
        say("alt_group", group=audit.named(place), score=whole.score, observed=whole.observed)
        for place in drawn
        if (whole := audit.calibrations[place].whole) is not None
    ]
    panels = [
        (
            place,
            audit.named(place),
            [
                (part.score, Estimate(part.observed, part.low, part.high))
                for part in audit.calibrations[place].bins
            ],
        )
        for place in drawn
    ]
    more = say("hidden", groups=hidden) if hidden else ""
    chart = calibration_chart(
        panels,
        among=len(audit.people),
        up=say("axis"),
        across=say("across"),
        diagonal=say("diagonal"),
        name="calibration",
        alt=say("alt", heading=heading, groups=texts),
        caption=say("caption", level=audit.level, hidden=more),
    )
    table = _calibration_table(audit, off)
    return Section(heading, say("lead"), charts=[chart] * bool(panels), tables=[table], anchor="calibration")


def _off(audit: PredictionAudit, place: int) -> Estimated:
    """Return the mean score of a group less the share with the outcome; scores are taken as they are."""
    whole = audit.calibrations[place].whole
    if whole is None:
        return Estimated(math.nan)
    return Estimated(whole.score - whole.observed, whole.score - whole.high, whole.score - whole.low)


def _calibration_table(audit: PredictionAudit, off: Mapping[int, Estimated]) -> Table:
    say, rows = audit.sentences.under("calibration"), []
    for place, found in enumerate(audit.calibrations):
        whole = found.whole
        if whole is None:
            continue
        observed = Estimated(whole.observed, whole.low, whole.high)
        distance = points(found.error) if found.bins else say("few")
        moved = cell_text(off[place], bold=off[place].is_clear, sign=True)
        rows.append(
            [
                audit.named(place),
                number(whole.people, 0),
                points(whole.score),
                cell_text(observed),
                moved,
                distance,
            ]
        )
    names = ("group", "people", "score", "observed", "off", "error")
    return Table(
        header=[say(f"column_{name}") for name in names],
        rows=rows,
        numeric=[False, *([True] * 5)],
        caption=say("table_caption", level=audit.level),
        fold=fold_rows(len(rows)),
        name="calibration-groups",
        data=_columns_of(
            [
                {"group": audit.rows.labels[place], **vars(part)}
                for place, found in enumerate(audit.calibrations)
                for part in found.bins
            ]
        ),
    )


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


def _columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as columns; a list in a cell becomes text."""
    names = list(rows[0]) if rows else []
    return {name: [_plain_cell(row[name]) for row in rows] for name in names}


def _plain_cell(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, list) else value
