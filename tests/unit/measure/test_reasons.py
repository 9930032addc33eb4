import copy
import math

import numpy as np

from evenhand.measure import MEASURES, CountTable, GroupReport, Measured


def test_a_measured_value_is_a_float_in_every_way():
    value = Measured(0.25)

    assert isinstance(value, float)
    assert value + 1 == 1.25
    assert f"{value:.1%}" == "25.0%"
    assert np.asarray([value]).dtype == float
    assert (repr(value), value.reason) == ("0.25", "")


def test_a_copy_keeps_the_reason():
    value = copy.deepcopy(Measured(math.nan, "There are no rows."))

    assert value.reason == "There are no rows."


def test_a_value_is_nan_exactly_if_there_is_a_reason():
    """On random small tables, with and without labels, weights and a privileged group."""
    generator = np.random.default_rng(21)
    for _ in range(400):
        n_groups = int(generator.integers(0, 4))
        counts = generator.integers(0, 3, (n_groups, 2, 2))
        weighted, labelled = generator.random(2) < 0.5
        table = CountTable(
            tuple(range(n_groups)),
            counts.astype(float) if weighted else counts,
            counts.astype(float) if weighted else None,
            bool(labelled),
        )
        report = GroupReport(table, 0 if generator.random() < 0.7 else None)
        for name in MEASURES:
            assert bool(report.reason(name)) == math.isnan(report.value(name)), name
