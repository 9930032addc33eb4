"""Sums of reports give the estimates of all reports, bit for bit, however they were parted and merged."""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.collect import (
    GRR,
    OUE,
    PROTOCOLS,
    Aggregate,
    Combined,
    CombinedOptimal,
    Independent,
    JointReports,
    Optimal,
    Reports,
    Sampled,
    Single,
    group_rates,
)
from evenhand.collect.estimates import aggregate_files
from evenhand.errors import IndependenceWarning, UnreadableFileError

PEOPLE = 400
FILES = [pytest.param(ending, marks=pytest.mark.figures) for ending in (".json", ".parquet")]
THROUGH = [None, *FILES]  # in memory, or by files
STRATEGIES = {
    "single": Single("race", GRR(5, 1)),
    "independent": Independent({"race": GRR(5, 1), "sex": GRR(2, 1)}),
    "independent, sets": Independent({"race": OUE(5, 1), "sex": GRR(2, 1)}),
    "sampled": Sampled({"race": OUE(5, 1), "sex": GRR(2, 1)}),
    "combined": Combined({"race": 5, "sex": 2}, 2),
}


def cut(rows, seed):
    """Return sets of rows that part all of them at random, some of them empty, in a random order."""
    draw = np.random.default_rng(seed)
    part = draw.integers(0, 4, rows)
    return [np.flatnonzero(part == which) for which in draw.permutation(5)]


def merge(parts, seed):
    """Merge sums by a random tree."""
    draw, parts = np.random.default_rng(seed), list(parts)
    while len(parts) > 1:
        second, first = (parts.pop(int(draw.integers(len(parts)))) for _ in range(2))
        parts.append(first.merge(second))
    return parts[0]


def travel(total, ending):
    """Return a sum as it comes back from a file; as it is where no ending is given."""
    if ending is None:
        return total
    with tempfile.TemporaryDirectory() as folder:
        total.save(Path(folder) / f"sum{ending}")
        return Aggregate.load(Path(folder) / f"sum{ending}")


def assert_same(estimate, other):
    """Both have the same numbers, to the last bit."""
    assert estimate.n == other.n
    assert estimate.values.tobytes() == other.values.tobytes()
    assert estimate.standard_error.tobytes() == other.standard_error.tobytes()
    for one, two in zip(estimate.interval(), other.interval(), strict=True):
        assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize("ending", THROUGH)
@pytest.mark.parametrize("name", PROTOCOLS)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), k=st.integers(2, 9))
def test_estimates_from_sums_are_those_from_reports(name, ending, seed, k):
    """If this is false, collectors who send sums get other results than those who send reports."""
    protocol = PROTOCOLS[name].example(k=k, epsilon=1)
    reports = protocol.privatize(np.arange(PEOPLE) % k, rng=seed)

    merged = merge([travel(Aggregate.of(reports[rows]), ending) for rows in cut(PEOPLE, seed)], seed)

    assert_same(travel(merged, ending).estimate(), protocol.estimate(reports))


@pytest.mark.parametrize("ending", THROUGH)
@pytest.mark.parametrize("name", STRATEGIES)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_joint_estimates_from_sums_are_those_from_reports(name, ending, seed):
    strategy = STRATEGIES[name]
    codes = {column: np.arange(PEOPLE) % k for column, k in strategy.sizes.items()}
    reports = strategy.privatize(codes, rng=seed)

    parts = [travel(Aggregate.of(reports[rows]), ending) for rows in cut(PEOPLE, seed)]
    merged = travel(merge(parts, seed), ending)

    expected = strategy.estimate(reports)
    assert merged.estimate().keys() == expected.keys()
    for column, shares in merged.estimate().items():
        assert_same(shares, expected[column])
    if merged.crossed is not None:
        whole = strategy.estimate_joint(reports)
        assert merged.estimate_joint().values.tobytes() == whole.values.tobytes()
        assert merged.estimate_joint().standard_error.tobytes() == whole.standard_error.tobytes()


@pytest.mark.parametrize("ending", THROUGH)
def test_combined_optimal_sums_give_the_same_combinations(ending):
    channel = Optimal([0.3, 0.2, 0.3, 0.2], [0.2, 0.3, 0.4, 0.6], epsilon=1)
    strategy = CombinedOptimal({"sex": 2, "union": 2}, channel)
    reports = strategy.privatize({"sex": np.arange(90) % 2, "union": np.arange(90) % 3 % 2}, rng=1)

    merged = travel(travel(Aggregate.of(reports[40:]), ending) + Aggregate.of(reports[:40]), ending)

    assert merged.estimate_joint().values.tobytes() == strategy.estimate_joint(reports).values.tobytes()
    with pytest.raises(ValueError, match="inverted together"):
        merged.estimate()


