"""Mechanisms by name, and from records that come from outside."""

import importlib
import pkgutil
from collections import UserDict

import pytest

import evenhand.release
from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.release.mechanisms.mechanism import ReleaseMechanism
from evenhand.release.mechanisms.noise import DiscreteGaussian, Laplace
from evenhand.release.mechanisms.registry import MECHANISMS, mechanism_from, mechanism_named
from evenhand.release.mechanisms.thresholded import ThresholdedLaplace


def _concrete(base):
    for each in base.__subclasses__():
        if not each.__abstractmethods__ and each.__module__.startswith("evenhand.") and "name" in vars(each):
            yield each
        yield from _concrete(each)


def test_every_mechanism_is_registered():
    """Every module is loaded first: the registry itself loads a class only when it is taken."""
    for module in pkgutil.walk_packages(evenhand.release.__path__, "evenhand.release."):
        importlib.import_module(module.name)

    assert set(_concrete(ReleaseMechanism)) == set(MECHANISMS.values())


def test_a_name_is_found_in_any_letters():
    assert mechanism_named("laplace") is mechanism_named("LAPLACE") is Laplace


@pytest.mark.parametrize("wrong", ["lap", "", "x" * 10_000, None, 3, ["laplace"]])
def test_an_unknown_name_lists_the_known_ones(wrong):
    with pytest.raises(UnknownNameError, match="There are: ") as caught:
        mechanism_named(wrong)

    assert len(str(caught.value)) < 400


def test_a_guess_helps():
    with pytest.raises(UnknownNameError, match="did you mean 'laplace'"):
        mechanism_named("laplac")


def test_what_has_a_default_may_be_left_out():
    record = UserDict({"mechanism": "thresholded-laplace", "epsilon": "1", "threshold": 5})

    assert mechanism_from(record) == ThresholdedLaplace(1, 5)
    assert mechanism_from({"mechanism": "discrete-gaussian", "rho": "1/10", "unit": "replace one"}) == (
        DiscreteGaussian(rho="1/10", unit="replace one")
    )


@pytest.mark.parametrize(
    ("record", "error", "told"),
    [
        ([], InvalidParameterError, "a mapping"),
        (None, InvalidParameterError, "a mapping"),
        ({}, UnknownNameError, "There are"),
        ({"mechanism": "laplace"}, InvalidParameterError, "no fields"),
        ({"mechanism": "laplace", "epsilon": 1}, InvalidParameterError, "epsilon, unit"),
        ({"mechanism": "discrete-gaussian", "rho": 1}, InvalidParameterError, "unit"),
        (
            {"mechanism": "laplace", "epsilon": 1, "unit": "replace one", "x": 1},
            InvalidParameterError,
            "epsilon",
        ),
        ({"mechanism": "laplace", "epsilon": 0, "unit": "replace one"}, InvalidParameterError, "epsilon"),
        ({"mechanism": "laplace", "epsilon": 1, "unit": ["replace one"]}, InvalidParameterError, "unit"),
    ],
    ids=str,
)
def test_a_record_that_is_none_is_refused(record, error, told):
    """A record comes from a file: whatever is in it, one clear error."""
    with pytest.raises(error, match=told) as caught:
        mechanism_from(record)

    assert len(str(caught.value)) < 500


def test_a_truth_value_is_no_number():
    """Only where a field's default is a truth value; here a class with one is made for it."""
    from dataclasses import dataclass

    import evenhand.release.mechanisms.registry as registry

    @dataclass(frozen=True, repr=False)
    class Switched(ReleaseMechanism):
        name = "switched"
        title = "switched"
        on: bool = False

        def guarantee_for(self, histogram, *, epsilon=None, as_printed=False):
            raise NotImplementedError

        def _publish(self, histogram, source):
            raise NotImplementedError

    registry.MECHANISMS["switched"] = Switched
    try:
        with pytest.raises(InvalidParameterError, match="true or false"):
            mechanism_from({"mechanism": "switched", "on": 1})
        assert mechanism_from({"mechanism": "switched", "on": True}) == Switched(on=True)
        assert Switched.example() == Switched()
        assert Switched().law is None
        assert repr(Switched()) == "Switched()"
    finally:
        del registry.MECHANISMS["switched"]
