"""Outcome rates of the true groups, from outcomes and private reports."""

import itertools
import math
import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multinomial

from evenhand.collect.estimates.group_moments import GroupMoments
from evenhand.collect.estimates.group_rates import group_rates
from evenhand.collect.estimates.outcome_counts import MOST_GROUPS, OutcomeCounts, count_outcomes
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.registry import PROTOCOLS
from evenhand.collect.protocols.subset import SS
from evenhand.collect.protocols.unary import OUE
from evenhand.errors import IndependenceWarning, InvalidParameterError, LimitExceededError
from evenhand.measure import data_unfairness
from unit.collect._grouped_people import channel_of, expected_counts, found_rates, two_groups


def test_the_true_rates_come_back_from_expected_counts():
    """The rates by reported group are .254 and .415, and nothing says so unless this is undone."""
    found = found_rates()

    assert list(found.rates.values()) == pytest.approx([0.2, 0.6], abs=1e-12)
    assert list(found.shares.values()) == pytest.approx([0.7, 0.3], abs=1e-12)
    assert list(found.naive.values()) == pytest.approx([0.25447619, 0.41524061], abs=1e-8)
    assert found.overall == pytest.approx(0.32)


@pytest.mark.parametrize("name", ["grr", "rappor", "oue", "ss", "the"])
def test_every_protocol_gives_the_true_rates_back(name):
    protocol = PROTOCOLS[name](k=3, epsilon=1)
    shares, rates = np.array([0.5, 0.3, 0.2]), np.array([0.7, 0.4, 0.2])
    counts = expected_counts(protocol, shares, rates)
    moments = GroupMoments(counts.people, counts.together, channel_of(protocol))

    assert moments.rates == pytest.approx(rates, abs=1e-9)
    assert moments.denominators == pytest.approx(shares, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in PROTOCOLS if name != "optimal"])
def test_counts_give_what_scores_give(name):
    """The slow form: one row of scores per person, and their empirical covariance."""
    protocol = PROTOCOLS[name](k=4, epsilon=1)
    generator = np.random.default_rng(3)
    group, outcome = generator.integers(4, size=3000), generator.integers(2, size=3000)
    reports = protocol.privatize(group, rng=5)
    scores = (protocol.indicators(reports) - protocol.q) / (protocol.p - protocol.q)
    found = group_rates(outcome, reports)
    above, below = (outcome[:, None] * scores).mean(axis=0), scores.mean(axis=0)

    assert list(found.shares.values()) == pytest.approx(below)
    assert list(found.rates.values()) == pytest.approx(above / below)
    columns = np.column_stack(
        [outcome * scores[:, 1], scores[:, 1], outcome * scores[:, 3], scores[:, 3], outcome]
    )
    covariance = found._moments.covariance(np.array([[1, 3]]))[0]
    slow = np.cov(columns.T, bias=True) / 3000

    assert covariance == pytest.approx(slow, abs=0.01 * np.abs(slow).max())
    assert (np.linalg.eigvalsh(covariance) > 0).all()


@pytest.mark.parametrize(
    "protocol", [GRR(k=5, epsilon=1), OUE(k=5, epsilon=1), SS(k=5, epsilon=0.5)], ids=repr
)
def test_blocks_count_as_the_whole_does(protocol, monkeypatch):
    monkeypatch.setattr("evenhand.collect.estimates.outcome_counts._CELLS_AT_ONCE", 35)
    monkeypatch.setattr("evenhand.collect.estimates.frequencies._CELLS_AT_ONCE", 15)
    outcome = np.arange(100) % 3 == 0
    reports = protocol.privatize(np.arange(100) % 5, rng=2)
    bits = protocol.indicators(reports).astype(np.int64)
    slow = np.stack([bits[~outcome].T @ bits[~outcome], bits[outcome].T @ bits[outcome]])
    counts = count_outcomes(outcome.astype(np.uint8), reports, protocol)
    again = OutcomeCounts.of_chunks(outcome.astype(np.uint8), [protocol.indicators(reports)], protocol.k)

    assert counts.together.tolist() == slow.tolist() == again.together.tolist()
    assert counts.people.tolist() == again.people.tolist() == [66, 34]


def test_too_many_groups_are_refused():
    protocol = GRR(k=MOST_GROUPS + 1, epsilon=8)
    with pytest.raises(LimitExceededError, match="1,024 groups is the most"):
        group_rates([0, 1], protocol.privatize([0, 1], rng=1))


