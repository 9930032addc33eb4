"""A result: what it says of each entity, of money, and how it is shown."""

import numpy as np
import pytest

from evenhand.decide.result.decided import Decided
from evenhand.decide.result.figures import BANNER, money_of
from evenhand.errors import InvalidParameterError


def shares(**changed):
    given = {
        "kind": "allotment",
        "problem": "weight*x/sum(weight*x)",
        "noise": "made up",
        "names": ["Ash", "Bay", "Cod"],
        "truth": [0.5, 0.3, 0.2],
        "bias": [-0.01, 0.004, 0.006],
        "variance": [0.01, 0.02, 0.03],
        "method": "made up",
        "budget": 1000.0,
        "counts": {"x": [50, 30, 20]},
        "coupled": True,
    }
    return Decided(**given | changed)


def answers(**changed):
    given = {
        "kind": "rule",
        "problem": "x >= 10",
        "noise": "made up",
        "names": ["Ash", "Bay"],
        "truth": [True, False],
        "bias": [-0.25, 0.1],
        "variance": [0.1875, 0.09],
        "method": "exact",
        "counts": {"x": [12, 8], "y": [100, 5]},
    }
    return Decided(**given | changed)


def test_disparity_is_the_distance_to_whoever_is_treated_most_differently():
    """Definition 3 of fioretto2021; alpha is the largest of them."""
    decided = shares()
    slow = [max(abs(a - b) for b in decided.bias) for a in decided.bias]

    assert decided.disparity == pytest.approx(slow)
    assert decided.alpha == pytest.approx(0.016)


def test_a_rule_is_compared_by_how_often_it_flips():
    """A wrong yes and a wrong no of the same probability are alike in Definition 3."""
    decided = answers(bias=[-0.25, 0.25])

    assert decided.alpha == 0
    assert decided.flip.tolist() == [0.25, 0.25]
    assert decided.expected.tolist() == [0.75, 0.25]
    assert decided.standard_deviation == pytest.approx(np.sqrt([0.1875, 0.09]))


def test_losses_cost_what_it_takes_to_make_up_for_them():
    decided = shares()

    assert decided.cost() == pytest.approx(10)
    assert decided.cost(500) == pytest.approx(5)
    assert decided.misallocated() == pytest.approx([-10, 4, 6])
    assert decided.moved(100) == pytest.approx(1)


@pytest.mark.parametrize("budget", [-1, float("nan"), float("inf"), "1000", True, [1, 2], 10**400])
def test_a_budget_is_an_amount(budget):
    with pytest.raises(InvalidParameterError, match="'budget'"):
        shares().cost(budget)


def test_without_any_budget_money_is_not_invented():
    with pytest.raises(InvalidParameterError, match="here or in the allotment"):
        shares(budget=None).misallocated()

    assert money_of(0, owner="test") == 0


def test_a_rule_divides_no_money():
    with pytest.raises(InvalidParameterError, match="a rule divides no money"):
        answers().cost(100)


def test_a_share_does_not_flip():
    with pytest.raises(InvalidParameterError, match="a share does not flip"):
        _ = shares().flip


def test_the_most_affected_come_first_and_ties_keep_their_order():
    names = [each.name for each in shares(bias=[0.004, -0.004, 0.01]).most_affected(5)]

    assert names == ["Cod", "Ash", "Bay"]
    assert shares().most_affected(1)[0].money == pytest.approx(-10)
    assert answers().most_affected(1)[0].money is None
    assert answers().most_affected(0) == ()


def test_exact_figures_have_no_standard_error():
    assert shares().exact
    assert not shares(standard_error=[1, 1, 1], draws=10).exact
    with pytest.raises(InvalidParameterError, match="'draws'"):
        shares(draws=10)


def test_exact_intervals_are_the_error_bound():
    low, high = shares(error_bound=[1e-3, 0, 1e-4]).interval()

    assert low == pytest.approx([-0.011, 0.004, 0.0059])
    assert high == pytest.approx([-0.009, 0.004, 0.0061])
    assert np.array_equal(*shares().interval())


