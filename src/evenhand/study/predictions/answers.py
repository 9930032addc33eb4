"""Who pays for predictions, how much, and how to make them fairer: which sentence is true."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.measure.disparities import COMPARISONS, COMPLEMENTS, rate_counts
from evenhand.report.marks import GroupRow
from evenhand.report.words import limits_of, number, plain, value_of
from evenhand.study.page.crossed import GroupMap, margins_sentence, order_rows
from evenhand.study.page.wording import mark
from evenhand.study.results.estimates import Estimated

if TYPE_CHECKING:
    from evenhand.measure.disparities import Disparity
    from evenhand.report.page import Answer
    from evenhand.study.predictions.audit import PredictionAudit

_WITH_PEOPLE = ("selection", "tpr", "fnr", "fpr", "accuracy")
_ALSO = ("selection_gap", "tpr_gap", "fpr_gap", "precision_gap", "accuracy_gap")


def answers(audit: PredictionAudit, *, command: str = "") -> tuple[Answer, Answer, Answer]:
    """Return the three sentences of the page and the terminal; `command` is what to type next."""
    return _who(audit), _how_much(audit), _fairer(audit, command)


def rate_words(audit: PredictionAudit, rate: str) -> str:
    """Return what a rate is called."""
    return audit.sentences.say(f"rate.{rate}.words")


def meaning(audit: PredictionAudit, rate: str) -> str:
    """Return the sentence that says what a rate is."""
    return audit.sentences.say(f"rate.{rate}.means", outcome=plain(audit.rows.outcome))


def comparison_words(audit: PredictionAudit, name: str) -> str:
    """Return what a comparison is called."""
    say, (rates, how) = audit.sentences.say, COMPARISONS[name]
    if len(rates) > 1:
        return say("odds.words" if how == "gap" else "odds.words_ratio")
    return say(f"measure.{how}", rate=rate_words(audit, rates[0]))


def as_estimate(found: Disparity) -> Estimated:
    """Return a comparison as a number with its interval."""
    if not math.isfinite(found.value):
        return Estimated(math.nan)
    return Estimated(found.value, found.low, found.high)


def group_map(audit: PredictionAudit) -> GroupMap:
    """Return all groups by the rate of the head, and those of each crossed column by itself."""
    rate, worst_is_high = audit.head_rate, audit.is_worst_high
    pair = () if audit.head.reason else audit.payer
    rows = [
        GroupRow(
            audit.named(place),
            audit.trials(place, rate),
            mark(audit.rate(place, rate)),
            few=place in audit.head.too_few,
            strong=place in pair,
        )
        for place in range(len(audit.people))
    ]
    margins = {}
    for column, shares in audit.margins.items():
        few = audit.margin_disparities[column].too_few
        margins[column] = order_rows(
            [
                GroupRow(
                    plain(f"{column} = {label}"),
                    float(rate_counts(shares, rate)[1][place]),
                    mark(audit.rate(place, rate, shares)),
                    few=place in few,
                )
                for place, label in enumerate(audit.rows.margins[column][1])
            ],
            worst_is_high=worst_is_high,
        )
    ordered = order_rows(rows, worst_is_high=worst_is_high)
    return GroupMap(ordered, margins, audit.head, audit.margin_disparities)


# --- who ------------------------------------------------------------------------------------------


def _who(audit: PredictionAudit) -> Answer:
    head, rate = audit.head, audit.head_rate
    slots: dict[str, Any] = {
        "rate": rate_words(audit, rate),
        "means": meaning(audit, rate),
        "few": _few(audit),
        "fewest": audit.fewest,
        "right": _right(audit),
        "base": "",
    }
    if audit.useless:
        return audit.sentences.answer(f"who.{audit.useless}", **slots | _useless(audit))
    if head.reason:
        return audit.sentences.answer(
            f"who.{'no_ratio' if head.reason == 'nobody' else head.reason}", **slots
        )
    payer, other = audit.payer
    slots |= {"payer": audit.named(payer), "other": audit.named(other)}
    slots |= {
        "Payer": capital(slots["payer"]),
        "worst": audit.rate(payer, rate),
        "best": audit.rate(other, rate),
    }
    if rate == "selection" and audit.is_labelled:
        bases = {"worst_base": audit.rate(payer, "base_rate"), "best_base": audit.rate(other, "base_rate")}
        slots["base"] = audit.sentences.say("who.parts.base", **bases, **slots)
    if not head.is_clear:
        return audit.sentences.answer("who.nobody", **slots)
    key = "pays" if rate != "selection" else "selected_most" if audit.unwanted else "selected_least"
    return audit.sentences.answer(f"who.{key}", **slots)


def _useless(audit: PredictionAudit) -> dict[str, Any]:
    """Return what everybody gets, for predictions that do not tell people apart."""
    rates = {name: audit.rate(0, name, audit.overall) for name in ("selection", "tpr", "fpr")}
    share = rates["selection"].value
    everyone = audit.sentences.say(f"who.parts.{'everyone' if share else 'nobody'}")
    return {"everyone": everyone, "share": share, "outcome": plain(audit.rows.outcome), **rates}


def _right(audit: PredictionAudit) -> str:
    """Return how often predictions are right, where one answer for everybody may be right as often."""
    if not audit.is_labelled:
        return ""
    right = audit.rate(0, "accuracy", audit.overall)
    if (right.low or 0.0) > audit.same_answer and not audit.useless:
        return ""
    key = "right_constant" if audit.useless == "constant" else "right"
    said = audit.sentences.say(f"who.parts.{key}", right=right, same=audit.same_answer)
    return said.strip() if audit.useless == "almost_constant" else said


def capital(text: str) -> str:
    """Return text as it begins a sentence."""
    return text[:1].upper() + text[1:]


def _few(audit: PredictionAudit) -> str:
    groups = [
        audit.sentences.say(
            "who.parts.few_group", group=audit.named(place), people=audit.trials(place, audit.head_rate)
        )
        for place in audit.head.too_few
    ]
    key = "few_only" if audit.head.reason == "too_few" and not audit.useless else "few"
    return audit.sentences.say(f"who.parts.{key}", groups=groups) if groups else ""


# --- how much -------------------------------------------------------------------------------------


def _how_much(audit: PredictionAudit) -> Answer:
    head, answer = audit.head, audit.sentences.answer
    slots: dict[str, Any] = {"measure": comparison_words(audit, head.name), "rules": _rules(audit)}
    slots |= {"others": _others(audit), "people": _people(audit)}
    if audit.useless == "constant" and (head.reason == "nobody" or head.value == head.is_ratio):
        return answer("much.constant", **slots)
    if head.reason:
        return answer("much.undefined", **slots | {"others": slots["others"].strip()})
    base = head.name.rpartition("_")[0]
    gap, ratio = audit.disparities[f"{base}_gap"], audit.disparities[f"{base}_ratio"]
    undefined = audit.sentences.say("much.parts.undefined")
    shown = value_of(mark(as_estimate(ratio)), 2) if math.isfinite(ratio.value) else undefined
    margins = (
        margins_sentence(audit.sentences, group_map(audit)) if audit.margins and not head.is_ratio else ""
    )
    slots |= {"size": as_estimate(gap), "ratio": shown, "margins": margins}
    slots["companion"] = _companion(audit, gap if head.is_ratio and head.is_clear else ratio)
    if not head.is_clear:
        return answer("much.unclear", **slots, rates=_rates_words(audit))
    if not head.is_ratio:
        return answer("much.gap", **slots)
    slots |= {"lowest": audit.named(head.lowest or 0), "highest": audit.named(head.highest or 0)}
    slots |= {"rate": rate_words(audit, head.rate), "ratio_limits": limits_of(ratio.low, ratio.high, 2)}
    return answer("much.ratio", **slots | {"ratio": ratio.value})


def _companion(audit: PredictionAudit, other: Disparity) -> str:
    """Return what the other comparison of the head is called; of several rates it may be about another."""
    if len(COMPARISONS[other.name].rates) > 1:
        return capital(comparison_words(audit, other.name))
    return audit.sentences.say(f"much.parts.as_{'ratio' if other.is_ratio else 'gap'}")


def _rates_words(audit: PredictionAudit) -> str:
    """Return what the rates of the head are called, of which no gap is clear."""
    several = len(COMPARISONS[audit.headline].rates) > 1
    return audit.sentences.say("odds.row") if several else rate_words(audit, audit.head_rate)


def _rules(audit: PredictionAudit) -> str:
    """Return what becomes of the rules; what is broken comes first, then what cannot be told."""
    for verdict, key in (("fail", "failed"), ("unclear", "unclear"), ("pass", "passed")):
        texts = [rule.text for rule, judged in audit.verdicts if judged == verdict]
        if texts:
            form = "percent_rule" if texts[0].endswith("%") else "written_rule"
            rule = audit.sentences.say(f"much.parts.{form}", rule=plain(texts[0]))
            many = "_many" if len(texts) > 1 else ""
            return audit.sentences.say(f"much.parts.{key}{many}", rule=rule, count=len(texts))
    return ""


def _others(audit: PredictionAudit) -> str:
    if not audit.is_labelled:
        return ""
    told = {COMPLEMENTS.get(rate, rate) for rate in COMPARISONS[audit.headline].rates}
    clear = [
        audit.sentences.say(
            "much.parts.other", measure=comparison_words(audit, name), size=audit.disparities[name].value
        )
        for name in _ALSO
        if audit.disparities[name].is_clear and COMPARISONS[name].rates[0] not in told
    ]
    if clear:
        return audit.sentences.say("much.parts.others", measures=clear)
    return "" if audit.head.reason else audit.sentences.say("much.parts.others_none")


def _people(audit: PredictionAudit) -> str:
    """Return how many people of the group that pays the gap is, where that is clear."""
    rate = audit.head_rate
    if rate not in _WITH_PEOPLE or not audit.head.is_clear or audit.rows.weights is not None:
        return ""
    payer, other = audit.payer
    size = audit.trials(payer, rate)
    count = round(abs(audit.rate(other, rate).value - audit.rate(payer, rate).value) * size)
    key = "fewer" if rate == "selection" and audit.unwanted else "people"
    slots: dict[str, Any] = {"count": count, "size": int(size), "outcome": plain(audit.rows.outcome)}
    slots |= {"Payer": capital(audit.named(payer)), "other": audit.named(other)}
    return audit.sentences.say(f"rate.{rate}.{key}", **slots)


# --- fairer ---------------------------------------------------------------------------------------


def _fairer(audit: PredictionAudit, command: str) -> Answer:
    sentences, selection = audit.sentences, audit.disparities["selection_gap"]
    if audit.useless:
        return sentences.answer("fairer.useless")
    if audit.head.reason == "too_few":
        return sentences.answer("fairer.few")
    if not audit.is_labelled:
        return sentences.answer("fairer.no_outcome")
    if not (audit.head.is_clear or selection.is_clear):
        return sentences.answer("fairer.none")
    train = sentences.say(f"fairer.parts.{'command' if command else 'python'}")
    if not audit.thresholds or not selection.is_clear:
        return sentences.answer(f"fairer.{'train' if command else 'python'}", train=train, action=command)
    scores = [
        sentences.say("fairer.parts.threshold", score=score, group=audit.named(place))
        for place, score in audit.thresholds.items()
    ]
    share = float(audit.rows.predicted.mean())
    slots = {"thresholds": scores, "share": share, "accuracy": _new_accuracy(audit), "train": train}
    return sentences.answer("fairer.thresholds", **slots, action=command)


def _new_accuracy(audit: PredictionAudit) -> str:
    """Return what thresholds for each group do to accuracy, over the groups that have one."""
    rows = audit.rows
    if rows.truth is None or rows.scores is None:
        return ""
    chosen = np.isin(rows.group, list(audit.thresholds))
    limits = np.array([audit.thresholds.get(place, math.inf) for place in range(len(rows.labels))])
    decided = rows.scores[chosen] >= limits[rows.group[chosen]]
    truth = rows.truth[chosen]
    before, after = (float((truth == part).mean()) for part in (rows.predicted[chosen], decided))
    return audit.sentences.say("fairer.parts.accuracy", before=before, after=after)


def ratio_text(found: Disparity) -> str:
    """Return a ratio with its interval below, for a cell of a table."""
    return f"{number(found.value, 2)}\n{limits_of(found.low, found.high, 2)}"
