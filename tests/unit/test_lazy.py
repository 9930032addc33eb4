"""A lazy module is the module, later."""

import subprocess
import sys

import pytest

from evenhand._lazy import lazy


def _run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_a_module_is_imported_when_it_is_first_used():
    code = (
        "import sys; from evenhand._lazy import lazy; colours = lazy('colorsys')\n"
        "print('colorsys' in sys.modules, colours.rgb_to_hsv(0, 0, 0)[2], 'colorsys' in sys.modules)"
    )

    assert _run(code).split() == ["False", "0", "True"]


def test_a_module_inside_it_is_found_as_by_an_import():
    code = "from evenhand._lazy import lazy; print(lazy('xml').sax.__name__)"

    assert _run(code).strip() == "xml.sax"


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        lazy("json").nonsense  # noqa: B018 - looking it up is the test


def test_a_package_that_is_not_installed_is_an_import_error():
    with pytest.raises(ModuleNotFoundError):
        lazy("no_such_package").name  # noqa: B018 - looking it up is the test
