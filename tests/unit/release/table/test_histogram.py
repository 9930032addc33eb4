"""Tables of counts: cells, margins, slices, matrices and frames."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenhand.errors import (
    ColumnNotFoundError,
    InvalidParameterError,
    LimitExceededError,
    OutsideDomainError,
)
from evenhand.release.table import counting as histogram_counting
from evenhand.release.table.counting import MOST_CELLS
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table

SCHEMA = Schema(
    [
        Column("sex", Domain.categorical(["f", "m"])),
        Column("age", Domain.integers(1, 3), outside="other", nulls="other"),
        Column("income", Domain.binned([0, 10, 20]), outside="other", nulls="drop"),
        Column("member", Domain.categorical([False, True])),
    ],
    quasi_identifiers=["member", "age"],
)
ROWS = {
    "sex": ["f", "m", "f", "f", "m"],
    "age": [1, 2, 3, None, 9],
    "income": [1.0, 11.0, 15.0, 99.0, 3.0],
    "member": [True, False, True, True, False],
}
WIDE = Schema([Column(name, Domain.integers(0, 999)) for name in "abcd"], quasi_identifiers=["a"])


def count_rows():
    return Histogram.count(pa.table(ROWS), SCHEMA)


def wide_rows(size=400, seed=0):
    numbers = np.random.default_rng(seed).integers(0, 1000, (4, size))
    return dict(zip("abcd", numbers, strict=True))


class TestCount:
    def test_every_declared_cell_is_there_and_holds_its_people(self):
        """A table that lacks its empty cells tells where nobody is."""
        histogram = count_rows()
        slow = np.zeros((2, 4, 3, 2), np.int64)
        for cell in [(0, 0, 0, 1), (1, 1, 1, 0), (0, 2, 1, 1), (0, 3, 2, 1), (1, 3, 0, 0)]:
            slow[cell] += 1

        assert histogram.shape == (2, 4, 3, 2)
        assert histogram.size == 48
        assert histogram.counts.dtype == np.int64
        assert np.array_equal(histogram.counts, slow)
        assert histogram.people == 5
        assert not histogram.is_sparse

    @pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame])
    def test_every_frame_library_gives_the_same_table(self, make):
        """The library is a matter of taste."""
        assert np.array_equal(Histogram.count(make(ROWS), SCHEMA).counts, count_rows().counts)

    def test_columns_are_crossed_in_the_order_asked(self):
        """Whoever asks for age by sex reads age first."""
        histogram = Histogram.count(pa.table(ROWS), SCHEMA, ["age", "sex"])

        assert histogram.columns == ("age", "sex")
        assert histogram.schema == SCHEMA.select(["age", "sex"])
        assert np.array_equal(histogram.counts, count_rows().margin(["age", "sex"]).counts)
        assert Histogram.count(pa.table(ROWS), SCHEMA, "sex").counts.tolist() == [3, 2]

    def test_a_table_of_codes_is_counted_without_encoding_it_again(self):
        """Studies encode once and count often."""
        table = Table.encode(pa.table(ROWS), SCHEMA)

        assert np.array_equal(Histogram.count(table, SCHEMA, ["sex"]).counts, [3, 2])
        turned = SCHEMA.with_columns(Column("sex", Domain.categorical(["m", "f"])))
        with pytest.raises(InvalidParameterError, match="'sex' was encoded"):
            Histogram.count(table, turned, ["sex"])
        with pytest.raises(ColumnNotFoundError):
            Histogram.count(Table.encode(pa.table(ROWS), SCHEMA, columns=["age"]), SCHEMA, ["sex"])

    def test_the_rule_of_each_column_decides_what_is_outside(self):
        """The rule is public and declared before the rows are read."""
        domain = Domain.categorical(["a", "b"])
        rows = pa.table({"x": ["a", "z", None, "b"]})
        found = {
            rule: Histogram.count(
                rows, Schema([Column("x", domain, outside=rule, nulls=rule)])
            ).counts.tolist()
            for rule in ("other", "drop")
        }

        assert found == {"other": [1, 1, 2], "drop": [1, 1]}
        with pytest.raises(OutsideDomainError):
            Histogram.count(rows, Schema([Column("x", domain)]))

    def test_an_empty_frame_gives_a_table_of_zeros(self):
        """No people is an answer like any other."""
        rows = pa.table(ROWS).slice(0, 0)

        assert Histogram.count(rows, SCHEMA).people == 0
        assert Histogram.count(rows, SCHEMA).counts.shape == (2, 4, 3, 2)
        assert Histogram.count(pa.table(wide_rows(0)), WIDE).people == 0

    def test_counts_above_a_public_bound_are_lowered_to_it(self):
        """An exception would tell that a cell is large."""
        histogram = Histogram.count(pa.table(ROWS), SCHEMA, ["sex"], bound=2)

        assert histogram.counts.tolist() == [2, 2]
        assert histogram.bound == 2

    def test_chunks_of_rows_add_up(self, monkeypatch):
        """Large tables are read in parts; a lost last part would go unseen."""
        monkeypatch.setattr(histogram_counting, "_CHUNK_ROWS", 2)

        assert Histogram.count(pa.table(ROWS), SCHEMA, ["sex"]).counts.tolist() == [3, 2]

    def test_codes_of_few_bits_do_not_wrap_in_the_cell_number(self):
        """Codes are kept in 8 bits; 200 times 200 is not."""
        schema = Schema([Column(name, Domain.integers(0, 199)) for name in "ab"])
        histogram = Histogram.count(pa.table({"a": [199, 199], "b": [199, 0]}), schema)

        assert histogram.counts[199, 199] == histogram.counts[199, 0] == 1

    def test_what_is_missing_from_schema_or_frame_is_named(self):
        """A typing error must be found before it costs an hour."""
        with pytest.raises(ColumnNotFoundError, match="in the schema"):
            Histogram.count(pa.table(ROWS), SCHEMA, ["sexx"])
        with pytest.raises(ColumnNotFoundError, match="in the frame"):
            Histogram.count(pa.table({"sex": ["f"]}), SCHEMA)
        for columns in ([], ["sex", "sex"]):
            with pytest.raises(InvalidParameterError, match="columns"):
                Histogram.count(pa.table(ROWS), SCHEMA, columns)
        with pytest.raises(InvalidParameterError, match="schema"):
            Histogram.count(pa.table(ROWS), ["sex"])

    def test_more_cells_than_can_be_numbered_are_refused_with_the_numbers(self):
        """A wrapped cell number would count people in somebody else's cell."""
        schema = Schema([Column(name, Domain.integers(0, 10**6)) for name in "abcd"])

        with pytest.raises(LimitExceededError, match="more than the"):
            Histogram.count(pa.table({name: [1] for name in "abcd"}), schema)


