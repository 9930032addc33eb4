"""The page of an answer has all of its view, in one order, escaped, for desk, phone, paper and notebook."""

import base64
import re
import time
from dataclasses import replace

import pytest

from evenhand.answer.case import Command, Warned
from evenhand.answer.page import build_page
from evenhand.answer.status import EFFECT_COLUMNS
from evenhand.answer.view import Sentence
from evenhand.report.html import render, render_fragment, style_sheet, write
from evenhand.report.svg_file import svg_file
from unit.answer._views import VIEWS, collect_view, money_view, nobody_view, release_view, view
from unit.report._parsing import Parsed

HOSTILE = '<script>alert("1")</script>\u202e"><img src=x onerror=y> {{ 7 * 7 }} **a**'


def rendered(made):
    return render(build_page(made))


def text_of(html):
    """Return the words of a page, without its styles."""
    return " ".join(" ".join(Parsed(html[html.index("<body") :]).words).split())


@pytest.mark.parametrize("name", VIEWS)
def test_the_page_is_closed_in_order_and_asks_nothing_of_anybody(name):
    """Opening a report must tell nobody that it was opened."""
    html = rendered(VIEWS[name]())
    parsed = Parsed(html)
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]

    assert parsed.faults == []
    assert len(ids) == len(set(ids))
    assert parsed.all("script") == parsed.all("link") == parsed.all("img") == parsed.all("iframe") == []
    assert re.findall(r"https?:|//[a-z]|@import|src=", re.sub(r'"data:[^"]*"', "", html)) == []


def test_the_parts_stand_in_the_order_in_which_people_read():
    made = collect_view()
    text = text_of(rendered(made))
    parts = [
        made.kind,
        made.question,
        made.verdict,
        "Who",
        made.who.text,
        "How much",
        "What to do",
        "Not for publication.",
        made.heading,
        "Admitted",
        "The same numbers",
        made.choice_heading,
        made.epsilon_heading,
        made.remedy_heading,
        "What people are promised",
        "The technical statement",
        "Do it",
        "All protocols side by side",
        "How this was computed",
        "What it cannot show",
        made.sources[0],
    ]
    place = 0
    for part in parts:
        assert part in text[place:], part
        place = text.index(part, place) + len(part)


@pytest.mark.parametrize("state", ["stop", "pays", "nobody", "unsure"])
def test_the_rule_beside_the_verdict_has_the_colour_of_its_state(state):
    assert f'<p class="verdict {state}">' in rendered(view(state=state))


def test_the_first_warning_stands_in_full_and_the_others_are_counted():
    html = rendered(collect_view())
    summary = re.search(r'<details class="strip".*?</summary>', html, re.DOTALL)[0]

    assert "Not for publication." in summary
    assert "2 more" in summary
    assert "Postcode" not in summary
    assert "Postcode tells who rents." in html


def test_one_warning_has_nothing_to_unfold():
    html = rendered(nobody_view())

    assert '<div class="strip"' in html
    assert '<details class="strip"' not in html


def test_details_are_folded_and_left_out_where_there_are_none():
    made = collect_view()

    assert rendered(made).count("<summary>Details</summary>") == 3
    assert "<summary>Details</summary>" not in rendered(release_view())


@pytest.mark.parametrize(("make", "folded"), [(release_view, 2), (nobody_view, 0), (money_view, 17)])
def test_rows_over_seven_are_folded(make, folded):
    html = rendered(make())

    assert re.findall(r"Show the other (\d+) rows", html) == ([str(folded)] if folded else [])


@pytest.mark.parametrize("name", VIEWS)
def test_the_table_has_every_number_of_the_picture(name):
    """Numbers that are drawn must be there to copy, and for whoever does not see the picture."""
    made = VIEWS[name]()
    tables = build_page(made).head.picture.tables

    for panel, table in zip(made.panels, tables, strict=True):
        for line, row in zip(panel.lines, table.rows, strict=True):
            cells = [part for cell in row for part in cell.split("\n")]
            assert cells[0] == line.label
            assert line.due_shown in cells
            for stage in (line.after, line.remedy):
                if stage and line.state != "few":
                    assert {stage.shown, stage.change} <= set(cells)
                    assert not stage.limits or stage.limits in cells


def test_a_harm_is_marked_in_the_table_and_nothing_else_is():
    table = build_page(collect_view()).head.picture.tables[0]

    assert table.tags == {(0, 3): "harm", (0, 5): "harm", (1, 5): "harm"}


def test_the_rows_behind_the_page_are_inside_it():
    """A page that is sent alone must hold its numbers."""
    html = rendered(collect_view())
    links = re.findall(r'href="data:text/csv;charset=utf-8;base64,([^"]+)" download="effects.csv"', html)

    assert len(links) == 1
    lines = base64.b64decode(links[0]).decode("utf-8-sig").splitlines()
    assert lines[0].replace('"', "").split(",") == list(EFFECT_COLUMNS)
    assert "6300" in lines[1]


