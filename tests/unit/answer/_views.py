"""Answers made by hand, with numbers of no study: one for each form of the main picture."""

from __future__ import annotations

import math
from dataclasses import replace

from evenhand.answer.case import Command, Promise, Warned
from evenhand.answer.status import EFFECT_COLUMNS, Effect
from evenhand.answer.view import RemedyLine, Sentence, View
from evenhand.report.marks import EffectPanel, EffectRow, LackCurve, Lacking, Stage
from evenhand.report.page import Fact, Section, Table

NAN = math.nan
UNPUBLISHED = Warned("Not for publication.", "This page is computed from true rows; nothing protects it.")
PROMISE = Promise(
    "Whoever sees one report can change their odds between two answers by a factor of 4.5 at most.",
    (Fact("Model", "local, ε = 1.5 for each person"), Fact("Unit", "one row is one person")),
)


def mark(due, value, low=NAN, high=NAN, *, is_harm=False, words="", form="{:,.0f}"):
    """Return a mark whose texts are made from its numbers."""

    def sign(number):
        text = form.format(abs(number))
        return ("" if not text.strip("0.$") else "+" if number > 0 else "\u2212") + text

    limits = "" if math.isnan(low) else f"{sign(low - due)} to {sign(high - due)}"
    return Stage(value, low, high, is_harm, words, form.format(value), sign(value - due), limits)


def view(**parts):
    """Return a view of which only what is given differs from a plain one."""
    plain = View(
        language="en",
        kind="Collect answers, then decide with a model",
        question="If members randomise their answers before a model admits them, who pays?",
        meta="Club survey: 15,000 members, 20 repeats",
        state="pays",
        verdict="Renters pay, and most of it can be undone.",
        who=Sentence("Renters pay; for owners no clear change is seen."),
        how_much=Sentence("Of 1,000 renters in this file, 88 are admitted instead of 214."),
        what_to_do=Sentence("Use Optimal at the same ε: then renters lack 41 of 1,000."),
        warnings=(),
        heading="Renters fall from 214 to 88",
        panels=(),
        caption="",
        choice_heading="",
        epsilon_heading="",
        remedy_heading="",
        curve=None,
        remedies=(),
        remedy_caption="",
        commands=(),
        promise=None,
        evidence=(),
        method=(),
        limits=(),
        sources=(),
        rows=(),
        page="grr 1.5",
        recommended="",
    )
    return replace(plain, **parts)