class TestSparse:
    def test_above_the_limit_only_filled_cells_are_kept(self):
        """A trillion cells do not fit into memory, 400 do."""
        rows = wide_rows()
        histogram = Histogram.count(pa.table(rows), WIDE)
        numbers = np.ravel_multi_index(list(rows.values()), (1000,) * 4)
        cells, filled = np.unique(numbers, return_counts=True)

        assert histogram.is_sparse
        assert histogram.counts is None
        assert histogram.size == 10**12 > MOST_CELLS
        assert np.array_equal(histogram.cells, cells)
        assert np.array_equal(histogram.filled, filled)
        assert histogram.people == 400

    @pytest.mark.parametrize("columns", [["a"], ["b", "a"], ["d", "b"], ["d", "c", "a"], list("dcba")])
    def test_margins_are_those_of_the_rows(self, columns):
        """A margin of a sparse table is dense where it fits and sparse where it does not."""
        rows = pa.table(wide_rows())
        margin = Histogram.count(rows, WIDE).margin(columns)
        direct = Histogram.count(rows, WIDE, columns)

        assert margin.is_sparse == direct.is_sparse
        for name in ("counts", "cells", "filled"):
            assert np.array_equal(getattr(margin, name), getattr(direct, name))

    def test_slices_are_those_of_the_rows(self):
        """The people with one value, and no others."""
        rows = wide_rows()
        value = int(rows["b"][0])
        inside = rows["b"] == value
        chosen = pa.table({name: column[inside] for name, column in rows.items()})
        whole = Histogram.count(pa.table(rows), WIDE)
        one, two = whole.slice({"b": value}), whole.slice({"b": value, "a": int(rows["a"][0])})

        assert np.array_equal(one.cells, Histogram.count(chosen, WIDE, ["a", "c", "d"]).cells)
        assert not two.is_sparse
        assert two.people == 1

    def test_the_frame_has_the_filled_cells_and_leads_back(self):
        """Nobody writes a trillion zeros."""
        histogram = Histogram.count(pa.table(wide_rows()), WIDE)
        frame = histogram.to_frame("pyarrow")
        back = Histogram.from_frame(frame, WIDE)

        assert frame.num_rows == len(histogram.cells)
        assert np.array_equal(back.cells, histogram.cells)
        assert np.array_equal(back.filled, histogram.filled)

    def test_what_needs_every_cell_is_refused_with_the_numbers(self):
        """A refusal beats a machine out of memory."""
        histogram = Histogram.count(pa.table(wide_rows()), WIDE)

        with pytest.raises(LimitExceededError, match="1,000,000,000,000 cells"):
            histogram.as_matrix()
        with pytest.raises(LimitExceededError, match="Laplace needs every cell"):
            histogram.require_dense(owner="Laplace")

    def test_other_counts_of_the_same_cells(self):
        """Noise on the filled cells keeps their places."""
        histogram = Histogram.of_cells([3, 10**11], [5, 2], WIDE, bound=4)
        noisy = histogram.with_counts([6, -1])

        assert histogram.filled.tolist() == [4, 2]
        assert noisy.cells.tolist() == [3, 10**11]
        assert noisy.filled.tolist() == [6, -1]
        assert noisy.bound is None

    @pytest.mark.parametrize("cells", [[2, 1], [1, 1], [-1, 2], [0, 10**12], [0.5, 1.5], [[0, 1]]])
    def test_cells_that_are_no_numbers_in_order_are_refused(self, cells):
        """A cell that is listed twice would be counted twice."""
        with pytest.raises(InvalidParameterError, match="cells"):
            Histogram.of_cells(cells, [1, 1], WIDE)

    def test_one_count_per_cell(self):
        """Cells and counts belong together."""
        with pytest.raises(InvalidParameterError, match="filled"):
            Histogram.of_cells([1, 2], [1], WIDE)
        assert Histogram.of_cells([], [], WIDE).people == 0


