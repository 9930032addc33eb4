"""Adding or losing a public name is a visible change."""

import importlib
import pathlib

import pytest

PUBLIC_MODULES = [
    "evenhand",
    "evenhand.collect",
    "evenhand.datasets",
    "evenhand.decide",
    "evenhand.decide.bounds",
    "evenhand.decide.bounds_curvature",
    "evenhand.decide.mitigate",
    "evenhand.engine",
    "evenhand.errors",
    "evenhand.learn",
    "evenhand.measure",
    "evenhand.privacy",
    "evenhand.privacy.accounting",
    "evenhand.privacy.audit",
    "evenhand.privacy.grid_noise",
    "evenhand.privacy.laws",
    "evenhand.privacy.ledger",
    "evenhand.privacy.randomness",
    "evenhand.privacy.sampling",
    "evenhand.privacy.scales",
    "evenhand.privacy.signing",
    "evenhand.privacy.zcdp",
    "evenhand.release",
    "evenhand.release.alpha_bounds",
    "evenhand.release.postprocess",
    "evenhand.report",
    "evenhand.schema",
    "evenhand.study",
    "evenhand.study.advise",
    "evenhand.papers",
    "evenhand.study.profile",
    "evenhand.table",
]
"""Every other module is private to its package."""

LISTED = pathlib.Path(__file__).with_name("public_names.txt")


def _public_names():
    for name in PUBLIC_MODULES:
        yield from (f"{name}.{each}" for each in importlib.import_module(name).__all__)


def test_the_public_names_are_the_listed_ones():
    """Run this file as a script to take a change over, and look at the diff."""
    assert sorted(_public_names()) == LISTED.read_text(encoding="utf-8").split()


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_every_public_name_exists_and_is_documented(name):
    module = importlib.import_module(name)
    found = {each: getattr(module, each) for each in module.__all__}
    undocumented = [each for each, thing in found.items() if callable(thing) and not thing.__doc__]

    assert undocumented == []


def test_every_public_name_stands_in_the_reference(root):
    """A name nobody can look up is not public."""
    text = (root / "docs" / "reference.md").read_text(encoding="utf-8")
    names = [name.rsplit(".", 1) for name in _public_names()]
    missing = [
        f"{module}.{name}"
        for module, name in names
        if module not in {"evenhand", "evenhand.errors"} and f"{name}\n" not in text
    ]

    assert missing == []


if __name__ == "__main__":
    LISTED.write_text("\n".join(sorted(_public_names())) + "\n", encoding="utf-8")
