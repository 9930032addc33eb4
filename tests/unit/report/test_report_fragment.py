"""A report's parts inside another document: the same words, the same escaping, each chart with its table."""

import re

import pytest

from evenhand.report import Page
from evenhand.report.html import render_fragment, style_sheet

HOSTILE = "<script>alert(1)</script>"


def test_the_answer_of_a_fragment_is_the_report_s_own(sample, rendered):
    header = re.search(r"<header>.*?</header>", rendered, re.DOTALL)[0]

    assert header in render_fragment(sample, part="answer")


def test_every_section_of_the_report_is_in_the_findings(sample, rendered):
    findings = render_fragment(sample, part="findings")

    assert re.findall(r"<h2[^>]*>.*?</h2>", findings) == re.findall(r"<h2[^>]*>.*?</h2>", rendered)


def test_each_chart_with_numbers_has_them_as_a_table(sample):
    """Whoever cannot see a chart reads its table."""
    findings = render_fragment(sample, part="findings")
    charts = [chart for section in sample.sections for chart in section.charts if chart.data]

    assert findings.count('<details class="chart-table">') == len(charts) > 0


def test_a_report_that_is_sent_has_no_tables_of_charts(rendered):
    assert "chart-table" not in rendered


@pytest.mark.parametrize("part", ["answer", "findings"])
def test_a_fragment_is_escaped_and_has_no_document_around_it(part):
    page = Page(question=HOSTILE, answers=(HOSTILE,), method=(HOSTILE,), command=HOSTILE)
    fragment = render_fragment(page, part=part)

    assert "alert(1)" in fragment
    assert not re.findall(r"<script|<html|<head>|<body|<main|<style", fragment)


def test_the_style_sheet_is_the_one_of_a_report(rendered):
    style = re.search(r"<style>\n(.*?)</style>", rendered, re.DOTALL)[1]

    assert style_sheet().strip() == style.strip()
