"""A published table against the true one: errors, groups, small cells, suppression, and the banner."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenhand.errors import ColumnNotFoundError, InvalidParameterError
from evenhand.privacy import Guarantee
from evenhand.release.audit.audit import BANNER, audit_release
from evenhand.release.mechanisms.noise import Laplace
from evenhand.release.mechanisms.random_swapping import RandomSwapping, RecordSwapping
from evenhand.release.mechanisms.swapping import Swapping
from evenhand.release.postprocess import Nonnegative
from evenhand.release.table.histogram import Histogram
from evenhand.release.table.released import Release
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema(
    [Column("town", Domain.categorical(["a", "b", "c"])), Column("race", Domain.categorical(["x", "y"]))]
)
TRUE = [120, 30, 2, 0, 7, 1]
WIDE = Schema([Column(name, Domain.integers(0, 999)) for name in "abc"])


def true():
    return Histogram.of(TRUE, SCHEMA)


def published_frame(make=pd.DataFrame):
    """Return a table of somebody else: one cell is not there, one has no count, one is zeroed."""
    return make(
        {
            "race": ["x", "y", "x", "x", "y"],
            "town": ["a", "a", "b", "c", "c"],
            "count": [119, 30, None, 0, 2],
        }
    )


class TestFigures:
    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_a_table_of_somebody_else(self, make):
        """Nothing is known about how it was made, and its rows and columns have another order."""
        audit = audit_release(true(), published_frame(make), group="race")
        errors = np.array([-1, 0, -2, 0, -7, 1])

        assert audit.columns == ("town", "race")
        assert audit.l1 == 11
        assert audit.alpha_of_one_draw == 8
        assert audit.overall.cells == 6
        assert audit.overall.people == 160
        assert audit.overall.mean_error == pytest.approx(errors.mean())
        assert audit.overall.standard_error == pytest.approx(errors.std(ddof=1) / math.sqrt(6))
        assert audit.overall.mean_absolute_error == pytest.approx(11 / 6)
        assert audit.overall.root_mean_square_error == pytest.approx(math.sqrt((errors**2).mean()))
        assert audit.overall.relative_error == pytest.approx(-9 / 160)

    def test_missing_and_zeroed_cells_are_suppressed(self):
        """Cells that are not there hide people as surely as a star does."""
        overall = audit_release(true(), published_frame()).overall

        assert (overall.missing, overall.zeroed, overall.unchanged) == (2, 1, 1)
        assert overall.hidden_people == 2 + 0 + 7
        assert overall.hidden_share == pytest.approx(9 / 160)

    def test_groups_are_the_values_of_one_column(self):
        """The same table can be right for one group and wrong for another."""
        audit = audit_release(true(), published_frame(), group="race")
        x, y = audit.by_group

        assert (x.name, x.cells, x.people, x.missing, x.zeroed) == ("x", 3, 129, 1, 1)
        assert (y.name, y.cells, y.people, y.missing, y.zeroed) == ("y", 3, 31, 1, 0)
        assert x.mean_error == pytest.approx(-10 / 3)
        assert y.mean_error == pytest.approx(1 / 3)
        assert x.hidden_share == pytest.approx(9 / 129)
        assert y.hidden_share == 0

    def test_classes_of_size(self):
        """Every count from 0 to 150 is in the class its name says."""
        counts = np.arange(151)
        schema = Schema([Column("n", Domain.integers(0, 150))])
        shifted = np.where(counts < 10, counts + 1, counts)
        audit = audit_release(Histogram.of(counts, schema), Histogram.of(shifted, schema))

        assert [(each.name, each.cells) for each in audit.by_size] == [
            ("0", 1),
            ("1 to 4", 4),
            ("5 to 9", 5),
            ("10 to 19", 10),
            ("20 to 49", 30),
            ("50 to 99", 50),
            ("100 or more", 51),
        ]
        assert [each.mean_error for each in audit.by_size] == [1, 1, 1, 0, 0, 0, 0]
        assert sum(each.people for each in audit.by_size) == counts.sum()

    def test_small_cells_that_were_published_as_they_are(self):
        """A cell of one that is shown as one tells about a person."""
        schema = Schema([Column("n", Domain.integers(0, 6))])
        table, shown = Histogram.of([0, 1, 2, 3, 4, 5, 9], schema), [0, 1, 3, 3, 0, 5, 9]
        five = audit_release(table, Histogram.of(shown, schema)).small
        six = audit_release(table, Histogram.of(shown, schema), threshold=6).small

        assert (five.threshold, five.cells, five.unchanged) == (5, 4, 2)
        assert (five.ones_and_twos, five.ones_and_twos_unchanged) == (2, 1)
        assert (six.cells, six.unchanged, six.unchanged_share) == (5, 3, 0.6)

    def test_a_missing_cell_is_not_unchanged(self):
        """An empty cell that is not listed was not published as 0."""
        frame = pa.table({"town": ["a"], "race": ["x"], "count": [120]})
        audit = audit_release(true(), frame)

        assert audit.overall.unchanged == 1
        assert audit.overall.missing == 5
        assert audit.small.ones_and_twos_unchanged == 0

    def test_an_exact_copy_has_no_error_and_all_the_risk(self):
        """The audit weighs both."""
        audit = audit_release(true(), true())

        assert (audit.l1, audit.alpha_of_one_draw) == (0, 0)
        assert audit.small.unchanged_share == 1
        assert audit.overall.missing == audit.overall.zeroed == 0

    def test_counts_beyond_what_a_float_holds_are_compared_exactly(self):
        """An error of one person in 2**60 is an error."""
        schema = SCHEMA.select(["race"])
        big = 2**60
        audit = audit_release(Histogram.of([big, 0], schema), Histogram.of([big + 1, 0], schema))

        assert audit.l1 == 1
        assert audit.overall.people == big

    def test_fractions_are_counts_too(self):
        """Post-processing leaves fractions."""
        audit = audit_release(true(), Histogram.of(np.array(TRUE) + 0.25, SCHEMA))

        assert audit.l1 == 1.5
        assert audit.alpha_of_one_draw == 0

    def test_empty_tables_have_no_shares(self):
        """Nobody is an answer too: undefined, not 0 and not an exception."""
        audit = audit_release(Histogram.of([0] * 6, SCHEMA), Histogram.of([0] * 6, SCHEMA))

        assert math.isnan(audit.overall.hidden_share)
        assert math.isnan(audit.overall.relative_error)
        assert math.isnan(audit.small.unchanged_share)
        assert math.isnan(audit.by_size[1].mean_error)
        json.dumps(audit.to_dict(), allow_nan=False)


class TestTables:
    def test_tables_too_large_to_hold_are_compared_by_their_listed_cells(self):
        """A billion empty cells are counted, not visited."""
        first = Histogram.of_cells([5, 10**6, 999_999_999], [3, 200, 1], WIDE)
        second = Histogram.of_cells([5, 7, 999_999_999], [3, 4, 2], WIDE)
        audit = audit_release(first, second, group="a")

        assert audit.overall.cells == 10**9
        assert audit.overall.missing == 10**9 - 3
        assert audit.l1 == 200 + 4 + 1
        assert audit.alpha_of_one_draw == 204
        assert audit.by_size[0].cells == 10**9 - 3
        assert audit.by_size[-1].missing == 1
        assert audit.overall.hidden_people == 200
        assert [each.cells for each in audit.by_group] == [10**6] * 1000
        assert audit.by_group[0].unchanged == 1

    def test_cells_that_neither_lists_have_no_error(self):
        """The smallest error over all cells is 0 if the listed ones are all too large."""
        first, second = Histogram.of_cells([5], [1], WIDE), Histogram.of_cells([5], [4], WIDE)

        assert audit_release(first, second).alpha_of_one_draw == 3
        assert audit_release(Histogram.of_cells([], [], WIDE), Histogram.of_cells([], [], WIDE)).l1 == 0

    def test_a_sparse_true_table_and_a_full_published_one(self):
        """How a table is kept does not matter; cells of a full table are not missing."""
        sparse = Histogram.of_cells([0, 1], [120, 30], SCHEMA)
        audit = audit_release(sparse, Histogram.of([120, 30, 1, 0, 0, 0], SCHEMA))

        assert audit.overall.missing == 0
        assert audit.overall.unchanged == 5

    def test_a_release_says_which_cells_it_hides(self):
        """A suppressed cell without a fill is missing, one with a fill is not."""
        made = {
            "histogram": Histogram.of([0, 30, 3, 3, 7, 3], SCHEMA),
            "guarantee": Guarantee(epsilon=1, unit="replace one", trust="central", proof="none"),
            "mechanism": None,
            "simulated": True,
        }
        hidden = [[True, False], [False, False], [False, False]]

        assert audit_release(true(), Release(**made)).overall.missing == 0
        assert audit_release(true().to_frame(), Release(**made)).overall.missing == 0
        assert audit_release(true(), Release(**made, suppressed=hidden)).overall.missing == 1
        assert audit_release(true(), Release(**made, suppressed=hidden, fill=0)).overall.missing == 0
        assert audit_release(true(), Release(**made, suppressed=hidden)).overall.hidden_people == 120

    @pytest.mark.parametrize("mechanism", [Swapping(1), RandomSwapping(1), RecordSwapping(1)])
    def test_cells_that_a_swapped_table_does_not_list_are_empty(self, mechanism):
        """Swapping hides nobody: a cell that lost its people is zeroed, and the others are as they were."""
        people = Histogram.of_cells([5, 70_000_000], [1, 1], WIDE.with_roles(quasi_identifiers="a"))
        overall = audit_release(people, mechanism.release(people, rng=2)).overall

        assert overall.missing == 0
        assert overall.unchanged >= overall.cells - 4

    def test_columns_may_stand_in_another_order(self):
        """Tables are matched by name."""
        other = true().margin(["race", "town"])

        assert audit_release(true(), other).l1 == 0
        assert audit_release(other, true()).columns == ("race", "town")

    def test_two_frames_need_the_schema(self):
        """Without it nobody knows which cells are missing."""
        frame = true().to_frame()

        assert audit_release(frame, published_frame(), schema=SCHEMA).l1 == 11
        assert audit_release(frame, true()).l1 == 0
        with pytest.raises(InvalidParameterError, match="schema"):
            audit_release(frame, published_frame())

    def test_tables_that_do_not_fit_are_refused(self):
        """Comparing towns with races gives numbers too."""
        town = Histogram.of([1, 2, 3], SCHEMA, ["town"])
        coarse = Schema([Column("town", Domain.categorical(["a", "b", "d"])), SCHEMA["race"]])

        with pytest.raises(InvalidParameterError, match="published"):
            audit_release(true(), town)
        with pytest.raises(InvalidParameterError, match="domains"):
            audit_release(true(), Histogram.of(TRUE, coarse))
        with pytest.raises(InvalidParameterError, match="frame"):
            audit_release(true(), [1, 2, 3])
        with pytest.raises(ColumnNotFoundError, match="in the table"):
            audit_release(true(), true(), group="sex")
        with pytest.raises(InvalidParameterError, match="threshold"):
            audit_release(true(), true(), threshold=1)


class TestViews:
    def test_every_form_says_that_it_is_not_for_publication(self):
        """An audit holds what the published table hides."""
        audit = audit_release(true(), published_frame(), group="race")
        frame = audit.to_frame("pyarrow")

        assert "true data" in BANNER
        assert "not for publication" in BANNER
        assert str(audit).startswith(BANNER)
        assert str(audit).endswith(BANNER)
        assert BANNER in audit._repr_html_()
        assert BANNER in repr(audit)
        assert next(iter(audit.to_dict().items())) == ("banner", BANNER)
        assert set(frame["banner"].to_pylist()) == {BANNER}

    def test_text_has_the_figures(self):
        """What is measured is what is shown."""
        text = str(audit_release(true(), published_frame(), group="race"))

        for line in (
            "Audit of a published table of town × race: 6 cells, 160 people.",
            "Sum of absolute errors: 11.00. Alpha of this one draw, largest error minus smallest: 8.00.",
            "Small cells (1 to 4 people): 2, of which 0 published unchanged (0.0%).",
            "Cells of one or two people: 2, of which 0 published exactly.",
            "Suppressed: 2 cells missing, 1 zeroed, 9 people in them (5.6%).",
            "By race",
        ):
            assert line in text
        assert "By race" not in str(audit_release(true(), published_frame()))

    def test_repr_shows_no_figure(self):
        """Logs and tracebacks print it unasked."""
        assert repr(audit_release(true(), published_frame())) == (
            f"<ReleaseAudit of town × race. {BANNER} print() shows it.>"
        )

    def test_the_frame_has_a_row_for_each_set_of_cells(self):
        """All cells, seven classes of size, two groups."""
        frame = audit_release(true(), published_frame(), group="race").to_frame("pandas")

        assert frame["part"].tolist() == ["all"] + ["size"] * 7 + ["group"] * 2
        assert frame["cells"].tolist() == [6, 1, 2, 1, 0, 1, 0, 1, 3, 3]

    def test_long_lists_of_groups_are_cut_and_say_so(self):
        """A page of a thousand rows is not read."""
        schema = Schema([Column("n", Domain.integers(0, 40))])
        table = Histogram.of([1.5] * 41, schema)
        audit = audit_release(table, table, group="n")

        assert "and 11 more; to_frame() has them all" in str(audit)
        assert "and 11 more" in audit._repr_html_()
        assert "61.5 people" in str(audit)

    def test_labels_are_text_in_html(self):
        """A category is text, whatever it looks like."""
        label = "<img src=x onerror=alert(1)>"
        schema = Schema([Column("<b>", Domain.categorical([label, "y"]))])
        table = Histogram.of([1, 2], schema)
        page = audit_release(table, table, group="<b>")._repr_html_()

        assert "<img" not in page
        assert "<b>" not in page


def test_what_a_release_errs_by_over_all_draws_is_exact():
    """One draw errs by more or less, which says little of the mechanism."""
    table = Histogram.of(
        [[9, 4, 0], [7, 1, 12]],
        Schema(
            [Column("sex", Domain.categorical(["f", "m"])), Column("age", Domain.integers(0, 2))],
            quasi_identifiers=["sex"],
        ),
    )
    laplace = Laplace(1, unit="replace one")
    known = [audit_release(table, laplace.release(table, rng=seed)) for seed in (1, 2)]
    after = audit_release(table, laplace.release(table, rng=1, post=[Nonnegative()]))
    swapped = audit_release(table, Swapping(0.5).release(table, rng=1))

    assert {round(each.expected_absolute_error, 3) for each in known} == {1.919}
    assert known[0].overall.mean_absolute_error != known[1].overall.mean_absolute_error
    assert "Over all draws a cell is off by 1.92, exact." in str(known[0])
    for unknown in (after, swapped, audit_release(table, table)):
        assert unknown.expected_absolute_error is None
        assert "exact." not in str(unknown)
