"""Text from data on a page stays text."""

from html.parser import HTMLParser

import pytest

from evenhand.report.html import render
from evenhand.study.page.page import page_of
from evenhand.study.page.wording import outcome_name
from unit.study._page_studies import FULL, against, made, schema_of

PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "**bold** {{ 7 * 7 }}",
    "=1+1\n<b>",
)


class Elements(HTMLParser):
    """Counts elements and attributes, and keeps the text."""

    def __init__(self, text):
        super().__init__()
        self.found, self.text = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, tuple(sorted(name for name, _ in attrs))))

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_labels_and_names_from_data_stay_text(drawn, payload):
    """A category called <script> must be read, not run."""
    plain = page_of(_labelled("quite plain"))
    hostile = page_of(_labelled(payload))
    expected, found = (Elements(render(page)) for page in (plain, hostile))

    assert found.found == expected.found
    visible = " ".join(payload.split()).replace("**", "*\u2060*")
    assert visible in "".join(found.text)


def _labelled(text):
    groups = (f"{text} 1", f"{text} 2")
    schema = schema_of(
        groups, names=(f"{text} s", f"{text} r", f"{text} j"), target=f"{text} t", privileged=groups[1]
    )
    rates = {groups[0]: (0.3, 0.6, 0.8), groups[1]: (0.6, 0.7, 0.82)}
    moved = {groups[0]: (0.33, 0.6, 0.78), groups[1]: (0.57, 0.7, 0.80)}
    plan = {"name": text}
    return made(
        against(rates, moved),
        groups=groups,
        schema=schema,
        collect=FULL,
        plan=plan,
        label=text,
        notes=(text,),
    )


def test_labels_that_say_nothing_alone_have_their_column_before_them(drawn):
    groups = ("0", "1")
    rates = {"0": (0.3, 0.6, 0.8), "1": (0.6, 0.7, 0.82)}
    page = page_of(made(lambda each: rates, groups=groups))

    assert page.numbers[3].label == "Accuracy for sex = 0, %"


def test_positive_values_that_are_comparisons_need_no_sign():
    assert outcome_name(schema_of()) == "hired = yes"
    assert outcome_name(schema_of(target="income", positive=">50K")) == "income >50K"
