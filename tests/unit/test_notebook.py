"""What notebooks show: tables that parse, with every text escaped, no script and nothing from elsewhere."""

import math
from fractions import Fraction
from html.parser import HTMLParser

import pyarrow as pa
import pytest

import evenhand as eh
from evenhand.collect import GRR
from evenhand.collect.joint.build import strategy_for
from evenhand.decide.result.entities import Entities
from evenhand.learn.audit.canaries import CanaryAudit
from evenhand.privacy.rational import decimal_text
from evenhand.release import Histogram, KAnonymity, Laplace
from evenhand.schema import Column, Domain
from evenhand.study import DataSource

EVIL = "<script>alert(1)</script>"
SCHEMA = eh.Schema([Column(EVIL, Domain.categorical(["a", EVIL])), Column("b", Domain.integers(0, 1))])
FRAME = pa.table({EVIL: ["a", EVIL, "a", "a"], "b": [0, 1, 0, 1]})
HISTOGRAM = Histogram.count(FRAME, SCHEMA.with_roles(quasi_identifiers=EVIL))
VOID = {"br", "hr", "img", "meta", "link"}


class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.open, self.seen, self.texts = [], set(), []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        assert not {name for name, _ in attrs} & {"src", "href", "onload", "onclick"}
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def _guarantee(epsilon=1):
    return eh.Guarantee(epsilon=epsilon, unit="one report", trust="local", protects=[EVIL])


def _said(protocol, pair):
    return eh.audit_epsilon(protocol, pair, size=1_000, rng=1)


STRATEGY = strategy_for({EVIL: 2, "b": 2}, epsilon=1, protocol="grr", split="uniform")
SHOWN = {
    "guarantee": _guarantee,
    "audit": lambda: _said(lambda value, size, rng: [f"{EVIL}{value}"] * size, (0, 1)),
    "canaries": lambda: CanaryAudit(
        measured_epsilon=0.1, claimed_epsilon=Fraction(1, 3), delta=Fraction(0), confidence=0.95, share=1,
        canaries=100, guesses=50, correct=30,
    ),
    "release": lambda: Laplace(epsilon=1, unit="replace one").release(HISTOGRAM, rng=1),
    "classes": lambda: KAnonymity(2).release(HISTOGRAM, rng=1).classes,
    "plan": lambda: eh.Plan(name=EVIL, data=DataSource(path=EVIL), schema=SCHEMA),
    "table": lambda: eh.Table.encode(FRAME, SCHEMA),
    "reports": lambda: GRR(k=2, epsilon=1).privatize([0, 1], rng=1),
    "joint": lambda: STRATEGY.privatize({EVIL: [0, 1], "b": [1, 0]}, rng=1),
    "page": lambda: eh.measure.page(None, [1, 0] * 40, ["x", EVIL] * 40, outcome="hired"),
    "entities": lambda: Entities.read({"town": ["x", "y"], EVIL: [1, 2]}, name="town", counts=EVIL),
}  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_shows_a_table_that_holds_no_script(name):
    html = SHOWN[name]()._repr_html_()
    tags = Tags(html)

    assert tags.open == []
    assert tags.seen <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "div", "p"}
    assert "<script" not in html
    if name not in {"canaries", "reports"}:  # which hold no text of a person
        assert "&lt;script" in html


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [("1/2", "0.5"), ("1/3", "0.333334 (exactly 1/3)"), (math.log(3), None)],
)
def test_an_exact_epsilon_is_a_decimal_with_the_exact_one_beside_it(epsilon, text):
    guarantee = _guarantee(epsilon)

    assert (text or decimal_text(guarantee.epsilon)) in Tags(guarantee._repr_html_()).texts
    if text:
        assert f"epsilon = {text}," in str(guarantee)


def test_a_table_shows_neither_a_value_nor_how_many_rows_it_has():
    """A table that is shown on a screen must not tell how many people are in it."""
    shown = eh.Table.encode(FRAME, SCHEMA)._repr_html_()

    assert shown == eh.Table.encode(FRAME.slice(0, 2), SCHEMA)._repr_html_()
