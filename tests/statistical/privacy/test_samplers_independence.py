"""Draws do not depend on one another: not within a call, not between cells, people or workers.

Every pair of columns must have a correlation below 6.5 / sqrt(n). Each check has a broken copy beside it
that must fail: a block of draws repeated 200 times, or two cells given the same stream.

A right program passes one pair with all but 8e-11. Seeded draws are the same in every run, so they are
tried in many pairs; secure ones in ten, which keeps the error rate of a test below 1e-9.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace
from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.privacy.sampling import (
    bernoulli,
    discrete_gaussian,
    discrete_laplace,
    subsets,
    uniform_below,
)
from statistical._exact import ALPHA, CORRELATION, exact_events_pvalue, worst_correlation

pytestmark = [pytest.mark.statistical, pytest.mark.figures]

SAMPLERS = {
    "bernoulli": lambda **where: bernoulli("3/8", **where),
    "uniform_below": lambda **where: uniform_below(1_000, **where),
    "subsets": lambda **where: subsets(100, 1, **where)[..., 0],
    "discrete_laplace": lambda **where: discrete_laplace(10, **where),
    "discrete_gaussian": lambda **where: discrete_gaussian(100, **where),
}
LAWS = [("discrete_laplace", DiscreteLaplace(10)), ("discrete_gaussian", DiscreteGaussian(100))]
COLUMNS = {"secure": 5, "seeded": 40}
SOURCES = {"secure": SecureSource, "seeded": lambda: SeededSource(20261115, cell="independence")}


def _cells(names, size):
    study = SeededSource(20261115)
    return np.stack([discrete_laplace(10, size=size, source=study.for_cell(name)) for name in names], axis=1)


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("name", SAMPLERS)
def test_draws_of_one_call_are_uncorrelated(name, kind):
    """People's noise comes from one call: neither neighbours nor distant people may share anything."""
    columns = COLUMNS[kind]
    draws = SAMPLERS[name](size=(200_000 // columns, columns), source=SOURCES[kind]())
    shared = draws.copy()
    shared[:, 1] = shared[:, 0]

    assert worst_correlation(draws) < CORRELATION
    assert worst_correlation(draws.reshape(columns, -1).T) < CORRELATION
    assert worst_correlation(shared) > CORRELATION


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize(("name", "law"), LAWS, ids=str)
def test_a_block_repeated_200_times_is_rejected(name, law, kind):
    """Each copy is perfect by itself; only together do they give themselves away."""
    block = SAMPLERS[name](size=1_000, source=SOURCES[kind]())
    mutant = np.tile(block, 200)
    right = SAMPLERS[name](size=200_000, source=SOURCES[kind]())

    assert worst_correlation(mutant.reshape(200, 1_000).T) > CORRELATION
    assert worst_correlation(right.reshape(COLUMNS[kind], -1).T) < CORRELATION
    assert exact_events_pvalue(right, law) > ALPHA
    assert kind == "secure" or exact_events_pvalue(mutant, law) < ALPHA


@pytest.mark.nightly
@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("name", SAMPLERS)
def test_every_pair_of_cells_of_a_table_is_uncorrelated(name, kind):
    columns = 5 if kind == "secure" else 50
    draws = SAMPLERS[name](size=(5_000_000 // columns, columns), source=SOURCES[kind]())

    assert worst_correlation(draws) < CORRELATION


def test_cells_of_a_study_are_uncorrelated():
    cells = _cells([f"adult/grr/{number}" for number in range(50)], 10_000)

    assert worst_correlation(cells) < CORRELATION


def test_two_cells_with_the_same_stream_are_caught():
    """The planted bug: a name that forgets the repetition gives two cells one stream."""
    names = [f"adult/grr/{number}" for number in range(49)]
    cells = _cells([*names, names[7]], 10_000)

    assert worst_correlation(cells) > CORRELATION


def test_one_cell_at_an_offset_is_caught():
    """A stream that two cells enter at different places is shared as well."""
    long = discrete_laplace(10, size=10_040, source=SeededSource(20261115))
    cells = np.stack([long[start : start + 10_000] for start in range(40)], axis=1)
    windows = np.concatenate([cells[10:], cells[:-10]], axis=1)

    assert worst_correlation(cells) < CORRELATION  # lags 1 to 39 of one stream are independent
    assert worst_correlation(windows) > CORRELATION


def test_workers_that_spawn_are_uncorrelated():
    workers = SeededSource(20261115).spawn(30)
    columns = np.stack([discrete_gaussian(25, size=10_000, source=each) for each in workers], axis=1)

    assert worst_correlation(columns) < CORRELATION


WORKERS = """
import os, sys
from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.privacy.sampling import discrete_laplace
secure, study = SecureSource(), SeededSource(7)
discrete_laplace(10, size=5, source=secure), discrete_laplace(10, size=5, source=study)
for worker in range(4):
    if os.fork() == 0:
        source = secure if worker < 2 else study.for_cell("ab"[worker - 2])
        print(worker, *discrete_laplace(10, size=5_000, source=source), flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_forked_workers_are_uncorrelated_and_a_cell_is_the_same_in_each():
    """They share the parent's sources, used before the fork: neither may repeat."""
    command = [sys.executable, "-c", WORKERS]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    columns = [np.array(line.split()[1:], dtype=np.int64) for line in lines]
    here = discrete_laplace(10, size=5_000, source=SeededSource(7).for_cell("a"))

    assert worst_correlation(np.stack(columns, axis=1)) < CORRELATION
    assert np.array_equal(columns[2], here)