class TestOf:
    def test_an_array_may_be_flat(self):
        """Small tables are typed in by hand."""
        schema = SCHEMA.select(["sex", "member"])

        assert Histogram.of([1, 2, 3, 4], schema).counts.tolist() == [[1, 2], [3, 4]]
        assert Histogram.of([[1, 2], [3, 4]], SCHEMA, ["sex", "member"]).people == 10
        assert Histogram.of([1.5, 2, 3, 4], schema).counts.dtype == np.float64
        assert Histogram.of([1.5, 2, 3, 4], schema).people == 10.5

    @pytest.mark.parametrize(
        "counts",
        [
            [1, 2],
            [[1, 2], [3, 4], [5, 6]],
            ["a", "b", "c", "d"],
            [1.0, np.nan, 1, 1],
            [2**63, 0, 0, 0],
            [1j] * 4,
        ],
    )
    def test_what_is_no_table_of_this_shape_is_refused(self, counts):
        """A broadcast or a wrapped count would publish something else."""
        with pytest.raises(InvalidParameterError):
            Histogram.of(counts, SCHEMA, ["sex", "member"])

    def test_the_caller_keeps_no_way_in(self):
        """A frozen table that changes with the caller's array is not frozen."""
        mine = np.array([5, 3])
        histogram = Histogram.of(mine, SCHEMA, ["sex"])
        mine[0] = 0

        assert histogram.counts.tolist() == [5, 3]
        with pytest.raises(ValueError, match="read-only"):
            histogram.counts[0] = 1

    def test_a_read_only_view_of_a_writable_array_is_copied(self):
        """Whoever holds the array below the view could change the table."""
        mine = np.array([5, 3])
        view = mine.view()
        view.flags.writeable = False
        histogram = Histogram.of(view, SCHEMA, ["sex"])
        buffer = Histogram.of(np.frombuffer(bytes(16), np.int64), SCHEMA, ["sex"])
        mine[0] = 0

        assert histogram.counts.tolist() == [5, 3]
        assert buffer.people == 0
        assert np.shares_memory(histogram.with_counts(histogram.counts).counts, histogram.counts)

    def test_either_all_cells_or_the_filled_ones(self):
        """Two descriptions could contradict each other."""
        schema = SCHEMA.select(["sex"])

        with pytest.raises(InvalidParameterError, match="counts"):
            Histogram(schema=schema)
        with pytest.raises(InvalidParameterError, match="counts"):
            Histogram(schema=schema, counts=[1, 2], cells=[0], filled=[1])
        with pytest.raises(InvalidParameterError, match="counts"):
            Histogram(schema=schema, cells=[0])
        with pytest.raises(InvalidParameterError, match="bound"):
            Histogram.of([1, 2], schema, bound=0)

    def test_a_copy_is_as_frozen_as_the_first(self):
        """Workers get copies."""
        histogram = count_rows()
        for other in (pickle.loads(pickle.dumps(histogram)), copy.deepcopy(histogram)):
            assert np.array_equal(other.counts, histogram.counts)
            assert not other.counts.flags.writeable


