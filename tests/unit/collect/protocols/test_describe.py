"""A protocol's figures as text and as a table."""

from html.parser import HTMLParser

import pytest

from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.hashing import OLH
from evenhand.collect.protocols.thresholded import THE


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.said = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.said += [name for name, _ in attrs]

    def handle_data(self, data):
        self.said.append(data)


def test_the_text_has_the_figures():
    assert OLH(k=10, epsilon=1).describe().splitlines() == [
        "OLH(k=10, epsilon=1): optimal local hashing",
        "  supports the true value  p = 0.475367",
        "  supports another value   q = 0.25",
        "  guarantee                epsilon = 1, pure, local, for one report, tight",
        "  variance at f = 0        3.6917 / n",
        "  size of a report         66 bits; 9 bytes in a file",
    ]


def test_less_than_asked_is_shown_as_less():
    assert "epsilon = 0.895989, pure, local, for one report, tight" in THE(k=10, epsilon=1).describe()


@pytest.mark.parametrize(("epsilon", "shown"), [("1/3", "0.333334"), ("1.0000001", "1.00001"), (0.1, "0.1")])
def test_no_epsilon_is_shown_smaller_than_it_is(epsilon, shown):
    """Rounded to the nearest, the text would promise more than the proof."""
    assert f"epsilon = {shown}, pure" in GRR(k=5, epsilon=epsilon).describe()


def test_one_bit_is_one_bit():
    assert "1 bit; 1 byte in a file" in GRR(k=2, epsilon=1).describe()


def test_the_table_says_what_the_text_says():
    table = Tags(GRR(k=5, epsilon=1)._repr_html_())

    assert set(table.tags) == {"table", "caption", "tbody", "tr", "th", "td"}
    for line in GRR(k=5, epsilon=1).describe().splitlines()[1:]:
        assert line.split("  ")[-1].strip() in table.said


@pytest.mark.parametrize("title", ["<script>alert(1)</script>", '"><img src=x>', "a & b"])
def test_text_stays_text(monkeypatch, title):
    """Whoever names a protocol must not be able to run code in the notebook of another."""
    monkeypatch.setattr(GRR, "title", title)
    table = Tags(GRR(k=5, epsilon=1)._repr_html_())

    assert not {"script", "img"} & set(table.tags)
    assert any(title in each for each in table.said)


def test_a_protocol_that_cannot_draw_is_still_shown():
    """A value that cannot be shown cannot be mended."""
    made = GRR(k=2**31 - 1, epsilon=1)
    monkeyed = type("Broken", (GRR,), {"_probabilities": GRR._probabilities})(k=2**31 - 1, epsilon="1e-12")

    assert "<table" in made._repr_html_()
    assert monkeyed._repr_html_().startswith(("<pre>Broken(", "<table"))
