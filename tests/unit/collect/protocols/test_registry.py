"""Protocols by name, and from records that come from outside."""

from collections import UserDict

import pytest

from evenhand.collect.protocols.base import Protocol
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.registry import PROTOCOLS, protocol_from, protocol_named
from evenhand.collect.protocols.subset import SS
from evenhand.collect.protocols.thresholded import THE
from evenhand.errors import InvalidParameterError, UnknownNameError


def _concrete(base):
    for each in base.__subclasses__():
        if not each.__abstractmethods__ and each.__module__.startswith("evenhand.") and "name" in vars(each):
            yield each
        yield from _concrete(each)


def test_the_registry_holds_the_seven():
    assert {"grr", "blh", "olh", "rappor", "oue", "ss", "the"} <= set(PROTOCOLS)


def test_a_name_is_found_in_any_letters():
    assert protocol_named("grr") is protocol_named("GRR") is protocol_named("Grr") is GRR


@pytest.mark.parametrize("wrong", ["gr", "", "x" * 10_000, None, 3, ["grr"]])
def test_an_unknown_name_lists_the_known_ones(wrong):
    with pytest.raises(UnknownNameError, match="There are: ") as caught:
        protocol_named(wrong)

    assert len(str(caught.value)) < 300


def test_a_guess_helps():
    with pytest.raises(UnknownNameError, match="did you mean 'rappor'"):
        protocol_named("rapor")


def test_a_record_says_everything():
    assert GRR(k=5, epsilon=0.1).to_dict() == {"protocol": "grr", "k": 5, "epsilon": "1/10"}
    assert SS(k=5, epsilon="1/3", as_printed=True).to_dict() == {
        "protocol": "ss",
        "k": 5,
        "epsilon": "1/3",
        "as_printed": True,
    }


def test_what_has_a_default_may_be_left_out():
    assert protocol_from({"protocol": "ss", "k": 5, "epsilon": "1"}) == SS(k=5, epsilon=1)
    assert protocol_from(UserDict({"protocol": "grr", "k": 5, "epsilon": 1})) == GRR(k=5, epsilon=1)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"k": True}, "'k' parameter of THE"),
        ({"k": "5"}, "'k' parameter of THE"),
        ({"k": 5.0}, "'k' parameter of THE"),
        ({"k": 1}, "'k' parameter of THE"),
        ({"k": 10**40}, "'k' parameter of THE"),
        ({"epsilon": True}, "'epsilon' parameter of THE"),
        ({"epsilon": None}, "'epsilon' parameter of THE"),
        ({"epsilon": "9" * 100_000}, "'epsilon' parameter of THE"),
        ({"epsilon": "1e9999999"}, "'epsilon' parameter of THE"),
        ({"epsilon": float("nan")}, "'epsilon' parameter of THE"),
        ({"epsilon": ["1"]}, "'epsilon' parameter of THE"),
        ({"recalibrated": 1}, "'recalibrated' parameter of THE must be true or false"),
        ({"recalibrated": "false"}, "'recalibrated' parameter of THE must be true or false"),
        ({"recalibrated": None}, "'recalibrated' parameter of THE must be true or false"),
        ({"as_printed": True}, "with the fields k, epsilon, recalibrated"),
        ({"rng": 7}, "with the fields k, epsilon, recalibrated"),
        ({"x" * 9_999: 7}, "with the fields k, epsilon, recalibrated"),
        ({7: 7}, "with the fields k, epsilon, recalibrated"),
    ],
)
def test_a_record_that_is_off_is_refused_by_the_field(change, told):
    """It reads files from outside: what is passed over today is an attack tomorrow."""
    with pytest.raises(InvalidParameterError) as caught:
        protocol_from(THE(k=5, epsilon=1).to_dict() | change)

    assert told in str(caught.value)
    assert len(str(caught.value)) < 800


@pytest.mark.parametrize("missing", ["k", "epsilon"])
def test_what_has_no_default_must_be_there(missing):
    record = GRR(k=5, epsilon=1).to_dict()
    del record[missing]
    with pytest.raises(InvalidParameterError, match="a record of GRR, with the fields k, epsilon"):
        protocol_from(record)


def test_a_record_without_any_field_is_refused():
    with pytest.raises(InvalidParameterError, match="Got no fields instead"):
        protocol_from({"protocol": "grr"})
    with pytest.raises(UnknownNameError):
        protocol_from({})


@pytest.mark.parametrize("wrong", [None, [], "grr", 3, [("protocol", "grr")]])
def test_an_object_that_is_no_record_is_refused(wrong):
    with pytest.raises(InvalidParameterError, match="must be a mapping"):
        protocol_from(wrong)


def test_every_protocol_of_the_package_is_in_the_registry():
    """A protocol outside the registry escapes the contract suite."""
    decoded = {"grr-decoded"}  # a column of a joint report, which nobody sends alone
    named = {each.name: each for each in _concrete(Protocol)}

    assert {name for name in named if name not in PROTOCOLS} <= decoded