class TestSums:
    def test_counts_beyond_32_bits_survive_everything(self):
        """Counts cast to 32 bits wrap at four billion people."""
        big = 2**40 + 1
        histogram = Histogram.of([big, 3, 2, big], SCHEMA, ["sex", "member"])
        frame = histogram.to_frame("pandas")

        assert histogram.people == 2 * big + 5
        assert histogram.margin("sex").counts.tolist() == [big + 3, big + 2]
        assert histogram.slice({"sex": "f"}).counts.tolist() == [big, 3]
        assert Histogram.from_frame(frame, SCHEMA, ["sex", "member"]).counts.tolist() == [[big, 3], [2, big]]
        assert Histogram.of([big, 1], SCHEMA, ["sex"], bound=2**33).counts.tolist() == [2**33, 1]

    def test_counts_that_a_float_cannot_hold_are_added_exactly(self):
        """Above 2**53 a float skips every other number."""
        odd = 2**53 + 1
        histogram = Histogram.of_cells([0, 1, 10**9], [odd, 0, 2], WIDE)

        assert histogram.people == odd + 2
        assert histogram.margin("a").counts[0] == odd
        assert histogram.margin("a").counts[1] == 2

    def test_sums_near_the_end_of_64_bits_are_exact_or_refused(self):
        """A sum that wraps turns a crowd into a negative number of people."""
        end = 2**63 - 1
        fits = Histogram.of([end, 0, -5, 3], SCHEMA, ["sex", "member"])
        wraps = Histogram.of([end, end, 1, 1], SCHEMA, ["sex", "member"])

        assert fits.margin("sex").counts.tolist() == [end, -2]
        assert fits.people == end - 2
        with pytest.raises(LimitExceededError, match="64 bits"):
            wraps.margin("sex")
        with pytest.raises(LimitExceededError, match="64 bits"):
            Histogram.of_cells([0, 1], [end, end], WIDE).margin("a")

    def test_the_bound_of_a_margin_is_that_of_all_its_cells(self):
        """A margin of three cells of at most 10 holds at most 30."""
        histogram = Histogram.of(np.zeros((2, 4), int), SCHEMA, ["sex", "age"], bound=10)

        assert histogram.margin("sex").bound == 40
        assert histogram.slice({"sex": "f"}).bound == 10
        assert histogram.margin(["age", "sex"]).bound == 10


