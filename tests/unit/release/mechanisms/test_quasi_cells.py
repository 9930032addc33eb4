"""Cells keep their other columns when they take other quasi-identifiers."""

import itertools

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.release.mechanisms import quasi_response
from evenhand.release.mechanisms.quasi_response import (
    QuasiCells,
    Tally,
    require_people,
    require_quasi,
)
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema
from unit.release._slow_swapping import small_table

SHAPE = (3, 2, 4, 2)


def _wide(cells, filled, quasi="a"):
    """A table of 10**9 cells, kept as its filled ones."""
    columns = [Column(name, Domain.integers(0, 999)) for name in "abc"]
    return Histogram.of_cells(cells, filled, Schema(columns, quasi_identifiers=quasi))


@pytest.fixture(params=["table", "arithmetic"])
def both_ways(request, monkeypatch):
    if request.param == "arithmetic":
        monkeypatch.setattr(quasi_response, "_MOST_TABLED", 0)


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("quasi", [(0,), (2,), (0, 2), (1, 3), (0, 1, 2, 3)])
def test_a_moved_cell_has_the_new_combination_and_its_own_other_columns(quasi):
    """If not, people would get another income along with another race."""
    numbering = QuasiCells(SHAPE, quasi)
    sizes = [SHAPE[axis] for axis in quasi]
    cells = np.arange(np.prod(SHAPE))
    codes = np.array(np.unravel_index(cells, SHAPE))

    assert (numbering.of(cells) == np.ravel_multi_index(codes[list(quasi)], sizes)).all()
    for combination, new in enumerate(itertools.product(*map(range, sizes))):
        wanted = codes.copy()
        wanted[list(quasi)] = np.array(new)[:, None]
        moved = numbering.replace_combinations(cells, np.full(cells.size, combination))

        assert (moved == np.ravel_multi_index(wanted, SHAPE)).all()


def test_combinations_are_counted_without_wrapping():
    assert QuasiCells((2**31, 2**31, 2**31), (0, 1, 2)).combinations == 2**93


def test_a_tally_adds_what_lands_on_one_cell():
    tally = Tally(small_table([[3, 0], [1, 4]]))
    tally.add(np.array([0, 0, 3]), np.array([1, 2, -4]))

    assert tally.histogram().counts.tolist() == [[6, 0], [1, 0]]


def test_a_sparse_tally_forgets_cells_that_were_filled_once():
    """A cell listed with nobody in it would tell that somebody was there."""
    tally = Tally(_wide([5, 7], [1, 2]))
    tally.add(np.array([5, 9]), np.array([-1, 1]))
    tally.add(np.array([7]), 3)
    made = tally.histogram()

    assert made.cells.tolist() == [7, 9]
    assert made.filled.tolist() == [5, 1]


def test_filled_cells_of_either_kind():
    assert [each.tolist() for each in small_table([[3, 0], [1, 4]]).filled_cells()] == [[0, 2, 3], [3, 1, 4]]
    assert [each.tolist() for each in _wide([5, 7], [1, 0]).filled_cells()] == [[5], [1]]


@pytest.mark.parametrize("table", [small_table([[1, 2]], quasi=0), small_table([[1, 2]], quasi=1)])
def test_a_table_without_anything_to_swap_is_refused(table):
    with pytest.raises(InvalidParameterError, match="at least two combinations"):
        require_quasi(table, owner="a test")


@pytest.mark.parametrize("counts", [[1.5, 2.0], [-1, 4]])
def test_a_table_that_does_not_count_people_is_refused(counts):
    with pytest.raises(InvalidParameterError, match="whole numbers of at least 0"):
        require_people(small_table(counts), owner="a test")


def test_people_are_counted():
    assert require_people(small_table([[3, 0], [1, 4]]), owner="a test") == 8
    assert require_people(_wide([], []), owner="a test") == 0
