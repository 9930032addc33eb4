"""The fairest matrix as a protocol: what it is made of, what it promises, and what is written down of it."""

import copy
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from evenhand.collect.fairest.optimum import clear_channels
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.optimal import Certificate, Optimal, Unfairness
from evenhand.collect.protocols.optimal_inputs import ORIGINS
from evenhand.collect.protocols.probabilities import GRID
from evenhand.collect.protocols.registry import protocol_from
from evenhand.errors import EvenhandError, EvenhandWarning, InvalidParameterError, LimitExceededError

THREE = {"weights": (0.5, 0.3, 0.2), "rates": (0.7, 0.4, 0.2), "epsilon": 1}
TWO = {"weights": (0.7, 0.3), "rates": (0.2, 0.6), "epsilon": 1}


@pytest.fixture(scope="module")
def three():
    return Optimal(**THREE, error=0.5)


# --- the optimum ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "error", "unfairness", "spent"),
    [
        (THREE, "minimum", 0.155463233602, 0.420204182795),
        (THREE, 0.45, 0.098388955524, 0.45),
        (THREE, 0.50, 0.057880111107, 0.50),
        (THREE, 0.55, 0.021970578943, 0.55),
        (TWO, 0.30, 0.25, 0.30),
        (TWO, 0.35, 0.160714285714, 0.35),
        (TWO, 0.4052, 0.087734452122, 0.4052),
        (TWO, None, 0.29762690608651, 0.268941421370),
    ],
)
def test_the_reports_are_as_fair_as_known_optima(given, error, unfairness, spent):
    """What is drawn after repair and rounding is the optimum, and not only what the solver had."""
    protocol = Optimal(**given, error=error)

    assert protocol.unfairness.after == pytest.approx(unfairness, abs=1e-8)
    assert protocol.error_probability == pytest.approx(spent, abs=1e-8)
    assert protocol.error_probability <= spent + 1e-8


def test_the_default_errs_as_often_as_randomized_response_and_is_fairer():
    ours = Optimal([0.4, 0.3, 0.15, 0.1, 0.05], [0.5, 0.4, 0.6, 0.3, 0.5], 1)
    grr = 1 - GRR(5, 1).p

    assert ours.error == "grr"
    assert ours.error_probability == pytest.approx(grr, abs=1e-8)
    assert ours.unfairness == pytest.approx((0.35483870967742, 0.0076377083557), abs=1e-8)


def test_the_closed_form_is_that_of_the_thesis():
    """The larger group reports a fair coin. At its own error there is something fairer."""
    printed = Optimal(**TWO, as_printed=True)
    ours = Optimal(**TWO, error=printed.error_probability)

    assert printed.truthfulness == pytest.approx([0.5, 0.8160602794], abs=1e-9)
    assert printed.error_probability == pytest.approx(0.4052, abs=1e-4)
    assert printed.unfairness.after == pytest.approx(0.2048, abs=1e-4)
    assert ours.unfairness.after == pytest.approx(0.0877, abs=1e-4)
    difference = Optimal(**TWO, kind="difference", as_printed=True)
    assert difference.unfairness == pytest.approx((0.4, 0.1101577326127), abs=1e-9)
    with pytest.raises(InvalidParameterError, match="'as_printed' parameter of Optimal must be False where"):
        _ = printed.certificate


def test_the_certificate_says_how_near_the_optimum_is(three):
    found = three.certificate

    assert isinstance(found, Certificate)
    assert found.unfairness == three.unfairness.after
    assert found.bound <= found.unfairness
    assert 0 <= found.gap < 1e-7
    assert 1 <= found.solves < 100
    assert Certificate(0.1, 0.2, 1).gap == 0


def test_what_it_says_of_itself_is_what_its_matrix_says(three):
    """The slow way, from the exact matrix."""
    law = three.matrix(exact=True)
    weights, rates = np.array(THREE["weights"]), np.array(THREE["rates"])
    reported = weights @ law.astype(float)
    seen = (weights * rates) @ law.astype(float) / reported
    mean = weights @ rates

    assert isinstance(three.unfairness, Unfairness)
    assert three.unfairness.before == pytest.approx(np.abs(rates / mean - 1).max())
    assert three.unfairness.after == pytest.approx(np.abs(seen / mean - 1).max())
    assert three.truthfulness.tolist() == [float(law[i, i]) for i in range(3)]
    assert three.error_probability == pytest.approx(1 - weights @ three.truthfulness)
    assert three.worst_ratio == max(max(column) / min(column) for column in law.T)
    with pytest.raises(ValueError, match="read-only"):
        three.channel.matrix[0, 0] = 0.9


