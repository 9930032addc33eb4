"""`import evenhand` is quick because it imports little."""

import subprocess
import sys

SLOW_OR_EXTRA = [
    "altair", "cryptography", "dask", "dp_accounting", "fairlearn", "highspy", "jinja2", "lightgbm", "numba", "opendp",
    "pandas", "polars", "pyspark", "rich", "scipy", "shiny", "sklearn", "typer", "vl_convert",
]  # fmt: skip


def _modules_after(statement):
    code = f"{statement}\nimport sys\nprint(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_evenhand_imports_no_extra_and_nothing_slow():
    loaded = _modules_after("import evenhand")

    assert sorted(loaded.intersection(SLOW_OR_EXTRA)) == []


def test_the_check_of_imports_can_see():
    assert "scipy" in _modules_after("import scipy.stats")


def test_importing_the_samplers_does_not_start_the_compiler():
    loaded = _modules_after("import evenhand.privacy.sampling, evenhand.privacy.randomness, evenhand.privacy.laws")

    assert sorted(loaded.intersection({"numba", "cryptography", "scipy"})) == []
