"""Text from data on a page stays text."""

from html.parser import HTMLParser

import pytest

from evenhand.study.page.wording import outcome_name
from unit.study._page_studies import FULL, against, made, schema_of

PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "**bold** {{ 7 * 7 }}",
    "=1+1\n<b>",
)
_SVG = ("tspan", "text")  # of which a longer name takes more


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
@pytest.mark.usefixtures("undrawn")
def test_labels_and_names_from_data_stay_text(payload):
    """A category called <script> must be read, not run."""
    plain, hostile = _labelled("quite plain").report(), _labelled(payload).report()
    expected, found = (Elements(html) for html in (plain, hostile))
    kinds = [{tag for tag in each.found if tag[0] not in _SVG} for each in (expected, found)]

    assert kinds[1] <= kinds[0]
    assert not any(name.startswith("on") for _, names in found.found for name in names)
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


def test_positive_values_that_are_comparisons_need_no_sign():
    assert outcome_name(schema_of()) == "hired = yes"
    assert outcome_name(schema_of(target="income", positive=">50K")) == "income >50K"
