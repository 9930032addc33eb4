"""The page stands alone, can be read by everybody, and is the same every time."""

import re
import sys

import pytest

from evenhand.errors import MissingExtraError
from evenhand.report import Chart, Fact, Note, Page, Section, Table
from evenhand.report.html import render
from evenhand.report.page import LegendKey
from evenhand.report.words import unbroken
from unit.report._parsing import Parsed


@pytest.fixture(scope="module")
def parsed(rendered):
    return Parsed(rendered)


def small(**parts):
    return Page(question="Who pays?", answers=("Everyone.",), **parts)


def picture(text='<svg width="340"><rect width="4" height="4"/></svg>', **parts):
    return Chart(name="a", wide=text, narrow=text, alt="alt", caption="caption", data={}, **parts)


def test_every_element_is_closed_in_order(parsed):
    assert parsed.faults == []


def test_the_page_has_no_script_and_asks_nothing_of_anybody(rendered, parsed):
    """Opening a report must tell nobody that it was opened."""
    policy = next(meta["content"] for meta in parsed.all("meta") if "http-equiv" in meta)

    assert parsed.all("script") == parsed.all("link") == parsed.all("img") == parsed.all("iframe") == []
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    without_numbers = re.sub(r'"data:[^"]*;base64,[A-Za-z0-9+/=]*"', "", rendered)
    assert re.findall(r"https?:|//[a-z]|url\((?!#)|@import|src=", without_numbers) == []
    assert not any(name.startswith("on") for _, attributes in parsed.elements for name in attributes)


def test_links_go_to_the_page_itself_or_hold_what_they_save(parsed):
    links = [attributes["href"] for attributes in parsed.all("a")]

    elsewhere = [link for link in links if not link.startswith("#")]
    assert len(elsewhere) == 4
    assert all(link.startswith("data:text/csv;charset=utf-8;base64,") for link in elsewhere)
    ids = {attributes["id"] for _, attributes in parsed.elements if "id" in attributes}
    assert {link[1:] for link in links if link.startswith("#")} <= ids


def test_every_id_is_there_once(parsed):
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]

    assert len(ids) == len(set(ids))


def test_every_picture_says_what_it_shows(sample, parsed):
    """Somebody who does not see the chart gets its finding."""
    alts = [
        attributes["aria-label"] for tag, attributes in parsed.elements if attributes.get("role") == "img"
    ]

    assert [chart.alt for section in sample.sections for chart in section.charts] == alts
    assert all(alts)


def test_headings_are_in_order_and_all_findings_are_there(rendered, sample):
    headings = re.findall(r"<h([1-6])", rendered)

    assert headings[0] == "1"
    assert headings.count("1") == 1
    assert set(headings[1:]) == {"2"}
    assert all(unbroken(section.heading) in rendered for section in sample.sections)


def test_cells_of_tables_have_headers(parsed):
    scopes = [attributes.get("scope") for attributes in parsed.all("th")]

    assert set(scopes) == {"col", "row"}
    assert all(attributes.get("data-name") for attributes in parsed.all("td"))


def test_the_page_has_a_language_a_title_and_a_way_past_the_top(rendered, parsed):
    assert parsed.all("html") == [{"lang": "en"}]
    assert parsed.all("a")[0] == {"class": "skip", "href": "#answer"}
    assert rendered.index("<title>If people randomise") < rendered.index("<body>")
    assert ":focus-visible{outline:3px" in rendered


def test_that_the_page_is_not_private_comes_before_the_question(rendered):
    """The first thing to know about the page is that it must not be passed on."""
    banner = rendered.index("Not private, not for publication.")

    assert rendered.index("<body>") < banner < rendered.index("<h1>")
    assert 'class="note warn"' in rendered[banner - 700 : banner]


def test_light_and_dark_need_no_script(rendered):
    assert "@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light])" in rendered
    assert ":root[data-theme=dark]" in rendered
    assert "@media print" in rendered


def declarations_on_paper(rendered):
    """Return what the rules for print declare, by selector."""
    block = rendered.partition("@media print{")[2].partition("</style>")[0]
    declared = {}
    for selectors, body in re.findall(r"([^{}@]+)\{([^{}]*)\}", block):
        for selector in selectors.split(","):
            declared.setdefault(selector.strip(), []).extend(body.split(";"))
    return declared