# --- what goes in ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "column",
    [
        lambda y: y.tolist(),
        lambda y: y.astype(np.int8),
        lambda y: y.astype(float),
        pd.Series,
        lambda y: pd.Series(y.astype(int), dtype="Int64"),
        pl.Series,
        lambda y: pl.Series(y.astype(int)),
        lambda y: pa.chunked_array([pa.array(y)]),
    ],
)
def test_outcomes_may_come_from_any_library(column):
    outcome, reports = two_groups()
    plain, found = group_rates(outcome, reports), group_rates(column(outcome), reports)

    assert found.counts.together.tolist() == plain.counts.together.tolist()


def test_other_labels_need_the_positive_one():
    outcome, reports = two_groups()
    words = np.where(outcome, "hired", "not")

    assert group_rates(words, reports, positive="hired").rates == group_rates(outcome, reports).rates
    with pytest.raises(InvalidParameterError, match="a column of 0 and 1"):
        group_rates(words, reports)


@pytest.mark.parametrize(
    ("outcome", "what"),
    [
        (np.full(4000, 7391), "0 and 1"),
        (np.full(4000, 0.7391), "0 and 1"),
        (np.r_[np.zeros(3999), math.nan], "without missing values"),
        ([None] + [7391] * 3999, "without missing values"),
        (pl.Series([None] + [1] * 3999), "without missing values"),
        (np.zeros((4000, 2)), "one dimension"),
        (np.zeros(3999), "as long as 'outcome'"),
        (7391, "a column"),
    ],
)
def test_bad_outcomes_are_refused_and_not_told(outcome, what):
    """An outcome is private: a message may hold neither it nor how many there are."""
    _, reports = two_groups()
    with pytest.raises(InvalidParameterError, match=what) as caught:
        group_rates(outcome, reports)

    assert "7391" not in str(caught.value)
    assert "3999" not in str(caught.value)
    assert "group_rates" in str(caught.value)


def test_bare_arrays_need_their_protocol():
    outcome, reports = two_groups()
    bare = np.asarray(reports)

    assert group_rates(outcome, bare, protocol=reports.protocol).rates == group_rates(outcome, reports).rates
    with pytest.raises(InvalidParameterError, match="'protocol' parameter of group_rates"):
        group_rates(outcome, bare)
    with pytest.raises(InvalidParameterError, match="reports of GRR"):
        group_rates(outcome, reports, protocol=GRR(k=2, epsilon=2))


@pytest.mark.parametrize(
    "given",
    [
        {"labels": ["men"]},
        {"labels": ["men", "men"]},
        {"labels": ["men", None]},
        {"privileged": 2},
        {"privileged": "men"},
        {"privileged": [0]},
        {"level": 1},
        {"level": None},
    ],
)
def test_options_are_checked(given):
    outcome, reports = two_groups(100)
    with pytest.raises(InvalidParameterError):
        group_rates(outcome, reports, **given)


def test_the_protocol_may_come_third():
    outcome, reports = two_groups()

    assert group_rates(outcome, reports, reports.protocol).rates == group_rates(outcome, reports).rates


@pytest.mark.parametrize("protocol", ["grr", GRR])
def test_an_object_that_is_no_protocol_is_refused_by_name(protocol):
    """A name or a class would end in an AttributeError from the inside."""
    outcome, reports = two_groups(100)
    with pytest.raises(InvalidParameterError, match="'protocol' parameter of group_rates must be a protocol"):
        group_rates(outcome, np.asarray(reports), protocol=protocol)


# --- what comes out -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "epsilon", "shares", "rates"),
    [
        (20, 8, [0.8, 0.2], [0.01, 0.5]),
        (5, 8, [0.95, 0.05], [0.02, 0.9]),
        (5, 3, [0.5, 0.5], [0.0, 1.0]),
        (12, 5, [0.5, 0.5], [0.03, 0.97]),
    ],
)
def test_few_people_and_rare_outcomes_are_covered(n, epsilon, shares, rates):
    """Summed over every table there can be. Without the half report the least is 88 %."""
    protocol = GRR(k=2, epsilon=epsilon)
    joint = np.array(shares) * np.stack([1 - np.array(rates), np.array(rates)])
    tables = np.array([t for t in itertools.product(range(n + 1), repeat=3) if sum(t) <= n])
    tables = np.column_stack([tables, n - tables.sum(axis=1)])
    chance = multinomial.pmf(tables, n, (joint @ protocol.matrix()).ravel())
    cells = tables.reshape(-1, 2, 2)
    moments = GroupMoments(cells.sum(axis=2), cells[..., None] * np.eye(2), channel_of(protocol))
    low, high = moments.rate_limits(1.959964)

    assert chance.sum() == pytest.approx(1)
    for group, rate in enumerate(rates):
        held = (low[:, group] <= rate + 1e-9) & (high[:, group] >= rate - 1e-9)
        assert chance[held].sum() >= 0.95


def test_a_group_is_not_compared_with_itself():
    """Its two numerators are one, and their covariance has no inverse."""
    with pytest.raises(
        InvalidParameterError, match="'against' parameter of GroupRates must be the label of an"
    ):
        found_rates().interval("men", against="men")


