"""The record says what the numbers were computed with."""

from importlib.metadata import PackageNotFoundError

import numpy as np

import evenhand
from evenhand.study.plan import facts as module
from evenhand.study.plan.facts import versions


def test_the_versions_are_those_that_run():
    found = versions()

    assert found["evenhand"] == evenhand.__version__
    assert found["numpy"] == np.__version__
    assert found["python"].startswith("3.")


def test_a_package_that_is_not_there_is_left_out(monkeypatch):
    def missing(name):
        if name == "lightgbm":
            raise PackageNotFoundError
        return "1"

    monkeypatch.setattr(module, "version", missing)
    module._version_of.cache_clear()
    try:
        found = versions()
    finally:
        module._version_of.cache_clear()

    assert "lightgbm" not in found
    assert found["scikit-learn"] == "1"


def test_nobody_can_change_the_record():
    versions()["numpy"] = "0"

    assert versions()["numpy"] == np.__version__