def test_the_frontier_falls_to_zero(three):
    found = three.frontier(5)

    assert len(found.errors) == len(found.unfairnesses) == 5
    assert np.all(np.diff(found.errors) > 0)
    assert np.all(np.diff(found.unfairnesses) < 1e-9)
    assert found.unfairnesses[0] == pytest.approx(0.155463233602, abs=1e-6)
    assert found.unfairnesses[-1] == pytest.approx(0, abs=1e-6)
    with pytest.raises(InvalidParameterError, match=r"'n' parameter of Optimal\.frontier"):
        three.frontier(1)


def test_beyond_what_floats_can_solve_the_reports_are_more_private_than_asked():
    protocol = Optimal(**THREE | {"epsilon": 1_000})

    assert 19 < protocol.realised_epsilon <= protocol.claimed_epsilon <= 20


def test_groups_that_nobody_is_in_have_a_law_too():
    protocol = Optimal([0.6, 0.4, 0.0], [0.2, 0.5, 0.9], 1)

    assert protocol.matrix().shape == (3, 3)
    assert protocol.privatize([2, 2, 2]).values.max() <= 2


# --- what it is made of -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "parameter"),
    [
        ({"weights": [0.5, 0.5, math.nan]}, "weights"),
        ({"weights": [0.5, 0.5, math.inf]}, "weights"),
        ({"weights": [1.5, -0.3, -0.2]}, "weights"),
        ({"weights": [0, 0, 0]}, "weights"),
        ({"weights": [1]}, "weights"),
        ({"weights": []}, "weights"),
        ({"weights": "abc"}, "weights"),
        ({"weights": {0.5: 1}}, "weights"),
        ({"weights": [[0.5], [0.5]]}, "weights"),
        ({"weights": [True, False, True]}, "weights"),
        ({"weights": [0.5, "x", 0.5]}, "weights"),
        ({"weights": None}, "weights"),
        ({"weights": [0.5, [0.3, 0.2], 0.1]}, "weights"),
        ({"rates": [0.1, 0.2]}, "rates"),
        ({"rates": [0.1, 0.2, 1.1]}, "rates"),
        ({"rates": [0.1, -0.2, 1]}, "rates"),
        ({"rates": [0, 0, 0]}, "rates"),
        pytest.param({"rates": {0.1, 0.2, 0.3}}, "rates", id="a set has no order-rates"),
        ({"epsilon": 0}, "epsilon"),
        ({"error": "least"}, "error"),
        ({"error": 1.5}, "error"),
        ({"error": math.nan}, "error"),
        ({"error": True}, "error"),
        ({"kind": "both"}, "kind"),
        ({"origin": "somewhere"}, "origin"),
        ({"as_printed": True}, "weights"),
    ],
    ids=str,
)
def test_what_it_cannot_be_made_of_is_refused_when_it_is_made(change, parameter):
    with pytest.raises(InvalidParameterError, match=f"The '{parameter}' parameter of Optimal must be"):
        Optimal(**THREE | change)


def test_an_error_below_the_least_is_refused_when_it_is_solved():
    with pytest.raises(InvalidParameterError, match="'error' parameter"):
        Optimal(**THREE, error=0.1).matrix()


def test_weights_may_be_counts_and_stay_as_given_where_they_sum_to_one():
    assert Optimal([50, 30, 20], [0.7, 0.4, 0.2], 1).weights == (0.5, 0.3, 0.2)
    assert Optimal([1e308, 1e308], [0.7, 0.4], 1).weights == (0.5, 0.5)
    thirds = Optimal([1, 1, 1], [0.7, 0.4, 0.2], 1)
    assert Optimal(thirds.weights, thirds.rates, 1).weights == thirds.weights
    assert Optimal(np.array([0.5, 0.3, 0.2]), (0.7, 0.4, 0.2), "1") == Optimal(**THREE)
    assert Optimal(**THREE, error=Fraction(1, 2)).error == 0.5