class TestSlice:
    def test_values_labels_and_other(self):
        """A bin is named by its label, "other" by nothing."""
        histogram = count_rows()

        assert histogram.slice({"income": "[10, 20]"}).people == 2
        assert histogram.slice({"age": None}).people == 2
        assert histogram.slice({"sex": "f", "age": 3}).columns == ("income", "member")

    def test_what_cannot_be_sliced_is_named(self):
        """Values are public, so the message may show them."""
        with pytest.raises(ColumnNotFoundError, match="in the table"):
            count_rows().slice({"race": "x"})
        with pytest.raises(InvalidParameterError, match="'sex'"):
            count_rows().slice({"sex": "x"})
        with pytest.raises(InvalidParameterError, match="at least one column left"):
            count_rows().slice({"sex": "f", "age": 1, "income": "[0, 10)", "member": True})


class TestMatrix:
    def test_rows_are_the_other_columns_and_columns_the_quasi_identifiers(self):
        """Swapping moves people along a row; a wrong layout would move them elsewhere."""
        histogram = count_rows()
        matrix = histogram.as_matrix()
        axes = histogram.split_columns()

        assert histogram.quasi_identifiers == ("age", "member")
        assert axes == ((1, 3), (0, 2))
        assert matrix.shape == (6, 8)
        for sex in range(2):
            for income in range(3):
                row = histogram.counts[sex, :, income, :].ravel()
                assert np.array_equal(matrix[sex * 3 + income], row)

    def test_the_way_back_restores_every_cell(self):
        """What went in comes out where it was."""
        histogram = Histogram.of(np.arange(48), SCHEMA)

        assert np.array_equal(histogram.from_matrix(histogram.as_matrix()).counts, histogram.counts)
        with pytest.raises(InvalidParameterError, match="shape"):
            histogram.from_matrix(np.zeros((8, 6)))

    def test_tables_of_one_kind_of_column_have_one_row_or_one_column(self):
        """Edge cases of a product over nothing."""
        assert Histogram.of([1, 2], SCHEMA, ["sex"]).as_matrix().shape == (2, 1)
        assert Histogram.of([1, 2], SCHEMA, ["member"]).as_matrix().shape == (1, 2)