def test_sampled_intervals_of_a_rule_count_flips():
    """A flip that was never drawn has an interval too."""
    decided = answers(bias=[-0.25, 0.0], standard_error=[0.1, 0.1], draws=20)
    low, high = decided.interval(0.95)

    assert low[0] < -0.25 < high[0] < 0
    assert (low[1], high[1]) == pytest.approx((0, 0.16843347), abs=1e-6)


def test_sampled_intervals_of_shares_are_of_students_law():
    decided = shares(standard_error=[1e-3, 1e-3, 1e-3], draws=22)
    low, high = decided.interval(0.95)

    assert (high - low) / 2 == pytest.approx(np.full(3, 2.2281388e-3))


def test_arrays_cannot_be_written_to():
    decided = answers(populations={"young": [1, 2]})
    for array in (decided.bias, decided.truth, decided.flip, decided.disparity, decided.counts["x"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(TypeError):
        decided.counts["x"] = 0


def test_a_variance_may_be_left_until_it_is_asked_for():
    """It takes longer than the bias, and most people ask for the bias."""
    calls = []

    def later():
        calls.append(1)
        return [0.01, 0.02, 0.03]

    decided = shares(variance=later)
    assert calls == []

    assert decided.variance.tolist() == decided.variance.tolist() == [0.01, 0.02, 0.03]
    assert calls == [1]
    assert not decided.variance.flags.writeable
    with pytest.raises(AttributeError, match="no attribute 'varience'"):
        _ = decided.varience
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = shares().nothing
    with pytest.raises(InvalidParameterError, match="one entry for each entity"):
        _ = shares(variance=lambda: [1.0]).variance


def test_shapes_must_agree():
    with pytest.raises(InvalidParameterError, match=r"'variance'.*one entry for each entity"):
        shares(variance=[1.0])
    with pytest.raises(InvalidParameterError, match="'counts'"):
        shares(counts={"x": [1]})


def test_a_frame_has_a_row_for_each_entity_and_the_banner():
    frame = shares(error_bound=[0, 0, 0]).to_frame("pyarrow")

    assert frame.num_rows == 3
    assert set(frame["banner"].to_pylist()) == {BANNER}
    assert frame["money"].to_pylist() == pytest.approx([-10, 4, 6])
    assert "standard_error" not in frame.column_names
    sampled = answers(standard_error=[0.1, 0.1], draws=10).to_frame("polars")
    assert sampled["flip"].to_list() == [0.25, 0.1]
    assert "standard_error" in sampled.columns
    assert "money" not in sampled.columns


def test_the_banner_is_wherever_a_result_is_shown():
    """Somebody will paste it into a slide."""
    for decided in (shares(), answers(), shares(standard_error=[0.1] * 3, draws=10, notes=["Mind this."])):
        assert BANNER in repr(decided)
        assert str(decided).startswith(BANNER)
        assert str(decided).endswith(BANNER)
        assert BANNER in decided._repr_html_()
        for told in (decided.by("size"), decided.by("x", bins=[20])):
            assert BANNER in str(told)
            assert BANNER in told._repr_html_()


def test_the_text_says_how_many_lose():
    text = str(answers())

    assert "truly holds for 1" in text
    assert "wrongly refused: 0.25" in text
    assert "10.00 ends up elsewhere" in str(shares())
    assert "elsewhere" not in str(shares(budget=None))
    assert "Mind this." in str(shares(standard_error=[0.1] * 3, draws=10, notes=["Mind this."]))
    assert "too large on average" in str(shares(standard_error=[0.1] * 3, draws=10))


def test_names_are_text_only():
    """A county called <script> must stay a name, and a line end must not break the table."""
    decided = answers(names=["<script>alert(1)</script>", "a\nb"], problem="x >= 10\n")

    assert "<script>" not in decided._repr_html_()
    assert "a\\nb" in str(decided)
    assert len(str(decided).splitlines()) == len(str(answers()).splitlines())


def test_no_entities_are_shown_as_none():
    empty = answers(names=[], truth=[], bias=[], variance=[], counts={})

    assert empty.alpha == 0
    assert len(empty) == 0
    assert "Entities: 0" in str(empty)
    assert "<table" not in empty._repr_html_()
    assert empty.disparity.size == 0