def test_rates_of_zero_have_a_difference_but_no_ratio():
    same = Optimal([0.5, 0.5], [0, 0], 1, kind="difference")

    assert same.unfairness == (0, 0)


def test_nothing_is_solved_before_it_is_needed(monkeypatch):
    """A list of many candidates must not wait for each of them."""
    monkeypatch.setattr("evenhand.collect.protocols.optimal.fairest_channel", None)
    protocol = Optimal(**THREE)
    assert protocol == Optimal(**THREE)
    assert hash(protocol) == hash(Optimal(**THREE))
    assert "weights=(0.5, 0.3, 0.2)" in repr(protocol)

    with pytest.raises(TypeError):
        protocol.matrix()


def test_too_many_groups_are_refused():
    with pytest.raises(LimitExceededError, match="256 groups is the most"):
        Optimal(np.ones(257), np.linspace(0, 1, 257), 1)
    with pytest.raises(LimitExceededError, match="256 groups is the most"):
        Optimal.example(k=257)


def test_it_has_no_single_p_and_says_what_it_has(three):
    for name in ("p", "q", "p_exact", "q_exact"):
        with pytest.raises(EvenhandError, match=r"no single 'p' and no single 'q'.*Hint: matrix\(\)"):
            getattr(three, name)
        assert not hasattr(three, name)


def test_its_text_names_what_differs_from_the_default():
    assert repr(Optimal(**THREE)) == "Optimal(weights=(0.5, 0.3, 0.2), rates=(0.7, 0.4, 0.2), epsilon=1)"
    full = Optimal(**THREE | {"epsilon": "1/3"}, error="minimum", kind="difference", origin="pilot")

    assert repr(full).endswith("epsilon='1/3', error='minimum', kind='difference', origin='pilot')")
    assert eval(repr(full), {"Optimal": Optimal}) == full


# --- what it promises -------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", ORIGINS)
def test_the_guarantee_says_where_the_weights_come_from(origin):
    found = Optimal(**TWO, origin=origin).guarantee

    assert found.epsilon == 1
    assert found.assumptions[-1] == ORIGINS[origin]
    assert "the values a person may have are public" in found.assumptions


def test_it_describes_itself(three):
    text = three.describe()

    assert "says the true group  0.4223 to 0.5777; wrong for 0.5 of all" in text
    assert "unfairness           0.6078 of the true groups, 0.05788 of the reports (ratio)" in text
    assert "variance" in text
    assert "none: the matrix makes groups alike" in Optimal(**THREE, error=0.6).describe()


# --- records ----------------------------------------------------------------------------------------


def test_the_record_carries_the_law(three):
    record = json.loads(json.dumps(three.to_dict()))
    again = protocol_from(record)

    assert [sum(row) for row in record["law"]] == [GRID] * 3
    assert record["k"] == 3
    assert again == three
    assert three == again
    assert hash(again) == hash(three)
    assert again.to_dict() == three.to_dict()


