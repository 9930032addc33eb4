"""The sections of a page of predictions: rules, groups, comparisons, rates by group, calibration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.measure.counts import Tables
from evenhand.measure.disparities import COMPARED_RATES
from evenhand.report.charts import bars_chart, calibration_chart
from evenhand.report.marks import Axis, Bar, Estimate
from evenhand.report.page import Section, Table
from evenhand.report.words import limits_of, number, plain
from evenhand.study.page.crossed import hidden_note, map_section
from evenhand.study.page.parts import cell_text, fold_rows
from evenhand.study.page.wording import mark, points
from evenhand.study.predictions.answers import (
    as_estimate,
    capital,
    comparison_words,
    group_map,
    meaning,
    rate_words,
    ratio_text,
)
from evenhand.study.predictions.audit import GROUP_RATES
from evenhand.study.results.estimates import Estimated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.measure.counts import Shares
    from evenhand.measure.disparities import Disparity
    from evenhand.study.predictions.audit import PredictionAudit

_NONE = "–"
_MOST_DRAWN = 12
_MOST_PANELS = 8
_TONES: dict[str, Any] = {"pass": "ok", "fail": "bad", "unclear": "warn"}
_SHOWN_RATES = ("base_rate", "selection", "tpr", "fpr", "precision", "accuracy")
_SHOWN_RATIOS = ("selection", "tpr", "fnr", "fpr", "precision", "for", "accuracy")


def rules_section(audit: PredictionAudit) -> Section | None:
    """Return whether each rule is kept; None if there are none."""
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


def groups_section(audit: PredictionAudit) -> Section:
    """Return the picture of the groups by the rate of the head."""
    say, head, rate = audit.sentences.under("groups"), audit.head, audit.head_rate
    words, pair = rate_words(audit, rate), () if head.reason else audit.payer
    heading = say("heading_undefined", rate=words)
    if pair:
        payer, other = (audit.named(place) for place in pair)
        gap = abs(audit.rate(pair[0], rate).value - audit.rate(pair[1], rate).value)
        key = "heading_clear" if head.is_clear else "heading_unclear"
        heading = say(key, Payer=capital(payer), other=other, gap=gap, rate=words)
    if audit.margins:
        return _crossed_section(audit, heading)
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


def _crossed_section(audit: PredictionAudit, heading: str) -> Section:
    """Return the map of all crossed groups, with the columns by themselves."""
    say, rate, found = audit.sentences.under("groups"), audit.head_rate, group_map(audit)
    if found.is_hidden and not audit.head.is_ratio:
        payer, other = (audit.named(place) for place in audit.payer)
        slots = {"low": capital(payer), "high": other, "gap": audit.head.value}
        heading = audit.sentences.say("crossed.heading_hidden", **slots)
    means = meaning(audit, rate)
    return map_section(
        audit.sentences,
        found.rows,
        found.margins,
        heading=heading,
        lead=say("lead_crossed", means=means),
        unit=say("unit_crossed", rate=rate_words(audit, rate)),
        caption=say("caption_crossed", level=audit.level),
        note=hidden_note(audit.sentences, found),
        fewest=audit.fewest,
    )


def comparisons_section(audit: PredictionAudit) -> Section:
    """Return every comparison, with the groups that are furthest apart."""
    say = audit.sentences.under("comparisons")
    bases = ["selection", *(["odds", *COMPARED_RATES[1:]] if audit.is_labelled else [])]
    rows, clear = [], 0
    for base in bases:
        gap, ratio = audit.disparities[f"{base}_gap"], audit.disparities[f"{base}_ratio"]
        clear += gap.is_clear
        rows.append(
            [
                _rate_cell(audit, base),
                *(say("undefined") if found.reason else _comparison_cell(found) for found in (gap, ratio)),
                *("" if place is None else audit.named(place) for place in (gap.lowest, gap.highest)),
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


def added_section(audit: PredictionAudit) -> Section | None:
    """Return the measures of other packages; None if none is named."""
    if not audit.added:
        return None
    say, rows = audit.sentences.under("added"), []
    for kind, value, reason in audit.added.values():
        shown = plain(reason) if reason else added_text(value)
        none = _NONE if kind.no_disparity is None else f"{kind.no_disparity:g}"
        rows.append([plain(kind.words), shown, none])
    table = Table(
        header=[say(f"column_{name}") for name in ("measure", "value", "none")],
        rows=rows,
        numeric=[False, True, True],
        caption=say("caption", level=audit.level, fewest=audit.fewest),
        name="added-measures",
        data=_columns_of([{"measure": name, **audit.added_numbers(name)} for name in audit.added]),
    )
    return Section(say("heading"), say("lead"), tables=[table], anchor="added")


def added_text(value: Estimated) -> str:
    """Return a measure of another package with its interval, in one line."""
    low, high = value.low or 0.0, value.high or 0.0  # one that is defined has both
    return f"{number(value.value, 3)} ({limits_of(low, high, 3)})"


def by_group_section(audit: PredictionAudit) -> Section:
    """Return every rate of every group."""
    say = audit.sentences.under("by_group")
    rates = _SHOWN_RATES if audit.is_labelled else ("selection",)
    header = [say("column_group"), say("column_people"), *(rate_words(audit, rate) for rate in rates)]
    header += [say("balanced")] * audit.is_labelled + [say("area")] * bool(audit.rankings)
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
    if audit.rankings:
        cells.append(_cell(audit, audit.area(place), 1.0, 2) if place >= 0 else _NONE)
    selected = audit.table.counts[:, :, 1].sum(axis=1)
    size = number(people, 0)
    if place >= 0 and selected.sum():
        share = float(selected[place] / selected.sum())
        size = f"{size}\n{audit.sentences.say('by_group.selected', share=share)}"
    return [label, size, *cells]


def _cell(audit: PredictionAudit, found: Estimated, times: float = 100.0, digits: int = 1) -> str:
    if not math.isfinite(found.value):
        return say_undefined(audit)
    return cell_text(found, times=times, digits=digits)


def against_section(audit: PredictionAudit) -> Section | None:
    """Return each group beside the reference; None if there is no other group."""
    say, reference = audit.sentences.under("against"), audit.reference
    others = [place for place in range(len(audit.people)) if place != reference]
    if not others:
        return None
    rates = COMPARED_RATES if audit.is_labelled else ("selection",)
    shown = [rate for rate in rates if rate in _SHOWN_RATIOS]
    rows = []
    for place in others:
        cells = []
        for rate in shown:
            _, ratio = audit.against(place, rate)
            clear = ratio.low is not None and ratio.high is not None and not ratio.low <= 1 <= ratio.high
            is_known = math.isfinite(ratio.value)
            cells.append(
                cell_text(ratio, times=1.0, digits=2, bold=clear) if is_known else say_undefined(audit)
            )
        rows.append([audit.named(place), *cells])
    table = Table(
        header=[audit.sentences.say("by_group.column_group"), *(rate_words(audit, rate) for rate in shown)],
        rows=rows,
        numeric=[False, *([True] * len(shown))],
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


def calibration_section(audit: PredictionAudit) -> Section | None:
    """Return scores beside outcomes; None without scores from 0 to 1."""
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


def _columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as columns; a list in a cell becomes text."""
    names = list(rows[0]) if rows else []
    return {name: [_plain_cell(row[name]) for row in rows] for name in names}


def _plain_cell(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, list) else value
