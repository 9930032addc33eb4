"""Every protocol of the registry keeps the same promises; a new one gets these tests for free."""

import copy
import io
import math
import pickle
import tracemalloc
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from contract._protocol_claims import (
    assert_draws_follow_the_law,
    assert_exact_law,
    assert_form_says_nothing_more,
    assert_people_are_independent,
    assert_private,
    supports,
)
from evenhand.collect.estimates.frequencies import Frequencies
from evenhand.collect.protocols.base import Protocol
from evenhand.collect.protocols.channel import Channel
from evenhand.collect.protocols.registry import PROTOCOLS, protocol_from, protocol_named
from evenhand.collect.reports.reports import Reports
from evenhand.errors import EvenhandError, GuaranteeError, InvalidParameterError, LimitExceededError
from evenhand.privacy.guarantees.units import Trust, Unit

EPSILONS = ["0.001", "0.25", "1", "1/3", "4", "10"]
SIZES = [2, 3, 4, 8]
CONSTANT = 16 << 20
"""Bytes that privatising may hold beside its output, whatever the number of people."""

GROWTH = 400_000
"""Bytes by which that may differ between half a million people and a million."""


LARGEST = {"optimal": 16}
"""Values up to which a protocol is tested here: a matrix of more is solved in seconds, not at once."""


def _size(made, k):
    """Return `k`, or the largest number of values that this protocol is tested with."""
    return min(k, LARGEST.get(made.name, k))


@pytest.fixture(params=PROTOCOLS, ids=str)
def made(request):
    """Return a class of the registry."""
    return PROTOCOLS[request.param]


@pytest.fixture
def protocol(made):
    return made.example(k=5, epsilon=1)


@pytest.fixture
def reports(protocol):
    return protocol.privatize(np.arange(1_000) % 5, rng=11)


def _has_matrix(protocol):
    try:
        protocol.matrix()
    except LimitExceededError:
        return False
    return True


# --- what it is -------------------------------------------------------------------------------------


def test_the_registry_knows_it_by_its_name(made):
    assert PROTOCOLS[made.name] is made
    assert protocol_named(made.name.upper()) is made
    assert issubclass(made, Protocol)
    assert made.name == made.name.lower()
    assert made.title
    assert "**Guarantee.**" in made.__doc__


def test_it_makes_an_example_of_itself(made):
    protocol = made.example(k=7, epsilon="1/3")

    assert type(protocol) is made
    assert (protocol.k, protocol.epsilon) == (7, Fraction(1, 3))
    assert made.example() == made.example(k=5, epsilon=1)


def test_equal_parameters_make_equal_protocols(made):
    one, same, other = (made.example(k=5, epsilon=each) for each in (0.5, "1/2", 1))

    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert len({one, same, other}) == 2


def test_it_cannot_be_changed(protocol):
    """A protocol that changes after its guarantee was read would have told something else."""
    with pytest.raises(AttributeError):
        protocol.epsilon = Fraction(100)
    with pytest.raises(AttributeError):
        protocol.k = 3


def test_its_text_makes_it_again(protocol):
    names = {type(protocol).__name__: type(protocol)}

    assert eval(repr(protocol), names) == protocol
    assert eval(repr(type(protocol).example(k=9, epsilon="1/3")), names).epsilon == Fraction(1, 3)


def test_its_record_makes_it_again(made):
    for epsilon in EPSILONS:
        protocol = made.example(k=11, epsilon=epsilon)

        assert protocol_from(protocol.to_dict()) == protocol


def test_copies_are_equal(protocol):
    assert copy.deepcopy(protocol) == protocol
    assert pickle.loads(pickle.dumps(protocol)) == protocol
    assert pickle.loads(pickle.dumps(protocol)).worst_ratio == protocol.worst_ratio


@pytest.mark.parametrize("wrong", [{"k": 1}, {"k": True}, {"k": 2.0}, {"epsilon": 0}, {"epsilon": "nan"}])
def test_what_it_cannot_be_made_of_is_refused(made, wrong):
    with pytest.raises(InvalidParameterError, match=f"The '{next(iter(wrong))}' parameter of"):
        made.example(**{"k": 5, "epsilon": 1} | wrong)


# --- what it promises -------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 5, 100])
def test_the_guarantee_is_local_pure_and_never_above_what_was_asked(made, k):
    for epsilon in EPSILONS:
        protocol = made.example(k=_size(made, k), epsilon=epsilon)
        promise = protocol.guarantee_for(protects=["race"], in_clear=["income"])

        assert protocol.realised_epsilon <= promise.epsilon <= Fraction(epsilon)
        assert (promise.delta, promise.rho) == (0, None)
        assert (promise.unit, promise.trust) == (Unit.ONE_REPORT, Trust.LOCAL)
        assert (promise.protects, promise.in_clear) == (("race",), ("income",))
        assert promise.proof == made.title