def test_the_worst_pair_is_two_groups_even_if_all_rates_are_equal():
    outcome, reports = two_groups()

    assert group_rates(np.ones_like(outcome), reports).worst_pair == (0, 1)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(
    ("labels", "written"), [(["men", 3], ["men", "3"]), ([("a", 1), ("b", 1)], ["('a', 1)", "('b', 1)"])]
)
def test_labels_of_several_kinds_are_text_in_frames(backend, labels, written):
    """Polars and Arrow have no column for them, and ended in errors of their own."""
    outcome, reports = two_groups(100)
    frame = group_rates(outcome, reports, labels=labels).to_frame(backend=backend)
    shares = reports.protocol.estimate(reports).to_frame(labels, backend=backend)

    assert nw.from_native(frame)["group"].to_list() == written
    assert nw.from_native(shares)["value"].to_list() == written


def test_gaps_are_privileged_minus_others():
    found = found_rates(privileged="men")

    assert found.gaps == {"women": pytest.approx(-0.4)}
    assert found.gap("women", "men") == pytest.approx(0.4)
    assert found.worst_pair == ("women", "men")
    assert found_rates().gaps == {}


def test_data_unfairness_is_that_of_the_true_groups():
    """The same figure as from the true groups in the clear."""
    group = np.repeat([0, 1], [700, 300])
    y = np.r_[np.arange(700) < 140, np.arange(300) < 180]
    found = found_rates()

    assert found.data_unfairness() == pytest.approx(data_unfairness(y, group))
    assert found.data_unfairness("difference") == pytest.approx(data_unfairness(y, group, kind="difference"))
    for kind, true in (("ratio", 0.875), ("difference", 0.4)):
        interval = found.data_unfairness_interval(kind)

        assert true in interval
        assert interval.high - interval.low < 0.1


def test_with_two_groups_the_largest_gap_has_the_interval_of_the_gap():
    outcome, reports = two_groups()
    found = group_rates(outcome, reports, privileged=1)

    assert tuple(found.data_unfairness_interval("difference")) == pytest.approx(
        tuple(found.interval(1, against=0)), abs=1e-9
    )


def test_turning_a_gap_round_turns_its_interval_round():
    outcome, reports = two_groups()
    found = group_rates(outcome, reports)
    low, high = found.interval(0, against=1)

    assert tuple(found.interval(1, against=0)) == pytest.approx((-high, -low), abs=1e-9)


def test_intervals_hold_their_estimate_and_grow_with_the_level():
    outcome, reports = two_groups()
    found = group_rates(outcome, reports, level=0.9)
    for group, against, value in ((0, None, found.rates[0]), (1, 0, found.gap(1, 0))):
        narrow, wide = (found.interval(group, against=against, level=level) for level in (None, 0.99))

        assert narrow.level == 0.9
        assert wide.low < narrow.low < value < narrow.high < wide.high
        assert not narrow.reason


def test_a_share_that_may_be_zero_says_so():
    """Anybody who reads a bounded interval here would act on noise."""
    outcome, reports = two_groups(400, OUE(k=2, epsilon=0.1))
    found = group_rates(outcome, reports, privileged=0)

    assert not found.separated[1]
    assert tuple(found.interval(1)) == (0, 1)
    assert tuple(found.interval(0, against=1)) == (-1, 1)
    for interval in (found.interval(1), found.interval(0, against=1), found.data_unfairness_interval()):
        assert "is not separated from 0, so its rate may be anything." in interval.reason
    assert found.data_unfairness_interval("difference").high == 1
    assert "Not separated from a share of 0" in repr(found)


def test_a_rate_that_may_be_anything_is_not_shown():
    """A rate of 2.514 is no rate, and one of 0.4 for a group that may be empty is no better."""
    protocol, group = GRR(k=2, epsilon=0.1), np.repeat([0, 1], [100, 300])
    drawn = [
        group_rates(np.arange(400) % 2, protocol.privatize(group, rng=seed), privileged=0)
        for seed in range(20)
    ]
    found = next(each for each in drawn if each.rates[0] > 1)
    frame = found.to_frame(backend="pandas")

    assert not found.separated[0]
    assert not 0 <= found.rates[0] <= 1
    assert math.isnan(found.possible_rates[0])
    assert "is not separated from 0, so its rate may be anything." in found.possible_rates[0].reason
    assert frame["rate"].isna().tolist() == frame["gap"].isna().tolist()[:1] * 2
    assert f"{found.rates[0]:.3f}" not in repr(found)
    assert "cannot be estimated" in repr(found)


