"""A report on releases says what publishing would spend; without a ledger the page is as it was."""

import pytest

from evenhand.answer.page import build_page
from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.ledger.charging import VARIABLE
from evenhand.report import render
from evenhand.report.language import written_in
from evenhand.study.budget import page
from evenhand.study.budget.page import ledger_section, publishing_section
from unit.study._release_studies import study
from unit.study.budget._cases import reading, spend


def promise(epsilon, **given):
    return Guarantee(epsilon=epsilon, **({"unit": "replace one", "trust": "central"} | given))


@pytest.mark.parametrize(
    ("guarantee", "heading"),
    [
        (promise("1/2"), "Publishing this would spend ε = 0.5, and ε = 0.25 would be left"),
        (promise("4/5"), "Publishing this would be refused: it costs ε = 0.8 and ε = 0.75 is left"),
        (
            promise("1/2", delta="1e-7"),
            "Publishing this would spend ε = 0.5, δ = 10⁻⁷, and ε = 0.25, δ = 9 × 10⁻⁷ would be left",
        ),
        (
            promise("1/2", unit="add or remove one"),
            "Publishing this would be refused: it costs ε = 1 and ε = 0.75 is left",
        ),
        (Guarantee.no_guarantee(unit="replace one"), "Publishing this would make the total unbounded"),
    ],
)  # fmt: skip
def test_the_heading_says_what_it_would_spend_and_what_is_left(guarantee, heading, monkeypatch):
    for chart in ("bars_chart", "time_chart", "purposes_chart"):
        monkeypatch.setattr(page, chart, lambda *_, **__: [])  # the next test draws them
    section = publishing_section(reading(spend("1/4")), guarantee, setting="Laplace noise at ε = 1")

    assert section.heading.replace("\u00a0", " ") == heading


def test_the_parts_add_up_to_the_budget():
    section = publishing_section(reading(spend("1/4")), promise("1/2"), setting="Laplace noise")
    table = section.tables[0]

    assert [row[0] for row in table.rows] == ["spent so far", "Laplace noise", "left afterwards"]
    assert sum(table.data["epsilon"]) == 1
    assert [chart.name for chart in section.charts] == ["ledger", "budget-over-time", "budget-by-purpose"]


@pytest.mark.parametrize(
    ("guarantee", "alt"),
    [
        (promise("1/2"), "ε = 0.25 is spent, this release costs ε = 0.5, and ε = 0.25 is left afterwards."),
        (
            promise("4/5"),
            "ε = 0.25 is spent and ε = 0.75 is left, less than the ε = 0.8 that this release costs.",
        ),
        (Guarantee.no_guarantee(unit="replace one"), "ε = 0.25 is spent and ε = 0.75 is left."),
    ],
)  # fmt: skip
def test_the_words_for_the_picture_say_only_what_is_spent_and_left(guarantee, alt):
    section = publishing_section(reading(spend("1/4"), delta=0), guarantee, setting="Laplace noise")

    assert section.charts[0].alt == alt


def test_a_guarantee_that_cannot_be_charged_says_why():
    section = publishing_section(
        reading(delta=0), Guarantee.zcdp("1/100", unit="replace one", trust="central"), setting="x"
    )

    assert section.heading == "ε = 1 is left in the ledger"
    assert "A zCDP guarantee has no epsilon at delta = 0" in section.notes[0].text


# --- in the report of a study ---------------------------------------------------------------------


def test_the_section_is_about_the_ledger_that_is_configured(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = ledger_section(None, lambda: promise(1), setting="Laplace noise")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "ledger.db"))
    broken = ledger_section(None, lambda: promise(1), setting="Laplace noise")
    Ledger(tmp_path / "ledger.db", epsilon=2)
    section = ledger_section(None, lambda: promise(1), setting="Laplace noise")

    assert before is None
    assert "There is no ledger 'ledger.db'" in broken.notes[0].text
    assert section.heading == "Publishing this would spend ε = 1, and ε = 1 would be left"


def test_on_a_german_page_the_section_is_german(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "ledger.db"))
    with written_in("de"):
        broken = ledger_section(None, lambda: promise("1/4"), setting="Rauschen")
        Ledger(tmp_path / "ledger.db", epsilon=2)
        section = ledger_section(None, lambda: promise("1/4"), setting="Rauschen")

    assert broken.heading == "Das Konto ist nicht zu gebrauchen"
    assert (
        section.heading.replace("\u00a0", " ")
        == "Dies zu veröffentlichen kostet ε = 0,25; übrig wäre ε = 1,75"
    )
    assert [row[0] for row in section.tables[0].rows] == ["bisher verbraucht", "Rauschen", "danach übrig"]
    assert section.charts[1].caption.startswith("**Genaue Summen, keine Stichprobe.**")


@pytest.mark.figures
def test_a_report_on_releases_shows_the_ledger_that_is_configured(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = render(build_page(study().view()))
    ledger = Ledger(tmp_path / "evenhand-ledger.db", epsilon=2)
    ledger.spend(promise("1/4"), purpose="first table")
    section = build_page(study().view()).sections[-1]

    assert section.heading.startswith("Publishing this would spend ε = 1, and ε = 0.75 would be left")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none.db"))
    assert build_page(study().view()).sections[-1].heading == "The ledger cannot be used"
    monkeypatch.delenv(VARIABLE)
    assert len(ledger.history()) == 2
    for file in tmp_path.iterdir():
        file.unlink()
    assert render(build_page(study().view())) == before
