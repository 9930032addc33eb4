"""What every protocol has in common, on the simplest of them."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.law import MOST_INDICATOR_BYTES
from evenhand.collect.protocols.thresholded import THE
from evenhand.collect.protocols.unary import OUE
from evenhand.collect.reports.reports import Reports
from evenhand.errors import InvalidParameterError, LimitExceededError, PrivacyWarning

TEN = GRR(k=10, epsilon=1)


# --- equality, text, record -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "same",
    [GRR(5, 1), GRR(5, 1.0), GRR(k=5, epsilon="1"), GRR(np.int64(5), Fraction(1)), GRR(5, "2/2")],
)
def test_however_it_is_written_it_is_the_same(same):
    assert same == GRR(k=5, epsilon=1)
    assert hash(same) == hash(GRR(k=5, epsilon=1))
    assert type(same.k) is int


def test_protocols_of_other_classes_or_parameters_differ():
    assert GRR(5, 1) != OUE(5, 1)
    assert GRR(5, 1) != GRR(5, 2)
    assert THE(5, 1) != THE(5, 1, recalibrated=True)
    assert GRR(5, 1) != "GRR(k=5, epsilon=1)"


@pytest.mark.parametrize(
    ("protocol", "text"),
    [
        (GRR(5, 1), "GRR(k=5, epsilon=1)"),
        (GRR(5, 0.1), "GRR(k=5, epsilon=0.1)"),
        (GRR(5, "1/3"), "GRR(k=5, epsilon='1/3')"),
        (THE(5, 1), "THE(k=5, epsilon=1)"),
        (THE(5, 1, recalibrated=True), "THE(k=5, epsilon=1, recalibrated=True)"),
    ],
)
def test_its_text_is_how_to_make_it(protocol, text):
    assert repr(protocol) == text


# --- what is claimed --------------------------------------------------------------------------------


def test_a_tight_protocol_claims_what_was_asked():
    assert TEN.claimed_epsilon == TEN.epsilon == TEN.guarantee.epsilon
    assert TEN.tight
    assert TEN.guarantee.tight
    assert 0 < TEN.epsilon - TEN.realised_epsilon < Fraction(1, 10**12)


def test_less_loss_than_asked_is_claimed_as_less():
    """The grid of 53 bits is too coarse for epsilon 50: the report is more private, and says so."""
    coarse = GRR(k=10, epsilon=50)
    with pytest.warns(PrivacyWarning):
        promise = coarse.guarantee

    assert math.isclose(coarse.claimed_epsilon, 36.7368005697, rel_tol=1e-11)
    assert promise.epsilon == coarse.claimed_epsilon
    assert coarse.realised_epsilon <= coarse.claimed_epsilon < coarse.epsilon


def test_the_realised_epsilon_is_the_one_of_the_formula_sheet():
    assert TEN.q_exact == Fraction(768645044264603, 2**53)
    assert f"{float(TEN.realised_epsilon):.15f}" == "0.999999999999998"


# --- variance ---------------------------------------------------------------------------------------


def test_variance_has_the_values_of_the_formula_sheet():
    assert math.isclose(TEN.variance(), 3.6302486929155, rel_tol=1e-13)
    assert math.isclose(TEN.variance(0.2), 4.5614114239064, rel_tol=1e-13)
    assert math.isclose(TEN.variance(0.2, 1_000), 4.5614114239064e-3, rel_tol=1e-13)


def test_variance_of_arrays_is_an_array():
    shares = np.array([0.0, 0.2])

    assert type(TEN.variance(0.2, 10)) is float
    assert TEN.variance(shares).tolist() == [TEN.variance(0.0), TEN.variance(0.2)]
    assert TEN.variance(0.2, [10, 20]).tolist() == [TEN.variance(0.2, 10), TEN.variance(0.2, 20)]
    assert TEN.variance(shares[:, None], [10, 20, 30]).shape == (2, 3)
    assert TEN.variance([]).shape == (0,)


@pytest.mark.parametrize(
    "f", [-0.001, 1.001, math.nan, math.inf, "a", None, [0.5, 2], [[0.1], [0.2, 0.3]], 10**400]
)
def test_a_share_is_from_0_to_1(f):
    with pytest.raises(InvalidParameterError, match="The 'f' parameter of variance must be a share"):
        TEN.variance(f)


@pytest.mark.parametrize("n", [0, -1, 0.5, math.nan, math.inf, "a", [1, 0]])
def test_a_number_of_people_is_at_least_1(n):
    with pytest.raises(
        InvalidParameterError, match="The 'n' parameter of variance must be a number of people"
    ):
        TEN.variance(0.1, n)


# --- matrix -----------------------------------------------------------------------------------------


def test_a_column_of_the_matrix_is_the_law_of_that_output():
    for protocol in (GRR(4, 1), OUE(4, 1)):
        supports = protocol.indicators(protocol.outputs())
        exact = protocol.matrix(exact=True)

        assert exact.shape == (4, len(supports))
        for output, column in zip(supports, exact.T, strict=True):
            for value in range(4):
                assert column[value] == _probability(protocol, value, output)


def _probability(protocol, value, supports):
    """The obvious way: one factor for each coordinate that is drawn."""
    p, q = protocol.p_exact, protocol.q_exact
    if isinstance(protocol, GRR):
        return p if supports[value] else q
    chances = [p if each == value else q for each in range(protocol.k)]
    return math.prod(chance if bit else 1 - chance for chance, bit in zip(chances, supports, strict=True))


@pytest.mark.parametrize("protocol", [GRR(3_000, 1), OUE(40, 1), OUE(2**31 - 1, 1)], ids=repr)
def test_a_matrix_that_would_not_fit_is_refused_before_it_is_made(protocol):
    with pytest.raises(LimitExceededError, match="more than 4,194,304 cells") as caught:
        protocol.matrix()

    assert caught.value.limit == "cells"
    assert len(str(caught.value)) < 300


# --- indicators -------------------------------------------------------------------------------------


def test_indicators_have_a_limit_that_can_be_moved(monkeypatch):
    reports = Reports(np.zeros(30, dtype=np.uint8), protocol=TEN, simulated=True)
    with pytest.raises(LimitExceededError, match="would take 300 bytes, more than 299"):
        TEN.indicators(reports, most_bytes=299)

    assert MOST_INDICATOR_BYTES == 2 << 30
    assert TEN.indicators(reports, most_bytes=300).shape == (30, 10)
    with pytest.raises(InvalidParameterError, match=r"'most_bytes' parameter of GRR\.indicators"):
        TEN.indicators(reports, most_bytes=-1)


def test_indicators_too_large_are_refused_before_they_are_made():
    many = np.broadcast_to(np.uint8(3), 1 << 28)  # one byte, read many times
    reports = Reports._drawn(many, TEN, simulated=True)
    with pytest.raises(LimitExceededError, match="indicator_chunks"):
        TEN.indicators(reports)

    assert next(TEN.indicator_chunks(reports)).shape == ((1 << 26) // 10, 10)


def test_chunks_check_their_arguments_before_the_first_is_asked_for():
    """A generator would tell of the mistake only where it is used, far from where it was made."""
    with pytest.raises(InvalidParameterError, match="'rows' parameter"):
        TEN.indicator_chunks([1, 2], rows=0)
    with pytest.raises(InvalidParameterError, match="'reports' parameter"):
        TEN.indicator_chunks([10])


def test_of_wide_reports_a_chunk_has_one():
    wide = OUE(k=1 << 27, epsilon=1)
    assert max(1, (1 << 26) // wide.k) == 1
    reports = Reports._drawn(np.zeros((2, 1 << 24), dtype=np.uint8), wide, simulated=True)

    assert len(next(wide.indicator_chunks(reports, rows=1))) == 1
    assert len(next(wide.indicator_chunks(reports))) == 1


# --- shown ------------------------------------------------------------------------------------------


def test_showing_a_weak_protocol_gives_no_warning():
    """A picture of a value must not fail where warnings are errors; the guarantee itself warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text, html = GRR(5, 20).describe(), GRR(5, 20)._repr_html_()

    assert "epsilon = 20, pure, local, for one report, bound" in text
    assert "p = 1 - 8.24e-09" in text
    assert "epsilon = 20" in html
