"""Estimated shares: values, standard errors, intervals, covariances, views."""

import math
import pickle
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binomtest, norm

from evenhand.collect.estimates.frequencies import Frequencies
from evenhand.collect.protocols.channel import Channel
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.hashing import BLH, OLH
from evenhand.collect.protocols.registry import PROTOCOLS
from evenhand.collect.protocols.subset import SS
from evenhand.collect.protocols.unary import OUE, RAPPOR
from evenhand.errors import InvalidParameterError, LimitExceededError


def binomtest_limits(counts, n):
    """Limits of Clopper and Pearson, from scipy."""
    found = [binomtest(int(count), n).proportion_ci(0.95, method="exact") for count in counts]
    return np.array([each.low for each in found]), np.array([each.high for each in found])


ONE_P = [name for name in PROTOCOLS if name != "optimal"]  # a matrix has tests of its own
ENUMERABLE = [GRR(k=4, epsilon=1), RAPPOR(k=4, epsilon=1), OUE(k=4, epsilon=2), SS(k=5, epsilon=0.5)]


def test_an_estimate_may_leave_the_unit_interval():
    """Cutting it at 0 and 1 would give it a bias."""
    estimate = Frequencies([350, 0], n=1000, protocol=GRR(k=10, epsilon=1))

    assert estimate.values[0] == pytest.approx(1.8049417671733, rel=1e-12)
    assert estimate.values[1] < 0


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint16, np.uint32, np.uint64, np.float16, np.float32])
def test_counts_of_any_kind_of_number_are_the_same_counts(kind):
    """Taking the expected count off an unsigned one wrapped round: a share of 1.8e17."""
    plain, other = (Frequencies(np.array([1, 100], dtype), n=300, p=0.7, q=0.6) for dtype in (int, kind))

    assert other.values.tolist() == plain.values.tolist()
    assert other.interval().high.tolist() == plain.interval().high.tolist()


@pytest.mark.parametrize("name", ONE_P)
def test_expected_counts_give_back_the_shares(name):
    protocol = PROTOCOLS[name](k=5, epsilon=1)
    shares = np.array([0.5, 0.2, 0.2, 0.1, 0.0])
    counts = 1000 * (protocol.q + shares * (protocol.p - protocol.q))

    assert Frequencies(counts, n=1000, protocol=protocol).values == pytest.approx(shares, abs=1e-12)


def test_the_standard_error_is_that_of_the_stated_variance():
    protocol = GRR(k=10, epsilon=1)
    counts = 10_000 * (protocol.q + np.array([0.2, 0.0]) * (protocol.p - protocol.q))

    error = Frequencies(counts, n=10_000, protocol=protocol).standard_error

    assert 10_000 * error**2 == pytest.approx([4.5614114239064, 3.6302486929155], rel=1e-9)


def test_a_channel_of_its_own_needs_no_protocol():
    """A marginal of a combined report has probabilities that no protocol has."""
    duck = SimpleNamespace(p_exact=Fraction(3, 4), q_exact=Fraction(1, 8))
    by_duck, by_numbers = (
        Frequencies([30, 50], n=100, **given) for given in ({"protocol": duck}, {"p": 0.75, "q": "1/8"})
    )

    assert by_duck.channel == by_numbers.channel == Channel(Fraction(3, 4), Fraction(1, 8))
    assert by_duck.values.tolist() == by_numbers.values.tolist()
    assert repr(by_numbers).startswith("Shares of 2 values from 100 reports\n")


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"p": 0.5},
        {"q": 0.5},
        {"protocol": GRR(k=2, epsilon=1), "p": 0.5},
        {"p": 0.5, "q": 0.5},
        {"p": 0.5, "q": 0.6},
        {"p": 1.5, "q": 0.6},
        {"p": math.nan, "q": 0.6},
    ],
)
def test_a_channel_that_tells_nothing_is_refused(given):
    with pytest.raises(InvalidParameterError):
        Frequencies([1, 1], n=2, **given)


@pytest.mark.parametrize("counts", [[[1, 2]], [3, 0], [-1, 1], [math.nan, 1], ["a", "b"], 1])
def test_counts_that_cannot_be_are_refused(counts):
    with pytest.raises(InvalidParameterError, match="'counts' parameter of Frequencies must be one number"):
        Frequencies(counts, n=2, protocol=GRR(k=2, epsilon=1))