def collect_view():
    """Return two groups with a remedy, two panels, a curve and four remedies."""
    names = ("due: without protection", "randomised, ε = 1.5", "randomised by Optimal")
    admitted = EffectPanel(
        "selected",
        "Admitted",
        "of 1,000 in each group",
        "of 1,000",
        names,
        (
            EffectRow(
                "renter",
                "Renters",
                "6,300 members",
                214,
                "214",
                mark(214, 88, 71, 105, is_harm=True, words="126 fewer admitted"),
                mark(214, 173, 158, 188, is_harm=True, words="41 fewer with Optimal"),
                "harm",
            ),
            EffectRow(
                "owner",
                "Owners",
                "8,700 members",
                367,
                "367",
                mark(367, 361, 350, 371, words="no clear change"),
                mark(367, 352, 342, 362, is_harm=True, words="15 fewer with Optimal"),
                "calm",
            ),
        ),
        matters=10,
        is_more_harm=False,
    )
    refused = EffectPanel(
        "wrongly_refused",
        "Qualified, yet refused",
        "of 1,000 qualified in each group",
        "of 1,000",
        names,
        (
            EffectRow(
                "renter",
                "Renters",
                "2,100 qualified",
                583,
                "583",
                mark(583, 791, 770, 812, is_harm=True, words="208 more refused"),
                mark(583, 644, 622, 666, is_harm=True, words="61 more with Optimal"),
                "harm",
            ),
            EffectRow(
                "owner",
                "Owners",
                "3,900 qualified",
                274,
                "274",
                mark(274, 281, 268, 294, words="no clear change"),
                mark(274, 285, 271, 299, words="11 more with Optimal"),
                "calm",
            ),
        ),
        matters=10,
        is_more_harm=True,
    )
    known = {"setting": "grr 1.5", "group": "renter", "people": 6300.0, "due": 214.0, "after": 88.0}
    row = Effect(**dict.fromkeys(EFFECT_COLUMNS, NAN) | known)
    return view(
        who=Sentence("Renters pay; for owners no clear change is seen.", ("Owners: 6 fewer (−17 to +4).",)),
        how_much=Sentence(
            "Of 1,000 renters in this file, 88 are admitted instead of 214.",
            ("126 fewer of 1,000 (109 to 143).", "The gap grows from 153 to 273 of 1,000."),
        ),
        what_to_do=Sentence(
            "Use Optimal at the same ε: then renters lack 41 of 1,000.", ("Confirmed on 20 fresh repeats.",)
        ),
        warnings=(
            UNPUBLISHED,
            Warned("Postcode tells who rents.", "It is right for 91 of 100 members."),
            Warned("One file.", "Other members may fare otherwise."),
        ),
        panels=(admitted, refused),
        caption="**Bars: 95% limits of the change over 20 repeats.** Groups stand in order of harm.",
        choice_heading="Optimal gives most of it back",
        epsilon_heading="Which ε? At none tried is the loss below 10",
        remedy_heading="Which remedy at ε = 1.5? Optimal",
        curve=LackCurve(
            "Fewer admitted than due,",
            "of 1,000 of the worst-off group",
            (
                Lacking("no remedy", "page", (0.75, 1.5, 3.0, 6.0), (166, 126, 71, 24), 109, 143),
                Lacking("answers together", "other", (0.75, 1.5, 3.0, 6.0), (131, 84, 46, 19), NAN, NAN),
                Lacking("Optimal", "recommended", (0.75, 1.5, 3.0, 6.0), (83, 41, 23, 12), 26, 56),
            ),
            1.5,
            10,
            "what matters: 10",
            "Without a remedy renters lack 166, 126, 71 and 24 of 1,000; with Optimal 83, 41, 23 and 12.",
        ),
        remedies=(
            RemedyLine("None: GRR as planned", "as planned", "", "126", "109 to 143", "Renters pay"),
            RemedyLine(
                "Answers together", "trade-off", "trade-off", "84", "69 to 99", "Costs 14% of all places"
            ),
            RemedyLine(
                "Optimal protocol", "recommended", "recommended", "41", "26 to 56", "15 fewer owners of 1,000"
            ),
            RemedyLine(
                "A threshold for each group",
                "needs the true group",
                "needs the true group",
                "22",
                "13 to 31",
                "The collector does not hold it",
            ),
        ),
        remedy_caption="Fewer admitted than due, of 1,000 in the group that lacks most.",
        commands=(
            Command(
                "Randomise by Optimal",
                "writes reports.csv, for release",
                "evenhand privatize members.csv reports.csv --protocol optimal --epsilon 1.5",
            ),
            Command("Run this study again", "the same numbers", "evenhand audit --plan plan.toml"),
        ),
        promise=PROMISE,
        evidence=(
            Section(
                "All protocols side by side",
                "Lower is better.",
                tables=(Table(["Protocol", "Error"], [["GRR", "4.1"], ["OUE", "3.7"]], [False, True]),),
                anchor="protocols",
            ),
        ),
        method=("20 repeats; each trains on 70% of the members.", "Limits hold together."),
        limits=("It cannot show what other members would get.",),
        sources=("Club survey. Every number: effects.csv. Plan: plan.toml.",),
        rows=(row,),
        recommended="optimal 1.5",
    )


def release_view():
    """Return nine counts over a range of 1 to 10,000, exact: rows are dense, the axis a logarithm."""
    counts = (3, 9, 14, 40, 77, 260, 1_900, 7_400, 26_300)
    published = (11.2, 16.1, 20.5, 44.3, 79.0, 260.4, 1_900, 7_400, 26_300)
    names = ("Tuvalu", "Nauru", "Palau", "Malta", "Samoa", "Tonga", "Iceland", "Norway", "Chile")
    lines = []
    for name, due, after in zip(names, counts, published, strict=True):
        is_harm = after - due >= max(1, due / 100)
        words = f"{after - due:.1f} too many" if is_harm else "right on average"
        value = mark(due, after, is_harm=is_harm, words=words, form="{:,.1f}" if after < 100 else "{:,.0f}")
        remedy = mark(due, due, words="right with separate totals")
        state = "harm" if is_harm else "calm"
        lines.append(EffectRow(name.lower(), name, f"{due:,} people", due, f"{due:,}", value, remedy, state))
    names = ("people there are", "average published count, ε = 1", "average of the separate total")
    panel = EffectPanel("counted", "People counted", "with noise", "people", names, tuple(lines))
    return view(
        kind="Publish a table of counts",
        question="If we publish who was born where with noise, who is miscounted?",
        meta="Birth register: 36,003 people, exact",
        verdict="People born in Tuvalu are inflated most.",
        who=Sentence("People born in Tuvalu are inflated most, four other small groups too."),
        how_much=Sentence("3 people are counted as 11.2."),
        what_to_do=Sentence("Publish totals from before the clamp: 3 people then count as 3."),
        warnings=(UNPUBLISHED,),
        heading="Noise makes 3 people 11.2",
        panels=(panel,),
        caption="**Exact values, no sampling.** Log scale: equal lengths are equal ratios.",
        promise=PROMISE,
    )