def test_a_rate_that_leaves_its_limits_by_chance_is_shown_as_the_nearest_one():
    """Half of all estimates of a rate of 0 are below it."""
    protocol = GRR(k=2, epsilon=3)
    outcome, group = np.r_[np.zeros(2_000, int), np.arange(2_000) % 2], np.repeat([0, 1], 2_000)
    found = [group_rates(outcome, protocol.privatize(group, rng=seed)) for seed in range(20)]
    below = next(each for each in found if each.rates[0] < 0)

    assert below.separated[0]
    assert below.possible_rates[0] == 0
    assert below.possible_rates[1] == below.rates[1]
    assert below.to_frame(backend="pandas")["rate"].tolist()[0] == 0


def test_a_share_below_zero_has_no_rate():
    protocol = GRR(k=3, epsilon=1)
    reports = np.repeat([0, 1], 50).astype(np.uint8)  # nobody names 2, so its share comes out negative
    found = group_rates(
        np.arange(100) % 2, reports, protocol=protocol, labels=["a", "b", "c"], privileged="a"
    )

    assert math.isnan(found.rates["c"])
    assert found.rates["c"].reason == "The estimated share of group 'c' is not above 0."
    assert found.gaps["c"].reason == found.rates["c"].reason
    assert math.isnan(found.naive["c"])
    assert found.naive["c"].reason == "No report supports this group."
    assert found.worst_pair is None
    assert math.isnan(found.data_unfairness("difference"))
    assert found.interval("a").high < 1
    assert "cannot be estimated" in repr(found)


def test_nobody_with_the_outcome_is_not_certainty():
    """No positive among 200 people leaves room for a few per cent."""
    protocol = GRR(k=2, epsilon=4)
    found = group_rates(np.zeros(200, dtype=int), protocol.privatize(np.arange(200) % 2, rng=3))
    low, high = found.interval(0)

    assert low == 0
    assert 0.005 < high < 0.2
    assert found.data_unfairness().reason.startswith("Nobody has outcome 1")
    assert math.isnan(found.data_unfairness_interval().low)
    assert found.data_unfairness_interval("difference").low == 0
    assert found.data_unfairness_interval("difference").high < 0.2


def test_a_few_with_the_outcome_leave_the_ratio_without_a_limit():
    protocol = GRR(k=2, epsilon=4)
    outcome = np.arange(200) == 0
    found = group_rates(outcome, protocol.privatize(np.arange(200) % 2, rng=3))

    assert found.data_unfairness_interval("ratio").high == math.inf


def test_without_people_there_is_no_estimate():
    found = group_rates([], np.empty(0, dtype=np.uint8), protocol=GRR(k=2, epsilon=1), privileged=0)
    everything = [*found.rates.values(), *found.shares.values(), *found.gaps.values(), found.overall]
    everything += [found.data_unfairness(), found.data_unfairness("difference")]

    assert np.isnan(everything).all()
    assert {each.reason for each in everything} == {"There are no people."}
    for interval in (found.interval(0), found.interval(0, against=1), found.data_unfairness_interval()):
        assert np.isnan(tuple(interval)).all()
        assert interval.reason == "There are no people."
    assert found.separated == {0: False, 1: False}
    assert "undefined" in repr(found)


@settings(max_examples=25)
@given(
    st.sampled_from(sorted(set(PROTOCOLS) - {"optimal"})),
    st.integers(2, 4),
    st.sampled_from(["1e-6", "0.3", "2", "8"]),
    st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=40),
)
def test_any_data_has_an_answer(name, k, epsilon, people):
    """However few the people: a number with limits around it, or NaN with a reason."""
    protocol = PROTOCOLS[name](k=k, epsilon=epsilon)
    group = np.array([member % k for member, _ in people], dtype=np.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", IndependenceWarning)
        found = group_rates(
            [each for _, each in people], protocol.privatize(group, rng=len(people)), privileged=0
        )
        frame = found.to_frame(backend="pyarrow").to_pylist()
        intervals = [found.data_unfairness_interval("ratio"), found.data_unfairness_interval("difference")]
        shown = repr(found)

    assert shown.startswith("Outcome rates")
    for row in frame:
        assert not math.isnan(row["rate"]) or row["note"]
        assert not people or 0 <= row["low"] < row["high"] <= 1
    for row in frame[1:]:
        assert not people or -1 <= row["gap_low"] < row["gap_high"] <= 1
    for low, high in intervals:
        assert math.isnan(low) or 0 <= low < high


@pytest.mark.parametrize("group", ["men", 2, [0], None])
def test_unknown_groups_are_refused(group):
    found = group_rates(*two_groups(100))
    with pytest.raises(InvalidParameterError, match="the label of one of the groups"):
        found.interval(group)
    with pytest.raises(InvalidParameterError, match="the label of one of the groups"):
        found.gap(0, group)