@pytest.mark.parametrize("n", [-1, 1.5, True])
def test_a_number_of_reports_that_cannot_be_is_refused(n):
    with pytest.raises(InvalidParameterError, match="'n' parameter"):
        Frequencies([0, 0], n=n, protocol=GRR(k=2, epsilon=1))


def test_tiny_epsilons_lose_no_digits():
    """C / n - q cancels nearly all digits there, so it is computed from the exact q."""
    protocol, n = GRR(k=10, epsilon="1e-9"), 10**12
    count = math.floor(n * protocol.q_exact) + 7
    exact = (Fraction(count, n) - protocol.q_exact) / (protocol.p_exact - protocol.q_exact)

    assert Frequencies([count], n=n, protocol=protocol).values[0] == pytest.approx(float(exact), rel=1e-12)


def test_an_estimate_cannot_be_changed():
    counts = np.array([60, 40])
    estimate = Frequencies(counts, n=100, protocol=GRR(k=2, epsilon=1))
    counts[0] = 0

    assert estimate.counts.tolist() == [60, 40]
    for array in (estimate.counts, estimate.values, estimate.standard_error):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        estimate.n = 7


def test_an_estimate_survives_pickling():
    estimate = Frequencies([60, 40], n=100, protocol=GRR(k=2, epsilon=1))

    assert pickle.loads(pickle.dumps(estimate)).values.tolist() == estimate.values.tolist()


# --- intervals ------------------------------------------------------------------------------------


def _slow_limits(count, n, protocol, level, of):
    """Move f up and down until the test rejects it."""
    p, q, z = protocol.p, protocol.q, norm.ppf((1 + level) / 2)

    def rejected(f, sign):
        support = q + f * (p - q)
        variance = f * p * (1 - p) + (1 - f) * q * (1 - q) if of == "people" else support * (1 - support)
        return sign * (count / n - support) - 0.5 / n - z * math.sqrt(variance / n)

    low = 0.0 if rejected(0, 1) <= 0 else brentq(rejected, 0, 1, args=(1,))
    high = 1.0 if rejected(1, -1) <= 0 else brentq(rejected, 0, 1, args=(-1,))
    return low, high


@pytest.mark.parametrize("of", ["people", "population"])
@pytest.mark.parametrize("name", ONE_P)
def test_the_closed_form_inverts_the_test(name, of):
    protocol, n = PROTOCOLS[name](k=4, epsilon=2), 400
    inside = np.arange(math.ceil(n * protocol.q), math.floor(n * protocol.p) + 1)
    low, high = Frequencies(inside, n=n, protocol=protocol).interval(0.9, of=of)
    slow = np.array([_slow_limits(count, n, protocol, 0.9, of) for count in inside])

    assert low == pytest.approx(slow[:, 0], abs=1e-9)
    assert high == pytest.approx(slow[:, 1], abs=1e-9)


def test_an_estimate_outside_gets_the_interval_of_the_edge():
    """An empty interval, or one that is a point, would claim certainty where there is none."""
    protocol, n = GRR(k=2, epsilon=1), 100
    low, high = Frequencies([0, n], n=n, protocol=protocol).interval()

    assert low[0] == 0
    assert high[1] == 1
    assert 0.1 < high[0] < 0.5
    assert 0.5 < low[1] < 0.9


def test_intervals_are_monotone_and_hold_the_estimate():
    protocol, n = SS(k=6, epsilon=1), 200
    counts = np.arange(n + 1)
    estimate = Frequencies(counts, n=n, protocol=protocol)
    for of in ("people", "population"):
        low, high = estimate.interval(of=of)

        assert (np.diff(low) >= 0).all()
        assert (np.diff(high) >= 0).all()
        assert (low <= np.clip(estimate.values, 0, 1)).all()
        assert (np.clip(estimate.values, 0, 1) <= high).all()


def test_the_population_is_less_certain_than_the_people():
    estimate = Frequencies([300, 700], n=1000, protocol=GRR(k=2, epsilon=2))
    people, population = estimate.interval(), estimate.interval(of="population")

    assert (population.high - population.low > people.high - people.low).all()


def test_exact_intervals_are_those_of_clopper_and_pearson():
    """With p = 1 and q = 0 nothing is randomised: 0 of 10 has the known limit."""
    interval = Frequencies([0, 10], n=10, p=1, q=0).interval(of="population", method="exact").at(0)

    assert f"{interval.low:.4f} {interval.high:.4f}" == "0.0000 0.3085"
    assert interval.exact
    assert interval.method == "Clopper-Pearson"