@pytest.mark.parametrize("k", [2, 3, 10, 1_000, 100_000])
def test_the_ratio_keeps_epsilon_exactly(made, k):
    if k > _size(made, k):
        pytest.skip("it is not made for so many values")
    for epsilon in [*EPSILONS, "50", "1000"]:
        protocol = made.example(k=k, epsilon=epsilon)

        assert_private(protocol)
        assert np.all(protocol.channel.least > 0)
        assert np.all(protocol.channel.least < protocol.channel.most)
        assert np.all(protocol.channel.most < 1)
        assert protocol.realised_epsilon <= protocol.epsilon


@pytest.mark.parametrize("k", SIZES)
def test_the_matrix_is_the_law(made, k):
    """Rows add up to 1, the worst ratio of a column is the stated one, p and q are those of the matrix."""
    for epsilon in EPSILONS:
        protocol = made.example(k=k, epsilon=epsilon)
        if _has_matrix(protocol):
            assert_exact_law(protocol)
            assert protocol.matrix().shape == (k, len(protocol.outputs()))
            assert protocol.matrix().dtype == float
            assert protocol.outputs().simulated


def test_a_matrix_too_large_is_refused_with_a_next_step(made):
    for method in ("matrix", "outputs"):
        with pytest.raises(LimitExceededError, match="Hint: "):
            getattr(made.example(k=100_000), method)()


# --- what people send -------------------------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("k", [2, 5])
def test_reports_are_drawn_from_the_law(made, k):
    """The guarantee speaks of the law; it holds for the program only if the program draws from it."""
    assert_draws_follow_the_law(made.example(k=k, epsilon=1), n=20_000, seed=1)


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", ["1/10", "1"])
def test_the_form_of_a_report_says_nothing_more(made, epsilon):
    """The law speaks of sets and of hash functions; the order of a set is sent too."""
    assert_form_says_nothing_more(made.example(k=6, epsilon=epsilon), n=10_000, seed=3)


@pytest.mark.statistical
def test_people_do_not_share_noise(made):
    """Two people with one stream: who knows the first's value takes the noise off the second's report."""
    assert_people_are_independent(made.example(k=_size(made, 20), epsilon=1), n=60_000, seed=2)


def test_the_same_seed_gives_the_same_reports_and_another_does_not(protocol):
    codes = np.arange(500) % 5
    first, again, other = (protocol.privatize(codes, rng=seed) for seed in (7, 7, 8))

    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert first.simulated


def test_without_a_seed_reports_are_collected_and_never_the_same(protocol):
    codes = np.arange(500) % 5
    first, second = protocol.privatize(codes), protocol.privatize(codes)

    assert not first.simulated
    assert not np.array_equal(first, second)


def test_nobody_reports_nothing(protocol):
    """An empty batch is an outcome like any other: no exception, no report."""
    empty = protocol.privatize([], rng=1)
    again = protocol.privatize(np.array([], dtype=np.int64))

    assert len(empty) == len(again) == 0
    assert empty.dtype == protocol.privatize([1], rng=1).dtype
    assert protocol.counts(empty).tolist() == [0] * 5
    assert protocol.indicators(empty).shape == (0, 5)
    assert list(protocol.indicator_chunks(empty)) == []
    assert protocol.estimate(empty).n == 0


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_codes_of_any_integer_type_give_the_same_reports(protocol, kind):
    codes = np.arange(200) % 5

    assert np.array_equal(protocol.privatize(codes.astype(kind), rng=3), protocol.privatize(codes, rng=3))


@pytest.mark.parametrize(
    "column",
    [
        list,
        tuple,
        pd.Series,
        pl.Series,
        pa.array,
        lambda codes: pa.chunked_array([codes[:3], codes[3:]]),
        lambda codes: np.repeat(codes, 2)[::2],
        lambda codes: codes.astype(">i4"),
    ],
    ids=["list", "tuple", "pandas", "polars", "arrow", "chunked", "strided", "big-endian"],
)
def test_columns_of_any_library_give_the_same_reports(protocol, column):
    codes = np.arange(200) % 5

    assert np.array_equal(protocol.privatize(column(codes), rng=3), protocol.privatize(codes, rng=3))


