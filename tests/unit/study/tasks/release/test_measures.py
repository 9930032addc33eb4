"""What a table is off by, against loops that anybody can check."""

import math

import numpy as np
import pytest

from evenhand.study.tasks.release.measures import (
    SIZES,
    errors_by_group,
    errors_by_size,
    errors_of_a_table,
)

RNG = np.random.default_rng(3)
TRUE = RNG.integers(0, 40, (3, 4, 2)) * RNG.integers(0, 2, (3, 4, 2))
PUBLISHED = TRUE + RNG.integers(-5, 6, TRUE.shape)
BIAS = RNG.normal(0, 1, TRUE.shape)


def test_errors_of_a_table_are_sums_over_its_cells():
    """Every number of the report rests on these."""
    found = errors_of_a_table(TRUE, PUBLISHED, BIAS, suppressed=TRUE > 20)
    cells = list(np.ndindex(TRUE.shape))

    assert found["l1_error"] == sum(abs(int(PUBLISHED[c]) - int(TRUE[c])) for c in cells)
    assert found["l1_bias"] == pytest.approx(sum(abs(BIAS[c]) for c in cells))
    assert found["alpha"] == pytest.approx(BIAS.max() - BIAS.min())
    assert found["largest_bias"] == max(abs(BIAS[c]) for c in cells)
    assert found["net_people"] == sum(int(PUBLISHED[c]) - int(TRUE[c]) for c in cells)
    assert found["suppressed"] == sum(TRUE[c] > 20 for c in cells) / len(cells)


def test_errors_by_size_are_means_of_each_class():
    """Small and large cells mixed up would hide who suffers."""
    found = errors_by_size(TRUE, PUBLISHED, BIAS)
    for size in SIZES:
        inside = [
            c
            for c in np.ndindex(TRUE.shape)
            if TRUE[c] >= size.least and (size.most is None or TRUE[c] <= size.most)
        ]

        assert found[f"cells_{size.key}"] == len(inside)
        if inside:
            errors = [abs(int(PUBLISHED[c]) - int(TRUE[c])) for c in inside]
            assert found[f"error_{size.key}"] == pytest.approx(np.mean(errors))
            assert found[f"bias_{size.key}"] == pytest.approx(np.mean([BIAS[c] for c in inside]))
            assert found[f"size_{size.key}"] == pytest.approx(np.mean([TRUE[c] for c in inside]))
        else:
            assert math.isnan(found[f"error_{size.key}"])


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_errors_by_group_follow_the_axis_of_the_protected_column(axis):
    """On another axis one group's losses are told of another."""
    labels = [f"group {place}" for place in range(TRUE.shape[axis])]
    found = errors_by_group(
        TRUE, PUBLISHED, BIAS, groups=np.indices(TRUE.shape)[axis].reshape(-1), labels=labels
    )
    for place, label in enumerate(labels):
        inside = [c for c in np.ndindex(TRUE.shape) if c[axis] == place]
        there = sum(int(TRUE[c]) for c in inside)
        errors = [abs(int(PUBLISHED[c]) - int(TRUE[c])) for c in inside]

        assert found[label]["counted"] == there
        assert found[label]["net"] == sum(int(PUBLISHED[c]) for c in inside) - there
        assert found[label]["expected_net"] == pytest.approx(sum(BIAS[c] for c in inside))
        assert found[label]["cell_error"] == pytest.approx(np.mean(errors))
        assert found[label]["person_error"] == pytest.approx(sum(errors) / there)


def test_a_group_of_nobody_has_no_error_per_person():
    """A share of nobody is undefined, not zero."""
    true = np.array([[0, 0], [3, 1]])
    found = errors_by_group(
        true, true + 1, np.zeros((2, 2)), groups=np.array([0, 0, 1, 1]), labels=["a", "b"]
    )

    assert math.isnan(found["a"]["person_error"])
    assert found["a"]["net"] == 2
