"""Every mechanism has a page with its rule and its promise in words, and a picture."""

import re
from math import exp

import pytest

from evenhand.app.pages.mechanisms import explain, list_mechanisms
from evenhand.app.pages.pictures import draw_bars, small_table
from evenhand.collect.protocols.homes import CLASSES
from evenhand.errors import UnknownNameError
from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.report.drawing import Drawing
from evenhand.study.tasks.learn.methods import METHODS

HEIGHT_OF_A_FIGURE = 9  # of 12 pixels of type
EVERY = [*CLASSES, *MECHANISMS, *METHODS]
WORDS_OF_CODE = re.compile(
    r"[`\\_*]|:math:|evenhand\.|\b(?:epsilon|delta|rho|fit|rng|hash|Numerics|Proof|post-processing|unit)\b"
)


def test_every_protocol_mechanism_and_method_is_listed_with_a_sentence():
    entries = list_mechanisms()

    assert {entry.name for entry in entries} == set(EVERY)
    assert [entry.name for entry in entries if not entry.sentence.endswith(".")] == []


@pytest.mark.parametrize("name", EVERY)
def test_every_mechanism_has_a_picture_that_is_also_said_in_words(name):
    explained = explain(name)

    assert explained.picture.startswith("<svg")
    assert explained.alt.endswith(".")
    assert explained.caption.startswith("**")
    assert explained.sentence.endswith(".")
    assert explained.fits.endswith(".")


@pytest.mark.parametrize("name", EVERY)
def test_what_is_promised_is_said_in_words_without_code(name):
    """A policy analyst reads this; names of parameters, functions and proofs tell them nothing."""
    promised = explain(name).promised

    assert promised
    assert [text for text in promised if not text.endswith(".")] == []
    assert not WORDS_OF_CODE.search(" ".join(promised))


@pytest.mark.parametrize("name", MECHANISMS)
def test_nothing_is_promised_in_words_where_the_guarantee_says_so(name):
    """Words that promise what the mechanism does not are the worst that this page could say."""
    histogram, _ = small_table()
    guarantee = MECHANISMS[name].example().release(histogram, rng=7).guarantee
    opening = explain(name).promised[0]

    if name == "generalized-sampling":  # its example has a large delta, which people choose
        assert "plus δ" in opening
    else:
        is_empty = str(guarantee).startswith("This is no meaningful guarantee")
        assert is_empty == opening.startswith(("Nothing is promised", "Next to nothing is promised"))


@pytest.mark.parametrize("name", METHODS)
def test_a_method_promises_in_words_only_where_it_trains_privately(name):
    method = METHODS[name]
    is_empty = method.base == "plain" or method.voids

    assert is_empty == explain(name).promised[0].startswith("Nothing is promised")


def test_the_factors_of_a_report_are_those_of_the_protocols():
    """The text of THE names a factor, which its guarantee computes."""
    factors = {name: exp(float(CLASSES[name](k=4, epsilon=1).guarantee.epsilon)) for name in ("grr", "the")}

    assert f"{factors['the']:.2f} and not {factors['grr']:.2f}" in explain("the").promised[0]
    assert f"{factors['grr']:.1f} at ε = 1" in explain("grr").promised[0]


def test_the_chance_to_be_taken_is_the_one_of_sampled_k_anonymity():
    assert f"At ε = 1 this is {1 - exp(-1):.0%}" in explain("sampled-k-anonymity").promised[0]


def test_a_figure_stands_beside_its_own_bar(monkeypatch):
    """A figure that reaches into the bar above it cannot be read in a small picture."""
    drawings = []
    monkeypatch.setattr(Drawing, "svg", lambda drawing: drawings.append(drawing) or "<svg/>")
    monkeypatch.setattr(Drawing, "blocks", lambda drawing, blocks, **_: drawn.extend(blocks))
    drawn = []
    draw_bars(
        ["a", "b"], [[1.0, 0.9], [0.1, 0.5]], [["1", "9"], ["2", "5"]], fills=("ghost", "ink"), most=1.0
    )
    figures = {word.text: word for word in drawings[0]._words if word.align == "left"}

    for bar in drawn:
        bottom = figures[bar.tip.rpartition(" ")[2]].y
        assert bar.y <= bottom - HEIGHT_OF_A_FIGURE
        assert bottom <= bar.y2


def test_a_name_that_no_mechanism_has_is_refused():
    with pytest.raises(UnknownNameError):
        explain("<script>")


def test_the_picture_of_a_method_shows_plain_training_beside_it():
    """A bar alone does not say what privacy costs."""
    alone, beside = explain("plain"), explain("dp+parity")

    assert alone.alt == "accuracy: 66.8%; gap: 23.3%."
    assert "gap, ε = 1: 23.3% becomes 2.7%" in beside.alt
    assert "Means of 20 runs" in beside.caption
    assert any("counted once, with noise" in text for text in beside.promised)
