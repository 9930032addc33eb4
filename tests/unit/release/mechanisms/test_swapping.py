"""Swapping as offices do it: what is exchanged, what stays, and that nothing is promised."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.privacy.guarantees.units import Trust, Unit
from evenhand.privacy.ledger import Ledger
from evenhand.release.mechanisms import swapping
from evenhand.release.mechanisms.swapping import Swapping
from evenhand.release.table.histogram import Histogram
from evenhand.release.table.released import note_of
from evenhand.schema import Column, Domain, Schema
from unit.release._slow_swapping import small_table, swapped

BOTH = pytest.mark.parametrize("pairing", ["nearest", "discrepancy"])


def _people(table):
    return Counter({cell: int(table.counts[cell]) for cell in np.ndindex(table.shape) if table.counts[cell]})


@BOTH
@pytest.mark.parametrize("quasi", [1, 2])
def test_pairs_exchange_their_quasi_identifiers_and_nothing_else(pairing, quasi, monkeypatch):
    """The published table is the one that the pairs make, person by person."""
    name = f"{pairing}_pairs"
    seen, original = [], getattr(swapping, name)

    def watched(codes, *arguments, **options):
        for pairs in original(codes, *arguments, **options):
            seen.extend((tuple(codes[one]), tuple(codes[two])) for one, two in pairs)
            yield pairs

    monkeypatch.setattr(swapping, name, watched)
    counts = np.random.default_rng(1).integers(0, 4, (3, 2, 4))
    table = small_table(counts, quasi, ordered=(2,))
    made = Swapping("9/10", pairing).release(table, rng=5).histogram

    assert len(seen) == int(0.9 * counts.sum() / 2)
    assert _people(made) == swapped(_people(table), seen, quasi)


def test_the_nearest_of_equals_changes_nothing():
    """Everybody has somebody exactly alike, so the published table is the true one."""
    table = small_table(np.array([[4, 0, 2], [6, 8, 10]]))

    assert (Swapping(1).release(table, rng=1).histogram.counts == table.counts).all()


def test_figure_one_of_the_paper_exchanges_whole_cells():
    """Rows a6 and a8 differ in gender alone; their counts 2 and 0 trade places."""
    counts = np.array([[[1, 0], [1, 2]], [[2, 0], [1, 0]]])  # gender, block, voting age
    table = small_table(counts)
    found = set()
    for seed in range(100):
        made = Swapping("1/4", records="cells").release(table, rng=seed).histogram.counts
        found.add(made.tobytes())
    expected = counts.copy()
    expected[0, 1, 1], expected[1, 1, 1] = 0, 2

    assert expected.tobytes() in found


@BOTH
def test_swapped_cells_keep_the_other_columns_and_the_people(pairing):
    counts = np.arange(24).reshape(3, 4, 2)
    table = small_table(counts)
    changed = 0
    for seed in range(5):
        made = Swapping(1, pairing, records="cells").release(table, rng=seed).histogram.counts

        assert (made.sum(axis=0) == counts.sum(axis=0)).all()
        assert made.min() >= 0
        changed += bool((made.sum(axis=(1, 2)) != counts.sum(axis=(1, 2))).any())
    assert changed


@BOTH
def test_a_sparse_table_is_swapped_person_by_person(pairing):
    columns = [Column(name, Domain.integers(0, 999)) for name in "abc"]
    cells = np.sort(np.random.default_rng(3).choice(10**9, size=200, replace=False))
    filled = np.random.default_rng(4).integers(1, 4, 200)
    table = Histogram.of_cells(cells, filled, Schema(columns, quasi_identifiers=["a", "c"]))
    release = Swapping("4/5", pairing).release(table, rng=1)
    made = release.histogram

    assert note_of(release)["cells_without_a_row"] == "zero"
    assert made.is_sparse
    assert made.cells.tolist() != table.cells.tolist()
    for margin in (["a", "c"], ["b"]):
        assert (made.margin(margin).counts == table.margin(margin).counts).all()


def test_cells_of_a_sparse_table_are_too_many_to_swap():
    columns = [Column(name, Domain.integers(0, 999)) for name in "abc"]
    table = Histogram.of_cells([5], [1], Schema(columns, quasi_identifiers="a"))
    with pytest.raises(LimitExceededError, match="Swapping of cells needs every cell"):
        Swapping(1, records="cells").release(table, rng=1)


@pytest.mark.parametrize(
    ("mechanism", "sizes"),
    [(Swapping(1, records="cells"), (1000, 1000, 1000)), (Swapping(1), (2**31 - 1, 2**19 - 1, 2**12 - 3))],
    ids=["cells of a sparse table", "columns without a common multiple"],
)
def test_what_cannot_be_swapped_is_refused_before_a_ledger_is_charged(mechanism, sizes, tmp_path):
    """The entry would say that nothing limits what was told, of a table that nobody got."""
    columns = [Column(f"c{size}{place}", Domain.integers(0, size)) for place, size in enumerate(sizes)]
    table = Histogram.of_cells([5], [1], Schema(columns, quasi_identifiers=columns[0].name))
    ledger = Ledger(tmp_path / "ledger.db", epsilon=1)
    with pytest.raises(LimitExceededError):
        mechanism.release(table, ledger=ledger)

    assert [entry.kind for entry in ledger.history()] == ["open"]


def test_nothing_is_guaranteed():
    guarantee = Swapping(1).guarantee_for(small_table([[1, 0], [1, 1]]), epsilon=1, as_printed=True)

    assert (guarantee.trust, guarantee.delta, guarantee.unit) == (Trust.NONE, 1, Unit.REPLACE_ONE)
    assert guarantee.in_clear == ("c0", "c1")


def test_bias_and_variance_are_sampled():
    table = small_table([[3, 1], [0, 4]])
    bias = Swapping(1, "discrepancy").bias(table, draws=20)

    assert not bias.exact
    assert bias.draws == 20
    assert not Swapping(1).variance(table, draws=20).exact


@BOTH
@pytest.mark.parametrize("records", ["people", "cells"])
@pytest.mark.parametrize("counts", [[[0, 0], [0, 0]], [[1, 0], [0, 0]], [[0, 0], [7, 0]], [[1, 1], [1, 0]]])
def test_hostile_tables_are_published(counts, records, pairing):
    made = Swapping(1, pairing, records=records).release(small_table(counts))

    assert made.histogram.people == np.sum(counts)
    assert not made.simulated


@BOTH
def test_a_table_of_one_column_cannot_change(pairing):
    table = small_table([3, 1, 0, 5])

    assert (Swapping(1, pairing).release(table, rng=1).histogram.counts == table.counts).all()


@BOTH
def test_large_counts_are_refused_without_naming_them(pairing):
    with pytest.raises(LimitExceededError, match="records at most") as refused:
        Swapping("1/2", pairing).release(small_table([[2**40, 5], [1, 1]]), rng=1)

    assert str(2**40) not in str(refused.value).replace(",", "")


def test_large_counts_move_as_cells():
    counts = [[2**40, 5], [1, 2**41]]
    made = Swapping(1, records="cells").release(small_table(counts), rng=1).histogram.counts

    assert made.sum(axis=0).tolist() == np.sum(counts, axis=0).tolist()


@pytest.mark.parametrize("fraction", [-0.1, 1.1, "half", None, True])
def test_a_fraction_that_is_none_is_refused(fraction):
    with pytest.raises(InvalidParameterError, match="'fraction' parameter of Swapping"):
        Swapping(fraction)


@pytest.mark.parametrize(("name", "value"), [("pairing", "closest"), ("records", "rows"), ("records", 3)])
def test_words_that_mean_nothing_are_refused(name, value):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of Swapping must be one of"):
        Swapping(1, **{name: value})


def test_a_table_without_quasi_identifiers_is_refused():
    with pytest.raises(InvalidParameterError, match="quasi-identifiers"):
        Swapping(1).release(small_table([[3, 1]], quasi=0))


def test_it_writes_itself_down():
    assert repr(Swapping("1/2")) == "Swapping(fraction=0.5)"
    assert repr(Swapping(1, "discrepancy", records="cells")) == (
        "Swapping(fraction=1, pairing='discrepancy', records='cells')"
    )
    assert Swapping("1/3").to_dict() == {
        "mechanism": "swapping",
        "fraction": "1/3",
        "pairing": "nearest",
        "records": "people",
    }
    assert Swapping.example().fraction == Fraction(1, 2)