class TestFrames:
    @pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", None])
    def test_one_row_per_cell_and_back(self, backend):
        """A table is written, read by others, and read again."""
        histogram = Histogram.of(np.arange(48), SCHEMA)
        frame = histogram.to_frame(backend)
        back = Histogram.from_frame(frame, SCHEMA)

        assert len(frame) == 48
        assert back.counts.dtype == np.int64
        assert np.array_equal(back.counts, histogram.counts)

    def test_cells_have_the_values_that_were_declared(self):
        """Numbers are numbers, bins are labels; "other" is a label in text and nothing in numbers."""
        schema = SCHEMA.select(["age", "income"]).with_columns(
            Column("race", Domain.categorical(["x", "other"]), outside="other")
        )
        last = Histogram.of(np.arange(36), schema).to_frame("pyarrow").to_pylist()[-1]
        first = Histogram.of(np.arange(36), schema).to_frame("pyarrow").to_pylist()[0]

        assert first == {"age": 1, "income": "[0, 10)", "race": "x", "count": 0}
        assert last == {"age": None, "income": "other", "race": "(other)", "count": 35}

    def test_a_frame_of_some_cells_leaves_zeros_and_adds_what_is_there_twice(self):
        """A published file need not list its empty cells, and may have more columns."""
        frame = pa.table({"sex": ["f", "m", "f"], "n": [1, 5, 2], "year": [1, 1, 2]})
        histogram = Histogram.from_frame(frame, SCHEMA, ["sex"], count="n", bound=4)

        assert histogram.counts.tolist() == [3, 4]

    def test_missing_counts_are_no_people(self):
        """What is suppressed without a value counts as nothing."""
        frame = pd.DataFrame({"sex": ["f", "m"], "count": [np.nan, 2.0]})

        assert Histogram.from_frame(frame, SCHEMA, ["sex"]).counts.tolist() == [0, 2]
        nullable = pd.DataFrame({"sex": ["f", "m"], "count": pd.array([None, 2**60 + 1], "Int64")})
        for each in (pa.table, pl.DataFrame):
            made = each({"sex": ["f", "m"], "count": [None, 2**60 + 1]})
            assert Histogram.from_frame(made, SCHEMA, ["sex"]).counts.tolist() == [0, 2**60 + 1]
        assert Histogram.from_frame(nullable, SCHEMA, ["sex"]).counts.tolist() == [0, 2**60 + 1]

    def test_numbers_find_their_bin_and_rules_hold(self):
        """Somebody else's table may give the number and not the label."""
        frame = pa.table({"income": [3.0, 25.0, None], "count": [1, 2, 4]})

        assert Histogram.from_frame(frame, SCHEMA, ["income"]).counts.tolist() == [1, 0, 6]
        rows = pa.table({"sex": ["f", "?"], "count": [1, 2]})
        with pytest.raises(OutsideDomainError):
            Histogram.from_frame(rows, SCHEMA, ["sex"])
        dropped = Schema([Column("sex", Domain.categorical(["f", "m"]), outside="drop")])
        assert Histogram.from_frame(rows, dropped).counts.tolist() == [1, 0]

    def test_frames_that_are_no_tables_are_refused(self):
        """Signs such as '<5' are for people; a reader must not guess."""
        with pytest.raises(ColumnNotFoundError, match="'count'"):
            Histogram.from_frame(pa.table({"sex": ["f"]}), SCHEMA, ["sex"])
        with pytest.raises(ColumnNotFoundError, match="'sex'"):
            Histogram.from_frame(pa.table({"count": [1]}), SCHEMA, ["sex"])
        with pytest.raises(InvalidParameterError, match="holds numbers"):
            Histogram.from_frame(pa.table({"sex": ["f"], "count": ["<5"]}), SCHEMA, ["sex"])
        with pytest.raises(InvalidParameterError, match="finite"):
            Histogram.from_frame(pa.table({"sex": ["f"], "count": [np.inf]}), SCHEMA, ["sex"])
        schema = Schema([Column("count", Domain.integers(0, 1))])
        with pytest.raises(InvalidParameterError, match="no column of the table"):
            Histogram.of([1, 2], schema).to_frame()


class TestViews:
    def test_no_count_is_shown(self):
        """A notebook is shared sooner than one thinks."""
        one = Histogram.of([987654, 123987], SCHEMA, ["sex"], bound=10**6)

        assert repr(one) == "Histogram of sex: 2 cells, at most 1,000,000 people in each"
        for text in (repr(one), str(one), one._repr_html_()):
            assert "987" not in text
        assert "the filled ones kept" in repr(Histogram.of_cells([], [], WIDE))
        assert (
            repr(Histogram.of([1], Schema([Column("x", Domain.integers(0, 0))]))) == "Histogram of x: 1 cell"
        )

    def test_names_are_text_in_html(self):
        """A column name is text, whatever it looks like."""
        schema = Schema([Column("<script>", Domain.integers(0, 1))], quasi_identifiers="<script>")
        page = Histogram.of([1, 2], schema)._repr_html_()

        assert "<script>" not in page
        assert "yes" in page