@pytest.mark.figures
@pytest.mark.parametrize("protocol", [GRR(k=2, epsilon=1), OUE(k=4, epsilon=2), OLH(k=4, epsilon=8)])
def test_exact_intervals_are_never_a_single_point(protocol):
    """Few supporting reports are bad luck, and no proof that exactly nobody has the value."""
    counts = np.arange(301)
    estimate = Frequencies(counts, n=300, protocol=protocol)
    low, high = estimate.interval(of="population", method="exact")
    own_low, own_high = binomtest_limits(counts, 300)
    span = float(protocol.p_exact - protocol.q_exact)

    assert (high - low > 1e-3).all()
    assert (low <= np.clip(estimate.values, 0, 1)).all()
    assert (high >= np.clip(estimate.values, 0, 1)).all()
    assert (low <= np.clip((own_low - protocol.q) / span, 0, 1) + 1e-9).all()  # so the level is still kept
    assert (high >= np.clip((own_high - protocol.q) / span, 0, 1) - 1e-9).all()


def test_exact_intervals_of_the_people_are_refused_with_a_hint():
    with pytest.raises(InvalidParameterError, match="of='population' has exact"):
        Frequencies([1, 1], n=2, p=0.6, q=0.4).interval(method="exact")


@pytest.mark.parametrize(
    "given", [{"level": 0}, {"level": 1}, {"level": "high"}, {"of": "men"}, {"method": "wald"}]
)
def test_options_of_intervals_are_checked(given):
    with pytest.raises(InvalidParameterError):
        Frequencies([1, 1], n=2, p=0.6, q=0.4).interval(**given)


def test_without_reports_there_is_no_estimate():
    """A silent 0 would read as: nobody has this value."""
    estimate = Frequencies([0, 0, 0], n=0, protocol=GRR(k=3, epsilon=1))

    assert np.isnan([estimate.values, estimate.standard_error, estimate.consistent().values]).all()
    for options in ({}, {"of": "population"}, {"of": "population", "method": "exact"}):
        intervals = estimate.interval(**options)

        assert np.isnan([intervals.low, intervals.high]).all()
        assert intervals.reason == intervals.at(0).reason == "There are no reports."
    assert np.isnan(estimate.covariance()).all()
    assert "undefined" in repr(estimate)


def test_a_tiny_epsilon_gives_the_whole_interval():
    estimate = GRR(k=3, epsilon="1e-6").estimate(np.array([0, 1, 1, 2]))

    assert [limit.tolist() for limit in estimate.interval()] == [[0, 0, 0], [1, 1, 1]]


def test_many_values_are_no_trouble():
    k = 200_000
    estimate = GRR(k=k, epsilon=8).estimate(np.array([7], dtype=np.uint32))
    low, high = estimate.interval()

    assert low.shape == (k,)
    assert (low <= high).all()
    assert estimate.consistent().values.sum() == pytest.approx(1)
    assert "and 199,970 more; to_frame() has them all" in repr(estimate)
    with pytest.raises(LimitExceededError, match="merge values"):
        estimate.covariance()


# --- covariance -----------------------------------------------------------------------------------


def _covariance_of_one_report(protocol, shares):
    """Enumerate every report of every value; about the people, so values are given."""
    law = protocol.matrix()
    support = protocol.indicators(protocol.outputs()).astype(float)
    total = np.zeros((protocol.k, protocol.k))
    for share, chances in zip(shares, law, strict=True):
        mean = chances @ support
        total += share * ((support.T * chances) @ support - np.outer(mean, mean))
    return total / (protocol.p - protocol.q) ** 2


@pytest.mark.parametrize("protocol", ENUMERABLE, ids=repr)
def test_covariances_are_those_of_the_enumerated_law(protocol):
    shares = np.array([0.4, 0.3, 0.2, 0.1, 0.0])[: protocol.k]
    counts = 1000 * (protocol.q + shares * (protocol.p - protocol.q))
    estimate = Frequencies(counts, n=1000, protocol=protocol)
    people = _covariance_of_one_report(protocol, shares) / 1000
    drawn = (np.diag(shares) - np.outer(shares, shares)) / 1000

    assert estimate.covariance() == pytest.approx(people, abs=1e-12)
    assert estimate.covariance(of="population") == pytest.approx(people + drawn, abs=1e-12)


