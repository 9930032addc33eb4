"""Reports as JSON texts."""

import json

import numpy as np
import pytest

from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.hashing import OLH
from evenhand.collect.reports.reports import Reports
from evenhand.errors import InvalidParameterError, LimitExceededError, UnreadableFileError
from evenhand.table.limits import Limits

FIVE = GRR(k=5, epsilon=1)


@pytest.fixture
def record():
    return json.loads(FIVE.privatize([0, 1, 2]).to_json())


def test_the_text_says_what_a_file_says(record):
    assert list(record) == ["format", "evenhand", "rng", "protocol", "guarantee", "reports"]
    assert record["format"] == "evenhand reports 1"
    assert record["rng"] == "secure"
    assert record["protocol"] == {"protocol": "grr", "k": 5, "epsilon": "1"}
    assert record["guarantee"] == FIVE.guarantee.to_dict()
    assert len(record["reports"]) == 3


def test_the_text_is_plain_ascii():
    text = OLH(k=1 << 20, epsilon=1).privatize([3, 4]).to_json()

    assert text.isascii()
    assert json.loads(text, parse_float=pytest.fail)


def test_every_number_survives_a_reader_of_53_bits():
    """JavaScript reads every number as a float of 53 bits."""
    reports = OLH(k=1 << 20, epsilon=1).privatize(np.arange(50))
    text = reports.to_json(keep_order=True)
    rounded = json.dumps(json.loads(text, parse_int=lambda digits: int(float(digits))))

    assert (Reports.from_json(rounded) == reports).all()


def test_nobody_is_written_too():
    assert len(Reports.from_json(FIVE.privatize([]).to_json())) == 0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"format": 1}, "holds no reports of evenhand"),
        ({"evenhand": 1}, "which version"),
        ({"rng": True}, "'secure' or 'seeded'"),
        ({"rng": ["secure"]}, "'secure' or 'seeded'"),
        ({"protocol": "grr"}, "its protocol is not a record"),
        ({"protocol": {"protocol": ["grr"]}}, "its protocol cannot be understood"),
        ({"guarantee": "1"}, "its guarantee is not a record"),
        ({"guarantee": None}, "here it is otherwise"),
        ({"reports": None}, "its reports are not whole numbers"),
        ({"reports": [31337]}, "its reports are not whole numbers"),
        ({"reports": {"0": 31337}}, "its reports are not whole numbers"),
        ({"time": "2026-01-01"}, "more than reports and what they are"),
    ],
)
def test_a_text_that_is_off_is_refused_in_one_sentence(record, change, why):
    with pytest.raises(UnreadableFileError) as caught:
        Reports.from_json(json.dumps(record | change))

    assert str(caught.value).startswith("The text was not read: ")
    assert why in str(caught.value)
    assert "31337" not in str(caught.value)


def test_reports_must_be_there(record):
    del record["reports"]
    with pytest.raises(UnreadableFileError, match="it has no reports"):
        Reports.from_json(json.dumps(record))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "nothing",
        "[1, 2]",
        "3",
        "null",
        "[" * 100_000,
        '{"a": 1, "a": 2}',
        "NaN",
        b"\xff",
        "9" * 5_000,
    ],
)
def test_what_is_no_object_is_refused(text):
    with pytest.raises(UnreadableFileError, match="it is not"):
        Reports.from_json(text)


@pytest.mark.parametrize("text", [None, 3, {}, bytearray(b"{}")])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(InvalidParameterError, match=r"'text' parameter of Reports\.from_json"):
        Reports.from_json(text)


def test_the_length_has_a_limit():
    text = FIVE.privatize([0, 1, 2]).to_json()
    with pytest.raises(LimitExceededError, match="longer than 100 bytes") as caught:
        Reports.from_json(text, limits=Limits(bytes=100))
    with pytest.raises(LimitExceededError, match="longer than 20,000,000 bytes"):
        Reports.from_json(" " * 20_000_001)
    with pytest.raises(InvalidParameterError, match=r"'limits' parameter of Reports\.from_json"):
        Reports.from_json(text, limits=100)

    assert caught.value.limit == "bytes"
    assert len(Reports.from_json(text, limits=Limits(bytes=len(text)))) == 3
