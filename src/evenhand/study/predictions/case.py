"""Say what stands around the table of effects of decisions that were made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.answer.case import Case, Command, Name, OptionName, Warned
from evenhand.measure.decisions import GROUP_RATES
from evenhand.report.language import in_language, written_in
from evenhand.report.page import Section, Table
from evenhand.report.words import capital, limits_of, number, plain
from evenhand.study.page.around import warned
from evenhand.study.page.naming import name_values
from evenhand.study.page.wording import fold_rows, value_words
from evenhand.study.page.words import words_in
from evenhand.study.predictions.effects import DECISIONS, LACKING, OUTSIDE, cut_offs, effects

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.answer.words import Words
    from evenhand.measure.decisions import Found
    from evenhand.study.predictions.audit import PredictionAudit

VERDICTS = {"pass": "kept", "fail": "broken", "unclear": "unclear"}
_TONES: dict[str, Any] = {"pass": "ok", "fail": "bad", "unclear": "warn"}
_SHOWN_RATES = ("base_rate", "selection", "tpr", "fpr", "precision", "accuracy")
_MOST_TOLD = 2
_NONE = "–"
_Cuts = dict[str, dict[int, float]]


def case(audit: PredictionAudit, *, command: str = "", other: str = "", language: str = "en") -> Case:
    """Return the table of predictions with what its page says around it.

    `command` makes the page again, and `other` with the other reading of a prediction, where nobody said
    which is right; `language` is "en" or "de".
    """
    words, rows = words_in(language), audit.rows
    with written_in(language):
        table = effects(audit)
        cuts = cut_offs(audit, table)
        names = name_groups(audit, words)
        people = words.say("study.people", people=len(rows.predicted))
        tables = [_compared(audit, names, words), _by_group(audit, cuts, names)]
        tables[:0] = [_rules(audit, words)] if audit.verdicts else []
        return Case(
            table,
            kind=words.say("measure.kind"),
            question=words.say("measure.question", outcome=plain(rows.outcome)),
            groups=names,
            options=_name_options(audit, cuts, names, words),
            protection=words.say("measure.decisions"),
            called=audit.called,
            is_between_groups=True,
            meta=f"{plain(rows.source)}: {people}" if rows.source else people,
            warnings=_warnings(audit, language, words),
            commands=tuple(
                Command(words.say(key), "", line)
                for key, line in (
                    ("default.again", command),
                    ("measure.if_unwanted", other if audit.unwanted is None else ""),
                )
                if line
            ),
            evidence=(Section(words.say("measure.measures"), tables=tables, anchor="evidence"),),
            method=_method(audit, names, words),
            limits=(
                words.say("study.limits", level=audit.level),
                *([words.say("classifier.labels")] if audit.is_labelled else []),
                *([words.say("measure.law")] if table.candidates else []),
            ),
            language=language,
        )


def name_groups(audit: PredictionAudit, words: Words) -> dict[str, Name]:
    """Return how each group is called, and each group of a crossed column by itself."""
    rows = audit.rows
    columns = rows.columns or (rows.protected,)
    names = {
        key: name_values(words, dict(zip(columns, parts, strict=bool(parts))))
        for key, parts in zip(rows.keys, rows.parts, strict=False)
    }
    silent = words.say("study.not_stated")
    for key in rows.keys[len(rows.parts) :]:  # those who do not state it, compared as one
        values = [value_words(column, silent) for column in columns]
        names[key] = Name(words.say("group.with_values", values=values), silent)
    for column, (_, labels) in rows.margins.items():
        names |= {rows.margin_key(column, label): name_values(words, {column: label}) for label in labels}
    return names


def _name_options(
    audit: PredictionAudit, cuts: _Cuts, names: Mapping[str, Name], words: Words
) -> dict[str, OptionName]:
    say, keys = words.say, audit.rows.keys
    named = {
        OUTSIDE: OptionName(say("measure.others")),
        DECISIONS: OptionName(say("measure.decisions"), say("measure.group")),
    }
    for option, scores in cuts.items():
        told = [f"{names[keys[place]].words}: ≥ {_score(score)}" for place, score in scores.items()]
        note = "; ".join([*(told if len(told) <= _MOST_TOLD else []), say("measure.tried")])
        way, short = ("each", "")
        if option == LACKING:
            way = "higher" if audit.unwanted else "own"
            short = say(f"measure.{way}_short")
        named[option] = OptionName(say(f"measure.{way}"), short, say(f"measure.use_{way}"), note)
    return named


def _score(score: float) -> str:
    return in_language(f"{score:.4g}")


def _warnings(audit: PredictionAudit, language: str, words: Words) -> tuple[Warned, ...]:
    """Return that the page is not private, and which rules are not kept."""
    found = [warned(language, "study.not_private")]
    for rule, verdict in audit.verdicts:
        if verdict != "pass":
            head = f"{capital(words.say(f'measure.{VERDICTS[verdict]}'))}: {plain(rule.text)}."
            shown = show_estimate(audit.compared(rule.comparison))
            found.append(Warned(head, f"{rule.comparison} = {shown}"))
    return tuple(found)


def _method(audit: PredictionAudit, names: Mapping[str, Name], words: Words) -> tuple[str, ...]:
    """Return how many people there are by group, what they are compared with, and what was left out."""
    rows, say = audit.rows, words.say

    def tell(sizes: Mapping[str, int]) -> list[str]:
        return [say("study.size", group=group, size=size) for group, size in sizes.items()]

    sizes = {names[key].label: size for key, size in zip(rows.keys, audit.people, strict=True)}
    sizes |= {say("study.not_stated"): audit.unknown} if audit.unknown else {}
    people, label = say("study.people", people=len(rows.predicted)), plain(rows.source or rows.outcome)
    lines = [
        say("study.rows", label=label, people=people, sizes=tell(sizes), dropped=""),
        say("measure.method"),
        *tell_reading(audit, words),
    ]
    if rows.left_out:
        missing = {plain(name): count for name, count in rows.left_out.items()}
        lines.append(say("measure.left_out", columns=tell(missing)))
    return (*lines, *(plain(note, longest=300) for note in rows.notes))


def tell_reading(audit: PredictionAudit, words: Words) -> list[str]:
    """Return whether a positive prediction was read as good or bad, and what to add if nobody said so."""
    told = [
        words.say(f"study.{'unwanted' if audit.unwanted else 'wanted'}", outcome=plain(audit.rows.decision))
    ]
    return told + ([words.say("measure.not_said")] if audit.unwanted is None else [])


# --- the evidence -----------------------------------------------------------------------------------


def _compared(audit: PredictionAudit, names: Mapping[str, Name], words: Words) -> Table:
    keys, rows = audit.rows.keys, []
    for name, found in audit.disparities.items():
        if found.reason != "no_outcome":
            ends = (found.lowest, found.highest)
            labels = ["" if place is None else names[keys[place]].label for place in ends]
            rows.append([name, show_estimate(audit.compared(name)), *labels])
    for name, (_, value, reason) in audit.added.items():
        rows.append([name, reason or show_estimate(value, 3), "", ""])
    data = [{"comparison": name, **audit.comparison_numbers(name)} for name in audit.disparities]
    data += [{"comparison": name, **audit.added_numbers(name)} for name in audit.added]
    return Table(
        header=["measure", "value", "lowest", "highest"],
        rows=rows,
        numeric=[False, True, False, False],
        caption=words.say("measure.caption", level=audit.level, fewest=audit.fewest),
        fold=fold_rows(len(rows)),
        name="comparisons",
        data=_columns_of(data),
    )


def _by_group(audit: PredictionAudit, cuts: _Cuts, names: Mapping[str, Name]) -> Table:
    rates = GROUP_RATES if audit.is_labelled else ("selection",)
    shown = [rate for rate in _SHOWN_RATES if rate in rates]
    rows = []
    for place, key in enumerate(audit.rows.keys):
        cells = [show_estimate(audit.rate(place, rate)) for rate in shown]
        cells += [show_estimate(audit.area(place))] if audit.rankings else []
        cells += [number(audit.calibrations[place].error, 3)] if audit.calibrations else []
        cells += [_score(found[place]) if place in found else _NONE for found in cuts.values()]
        rows.append([names[key].label, number(audit.people[place], 0), *cells])
    scored = [*(["auc"] if audit.rankings else []), *(["calibration_error"] if audit.calibrations else [])]
    header = ["group", "people", *shown, *scored, *cuts]
    data = [
        {"group": label, "rate": rate, **audit.rate(place, rate)._asdict()}
        for place, label in enumerate(audit.rows.labels)
        for rate in rates
    ]
    return Table(
        header=header,
        rows=rows,
        numeric=[False] + [True] * (len(header) - 1),
        fold=fold_rows(len(rows)),
        name="by-group",
        data=_columns_of(data),
    )


def _rules(audit: PredictionAudit, words: Words) -> Table:
    rows = [
        [
            plain(rule.text),
            show_estimate(audit.compared(rule.comparison)),
            words.say(f"measure.{VERDICTS[found]}"),
        ]
        for rule, found in audit.verdicts
    ]
    return Table(
        header=["rule", "value", "verdict"],
        rows=rows,
        numeric=[False, True, False],
        tags={(place, 2): _TONES[verdict] for place, (_, verdict) in enumerate(audit.verdicts)},
        name="rules",
        data=_columns_of([audit.rule_numbers(*judged) for judged in audit.verdicts]),
    )


def show_estimate(found: Found, digits: int = 2) -> str:
    """Return a share or ratio with its limits, in one line."""
    if found.low is None or found.high is None:
        return _NONE
    return f"{number(found.value, digits)} ({limits_of(found.low, found.high, digits)})"


def _columns_of(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as columns, empty where a row lacks one; a list in a cell becomes text."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    return {
        name: [", ".join(cell) if isinstance(cell, list) else cell for cell in cells]
        for name, cells in columns.items()
    }
