"""Rates by group as people see them, and the warning about outcomes made from reports."""

import math
import pickle
import re
import warnings

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from evenhand.collect import Aggregate, Independent
from evenhand.collect.estimates.group_rates import GroupRates, group_rates
from evenhand.collect.estimates.outcome_counts import RARE, OutcomeCounts, _at_least, impossible_groups
from evenhand.collect.protocols.channel import Channel
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.registry import PROTOCOLS
from evenhand.errors import IndependenceWarning
from unit.collect._grouped_people import found_rates, two_groups

# --- views ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_hold_one_row_per_group(backend):
    outcome, reports = two_groups()
    frame = group_rates(outcome, reports, privileged=0).to_frame(level=0.9, backend=backend)
    rows = pa.table(frame).to_pylist() if backend != "pyarrow" else frame.to_pylist()

    assert [row["group"] for row in rows] == [0, 1]
    assert rows[1]["gap_low"] < rows[1]["gap"] < rows[1]["gap_high"]
    assert {row["level"] for row in rows} == {0.9}
    assert rows[0]["low"] < rows[0]["rate"] < rows[0]["high"]


def test_a_report_reads_well():
    text = repr(found_rates(privileged="men"))

    assert text.splitlines() == [
        "Outcome rates of the true groups, 1,000,000 people, groups from reports of GRR(k=2, epsilon=1)",
        "group  share   rate    95% interval  naive rate  men minus this  interval of the gap",
        "men    0.700  0.200  0.198 to 0.202       0.254",
        "women  0.300  0.600  0.596 to 0.604       0.415          -0.400     -0.405 to -0.395",
        "Largest gap between two groups: 0.400, 0.395 to 0.405.",
    ]


def test_html_escapes_labels():
    """Labels come from the data."""
    outcome, reports = two_groups(200)
    html = group_rates(
        outcome, reports, labels=["<b>men</b>", "women"], privileged="<b>men</b>"
    )._repr_html_()

    assert "<b>" not in html
    assert "&lt;b&gt;men&lt;/b&gt;" in html


def test_long_reports_are_cut_and_say_so():
    protocol = GRR(k=40, epsilon=8)
    text = repr(group_rates(np.arange(4000) % 3 == 0, protocol.privatize(np.arange(4000) % 40, rng=1)))

    assert "and 10 more; to_frame() has them all" in text
    assert "Largest gap" not in text


def test_many_groups_that_are_not_separated_are_counted():
    protocol = GRR(k=6, epsilon=0.1)
    found = group_rates(np.arange(60) % 2, protocol.privatize(np.arange(60) % 6, rng=1))

    assert "and 3 more" in repr(found)
    assert "and 3 more" in found.data_unfairness_interval("difference").reason


def test_one_person_is_written_in_the_singular():
    protocol = GRR(k=2, epsilon=1)
    found = group_rates([1], protocol.privatize([0], rng=1))

    assert "1 person" in repr(found)
    assert "people" not in repr(GroupRates(found.counts, found.channel, (0, 1))).split("\n")[0]


def test_a_result_survives_pickling():
    found = group_rates(*two_groups(200))

    assert pickle.loads(pickle.dumps(found)).rates == found.rates


# --- independence ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROTOCOLS)
def test_predictions_made_from_the_reports_are_noticed(name):
    """The rates would say that such a model treats the true groups like day and night."""
    protocol = PROTOCOLS[name].example(k=2, epsilon=1)
    reports = protocol.privatize(np.arange(20_000) % 2, rng=11)
    predicted = protocol.indicators(reports)[:, 1]
    with pytest.warns(IndependenceWarning, match="The outcome was made from the reports"):
        group_rates(predicted, reports)


@pytest.mark.parametrize("crossed", [False, True])
def test_sums_are_warned_of_as_the_reports_are(crossed):
    """If this is false, rates that cannot be are believed because the reports were counted elsewhere."""
    strategy = Independent({"sex": GRR(k=2, epsilon=1), "race": GRR(k=3, epsilon=1)})
    codes = {"sex": np.arange(20_000) % 2, "race": np.arange(20_000) % 3}
    reports = strategy.privatize(codes, rng=11)
    predicted = (reports["sex"].values == 1) & (reports["race"].values == 2)
    columns = ("sex", "race") if crossed else "race"
    total = Aggregate.of(reports, outcome=predicted, protected=columns)
    with pytest.warns(IndependenceWarning) as from_reports:
        group_rates(predicted, reports if crossed else reports["race"])
    with pytest.warns(IndependenceWarning) as from_sums:
        total.group_rates(columns)

    assert [str(warning.message) for warning in from_sums] == [
        str(warning.message) for warning in from_reports
    ]
    assert [warning.filename for warning in from_sums] == [__file__]


def test_the_warning_names_the_groups_and_no_counts():
    protocol = GRR(k=5, epsilon=1)
    reports = protocol.privatize(np.arange(20_000) % 5, rng=11)
    with pytest.warns(IndependenceWarning) as caught:
        group_rates(np.asarray(reports) < 2, reports, labels=list("abcde"))

    assert "group 'a', 'b', 'c' and 2 more lies outside of 0 to 1" in str(caught[0].message)
    assert not re.search(r"\d{2}", str(caught[0].message))


def test_an_outcome_said_to_be_made_from_reports_is_warned_about():
    outcome, reports = two_groups()
    with pytest.warns(IndependenceWarning, match="these are not the rates of the true groups"):
        group_rates(outcome, reports, outcome_from_reports=True)


@pytest.mark.parametrize("said", [None, False])
def test_observed_outcomes_are_not_warned_about(said):
    outcome, reports = two_groups()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        group_rates(outcome, reports, outcome_from_reports=said)


def test_the_test_of_independence_is_exact():
    """One report fewer than the limit is suspected, one more is not; the limit is a binomial tail."""
    channel, people = Channel.of(None, 0.75, 0.25, owner="test"), 200
    support = np.arange(people + 1)
    suspected = [
        impossible_groups(
            OutcomeCounts(np.array([0, people]), np.array([np.zeros((1, 1)), [[count]]])), channel
        ).size
        for count in support
    ]
    chances = [math.comb(people, j) * 0.25**j * 0.75 ** (people - j) for j in support]
    few = next(count for count in support if math.fsum(chances[: count + 1]) >= RARE)

    assert suspected[:few] == [1] * few
    assert suspected[few : people - few + 1] == [0] * (people - 2 * few + 1)
    assert suspected[people - few + 1 :] == [1] * few


def test_the_tails_of_the_independence_check_are_binomial():
    """A wrong tail would accuse honest outcomes, or never accuse any."""
    count = np.arange(13.0)

    assert _at_least(count, np.full(13, 12.0), 0.3) == pytest.approx(binom.sf(count - 1, 12, 0.3), rel=1e-12)


@pytest.mark.parametrize("people", [10**6, 10**9, 3 * 10**9, 10**12])
def test_the_independence_check_sees_as_much_among_thousands_of_millions(people):
    far = people * 0.3 + 5.5 * (people * 0.21) ** 0.5
    near = people * 0.3 + 4.5 * (people * 0.21) ** 0.5
    tails = _at_least(np.array([near, far]), np.array([float(people)] * 2), 0.3)

    assert tails[0] > RARE > tails[1]