def test_whoever_reads_a_record_uses_the_law_that_is_written_there(three, monkeypatch):
    """Another machine's solver may differ in the last digits; reports must be undone by what made them."""
    record = three.to_dict()
    record["law"][0][0] -= 5
    record["law"][0][1] += 5
    monkeypatch.setattr("evenhand.collect.protocols.optimal.fairest_channel", None)
    other = protocol_from(record)

    assert other.matrix(exact=True)[0, 0] == Fraction(record["law"][0][0], GRID)
    assert other != three
    assert three != other
    assert other == copy.deepcopy(other) == pickle.loads(pickle.dumps(other))
    assert other != GRR(3, 1)
    assert other != "Optimal"


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(law=None),
        lambda record: record.pop("law"),
        lambda record: record.update(law=[[GRID // 2, GRID // 2]] * 2),
        lambda record: record["law"].pop(),
        lambda record: record["law"][0].append(1),
        lambda record: record["law"].__setitem__(1, 7),
        lambda record: record["law"][0].__setitem__(0, record["law"][0][0] + 1),
        lambda record: record["law"][0].__setitem__(0, float(record["law"][0][0])),
        lambda record: record["law"].__setitem__(0, [GRID, 0, 0]),
        lambda record: record["law"].__setitem__(0, [GRID + 1, -1, 0]),
        lambda record: record["law"].__setitem__(0, [GRID - 2, 1, 1]),  # tells more than epsilon allows
        lambda record: record.update(epsilon="999/1000"),  # the law of another epsilon
        lambda record: record.update(k=4),
        lambda record: record.update(k="3"),
        lambda record: record.update(as_printed=1),
        lambda record: record.update(weights="abc"),
    ],
)
def test_a_record_that_was_tampered_with_is_refused(three, change):
    """A law that tells more than its epsilon would break a promise that was already given."""
    record = copy.deepcopy(three.to_dict())
    change(record)

    with pytest.raises(InvalidParameterError):
        protocol_from(record)


# --- estimates --------------------------------------------------------------------------------------


def test_the_variance_is_that_of_the_whole_distribution(three):
    """The slow way: scores by the inverse, their mean squares by the matrix."""
    law = three.matrix()
    scores = np.linalg.inv(law).T
    shares = np.array([0.1, 0.2, 0.7])
    slow = [shares @ (law @ scores[v] ** 2) - shares[v] for v in range(3)]

    assert three.variance(shares) == pytest.approx(slow)
    assert three.variance(shares, 10) == pytest.approx(np.array(slow) / 10)
    assert three.variance() == pytest.approx(three.variance(THREE["weights"]))
    assert three.variance(n=[1, 10]).shape == (2, 3)
    for wrong in (0.2, [0.5, 0.5], [0.5, 0.4, 0.3], [1.5, -0.3, -0.2], "x"):
        with pytest.raises(InvalidParameterError, match="the shares of all 3 groups, which sum to 1"):
            three.variance(wrong)
    with pytest.raises(InvalidParameterError, match="'n' parameter"):
        three.variance(n=0)


@pytest.mark.parametrize("given", [THREE | {"error": 0.6}, TWO | {"error": 0.5}, TWO | {"error": 0.9}])
def test_without_unfairness_there_is_no_estimate(given):
    """Reports that tell nothing about the outcome cannot be undone; a number would be made up."""
    protocol = Optimal(**given)
    reports = protocol.privatize(np.arange(100) % protocol.k, rng=3)

    assert protocol.unfairness.after < 1e-7
    with pytest.raises(InvalidParameterError, match="'protocol' parameter of an estimate must be a matrix"):
        _ = protocol.estimate(reports).values


def test_groups_that_are_made_alike_are_named():
    """With small groups the fairest matrix may let them all say the same."""
    protocol = Optimal((0.855, 0.096, 0.031, 0.010, 0.008), (0.26, 0.13, 0.27, 0.12, 0.11), 2)

    assert protocol.channel.alike == ((3, 4),)
    with pytest.raises(InvalidParameterError, match="makes the values 3 and 4 send the same reports"):
        _ = protocol.estimate(protocol.privatize([0, 1], rng=1)).values


def test_an_estimate_that_hangs_by_a_thread_says_so():
    """Between the two there is a matrix that has an inverse on paper only."""
    protocol = Optimal(**TWO, error=0.4999)
    reports = protocol.privatize(np.arange(1_000) % 2, rng=3)

    with pytest.warns(EvenhandWarning, match="nearly makes groups alike .* standard error of a share is"):
        found = protocol.estimate(reports)
    assert found.standard_error.max() > 1
    assert protocol.estimate(protocol.privatize([])).n == 0  # nobody reports: nothing to warn of


def test_the_name_alone_does_not_make_one():
    with pytest.raises(InvalidParameterError, match=r"Hint: pass the protocol itself: Optimal\(weights="):
        Optimal.of_size(3, 1)


def test_it_is_solved_at_once_where_that_is_asked_for():
    """A matrix of many groups takes a while, and whoever waits wants to see how far it is."""
    clear_channels()
    calls = []
    made = Optimal([0.5, 0.3, 0.2], [0.7, 0.4, 0.2], 1, error=0.48)

    assert made.solve(lambda done, about: calls.append((done, about))) is made
    assert len(calls) == made.certificate.solves
    again = len(calls)
    assert made.solve(lambda done, about: calls.append((done, about))) is made
    assert len(calls) == again
    assert Optimal([0.7, 0.3], [0.2, 0.6], 1, as_printed=True).solve().matrix().shape == (2, 2)
