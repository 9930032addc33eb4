"""Classes of entities: by size, by a count, by labels."""

import numpy as np
import pytest

from evenhand.decide.result.decided import Decided
from evenhand.errors import InvalidParameterError


def made(kind="allotment", *, size=10, seed=3, **changed):
    places = np.arange(1, size + 1)
    bias = np.where(places % 2 == 0, 0.01, -0.01) / places
    given = {
        "kind": kind,
        "problem": "made up",
        "noise": "made up",
        "names": [f"place {seed * place}" for place in places],
        "truth": bias < 0 if kind == "rule" else places / places.sum(),
        "bias": bias,
        "variance": np.ones(size),
        "method": "made up",
        "counts": {"x": places * 10, "y": places[::-1]},
    }
    return Decided(**given | changed)


def test_classes_of_size_hold_about_equally_many_and_everybody_once():
    for bins in (1, 2, np.int64(3), 7, 1000):
        found = made(budget=100.0).by("size", bins=bins)

        assert sum(each.entities for each in found.classes) == 10
        assert len(found) == min(bins, 10)
        assert max(each.entities for each in found.classes) <= -(-10 // min(bins, 10))
        assert sum(each.total_bias for each in found.classes) == pytest.approx(made().bias.sum())
        assert sum(each.money for each in found.classes) == pytest.approx(100 * made().bias.sum())


def test_entities_of_one_size_stay_together():
    found = made(counts={"x": [5] * 4 + [7] * 6}).by("size", bins=2)

    assert [(each.label, each.entities) for each in found.classes] == [("5", 4), ("7", 6)]
    assert [each.label for each in made(counts={"x": [5] * 9 + [7000]}).by("size", bins=4).classes] == [
        "5 to 7,000"
    ]


def test_size_is_the_greatest_count_of_an_entity():
    assert (
        made(size=3, counts={"x": [1, 50, 3], "y": [40, 2, 9]}).by("size", bins=[10]).classes[0].entities == 1
    )


def test_classes_begin_at_the_given_numbers_and_empty_ones_are_left_out():
    found = made().by("x", bins=[0, 50, 60, 1000])

    assert [(each.label, each.entities) for each in found.classes] == [
        ("10 to 40", 4),
        ("50", 1),
        ("60 to 100", 5),
    ]


def test_labels_make_classes_in_their_order():
    found = made().by(["b", "a"] * 5)

    assert [each.label for each in found.classes] == ["b", "a"]
    assert [each.entities for each in found.classes] == [5, 5]
    assert found.classes[0].mean_bias < 0 < found.classes[1].mean_bias


def test_figures_are_those_of_the_entities():
    decided = made()
    first = decided.by("x", bins=[50]).classes[0]

    assert first.mean_bias == pytest.approx(decided.bias[:4].mean())
    assert first.mean_error == pytest.approx(np.abs(decided.bias[:4]).mean())
    assert first.greatest_error == pytest.approx(0.01)
    assert first.mean_truth == pytest.approx(decided.truth[:4].mean())
    assert first.money is None
    assert first.standard_error is None


def test_errors_of_entities_that_share_noise_are_added_up():
    """Dependent draws can all be wrong in one direction; independent ones cancel."""
    alone = made("rule", standard_error=np.full(10, 0.1), draws=100).by("size", bins=1).classes[0]
    tied = made(standard_error=np.full(10, 0.1), draws=100, coupled=True).by("size", bins=1).classes[0]

    assert alone.standard_error == pytest.approx(0.1 / np.sqrt(10))
    assert tied.standard_error == pytest.approx(0.1)


def test_a_frame_has_a_row_for_each_class():
    frame = made(budget=10.0).by("size", bins=2).to_frame("pyarrow")

    assert frame.num_rows == 2
    assert {"label", "entities", "money", "banner"} <= set(frame.column_names)
    assert "standard_error" not in frame.column_names


def test_a_rule_shows_flips_and_an_allotment_money():
    assert "mean flip" in str(made("rule").by("size"))
    assert "money" in str(made(budget=10.0).by("size"))
    assert "money" not in str(made().by("size"))


@pytest.mark.parametrize("bins", [0, -1, True, 1001, [], [3, 1], ["a"], [[1]], 2.5, [float("nan")], None])
def test_bins_are_a_number_of_them_or_where_they_begin(bins):
    with pytest.raises(InvalidParameterError, match="'bins'"):
        made().by("size", bins=bins)


def test_an_unknown_count_is_refused_with_the_names():
    with pytest.raises(InvalidParameterError, match="'size', 'group', 'x', 'y'"):
        made().by("z")
    with pytest.raises(InvalidParameterError, match="'size', 'group'"):
        made(counts={}).by("size")


def test_labels_are_one_for_each_entity():
    with pytest.raises(InvalidParameterError, match="one label for each entity"):
        made().by(["a"])


def test_no_entities_make_no_classes():
    empty = made(size=0).by("size")

    assert len(empty) == 0
    assert empty.to_frame("pyarrow").num_rows == 0
    assert "size" in str(empty)


def test_a_count_called_group_is_a_count():
    assert len(made(counts={"group": np.arange(10)}).by("group", bins=2)) == 2