def test_truth_values_are_codes(made):
    protocol = made.example(k=2)
    codes = np.arange(100) % 2

    assert np.array_equal(protocol.privatize(codes == 1, rng=3), protocol.privatize(codes, rng=3))


def test_what_comes_in_stays_as_it_was(protocol):
    codes = np.arange(1_000, dtype=np.uint8) % 5
    before = codes.copy()
    reports = protocol.privatize(codes, rng=3)
    values = np.array(reports)
    protocol.counts(reports), protocol.indicators(reports), protocol.estimate(reports)

    assert np.array_equal(codes, before)
    assert np.array_equal(values, reports)


def test_codes_that_cannot_be_written_to_are_read(protocol):
    codes = np.arange(1_000) % 5
    codes.flags.writeable = False

    assert len(protocol.privatize(codes, rng=3)) == 1_000


@pytest.mark.parametrize(
    "codes",
    [[31_337], [-31_337], [0, 31_337.0], ["31337"], [[31_337]], 31_337, [None, 31_337], [31_337j]],
    ids=str,
)
def test_a_wrong_code_is_refused_and_never_told(protocol, codes):
    """The message goes to a log; the code is a person's answer."""
    with pytest.raises(InvalidParameterError) as caught:
        protocol.privatize(codes)

    assert "31337" not in str(caught.value)
    assert "31_337" not in str(caught.value)
    assert f"from 0 to {protocol.k - 1}" in str(caught.value)


@pytest.mark.parametrize("k", [5, 40])
@pytest.mark.parametrize("dtype", ["u1", "i8"])
def test_memory_is_the_output_and_a_constant(made, k, dtype):
    """A server that collects a million reports must not need room for ten million, whatever their type."""
    protocol = made.example(k=_size(made, k), epsilon=1)
    protocol.privatize(np.zeros(10, dtype=np.uint8), rng=1)  # compiles
    small, large = (_held_beside_the_output(protocol, n, dtype) for n in (500_000, 1_000_000))

    assert large < CONSTANT
    assert large - small < GROWTH  # less than a byte for each person


def _held_beside_the_output(protocol, n, dtype):
    codes = np.zeros(n, dtype=dtype)
    tracemalloc.start()
    try:
        output = np.asarray(protocol.privatize(codes, rng=1)).nbytes
        return tracemalloc.get_traced_memory()[1] - output
    finally:
        tracemalloc.stop()


# --- what the server makes of it --------------------------------------------------------------------


def test_counts_are_the_sums_of_the_indicators(protocol, reports):
    indicators = protocol.indicators(reports)

    assert indicators.shape == (1_000, 5)
    assert indicators.dtype == np.uint8
    assert set(np.unique(indicators)) <= {0, 1}
    assert protocol.counts(reports).dtype == np.int64
    assert protocol.counts(reports).tolist() == indicators.sum(axis=0, dtype=np.int64).tolist()


@pytest.mark.parametrize("rows", [None, 1, 7, 1_000, 5_000])
def test_chunks_of_indicators_are_the_indicators(protocol, reports, rows):
    chunks = list(protocol.indicator_chunks(reports[:30], rows=rows))

    assert np.array_equal(np.concatenate(chunks), protocol.indicators(reports[:30]))
    assert all(len(chunk) <= (rows or 30) for chunk in chunks)


def test_indicators_stop_at_the_limit(protocol, reports):
    with pytest.raises(LimitExceededError, match="indicator_chunks") as caught:
        protocol.indicators(reports, most_bytes=4_999)

    assert caught.value.limit == "most_bytes"
    assert len(protocol.indicators(reports, most_bytes=5_000)) == 1_000


@pytest.mark.parametrize("k", [2, 5, 64])
def test_the_estimate_of_expected_counts_is_the_truth(made, k):
    """The estimator is without bias only if it undoes exactly what the protocol does."""
    k = _size(made, k)
    protocol, n = made.example(k=k, epsilon="1/2"), 10_000_000
    truth = np.arange(1, k + 1) / (k * (k + 1) / 2)
    expected = n * truth @ supports(protocol)
    estimate = Frequencies(expected, n=n, protocol=protocol)

    assert np.allclose(estimate.values, truth, rtol=0, atol=1e-9)


def test_the_estimate_comes_from_the_counts(protocol, reports):
    counts = protocol.counts(reports)
    if isinstance(protocol.channel, Channel):
        shares = (counts / 1_000 - protocol.q) / (protocol.p - protocol.q)
    else:
        shares = np.linalg.solve(protocol.matrix().T, counts / 1_000)

    assert np.allclose(protocol.estimate(reports).values, shares, rtol=0, atol=1e-12)


