"""Text stays text: nothing that a column, a group, a title or a file is called becomes part of the page."""

import dataclasses
import math
import re

import pytest

from attacks._report_payloads import PAYLOADS
from evenhand.report import Chart, Fact, KeyNumber, Note, Page, Section, Table, html
from evenhand.report.charts import bars_chart, frontier_chart, steps_chart
from evenhand.report.charts.effect_curve import lack_chart
from evenhand.report.charts.effects import effect_chart
from evenhand.report.marks import (
    Axis,
    Bar,
    EffectPanel,
    EffectRow,
    Estimate,
    LackCurve,
    Lacking,
    Moment,
    Point,
    Stage,
    Sums,
)
from evenhand.report.page import LegendKey
from unit.report._parsing import Parsed

HARMLESS = "harmless"
SVG = '<svg width="340"><text>{}</text><path d="M0 0" fill="#000"><title>{}</title></path></svg>'


def drawn(texts, *, each=None):
    """Return one chart of each kind whose labels are the texts, all of them or each kind its share."""
    one = Estimate(0.5, 0.4, 0.6)
    first = texts[0]
    words = {"name": first, "alt": first, "caption": first}
    axis = Axis(first, texts[-1])
    shares = [texts[kind::each] if each else texts for kind in range(5)]
    points = [Point(text, 1.0, text, Estimate(n / 99), one) for n, text in enumerate(shares[0])]
    stages = [Stage(40.0, 35.0, 45.0, is_harm, first, first) for is_harm in (True, False)]
    groups = [EffectRow(text, text, text, 50.0, text, *stages, "calm") for text in shares[1]]
    lines = [Lacking(text, "other", (1.0, 2.0), (3.0, 1.0), math.nan, math.nan) for text in shares[2]]
    moments = [Moment(86_400.0 * n, float(n), text) for n, text in enumerate(shares[3])]
    sums = Sums(axis, moments, 99.0, first, breaks=[(86_400.0, first)])
    return (
        frontier_chart(points, baseline=points[0], chosen=points[-1], x=axis, y=axis, **words),
        effect_chart(
            EffectPanel(first, first, first, "people", (first, first, first), tuple(groups)), name=first
        ),
        lack_chart(LackCurve(first, first, lines, 1.0, 0.5, first, first), name=first),
        steps_chart([sums], marks={}, legend=(), across=first, data={first: [first]}, **words),
        bars_chart(axis, [Bar(text, one) for text in shares[4]], **words),
    )


def page_of(text, charts=None):
    """Return a page whose every text is the one given."""
    plain = SVG.replace("{}", HARMLESS)
    chart = Chart(text, plain, plain, text, text, {text: [text]}, (LegendKey(text, text, text),), (text,), 1)
    table = Table(
        [text, f"{text}\n{text}"],
        [[text, f"{text}\n{text}"]] * 3,
        [True, True],
        text,
        0,
        1,
        2,
        text,
        {text: [text]},
    )
    charts = (chart,) if charts is None else charts
    notes = tuple(Note(tone, text) for tone in ("ok", "warn", "bad", "plain", text))
    section = Section(text, text, charts, (table,), notes, (Fact(text, text),), text)
    return Page(
        question=text,
        answers=(text, f"**{text}** (1.0 to 2.0)"),
        kicker=text,
        meta=text,
        numbers=(KeyNumber(text, text, text),),
        notes=notes,
        sections=(section,) * 3,
        method=(text,),
        limits=(text,),
        sources=(text,),
        command=text,
    )


SAFE_LINK = r"#[a-z0-9-]+|data:text/csv;charset=utf-8;base64,[A-Za-z0-9+/]+={0,2}"


def foreign(text, known):
    """Return what is on a page and not on the harmless one, astray links and broken nesting."""
    parsed = Parsed(text)
    links = [attributes["href"] for attributes in parsed.all("a")]
    astray = [link for link in links if not re.fullmatch(SAFE_LINK, link)]
    return [*(parsed.kinds - known), *parsed.faults, *astray]


@pytest.fixture(scope="module")
def known():
    return Parsed(html.render(page_of(HARMLESS))).kinds


@pytest.mark.figures
def test_two_hundred_texts_add_nothing_to_the_page(known):
    """One element that a group's name brought along could send the page's numbers away."""
    found = {text: foreign(html.render(page_of(text)), known) for text in PAYLOADS}

    assert len(PAYLOADS) == len(set(PAYLOADS)) == 200
    assert {text: faults for text, faults in found.items() if faults} == {}


@pytest.mark.figures
@pytest.mark.parametrize("each", [5, pytest.param(None, marks=pytest.mark.slow)])
def test_two_hundred_labels_add_nothing_to_the_pictures(each):
    """Labels reach the pictures through a drawing library; its output is rebuilt, not trusted."""
    harmless = Parsed(html.render(page_of(HARMLESS, drawn([f"{HARMLESS} {n}" for n in range(9)])))).kinds
    text = html.render(page_of(HARMLESS, drawn(PAYLOADS, each=each)))

    assert foreign(text, harmless) == []
    assert "alert(1)" in text  # it is there, as words


def test_a_page_that_does_not_escape_is_found_out(known, monkeypatch):
    """The twin: if this page passed, the test above would see nothing."""
    html._environment.cache_clear()
    careless = html._environment()
    careless.autoescape = False
    monkeypatch.setattr(html, "_environment", lambda: careless)
    texts = PAYLOADS[:10]

    assert all(foreign(html.render(page_of(text)), known) for text in texts)


def test_a_picture_of_others_is_rebuilt_too(known):
    """A chart may be made by somebody's own code; it gets no more on the page than ours."""
    bad = '<svg width="9" onload="x()"><script>x()</script><a href="https://example.org"><text>x</text></a><g/></svg>'
    chart = dataclasses.replace(page_of(HARMLESS).sections[0].charts[0], wide=bad, narrow=bad)

    assert foreign(html.render(page_of(HARMLESS, (chart,))), known) == []


@pytest.fixture(autouse=True)
def _fresh_templates():
    """Leave no template behind that was made without escaping."""
    yield
    html._environment.cache_clear()