def test_only_what_is_recommended_is_ticked():
    table = build_page(collect_view()).head.choice.tables[0]

    assert [row[0].partition("\n")[2] for row in table.rows] == [
        "",
        "trade-off",
        "\u2713 recommended",
        "needs the true group",
    ]
    assert (table.sunk, table.chosen) == (0, 2)


def test_commands_are_selected_whole_and_options_never_break():
    html = rendered(collect_view())

    assert '<span class="option">--epsilon</span> 1.5</code></pre>' in html
    assert re.search(r"\.command pre\{[^}]*user-select:all", style_sheet())


def test_parts_that_a_view_has_not_are_not_there():
    html = rendered(view())

    assert "<figure" not in html
    assert "<table" not in html
    assert text_of(html).count("What people are promised") == 0
    assert text_of(html).count("Do it") == 0


@pytest.mark.parametrize("part", ["answer", "findings"])
def test_hostile_words_stay_words(part):
    """A label comes from a file that anybody may have written."""
    made = collect_view()
    line = made.panels[0].lines[0]._replace(label=HOSTILE, note=HOSTILE, due_shown=HOSTILE)
    line = line._replace(after=line.after._replace(words=HOSTILE, shown=HOSTILE, change=HOSTILE))
    panel = made.panels[0]._replace(lines=(line,), title=HOSTILE, unit=HOSTILE, names=(HOSTILE,) * 3)
    curve = made.curve._replace(alt=HOSTILE, title=HOSTILE, matters_words=HOSTILE)
    curve = curve._replace(lines=(curve.lines[0]._replace(name=HOSTILE),))
    made = replace(
        made,
        verdict=HOSTILE,
        question=HOSTILE,
        heading=HOSTILE,
        who=Sentence(HOSTILE, (HOSTILE,)),
        warnings=(Warned(HOSTILE, HOSTILE),) * 2,
        panels=(panel,),
        curve=curve,
        remedies=(made.remedies[0]._replace(name=HOSTILE, tag_words=HOSTILE),),
        commands=(Command(HOSTILE, HOSTILE, HOSTILE),),
    )
    for html in (render(build_page(made)), render_fragment(build_page(made), part=part)):
        parsed = Parsed(html)
        assert parsed.faults == []
        assert parsed.all("script") == parsed.all("img") == []
        assert not any(name.startswith("on") for _, attributes in parsed.elements for name in attributes)
        assert "\u202e" not in html
        assert "{{ 7 * 7 }}" in html
    assert HOSTILE.replace("\u202e", "") in build_page(made).head.picture.charts[0].alt.replace("\u202e", "")


def test_fixed_words_are_those_of_the_language():
    html = rendered(replace(collect_view(), language="de"))
    text = text_of(html)

    assert '<html lang="de">' in html
    for word in ("Wer", "Wie viel", "Was tun", "Einzelheiten", "Dieselben Zahlen", "klarer Schaden"):
        assert word in text
    for word in ("How much", "The same numbers", "clear harm", "more private"):
        assert word not in text


def test_a_fragment_has_the_answer_then_what_is_behind_it():
    """A workbench puts its buttons between them, and folds commands away."""
    page = build_page(collect_view())
    answer, findings = (render_fragment(page, part=part) for part in ("answer", "findings"))

    assert '<p class="verdict pays">' in answer
    assert "strip" not in answer
    assert '<details class="strip"' in findings
    assert '<details class="folded commands">' in findings
    assert "<h1>" not in findings
    assert Parsed(answer).faults == Parsed(findings).faults == []


def test_a_notebook_shows_the_verdict_and_the_three_sentences():
    html = build_page(collect_view())._repr_html_()

    assert "Renters pay, and most of it can be undone." in html
    assert html.count("<tr>") == 3


def test_the_same_view_is_the_same_page(tmp_path):
    for name in ("one.html", "two.html"):
        write(build_page(money_view()), tmp_path / name)

    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_a_picture_of_a_page_can_be_saved_alone():
    assert svg_file(build_page(collect_view()).head.picture.charts[0]).startswith("<svg")


def test_paper_has_every_fold_open():
    """What is printed cannot be unfolded."""
    on_paper = style_sheet().partition("@media print")[2]

    assert re.search(r"\.answered details\{display:block\}", on_paper)
    assert re.search(r"details::details-content\{[^}]*content-visibility:visible", on_paper)


def test_a_page_of_thirty_groups_is_made_at_once():
    """Whoever waits for a page goes elsewhere."""
    rendered(collect_view())  # imports are not the page's
    start = time.process_time()
    rendered(money_view(30))

    assert time.process_time() - start < 1.0


def test_a_curve_without_remedies_is_as_wide_as_the_page():
    """If not, half of the page beside it is empty."""
    widths = {}
    for name, made in {"alone": nobody_view(), "beside": collect_view()}.items():
        (chart,) = build_page(made).head.choice.charts
        widths[name] = float(re.search(r'viewBox="0 0 ([\d.]+)', chart.wide)[1])

    assert widths == {"alone": 928.0, "beside": 432.0}
    assert not re.search(r"\.apart>:only-child\{max-width", style_sheet())