def test_shares_of_all_values_together_have_no_noise_in_randomized_response():
    """Each report names one value, so the estimates add up to one whatever is drawn."""
    estimate = Frequencies([500, 300, 200], n=1000, protocol=GRR(k=3, epsilon=1))

    assert estimate.values.sum() == pytest.approx(1)
    assert estimate.covariance().sum() == pytest.approx(0, abs=1e-15)


def test_two_values_are_never_chosen_together_by_subsets_of_one():
    assert SS(k=2, epsilon=1).both_supported() == (0, 0)


@pytest.mark.parametrize(
    "protocol", [OUE(k=4, epsilon=1), OLH(k=4, epsilon=2), GRR(k=4, epsilon=1)], ids=repr
)
def test_counted_covariances_agree_with_their_slow_form(protocol):
    reports = protocol.privatize(np.arange(2000) % 4, rng=5)
    estimate = protocol.estimate(reports)
    scores = (protocol.indicators(reports) - protocol.q) / (protocol.p - protocol.q)
    slow = np.cov(scores.T, bias=True) / 2000
    shares = estimate.consistent().values
    drawn = (np.diag(shares) - np.outer(shares, shares)) / 2000

    assert estimate.covariance(of="population", reports=reports) == pytest.approx(slow, abs=1e-12)
    assert estimate.covariance(reports=reports) == pytest.approx(slow - drawn, abs=1e-12)


def test_local_hashing_needs_its_reports_for_covariances():
    """Its hash functions are independent two by two and not three by three."""
    for protocol in (OLH(k=4, epsilon=1), BLH(k=4, epsilon=1)):
        estimate = protocol.estimate(protocol.privatize(np.arange(50) % 4, rng=1))
        with pytest.raises(InvalidParameterError, match=r"'reports' parameter of Frequencies\.covariance"):
            estimate.covariance()


def test_reports_that_no_protocol_can_read_are_refused():
    estimate = Frequencies([1, 2], n=3, p=0.7, q=0.3)
    with pytest.raises(InvalidParameterError, match="must be left out where no protocol"):
        estimate.covariance(reports=GRR(k=2, epsilon=1).privatize([0, 1, 1], rng=1))


def test_covariances_of_other_reports_are_refused():
    protocol = GRR(k=2, epsilon=1)
    estimate = protocol.estimate(np.array([0, 0, 1]))
    with pytest.raises(InvalidParameterError, match="the reports that this was estimated from"):
        estimate.covariance(reports=np.array([1, 1, 1]))


# --- views ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_hold_one_row_per_value(backend):
    estimate = Frequencies([60, 40], n=100, protocol=GRR(k=2, epsilon=1))
    frame = estimate.to_frame(["no", "yes"], backend=backend)
    columns = ["value", "share", "standard_error", "low_people", "high_people"]
    columns += ["low_population", "high_population", "level"]

    assert list(frame.columns if backend != "pyarrow" else frame.column_names) == columns
    assert len(frame) == 2


def test_frames_carry_the_level_asked_for():
    estimate = Frequencies([60, 40], n=100, protocol=GRR(k=2, epsilon=1))
    wide, narrow = (estimate.to_frame(level=level, backend="pyarrow").to_pydict() for level in (0.99, 0.5))

    assert wide["level"] == [0.99, 0.99]
    assert wide["value"] == [0, 1]
    assert wide["low_people"][0] < narrow["low_people"][0]


@pytest.mark.parametrize("labels", [["a"], ["a", "a"], "ab", {"a", "b"}, 7, [["a"], ["b"]], [None, math.nan]])
def test_labels_that_do_not_fit_are_refused(labels):
    estimate = Frequencies([60, 40], n=100, protocol=GRR(k=2, epsilon=1))
    with pytest.raises(InvalidParameterError, match="a sequence of 2 different labels"):
        estimate.to_frame(labels)


def test_html_escapes_what_it_shows():
    """A protocol's name comes from a file somebody may have sent."""

    class Strange:
        p_exact, q_exact = Fraction(3, 4), Fraction(1, 4)

        def __repr__(self):
            return "<script>alert(1)</script>"

    html = Frequencies([60, 20], n=100, protocol=Strange())._repr_html_()

    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "−0.100" in html


def test_one_report_is_written_in_the_singular():
    assert "from 1 report of" in repr(GRR(k=2, epsilon=1).estimate(np.array([0])))


def test_the_number_of_values_is_the_length():
    assert len(Frequencies([1, 0, 0], n=1, protocol=GRR(k=3, epsilon=1))) == 3