CROSSED = [name for name in STRATEGIES if name not in ("single", "sampled")]


@pytest.mark.parametrize("ending", THROUGH)
@pytest.mark.parametrize("name", CROSSED)
@settings(max_examples=5)
@given(seed=st.integers(0, 2**32))
def test_crossed_rates_from_sums_are_those_from_reports(name, ending, seed):
    """If this is false, a gap depends on how the reports were parted."""
    strategy, columns = STRATEGIES[name], ("sex", "race")
    codes = {column: np.arange(PEOPLE) % k for column, k in strategy.sizes.items()}
    reports, outcome = strategy.privatize(codes, rng=seed), np.arange(PEOPLE) % 7 % 2

    parts = [
        travel(Aggregate.of(reports[rows], outcome=outcome[rows], protected=columns), ending)
        for rows in cut(PEOPLE, seed)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IndependenceWarning)  # few people
        rates = travel(merge(parts, seed), ending).group_rates(columns)
        expected = group_rates(outcome, reports, columns=columns)
    assert rates.labels == expected.labels
    for one, two in ((rates, expected), *((rates.margins[c], expected.margins[c]) for c in columns)):
        assert str(one.rates) == str(two.rates)
        assert str(one.shares) == str(two.shares)
        assert [one.interval(label) for label in one.labels] == [two.interval(label) for label in two.labels]


@pytest.mark.parametrize("ending", [".json", ".parquet"])
def test_a_sum_of_a_later_form_is_refused(ending, tmp_path, monkeypatch):
    """If this is false, what a later version counts is taken for something else."""
    total = Aggregate.of(GRR(3, 1).privatize([0, 1, 2], rng=1))
    for form in (1, 2, 3):
        monkeypatch.setattr(aggregate_files, "FORMAT", f"evenhand aggregate {form}")
        total.save(tmp_path / f"{form}{ending}")
    monkeypatch.undo()

    for form in (1, 2):
        assert_same(Aggregate.load(tmp_path / f"{form}{ending}").estimate(), total.estimate())
    with pytest.raises(UnreadableFileError, match=r"form of another version\. Hint: update evenhand"):
        Aggregate.load(tmp_path / f"3{ending}")


@pytest.mark.parametrize("name", PROTOCOLS)
def test_rates_from_sums_are_those_from_reports(name, tmp_path):
    protocol = PROTOCOLS[name].example(k=3, epsilon=2)
    reports = protocol.privatize(np.arange(900) % 3, rng=3)
    outcome = np.arange(900) % 2

    halves = [Aggregate.of(reports[rows], outcome=outcome[rows]) for rows in cut(900, 5)]
    merged = merge(halves, 6)
    merged.save(tmp_path / "sum.parquet")

    expected = group_rates(outcome, reports)
    for found in (merged, Aggregate.load(tmp_path / "sum.parquet")):
        rates = found.group_rates()
        assert [rates.rates[label] for label in rates.labels] == [
            expected.rates[label] for label in expected.labels
        ]
        assert rates.interval(1) == expected.interval(1)


@pytest.mark.parametrize("ending", [".json", ".parquet"])
@pytest.mark.parametrize("name", [*PROTOCOLS, *STRATEGIES])
def test_a_sum_comes_back_from_its_file(name, ending, tmp_path):
    if name in PROTOCOLS:
        reports = PROTOCOLS[name].example(k=4, epsilon=1).privatize([0, 1, 2, 3, 3], rng=1)
    else:
        strategy = STRATEGIES[name]
        reports = strategy.privatize({column: [0, 1, 1] for column in strategy.columns}, rng=1)
    total = Aggregate.of(reports, part="a part") + Aggregate.of(reports[:2], part="another")
    total.save(tmp_path / f"sum{ending}")

    again = Aggregate.load(tmp_path / f"sum{ending}")

    assert again.people == total.people
    assert again.parts == {"a part", "another"}
    assert again.simulated
    more = Aggregate.of(reports)
    assert (again + more).people == total.people + len(reports)
    assert isinstance(reports, Reports | JointReports)
