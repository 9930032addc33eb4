"""Reports as an array that knows where it comes from."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.hashing import OLH
from evenhand.collect.protocols.unary import OUE
from evenhand.collect.reports.reports import Reports
from evenhand.errors import InvalidParameterError

FIVE = GRR(k=5, epsilon=1)


@pytest.fixture
def reports():
    return Reports(np.array([0, 4, 2, 2], dtype=np.uint8), protocol=FIVE, simulated=False)


def test_they_behave_like_an_array(reports):
    assert len(reports) == 4
    assert (reports.shape, reports.dtype) == ((4,), np.uint8)
    assert np.asarray(reports).tolist() == [0, 4, 2, 2]
    assert (reports == [0, 4, 0, 2]).tolist() == [True, True, False, True]
    assert (reports != reports).tolist() == [False] * 4
    assert (reports == reports[:]).all()
    assert np.array(reports, dtype=np.int64).dtype == np.int64
    assert reports[1] == 4


@pytest.mark.parametrize(
    ("which", "rest"),
    [
        (slice(1, 3), [4, 2]),
        (slice(None, None, 2), [0, 2]),
        ([3, 0], [2, 0]),
        (np.array([True, False, False, True]), [0, 2]),
        (pd.Series([True, False, False, True]), [0, 2]),
        (slice(0, 0), []),
    ],
    ids=str,
)
def test_parts_of_them_are_reports(reports, which, rest):
    part = reports[which]

    assert isinstance(part, Reports)
    assert np.asarray(part).tolist() == rest
    assert part.protocol is FIVE
    assert not part.simulated


def test_what_is_no_row_is_a_plain_array():
    bits = OUE(k=9, epsilon=1).privatize([0, 3, 8], rng=1)

    assert type(bits[0]) is np.ndarray
    assert type(bits[:, 0]) is np.ndarray
    assert type(bits[np.array([[0, 1]])]) is np.ndarray


def test_they_say_what_they_are_and_nothing_of_what_they_hold(reports):
    simulated = Reports(np.asarray(reports), protocol=FIVE, simulated=True)

    assert repr(reports) == "<4 reports of GRR(k=5, epsilon=1)>"
    assert repr(simulated) == "<4 reports of GRR(k=5, epsilon=1), simulated>"


def test_they_have_no_hash(reports):
    with pytest.raises(TypeError, match="unhashable"):
        hash(reports)


def test_nothing_about_them_can_be_changed(reports):
    """A report changed by accident is a report nobody sent."""
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(reports)[0] = 1
    for name, value in {"values": np.zeros(4), "protocol": None, "simulated": True, "note": 1}.items():
        with pytest.raises(AttributeError):
            setattr(reports, name, value)


def test_the_array_they_were_made_of_stays_as_it_was():
    values = np.array([1, 2], dtype=np.uint8)
    Reports(values, protocol=FIVE, simulated=True)
    values[0] = 3

    assert values.tolist() == [3, 2]


def test_the_array_they_were_made_of_is_not_theirs():
    """They are checked once: what is changed behind them would be counted as if somebody had sent it."""
    values = np.array([1, 2], dtype=np.uint8)
    for given in (values, values[:], memoryview(values)):
        reports = Reports(given, protocol=FIVE, simulated=False)
        values[0] = 4

        assert np.asarray(reports).tolist() == [1, 2]
        values[0] = 1


def test_a_bare_array_is_looked_at_where_it_is():
    """Counting a large array must not need room for two."""
    values = np.array([1, 2], dtype=np.uint8)

    assert np.shares_memory(Reports.of(values, FIVE).values, values)


def test_parts_of_every_report_are_no_reports():
    sent = OLH(k=20, epsilon=1).privatize([0, 3])

    assert type(sent["value"]) is np.ndarray
    assert type(sent[["multiplier", "offset"]]) is np.ndarray


@pytest.mark.parametrize("wrong", [[[1], [2, 3]], np.ma.masked_array([1, 2], mask=[False, True])], ids=str)
def test_what_is_no_plain_array_is_refused(wrong):
    """A masked report is one that somebody took out: counting it would put it back."""
    for ask in (lambda: Reports(wrong, protocol=FIVE, simulated=False), lambda: FIVE.counts(wrong)):
        with pytest.raises(InvalidParameterError, match="must be whole numbers from 0 to 4"):
            ask()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_copies_are_reports_too(reports, copied):
    made = copied(reports)

    assert (made == reports).all()
    assert made.protocol == FIVE
    assert not made.simulated
    assert not np.asarray(made).flags.writeable


@pytest.mark.parametrize("wrong", [[5], [-1], [0.5], [[1]], ["a"], 3])
def test_values_that_cannot_be_reports_are_refused(wrong):
    with pytest.raises(InvalidParameterError, match="must be whole numbers from 0 to 4"):
        Reports(wrong, protocol=FIVE, simulated=False)


def test_values_are_kept_in_the_type_of_the_protocol():
    assert Reports(np.array([1, 2]), protocol=FIVE, simulated=False).dtype == np.uint8


def test_a_bare_array_counts_as_simulated(reports):
    """Nobody knows where it came from."""
    assert Reports.of(np.array([1, 2]), FIVE).simulated
    assert Reports.of(reports, FIVE) is reports


def test_reports_of_another_protocol_are_named(reports):
    with pytest.raises(InvalidParameterError, match=r"must be reports of GRR\(k=5, epsilon=2\)"):
        Reports.of(reports, GRR(k=5, epsilon=2))


def test_batches_are_put_together(reports):
    simulated = FIVE.privatize([1, 2], rng=1)

    assert len(Reports.concat([reports, reports[:1]])) == 5
    assert not Reports.concat([reports, reports]).simulated
    assert Reports.concat([reports, simulated]).simulated
    with pytest.raises(InvalidParameterError, match="not empty"):
        Reports.concat([])
    for wrong in (reports, [reports, np.array([1])], [np.array([1]), reports]):
        with pytest.raises(InvalidParameterError, match=r"'parts' parameter of Reports\.concat"):
            Reports.concat(wrong)
    assert len(Reports.concat(part for part in (reports, reports))) == 8
    with pytest.raises(InvalidParameterError, match="use reports"):
        Reports.concat([reports, GRR(k=5, epsilon=2).privatize([1], rng=1)])


def test_an_arrow_array_counts_as_simulated_unless_you_know_better(reports):
    array = reports.to_arrow()

    assert Reports.from_arrow(array, FIVE).simulated
    assert not Reports.from_arrow(array, FIVE, simulated=False).simulated
    assert (Reports.from_arrow(array, FIVE) == reports).all()
