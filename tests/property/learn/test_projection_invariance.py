"""What holds of every projection, whatever the scores and groups."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.learn.projection.problem import DIVERGENCES, KINDS
from evenhand.learn.projection.solver import solve
from unit.learn._projection_cases import problem_of, random_case

# Projections of some dozens of rows, with any number of classes and groups; one seed gives the scores.
CASES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "n": st.integers(12, 60),
        "n_classes": st.integers(2, 3),
        "k": st.integers(2, 3),
        "kind": st.sampled_from(KINDS),
        "divergence": st.sampled_from(DIVERGENCES),
        "share": st.floats(0, 1.2),
    }
)
FEW = settings(max_examples=8)


def drawn(case):
    made = random_case(case["seed"], n=case["n"], n_classes=case["n_classes"], k=case["k"])
    return dict(zip(("scores", "groups", "labels"), made, strict=True))


def posed(case, *, divergence=None, **rows):
    return problem_of(case["kind"], divergence or case["divergence"], **rows, k=case["k"], calibrated=True)


def projected(problem, tolerance):
    return problem.rows.tilted(solve(problem, tolerance).prices, problem.divergence)


@FEW
@given(CASES)
def test_every_constraint_holds_and_rows_add_up_to_one(case):
    problem = posed(case, **drawn(case))
    tolerance = case["share"] * problem.largest_tolerance()
    found = solve(problem, tolerance)
    q = problem.rows.tilted(found.prices, problem.divergence)
    room = problem.terms(found.prices.ravel()).gradient @ problem.columns(tolerance)

    assert room.min() > -1e-9
    assert np.abs(q.sum(axis=1) - 1).max() < 1e-12
    assert (q > 0).all()
    assert abs(found.gap) < 1e-8


@FEW
@given(CASES)
def test_nothing_changes_exactly_from_the_largest_tolerance_on(case):
    problem = posed(case, **drawn(case))
    largest = problem.largest_tolerance()

    assert not solve(problem, largest * (1 + 1e-9)).multipliers.any()
    assert solve(problem, largest * (1 - 1e-6)).multipliers.any()


@FEW
@given(CASES)
def test_a_looser_tolerance_never_costs_more(case):
    problem = posed(case, **drawn(case))
    tolerance = case["share"] * problem.largest_tolerance()

    assert solve(problem, 1.3 * tolerance).objective <= solve(problem, tolerance).objective + 1e-9


@FEW
@given(CASES, st.randoms(use_true_random=False))
def test_order_of_rows_and_names_of_groups_and_classes_do_not_matter(case, random):
    rows = drawn(case)
    problem = posed(case, **rows)
    tolerance = case["share"] * problem.largest_tolerance()
    order, names, classes = (list(range(count)) for count in (case["n"], case["k"], case["n_classes"]))
    for each in (order, names, classes):
        random.shuffle(each)
    mixed = posed(
        case,
        scores=rows["scores"][order][:, classes],
        groups=np.array(names)[rows["groups"][order]],
        labels=rows["labels"][order],
    )

    assert mixed.largest_tolerance() == pytest.approx(problem.largest_tolerance(), rel=1e-9)
    assert projected(mixed, tolerance) == pytest.approx(
        projected(problem, tolerance)[order][:, classes], abs=1e-6
    )


@FEW
@given(CASES)
def test_certain_probabilities_of_groups_are_groups(case):
    rows = drawn(case)
    problem = posed(case, **rows)
    tolerance = case["share"] * problem.largest_tolerance()
    shared = posed(case, **{**rows, "groups": np.eye(case["k"])[rows["groups"]]})

    assert projected(shared, tolerance) == pytest.approx(projected(problem, tolerance), abs=1e-6)


@FEW
@given(CASES)
def test_both_divergences_agree_where_little_is_changed(case):
    """To first order near the largest tolerance both are the same quadratic."""
    rows = drawn(case)
    one, other = (posed(case, divergence=divergence, **rows) for divergence in DIVERGENCES)
    largest = one.largest_tolerance()
    near = largest * (1 - 1e-3)
    q, p = projected(one, near), projected(other, near)
    moved = np.abs(q - rows["scores"]).max()

    assert other.largest_tolerance() == pytest.approx(largest, rel=1e-9)
    assert np.abs(q - p).max() <= 30 * moved**2 / rows["scores"].min() + 1e-7
