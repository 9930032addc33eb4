"""Every mechanism has a page with its rule in words and a picture."""

import pytest

from evenhand.app.pages.mechanisms import explain, list_mechanisms
from evenhand.collect.protocols.homes import CLASSES
from evenhand.errors import UnknownNameError
from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.study.tasks.learn.methods import METHODS

EVERY = [*CLASSES, *MECHANISMS, *METHODS]


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
    assert not any(mark in " ".join(explained.proof) for mark in (":math:", "``", "\\", "]_"))
    assert [text for text in explained.proof if not text.endswith((".", ".)"))] == []


def test_a_name_that_no_mechanism_has_is_refused():
    with pytest.raises(UnknownNameError):
        explain("<script>")


def test_the_picture_of_a_method_shows_plain_training_beside_it():
    """A bar alone does not say what privacy costs."""
    alone, beside = explain("plain"), explain("dp+parity")

    assert alone.alt == "accuracy: 66.8%; gap: 23.3%."
    assert "gap, ε = 1: 23.3% becomes 2.7%" in beside.alt
    assert "Means of 20 runs" in beside.caption
    assert any("Guarantee" in text for text in beside.proof)
