"""What becomes of a column of somebody's file."""

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest

from evenhand.schema import Domain
from evenhand.schema.infer import round_edges
from evenhand.study.intake.draft import draft_column


def _frame(values):
    return nw.from_native(pa.table({"x": values}), eager_only=True)


def _incomes(rows=5_000):
    """Return numbers as incomes are: most are small, a few are very large."""
    return np.exp(10 + 1.2 * np.sin(np.arange(rows) * 12.9898) * 2.5)


@pytest.mark.parametrize(("part", "most"), [("clear", 0.05), ("sensitive", 0.25)])
def test_incomes_are_told_apart_although_a_few_are_very_large(part, most):
    """Otherwise nearly everybody is in the first bin, and the model goes by the other columns instead."""
    incomes = _incomes()
    domain = draft_column(_frame(incomes), "x", part).column.domain

    assert domain.kind == "binned"
    assert np.histogram(incomes, domain.edges)[0].max() <= most * len(incomes)
    assert domain.edges[0] <= incomes.min() <= incomes.max() <= domain.edges[-1]


def test_no_inner_edge_is_the_number_of_a_person():
    """Otherwise the plan and the report print somebody's income."""
    incomes = _incomes()
    domain = draft_column(_frame(incomes), "x", "clear").column.domain

    assert not set(domain.edges) & set(incomes.tolist())
    assert all(len(f"{edge:.10g}".rstrip("0").replace(".", "")) <= 4 for edge in domain.edges[1:-1])


def test_numbers_that_are_spread_evenly_keep_bins_of_one_width():
    """Round bins of one width are what a person would declare."""
    heights = 150 + 50 * (np.arange(3_000) * 0.6180339 % 1)

    domain = draft_column(_frame(heights), "x", "sensitive").column.domain

    assert domain.edges == round_edges(float(heights.min()), float(heights.max()), 10)


def test_whole_numbers_that_many_share_keep_an_edge_there():
    """Capital gains are zero for most: the others must not end in one bin."""
    gains = np.where(np.arange(4_000) % 10 < 8, 0, (np.arange(4_000) * 37) % 3_000 + 1)
    gains[0] = 100_000
    domain = draft_column(_frame(gains), "x", "sensitive").column.domain

    assert np.histogram(gains, domain.edges)[0][1:].max() <= 200
    assert domain.edges[0] <= 0
    assert domain.edges[-1] >= 100_000


def test_a_column_of_decimal_commas_says_so():
    """Otherwise a column of incomes is called free text, and nobody sees why it is missing."""
    texts = [f"{1000 + row},{row % 100:02d}" for row in range(500)]

    draft = draft_column(_frame(texts), "x", "clear")

    assert draft.column is None
    assert draft.why_not == "holds numbers beside other texts, or numbers with decimal commas"


def test_free_text_is_not_taken_for_numbers():
    """A wrong reason sends somebody after a fault that is not there."""
    draft = draft_column(_frame([f"note {row}" for row in range(500)]), "x", "clear")

    assert draft.why_not == "holds too many different texts, as names and free text do"


@pytest.mark.parametrize(
    ("name", "kind", "why"),
    [
        ("a. Hint: b", pa.duration("s"), "is of type Duration, for which no domain can be read"),
        ("", pa.int64(), "has a name that must be a non-empty string that can be written as UTF-8"),
    ],
)
def test_the_reason_does_not_depend_on_the_name_of_the_column(name, kind, why):
    """It was cut out of a message that holds the name, and a name may hold anything."""
    table = pa.table({name: pa.array([1, 2] * 20, kind)})

    assert draft_column(nw.from_native(table, eager_only=True), name, "clear").why_not == why


def test_a_number_in_the_clear_with_few_values_is_a_list():
    """Bins of three values would be an invention."""
    assert draft_column(_frame([0.5, 1.5, 2.5] * 20), "x", "clear").column.domain == Domain.categorical(
        [0.5, 1.5, 2.5], ordered=True
    )