def test_the_variance_is_that_of_the_estimator(protocol):
    """A share f of n people supports with p, the rest with q; each report is one coin."""
    if not isinstance(protocol.channel, Channel):
        pytest.skip("a whole matrix has a test of its own, with the shares of all values")
    p, q = protocol.p, protocol.q
    for f in (0.0, 0.25, 1.0):
        coins = f * p * (1 - p) + (1 - f) * q * (1 - q)

        assert math.isclose(protocol.variance(f, 10), coins / (10 * (p - q) ** 2), rel_tol=1e-9)


def test_reports_of_another_protocol_are_refused(made, reports):
    for other in (made.example(k=6), made.example(k=5, epsilon=2)):
        for method in (other.counts, other.indicators, other.indicator_chunks, other.estimate):
            with pytest.raises(InvalidParameterError, match=r"use reports\.protocol"):
                method(reports)


def test_a_bare_array_of_reports_is_taken(protocol, reports):
    assert np.array_equal(protocol.counts(np.array(reports)), protocol.counts(reports))


@pytest.mark.parametrize("wrong", [np.zeros((2, 2, 2), dtype=np.uint8), np.array([0.5]), ["a"], 3, None])
def test_a_bare_array_of_something_else_is_refused(protocol, wrong):
    with pytest.raises(InvalidParameterError, match="The 'reports' parameter"):
        protocol.counts(wrong)


# --- on the wire ------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 5, 8, 9, 300])
def test_reports_come_back_from_arrow_and_json_as_they_were(made, k):
    k = _size(made, k)
    protocol = made.example(k=k)
    for part in (slice(None), slice(3, 20), slice(None, None, 3), slice(0, 0)):
        sent = protocol.privatize(np.arange(40) % k)[part]
        by_arrow = Reports.from_arrow(sent.to_arrow(), protocol, simulated=False)
        by_json = Reports.from_json(sent.to_json(keep_order=True))

        for got in (by_arrow, by_json):
            assert np.array_equal(sent, got)
            assert (got.dtype, got.shape, got.protocol) == (sent.dtype, sent.shape, protocol)
            assert not got.simulated


@pytest.mark.parametrize("k", [2, 9, 300])
def test_reports_come_back_from_a_file_as_they_were(made, k, tmp_path):
    k = _size(made, k)
    protocol = made.example(k=k)
    for sent in (protocol.privatize(np.arange(40) % k), protocol.privatize([])):
        sent.write_parquet(tmp_path / "reports.parquet", keep_order=True)
        got = Reports.read_parquet(tmp_path / "reports.parquet")

        assert np.array_equal(sent, got)
        assert (got.dtype, got.shape, got.protocol) == (sent.dtype, sent.shape, protocol)
        assert not got.simulated


def test_simulated_reports_are_never_written_as_collected(protocol, reports, tmp_path):
    """Whoever has the seed takes the noise off: such a file would promise what does not hold."""
    for write in (lambda: reports.write_parquet(tmp_path / "reports.parquet"), reports.to_json):
        with pytest.raises(GuaranteeError, match="give privatize no rng"):
            write()
    reports.write_parquet(tmp_path / "study.parquet", simulated="allow")

    assert [path.name for path in tmp_path.iterdir()] == ["study.parquet"]
    assert Reports.read_parquet(tmp_path / "study.parquet").simulated
    assert Reports.from_json(reports.to_json(simulated="allow")).simulated
    assert protocol.privatize([1]).to_json(simulated="allow").count('"rng": "secure"') == 1


def test_copies_of_reports_are_equal_and_cannot_be_changed(protocol, reports):
    for each in (reports, copy.copy(reports), copy.deepcopy(reports), pickle.loads(pickle.dumps(reports))):
        assert np.array_equal(each, reports)
        assert each.protocol == protocol
        assert each.simulated
        with pytest.raises(ValueError, match="read-only"):
            np.asarray(each)[0] = np.asarray(each)[1]


def test_a_broken_file_gives_one_clear_error(reports, tmp_path):
    reports.write_parquet(tmp_path / "reports.parquet", simulated="allow")
    whole = (tmp_path / "reports.parquet").read_bytes()
    for length in range(0, len(whole), 37):
        with pytest.raises(EvenhandError, match="The buffer was not read"):
            Reports.read_parquet(io.BytesIO(whole[:length]))


def test_it_reads_well_in_a_notebook(protocol):
    html = protocol._repr_html_()

    assert protocol.title in protocol.describe()
    assert protocol.title in html
    assert "<script" not in html
    assert html.count("<tr>") == 5
