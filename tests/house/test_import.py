"""`import evenhand` is quick because it imports little."""

import subprocess
import sys

import pytest

import evenhand

SLOW_OR_EXTRA = [
    "altair",
    "cryptography",
    "dask",
    "dp_accounting",
    "fairlearn",
    "highspy",
    "jinja2",
    "lightgbm",
    "numba",
    "opendp",
    "pandas",
    "polars",
    "pyspark",
    "rich",
    "scipy",
    "shiny",
    "sklearn",
    "typer",
    "vl_convert",
]

SCIKIT_LEARN = "LocalPrivatizer"
"""The one public name of `evenhand` whose class is a scikit-learn class."""


def _modules_after(statement):
    code = f"{statement}\nimport sys\nprint(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_evenhand_imports_next_to_nothing():
    loaded = _modules_after("import evenhand")

    assert sorted(loaded.intersection([*SLOW_OR_EXTRA, "numpy", "pyarrow", "narwhals"])) == []


def test_using_every_name_imports_no_extra_and_nothing_slow():
    """What is not needed at once is imported when it is needed."""
    names = sorted(set(evenhand.__all__) - {SCIKIT_LEARN})
    loaded = _modules_after(f"import evenhand\nfor name in {names}: getattr(evenhand, name)")

    assert sorted(loaded.intersection(SLOW_OR_EXTRA)) == []


def test_the_scikit_learn_class_imports_scikit_learn_and_no_extra():
    loaded = _modules_after(f"import evenhand\nevenhand.{SCIKIT_LEARN}")

    slow = loaded.intersection(SLOW_OR_EXTRA)

    assert "sklearn" in slow
    assert sorted(slow - _modules_after("import sklearn.base")) == []


def test_importing_the_protocols_is_quick():
    loaded = _modules_after("from evenhand.collect import GRR, OUE, SS, split_budget, group_rates")

    assert sorted(loaded.intersection([*SLOW_OR_EXTRA, "pyarrow"])) == []


@pytest.mark.parametrize("name", ["Ledgers", "audit"])  # the command `evenhand audit` is no function
def test_a_name_that_does_not_exist_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=f"module 'evenhand' has no attribute '{name}'"):
        getattr(evenhand, name)


def test_completion_offers_the_public_names():
    assert {*evenhand.__all__, "__version__"} == set(dir(evenhand))


def test_the_check_of_imports_can_see():
    assert "scipy" in _modules_after("import scipy.stats")


def test_importing_the_samplers_does_not_start_the_compiler():
    loaded = _modules_after(
        "import evenhand.privacy.sampling, evenhand.privacy.randomness, evenhand.privacy.laws"
    )

    assert sorted(loaded.intersection({"numba", "cryptography", "scipy"})) == []