@pytest.mark.parametrize(
    ("declaration", "selectors"),
    [
        ("break-after:avoid", "h1 h2 .lead .kicker .finding .legend .row-name caption thead .again"),
        ("break-inside:avoid", "h1 h2 .finding .note .card figure tr pre"),
        ("break-before:avoid", ".evidence"),
        ("display:none", "nav details .skip"),
        ("display:table-header-group", "thead"),
    ],
)
def test_a_heading_is_printed_with_what_it_heads(rendered, parsed, declaration, selectors):
    """Else a finding stands at the foot of a page, and its evidence or its table on the next."""
    declared = declarations_on_paper(rendered)
    names = {name for _, attributes in parsed.elements for name in attributes.get("class", "").split()}

    assert {
        selector for selector in selectors.split() if declaration not in declared.get(selector, [])
    } == set()
    assert {name for name in re.findall(r"\.([\w-]+)", selectors) if name not in names} == set()


def test_a_large_page_stays_below_a_megabyte(rendered):
    """Eight protocols, nine epsilons and two splits are on the sample."""
    assert len(rendered.encode()) < 1_000_000


def test_the_same_page_is_the_same_text(sample, rendered):
    assert render(sample) == rendered


def test_a_page_of_nothing_but_a_question_is_a_page():
    text = Parsed(render(small()))

    assert text.faults == []
    assert text.all("section") == []


def test_rows_behind_the_fold_are_there_and_counted():
    table = Table(["a", "b\nunit"], [[str(n), f"{n}\n0 to 9"] for n in range(5)], [False, True], fold=2)
    text = render(small(sections=(Section("All", tables=(table,)),)))

    assert "Show the other 3 rows" in text
    assert text.count("<tr") == 2 + 5
    assert "<small>unit</small>" in text


@pytest.mark.parametrize("fold", [None, 0, 4, 5, 9])
def test_a_fold_outside_the_table_folds_nothing(fold):
    table = Table(["a"], [[str(n)] for n in range(5)], [False], fold=fold)

    assert "<details>" not in render(small(sections=(Section("All", tables=(table,)),)))


def test_ragged_tables_are_shown_as_they_are():
    table = Table(["a"], [["1", "2"], []], [], caption="c")

    assert 'data-name=""' in render(small(sections=(Section("All", tables=(table,)),)))


def test_tags_of_a_table_are_words_in_a_tone():
    """A tag says in words what it says in colour."""
    table = Table(
        ["δ", "Guarantee"], [["0", "holds"], ["1", "none <b>"]], [False, False], tags={(1, 1): "bad"}
    )
    text = render(Page("q", ("a",), sections=(Section("h", tables=(table,)),)))

    assert '<span class="tag bad">none &lt;b&gt;</span>' in text
    assert text.count('<span class="tag') == 1
    assert 'data-name="δ"' in text


def test_unknown_marks_colours_and_tones_fall_back_to_plain():
    """What a page is made of may be built by others; nothing of it becomes a class of its own."""
    chart = picture(
        legend=(LegendKey("a", 'x" onload="y', 'z"'), LegendKey("b", "circle", "no-such")), columns=77
    )
    note = Note("loud", "text")  # type: ignore[arg-type]
    text = render(
        small(sections=(Section("s", charts=(chart,), notes=(note,), anchor='"><x>'),), notes=(note,))
    )

    assert "onload" not in text
    assert "c-ink" in text
    assert 'class="note plain"' in text
    assert 'id="s1-x"' in text


@pytest.mark.parametrize(
    ("section", "layout"),
    [
        (Section("s", charts=(picture(),), notes=(Note("ok", "n"),)), "beside"),
        (Section("s", charts=(picture('<svg width="900"><rect/></svg>'),)), "whole"),
        (Section("s", charts=(picture(),), facts=(Fact("a", "b"),)), "whole"),
        (Section("s", tables=(Table(["a"], [["1"]], [True]),), facts=(Fact("a", "b"),)), "halves"),
    ],
)
def test_small_evidence_stands_beside_its_finding(section, layout):
    text = render(small(sections=(section,)))

    assert f'<section id="s1" class="{layout}"' in text
    assert text.count('<dl class="card facts">') == bool(section.facts)


def test_panels_are_dealt_to_their_rows():
    four = "".join(f'<svg width="34{n}"><rect/></svg>' for n in range(4))
    text = render(small(sections=(Section("s", charts=(picture(four, rows=("one", "two"), columns=2),)),)))
    wide = text[text.index('class="plot wide"') : text.index('class="plot narrow"')]

    assert re.findall(r'row-name">(\w+)|svg width="(\d+)', wide) == [
        ("one", ""), ("", "340"), ("", "341"), ("two", ""), ("", "342"), ("", "343"),
    ]  # fmt: skip


def test_a_missing_template_engine_is_named_with_its_extra(monkeypatch):
    from evenhand.report import html

    html._environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setitem(sys.modules, "markupsafe", None)

    with pytest.raises(MissingExtraError, match=r"needs the package 'jinja2'.*evenhand\[report\]"):
        render(small())
    with pytest.raises(MissingExtraError, match="jinja2"):
        html.sentence("a")
