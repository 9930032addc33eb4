"""Views made by hand, as the terminal and JSON are given them."""

import math

from evenhand.answer.case import Command, Promise, Warned
from evenhand.answer.status import Effect
from evenhand.answer.view import RemedyLine, Sentence, View
from evenhand.report.marks import EffectPanel, EffectRow, LackCurve, Lacking, Stage

NAN = math.nan


def mark(value, due, *, low=NAN, high=NAN, is_harm=False, shown=None, change=None):
    """Return a mark whose texts are those of its numbers."""
    changed = value - due
    sign = "−" if changed < 0 else "+"
    return Stage(
        value, low, high, is_harm, f"{abs(changed):,.0f} changed", shown or f"{value:,.0f}",
        change or f"{sign}{abs(changed):,.0f}", "",
    )  # fmt: skip


def line(label, due, after, remedy=None, *, state="calm", note=""):
    """Return a row of the picture."""
    return EffectRow(label, label, note, due, f"{due:,.0f}", after, remedy, state)


def panel(*lines, **more):
    """Return a panel about people hired."""
    fixed = {
        "effect": "selected", "title": "Hired", "unit": "of 1,000", "scale": "of 1,000",
        "names": ("without", "randomised", "by Optimal"), "lines": lines,
    }  # fmt: skip
    return EffectPanel(**{**fixed, **more})


HIRED = panel(
    line(
        "Women", 173, mark(52, 173, low=39, high=65, is_harm=True),
        mark(139, 173, low=127, high=151, is_harm=True), state="harm",
    ),
    line("Men", 318, mark(311, 318, low=303, high=319), mark(306, 318, low=298, high=314)),
)  # fmt: skip

ROW = Effect(
    "GRR", "plain", "women", 4_210.0, "selected", "selection_rate", 173.0, 173.0, 52.0, -121.0,
    -134.0, -108.0, 131.0, "of 1,000", NAN, NAN, NAN, "repeats (10)", "less", "clear",
)  # fmt: skip


def view(**more):
    """Return the view of a study of hiring, with some parts changed."""
    fixed = {
        "language": "en", "kind": "Collect answers, then decide with a model",
        "question": "If applicants randomise sex, age and schooling before we train a model, who pays?",
        "meta": "10 repeats", "state": "pays", "verdict": "Women pay, and most of it can be undone.",
        "who": Sentence("Women pay; for men no clear change is seen.", ("Men: 7 fewer.",)),
        "how_much": Sentence("Of 1,000 women in this file, 52 are hired instead of 173."),
        "what_to_do": Sentence("Use Optimal at the same ε: then women lack 34 of 1,000, and men 12."),
        "warnings": (
            Warned("Not for publication.", "It is computed from true answers."),
            Warned("Leak.", "One column."), Warned("Few.", "Some groups."),
        ),
        "heading": "Women lose most offers", "panels": (HIRED,), "caption": "Dots: 95% limits.",
        "choice_heading": "", "epsilon_heading": "Which ε?", "remedy_heading": "Which remedy at ε = 1?",
        "curve": LackCurve(
            "What each ε costs", "lacking, of 1,000",
            (
                Lacking("GRR", "page", (0.5, 1.0, 2.0, 4.0, 8.0), (160, 121, 70, 30, 9), NAN, NAN,
                        ("160", "121", "70", "30", "9")),
                Lacking("Optimal", "recommended", (0.5, 1.0, 2.0, 4.0, 8.0), (61, 34, 19, 11, 4), 22, 46,
                        ("61", "34", "19", "11", "4")),
            ),
            1.0, 10.0, "what matters: 10", "",
        ),
        "remedies": (
            RemedyLine("none: GRR as planned", "as planned", "as planned", "121", "108 to 134", "women pay"),
            RemedyLine("answers together", "trade-off", "trade-off", "76", "", "costs 13% of all offers"),
            RemedyLine("Optimal", "recommended", "✓ recommended", "34", "", "12 fewer men hired of 1,000"),
            RemedyLine("a threshold each", "needs the true group", "needs the true group", "", "", ""),
        ),
        "remedy_caption": "Optimal: confirmed on 30 fresh repeats. It passes all four tests.",
        "commands": (
            Command(
                "Apply Optimal", "",
                "evenhand privatize applicants.csv reports.csv --schema 'my schema.toml' --protocol optimal "
                "--epsilon 1", "Optimal",
            ),
        ),
        "promise": Promise("Each answer is randomised with ε = 1."), "evidence": (), "method": (),
        "limits": (), "sources": (), "rows": (ROW,), "page": "GRR", "recommended": "Optimal",
    }  # fmt: skip
    return View(**{**fixed, **more})