def nobody_view():
    """Return five ages of whom none loses what matters, and one that is too small to judge."""
    ages = ("66 and over", "51 to 65", "36 to 50", "19 to 25", "26 to 35")
    numbers = ((203, 199, 195, 205), (262, 259, 256, 263), (331, 329, 327, 332), (277, 276, 271, 280))
    lines = [
        EffectRow(
            label,
            label,
            "2,000 people",
            due,
            str(due),
            mark(due, after, low, high, words=f"{due - after} fewer" if due > after else "no change seen"),
            None,
            "calm",
        )
        for label, (due, after, low, high) in zip(ages, (*numbers, (309, 309, 306, 312)), strict=True)
    ]
    few = mark(250, 250, 180, 320, words="too few to judge")
    lines.append(EffectRow("", "Age not stated", "11 people", 250, "250", few, None, "few"))
    names = ("due: without protection", "randomised, ε = 2", "")
    panel = EffectPanel(
        "selected", "Hired", "of 1,000 in each group", "of 1,000", names, tuple(lines), 10, is_more_harm=False
    )
    curve = LackCurve(
        "The most that any group could lack,",
        "of 1,000",
        (Lacking("95% limit", "page", (0.5, 1.0, 2.0, 4.0), (41, 19, 8, 6), NAN, NAN),),
        2.0,
        10,
        "what matters: 10",
        "At ε = 2 no group lacks more than 8 of 1,000.",
    )
    return view(
        state="nobody",
        verdict="Nobody pays more than 8 of 1,000.",
        who=Sentence("No age group lacks what matters; 11 people without an age cannot be judged."),
        how_much=Sentence("People of 66 and over could lack most: at most 8 of 1,000."),
        what_to_do=Sentence("Go ahead as planned."),
        warnings=(UNPUBLISHED,),
        heading="No limit reaches a loss of 10",
        panels=(panel,),
        caption="**Bars: one-sided 95% limits in both directions.** Green: no harm that matters.",
        choice_heading="At ε = 2 no loss matters",
        epsilon_heading="Which ε? 2 is the smallest that holds",
        curve=curve,
    )


def money_view(count=24):
    """Return what districts are paid for each child: three classes with a remedy, then all districts."""
    names = ("due: $1,310", "paid, ε = 1", "with the gain subtracted")
    lines = tuple(
        EffectRow(
            label,
            label,
            f"{count} districts",
            1310,
            "$1,310",
            mark(1310, after, is_harm=True, words=f"${1310 - after} short", form="${:,.0f}"),
            mark(1310, 1301, words="$9 short, gain subtracted", form="${:,.0f}"),
            "harm",
        )
        for label, count, after in (("Under 100 children", 8, 1262), ("100 and more", 16, 1271))
    )
    on_average = EffectPanel(
        "short", "Paid for each child", "by children in the district", "dollars", names, lines
    )
    lines = []
    for place in range(count):
        after = 1310 - round(620 / (1 + place))
        value = mark(1310, after, is_harm=True, words=f"${1310 - after} short", form="${:,.0f}")
        remedy = mark(1310, (after + 1310) // 2, words="", form="${:,.0f}")
        name = f"District {place + 1}"
        lines.append(
            EffectRow(name, name, f"{15 * (place + 1)} children", 1310, "$1,310", value, remedy, "harm")
        )
    bad = EffectPanel("short", "In a bad release", "1 of 20 is as bad", "dollars", names, tuple(lines))
    return view(
        kind="Decide money from noisy counts",
        question="If we share out $31 million by noisy counts of children, which districts lose?",
        meta="Grants: 24 districts, exact",
        state="stop",
        verdict="Stop: 3 of 100 releases would bill a district.",
        who=Sentence("Children in all 24 districts pay."),
        how_much=Sentence("On average each child lacks $48 of the $1,310 due."),
        what_to_do=Sentence("Subtract the clamp's expected gain: then no child lacks more than $9."),
        heading="Every child lacks $48; in a bad release the smallest districts lack more",
        panels=(on_average, bad),
        caption="**Exact values, no sampling.** Figures beside names are children.",
    )


VIEWS = {"collect": collect_view, "release": release_view, "nobody": nobody_view, "money": money_view}
