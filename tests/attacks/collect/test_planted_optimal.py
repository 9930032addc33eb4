"""Faults planted into the fairest matrix are caught before a report is drawn."""

import math
from fractions import Fraction

import pytest

from contract._protocol_claims import assert_exact_law, exp_below
from evenhand.collect.protocols.optimal import Optimal
from evenhand.collect.protocols.optimal_inputs import check_law, column_ratio
from evenhand.collect.protocols.probabilities import GRID
from evenhand.errors import EvenhandError, GuaranteeError, InvalidParameterError
from evenhand.privacy.audit.measured import audit_epsilon
from evenhand.privacy.randomness import SeededSource

EPSILON = Fraction(1)
TIE = 1 - math.exp(-1) / 2
PRINTED_TIE = ((round(TIE * GRID), GRID - round(TIE * GRID)), (GRID - round(TIE * GRID), round(TIE * GRID)))
"""Both groups of one size, read as printed: each says the truth with 1 - e^-epsilon / 2."""


def test_the_printed_tie_is_not_private():
    """Read literally, the closed form has p = q = 1 - e^-epsilon / 2 where the groups are of one size."""
    ratio = column_ratio(PRINTED_TIE)

    assert float(ratio) == pytest.approx(TIE / (1 - TIE))
    assert ratio > exp_below(EPSILON)
    with pytest.raises(InvalidParameterError, match="keep the epsilon that is stated"):
        check_law(PRINTED_TIE, 2, EPSILON)


def _planted(law):
    """Return a protocol whose matrix was put in place behind its back."""
    protocol = Optimal([0.5, 0.5], [0.2, 0.6], EPSILON)
    protocol._set(law=law)
    return protocol


def test_a_matrix_put_in_place_behind_its_back_has_no_guarantee():
    with pytest.raises(GuaranteeError, match="do not keep epsilon"):
        _ = _planted(PRINTED_TIE).guarantee
    with pytest.raises(AssertionError, match="more than epsilon allows"):
        assert_exact_law(_planted(PRINTED_TIE))


def test_a_solver_that_returns_too_much_is_stopped(monkeypatch):
    """Whatever the linear programs say, the rational check has the last word."""
    monkeypatch.setattr("evenhand.collect.protocols.optimal.dyadic_channel", lambda *_: PRINTED_TIE)
    protocol = Optimal([0.5, 0.5], [0.2, 0.6], EPSILON)

    with pytest.raises(EvenhandError):
        protocol.privatize([0, 1])


class _Overrun:
    """Reports of the printed tie under the claim of the right matrix."""

    def __init__(self):
        right, wrong = Optimal([0.5, 0.5], [0.2, 0.6], EPSILON), _planted(PRINTED_TIE)
        self.privatize, self.indicators, self.guarantee = wrong.privatize, wrong.indicators, right.guarantee


@pytest.mark.statistical
def test_an_audit_sees_the_printed_tie():
    found = audit_epsilon(_Overrun(), (0, 1), rng=SeededSource(3), size=100_000, confidence=1 - 1e-9)

    assert found.exceeds


def test_one_unit_too_much_is_seen():
    """The check is exact: a single step of two to the minus 53 beyond the bound is refused."""
    bound = exp_below(EPSILON)
    most = math.floor(bound * GRID / (1 + bound))
    right, wrong = (((each, GRID - each), (GRID - each, each)) for each in (most, most + 1))

    assert check_law(right, 2, EPSILON) == right
    with pytest.raises(InvalidParameterError, match="keep the epsilon"):
        check_law(wrong, 2, EPSILON)
