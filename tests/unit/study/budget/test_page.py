"""The page of a ledger: it says what is spent and left, draws it, and takes no text for markup."""

import re
from fractions import Fraction

import pytest

import evenhand as eh
from attacks._report_payloads import PAYLOADS
from evenhand.privacy.ledger import Ledger
from evenhand.report import render
from evenhand.study.budget.page import budget_answers, build_budget_page
from evenhand.study.budget.reading import BudgetReading, figure, power_of
from unit.report._parsing import Parsed
from unit.study.budget._cases import reading, retire, spend

YEAR = 366 * 24


def section_of(page, anchor):
    return next(section for section in page.sections if section.anchor == anchor)


def test_the_first_sentence_says_what_is_spent_and_left_and_of_what():
    answers = budget_answers(reading(spend("1/4"), spend("1/4", delta="1e-7"), people="all of us"))
    first = answers[0].replace("\u00a0", " ")

    assert first == (
        "**ε = 0.5, δ = 10⁻⁷ is spent and ε = 0.5, δ = 9 × 10⁻⁷ is left.** The budget is ε = 1, δ = 10⁻⁶, "
        "for the unit 'replace one' and these people: all of us. It is the exact sum of 2 charges."
    )


@pytest.mark.parametrize(
    ("terms", "finding"),
    [
        ([], "Nothing is spent, and all of ε = 1 is left."),
        ([spend("1/3")], "ε = 0.3334 is spent and ε = 0.6666 is left."),
        ([spend(1)], "ε = 1 is spent, and nothing is left of ε."),
        ([spend(None)], "Nothing is spent, and all of ε = 1 is left."),
    ],
)
def test_what_is_spent_is_rounded_up_and_what_is_left_down(terms, finding):
    """A reader must not think that more is left than is."""
    assert finding in [answer.finding for answer in budget_answers(reading(*terms, delta=0))[:2]]


@pytest.mark.parametrize(
    ("terms", "place", "finding"),
    [
        ([spend("1/4")], 1, "Every charge has a guarantee, so the sum is what is promised."),
        ([spend(None)], 0, "The total is unbounded: entry 2 is without a meaningful guarantee."),
        ([spend(None), retire(2)], 1, "Nothing that is unbounded is in use any more."),
        (
            [spend(None)] * 2,
            0,
            "The total is unbounded: entry 2 and entry 3 are without a meaningful guarantee.",
        ),
        ([spend(None)] * 9, 0, "The total is unbounded: 9 entries are without a meaningful guarantee."),
    ],
)
def test_whether_the_sum_is_a_promise_is_said_second_and_first_where_it_is_none(terms, place, finding):
    assert budget_answers(reading(*terms))[place].finding == finding


@pytest.mark.parametrize(
    ("terms", "finding"),
    [
        ([spend("1/4", "a")], "All of ε went to one purpose: a."),
        ([spend("1/4", "a"), spend("1/8", "b")], "Most of ε went to one purpose: a."),
        (
            [spend("1/8", name) for name in "abc"],
            "No purpose took half of ε. The largest part, ε = 0.125, went to: a.",
        ),
        ([spend(None, "a")], "No purpose has been paid for yet."),
    ],
)
def test_the_third_says_what_it_went_to(terms, finding):
    assert budget_answers(reading(*terms))[2].finding == finding


def test_every_chart_has_its_numbers_its_words_and_a_table():
    page = build_budget_page(
        reading(spend("1/4", "a"), spend("1/8", "b", delta="1e-6"), spend(None, "c"), retire(4)),
        command="again",
    )
    charts = [chart for section in page.sections for chart in section.charts]

    assert [section.anchor for section in page.sections] == ["time", "purposes", "entries"]
    assert [chart.name for chart in charts] == ["budget-over-time", "budget-by-purpose"]
    assert all(
        chart.alt and chart.data and "<svg" in chart.wide and "<svg" in chart.narrow for chart in charts
    )
    assert [key.label for key in charts[0].legend] == [
        "sum of all charges", "budget", "unbounded: no meaningful guarantee", "declared retired",
    ]  # fmt: skip
    assert charts[0].data["epsilon_sum"] == [
        0,
        Fraction(1, 4),
        Fraction(3, 8),
        Fraction(3, 8),
        Fraction(3, 8),
    ]
    assert section_of(page, "purposes").tables[0].rows == [
        ["a", "1", "0.25", "0", "66.7%"], ["b", "1", "0.125", "10⁻⁶", "33.3%"],
    ]  # fmt: skip
    assert [row[2] for row in section_of(page, "entries").tables[0].rows] == [
        "retires entry 4\nrows deleted", "c", "b", "a", "opened",
    ]  # fmt: skip
    assert section_of(page, "entries").tables[0].tags == {(1, 3): "bad"}
    assert not Parsed(render(page)).faults


def test_a_ledger_made_again_from_an_export_shows_where_the_unknown_begins():
    terms = {"kind": "restore", "purpose": "made again from an export of 2 entries", "hours": 1.0}
    page = build_budget_page(reading(spend("1/4"), terms))

    assert page.answers[0].finding == "The total is unbounded: entry 3 is without a meaningful guarantee."
    assert section_of(page, "entries").tables[0].rows[0][2:4] == [terms["purpose"], "unbounded"]


