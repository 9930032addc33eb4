"""Joint reports can be cut, masked and put together without anybody's answers changing hands."""

import pickle

import numpy as np
import pytest

from evenhand.collect.joint.combined import Combined
from evenhand.collect.joint.independent import Independent, Sampled
from evenhand.collect.joint.strategy import JointReports
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.unary import OUE
from evenhand.errors import ColumnNotFoundError, InvalidParameterError

N = 60
CODES = {"a": np.arange(N) % 2, "b": np.arange(N) % 3}
EVERY = [
    Independent({"a": GRR(2, 1), "b": OUE(3, 1)}),
    Combined({"a": 2, "b": 3}, 1),
    Sampled({"a": GRR(2, 1), "b": OUE(3, 1)}, {"a": "1/4", "b": "3/4"}),
]
names = [each.name for each in EVERY]


def picks():
    mask = np.arange(N) % 7 < 3
    return [slice(10, 40), slice(None, None, -2), mask, np.array([5, 5, 0, 59]), [3, 1], slice(0, 0)]


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_taking_people_takes_all_their_answers(strategy):
    """A person's answers that move to another person's row would be a wrong joint estimate."""
    reports = strategy.privatize(CODES, rng=7)
    whole = strategy.indicators(reports)
    for which in picks():
        part = reports[which]
        found = strategy.indicators(part)

        assert len(part) == len(np.arange(N)[which])
        assert part.simulated == reports.simulated
        for column in strategy.columns:
            assert np.array_equal(found[column], whole[column][which])


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_batches_make_one(strategy):
    reports = strategy.privatize(CODES, rng=7)
    again = JointReports.concat([reports[:20], reports[20:20], reports[20:]])

    assert len(again) == N
    for column in strategy.columns:
        assert np.array_equal(strategy.indicators(again)[column], strategy.indicators(reports)[column])


def test_one_simulated_batch_makes_the_whole_simulated():
    strategy = EVERY[0]
    mixed = JointReports.concat([strategy.privatize(CODES), strategy.privatize(CODES, rng=7)])

    assert mixed.simulated
    assert not strategy.privatize(CODES).simulated


def test_only_batches_of_one_strategy_make_one():
    parts = [each.privatize(CODES, rng=7) for each in EVERY]
    with pytest.raises(InvalidParameterError, match="joint reports of another strategy"):
        JointReports.concat(parts)
    with pytest.raises(InvalidParameterError, match="'parts' parameter"):
        JointReports.concat([])


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_a_column_is_had_by_name(strategy):
    reports = strategy.privatize(CODES, rng=7)

    assert reports.columns == ("a", "b")
    assert list(reports.by_column) == ["a", "b"]
    assert reports["b"].protocol == strategy.protocols["b"]
    with pytest.raises(ColumnNotFoundError, match=r"'B' is not among those reported. Hint: did you mean 'b'"):
        reports["B"]
    with pytest.raises(InvalidParameterError, match=r"reports\[3:4\]"):
        reports[3]
    assert repr(reports) == "<60 joint reports of a, b, simulated>"


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_reports_survive_the_way_from_a_worker(strategy):
    reports = strategy.privatize(CODES, rng=7)
    same = pickle.loads(pickle.dumps(reports))  # from ourselves

    assert same.strategy == strategy
    for column in strategy.columns:
        assert np.array_equal(same[column].values, reports[column].values)


@pytest.mark.parametrize("strategy", EVERY, ids=names)
def test_arrow_data_is_that_of_each_column(strategy):
    reports = strategy.privatize(CODES, rng=7)
    written = reports.to_arrow()

    assert list(written) == ["a", "b"]
    assert all(len(written[column]) == len(reports[column]) for column in written)


def test_what_was_sent_must_be_what_the_strategy_sends():
    """Reports put together by hand must not pass for those of another protocol or of other people."""
    independent, combined = EVERY[:2]
    a, b = independent.privatize(CODES, rng=7).sent
    for sent, asked in [([a], None), ([a, b], np.zeros(N, dtype=int)), ([a, b[:5]], None), ([b, a], None)]:
        with pytest.raises(InvalidParameterError):
            JointReports(sent, strategy=independent, asked=asked)
    with pytest.raises(InvalidParameterError, match="another number of reports"):
        JointReports([a, b], strategy=combined)
    rebuilt = JointReports([a, b], strategy=independent)

    assert np.array_equal(rebuilt["b"].values, b.values)


def test_who_was_asked_must_fit_what_was_sent():
    sampled = EVERY[2]
    reports = sampled.privatize(CODES, rng=7)
    wrong = [None, reports.asked[:-1], reports.asked.astype(float), reports.asked + 1, list(reports.asked)]
    for asked in wrong:
        with pytest.raises(InvalidParameterError, match="'sent' parameter of JointReports"):
            JointReports(reports.sent, strategy=sampled, asked=asked)
    with pytest.raises(InvalidParameterError, match="another number of reports"):
        JointReports(reports.sent[:1], strategy=sampled, asked=reports.asked)
