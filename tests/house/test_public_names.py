"""Adding or losing a public name is a visible change."""

import importlib
import pathlib
import pkgutil

import evenhand

LISTED = pathlib.Path(__file__).with_name("public_names.txt")


def _public_modules():
    yield "evenhand"
    for module in pkgutil.walk_packages(evenhand.__path__, "evenhand."):
        if not any(part.startswith("_") for part in module.name.split(".")):
            yield module.name


def _public_names():
    for name in _public_modules():
        module = importlib.import_module(name)
        yield from (f"{name}.{each}" for each in getattr(module, "__all__", ()))


def test_the_public_names_are_the_listed_ones():
    """Write `python tests/house/test_public_names.py` to take a change over, and look at the diff."""
    assert sorted(set(_public_names())) == LISTED.read_text(encoding="utf-8").split()


def test_every_public_module_says_what_is_public():
    silent = [name for name in _public_modules() if not hasattr(importlib.import_module(name), "__all__")]

    assert silent == []


def test_every_public_name_exists():
    missing = [
        f"{name}.{each}"
        for name in _public_modules()
        for each in getattr(importlib.import_module(name), "__all__", ())
        if not hasattr(importlib.import_module(name), each)
    ]

    assert missing == []


if __name__ == "__main__":
    LISTED.write_text("\n".join(sorted(set(_public_names()))) + "\n", encoding="utf-8")