def test_periods_are_shown_where_there_are_several():
    terms = [spend("1/2", "first"), spend("1/4", "second", hours=YEAR), spend("1/8", "second")]
    page = build_budget_page(reading(*terms, period="year"))
    time = section_of(page, "time")

    assert page.answers[0].finding.startswith("ε = 0.375")
    assert time.heading == "37.5% of ε is spent in 2027"
    assert "has spent their sum, ε = 0.875" in time.lead
    assert [row[:3] for row in time.tables[0].rows] == [["2027", "2", "0.375"], ["2026", "1", "0.5"]]
    assert section_of(page, "purposes").tables[0].rows[0][0] == "second"
    assert re.findall(r">(2027)<", time.charts[0].wide)


def test_a_period_in_which_nothing_was_spent_yet_is_one():
    page = build_budget_page(reading(spend("1/2"), period="year", now="2027"))

    assert page.answers[0].finding.startswith("Nothing is spent in 2027")
    assert [row[0] for row in section_of(page, "time").tables[0].rows] == ["2027", "2026"]


def test_tighter_totals_stand_beside_the_sum_by_name():
    pytest.importorskip("dp_accounting")
    page = build_budget_page(reading(*[spend("1/20")] * 20, epsilon=2, delta="1e-3"))
    names = [row[0] for row in section_of(page, "tighter").tables[0].rows]

    assert names == ["sum of all charges", "zCDP", "PLD"]
    assert page.meta == "20 charges, 21 entries"


def test_of_many_purposes_the_small_ones_are_one():
    terms = [spend(Fraction(20 - place, 1000), f"purpose {place}") for place in range(15)]
    parts = reading(*terms).largest_costs

    assert [name for name, _, _ in parts][-2:] == ["purpose 8", "6 other purposes"]
    assert sum(amount.epsilon for _, amount, _ in parts) == sum(Fraction(term["epsilon"]) for term in terms)
    assert sum(charges for _, _, charges in parts) == 15


@pytest.mark.figures
def test_five_thousand_entries_make_a_page_that_a_browser_opens():
    many = reading(*[spend("1/10000", f"count {place % 40}") for place in range(5_000)], delta=0)
    page = build_budget_page(many)
    text = render(page)

    assert page.meta == "5,000 charges, 5,001 entries"
    assert "newest 300 of 5,001" in section_of(page, "entries").tables[0].caption.replace(
        "entries", "entries"
    )
    assert len(section_of(page, "time").charts[0].data["entry"]) == 5_001
    assert len(text) < 3_000_000


@pytest.mark.figures
@pytest.mark.parametrize("budget", ["1e-300", "1e300", "1/3"])
def test_very_small_and_very_large_budgets_are_drawn(budget):
    """An axis of 0.0 to 0.0 would hide that all is spent."""
    page = build_budget_page(reading(spend(budget), epsilon=budget, delta="9e-3"))

    assert page.answers[0].finding.endswith("nothing is left of ε.")
    assert "<svg" in section_of(page, "time").charts[0].wide


TEXTS = [*PAYLOADS[::8], "**bold**", "עִבְרִית \u202e123", "two\nlines\r\nand\x00more", "x" * 10_000, "=1+1"]


@pytest.mark.parametrize(
    "text",
    [" | ".join(TEXTS[:20]), *(pytest.param(text, marks=pytest.mark.figures) for text in TEXTS[-5:])],
    ids=range(6),
)
def test_hostile_texts_stay_text(text):
    """A ledger that somebody else wrote must not be able to do anything in a browser."""
    harmless = build_budget_page(
        reading(spend("1/4", "a", people="b"), spend(None, "a"), retire(3, "a"), people="c")
    )
    hostile = build_budget_page(
        reading(
            spend("1/4", text, people=text),
            spend(None, text),
            retire(3, text),
            people=text,
            name=f"{text[:90]}.db",
        )
    )
    pages = [Parsed(render(page)) for page in (harmless, hostile)]

    assert not pages[1].faults
    assert [tag for tag, _ in pages[0].elements if tag != "small"] == [
        tag for tag, _ in pages[1].elements if tag != "small"
    ]
    assert max(len(row[2]) for row in section_of(hostile, "entries").tables[0].rows) < 450
    assert not any(mark in " ".join(pages[1].words) for mark in ("\u202e", "\x00"))


def test_a_page_is_made_of_a_ledger_on_the_disk(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", epsilon=1)
    ledger.spend(eh.Guarantee.pure("1/4", unit="replace one", trust="central"), purpose="a", people="others")
    page = build_budget_page(BudgetReading.of(ledger))

    assert page.question == "What is left of the budget of ledger.db?"
    assert section_of(page, "entries").tables[0].rows[0][2] == "a\npeople: others"
    assert "δ" not in " ".join(page.answers)


def test_amounts_are_written_for_people():
    assert figure(Fraction(2, 10**7)).replace("\u00a0", " ") == "2 × 10⁻⁷"
    assert (power_of(Fraction(0)), figure(Fraction(1, 10**6))) == (0, "10⁻⁶")
