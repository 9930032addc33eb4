"""Every mechanism has a page with its rule in words and a picture."""

import pytest

from evenhand.app.pages.mechanisms import explain, list_mechanisms
from evenhand.collect.protocols.homes import CLASSES
from evenhand.errors import UnknownNameError
from evenhand.release.mechanisms.registry import MECHANISMS


def test_every_protocol_and_every_mechanism_is_listed_with_a_sentence():
    entries = list_mechanisms()

    assert {entry.name for entry in entries} == {*CLASSES, *MECHANISMS}
    assert [entry.name for entry in entries if not entry.sentence.endswith(".")] == []


@pytest.mark.parametrize("name", [*CLASSES, *MECHANISMS])
def test_every_mechanism_has_a_picture_that_is_also_said_in_words(name):
    explained = explain(name)

    assert explained.picture.startswith("<svg")
    assert explained.alt.endswith(".")
    assert explained.caption.startswith("**")
    assert explained.sentence.endswith(".")
    assert explained.fits.endswith(".")
    assert not any(mark in " ".join(explained.proof) for mark in (":math:", "``", "\\"))


def test_a_name_that_no_mechanism_has_is_refused():
    with pytest.raises(UnknownNameError):
        explain("<script>")
