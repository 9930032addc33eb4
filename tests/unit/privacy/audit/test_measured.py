"""Audits: what they say, what they refuse, and that their bounds are right."""

import importlib
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta

from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.unary import OUE
from evenhand.errors import GuaranteeError, InvalidParameterError
from evenhand.privacy import Guarantee
from evenhand.privacy.audit import draws as _draws
from evenhand.privacy.audit import events as _events
from evenhand.privacy.audit.measured import Audit, audit_epsilon
from evenhand.privacy.randomness import AuditSource, SeededSource
from evenhand.privacy.sampling import bernoulli, discrete_laplace

module = importlib.import_module("evenhand.privacy.audit.measured")  # the function may have the same name
CENTRAL = {"unit": "replace one", "trust": "central"}


def respond(value, size, rng):
    """Tell the truth three times in four: epsilon is the logarithm of 3."""
    return bernoulli("3/4", size=size, source=rng) == value


def noisy(value, size, rng):
    return value + discrete_laplace(2, size=size, source=rng)


class Promising:
    """A mechanism with a guarantee."""

    def __init__(self, guarantee):
        self.guarantee = guarantee

    def __call__(self, value, size, rng):
        return respond(value, size, rng)


def made(**changed):
    facts = {
        "measured_epsilon": 0.97654,
        "claimed_epsilon": Fraction(1),
        "delta": Fraction(0),
        "confidence": 0.999,
        "share": 1,
        "event": "the output is 3",
        "likely": 0,
        "counts": (270, 100),
        "draws": 1_000,
        "size": 2_000,
        "smallest_overrun": 0.05,
        "rng": "seeded",
    }
    return Audit(**facts | changed)


# -- the bound -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("hits", "misses"), [(30, 10), (100, 0), (0, 0), (1, 100), (100, 100), (50, 99)])
@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_the_bound_is_the_ratio_of_two_clopper_pearson_bounds(hits, misses, delta):
    low = beta.ppf(0.0005, hits, 101 - hits) if hits else 0.0
    high = beta.ppf(0.9995, misses + 1, 100 - misses) if misses < 100 else 1.0
    expected = math.log((low - delta) / high) if low > delta else -math.inf

    actual = float(_events.surely_at_least(hits, misses, 100, error=0.001, delta=delta))
    assert expected == pytest.approx(actual, abs=1e-8)
    assert actual <= expected


def test_the_bound_fails_no_more_often_than_stated():
    """By the exact law of two counts: the chance that the bound is above the truth."""
    draws, error, often, rare = 60, 0.1, 0.6, 0.2
    counts = np.arange(draws + 1)
    from scipy.stats import binom

    chance = np.outer(binom.pmf(counts, draws, often), binom.pmf(counts, draws, rare))
    bounds = _events.surely_at_least(counts[:, None], counts[None, :], draws, error=error)

    assert chance[bounds > math.log(often / rare)].sum() <= error
    assert chance[bounds > math.log(often / rare) - 0.8].sum() > error  # the twin: a bound 0.8 higher lies


@pytest.mark.parametrize(("epsilon", "k", "draws"), [(0.25, 16, 3.7e6), (0.5, 100, 5.2e6), (1, 100, 1.1e6)])
def test_the_sizing_rule_gives_its_known_examples(epsilon, k, draws):
    rare = 1 / (math.exp(epsilon) + k - 1)
    asked = _events.enough_draws(epsilon, rare, 1e-3 / 400)

    assert asked / _events.SPARE == pytest.approx(draws, abs=0.05e6)  # known to two digits
    assert _events.smallest_overrun(epsilon, rare, round(asked / _events.SPARE), 1e-3 / 400) == pytest.approx(
        0.1, rel=1e-6
    )


@pytest.mark.parametrize("epsilon", [0, 0.5, 3])
@pytest.mark.parametrize("delta", [0, 0.01])
def test_the_least_number_of_draws_is_where_perfect_hits_begin_to_show(epsilon, delta):
    least = _events.least_draws(epsilon, 0.001, delta)
    few, enough = (
        float(_events.surely_at_least(n, 0, n, error=0.001, delta=delta))
        for n in (math.floor(least), math.floor(least) + 1)
    )

    assert few <= epsilon < enough + 2 * _events.ROUNDING


# -- what is found -------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", [(True, False), (False, True)])
def test_a_claim_that_is_too_small_is_refuted_and_a_right_one_is_not(pair):
    told = {"size": 40_000, "rng": 3}
    right, wrong = (audit_epsilon(respond, pair, claimed=claim, **told) for claim in ("1.0987", "0.9"))

    assert not right.exceeds
    assert right.check() is right
    assert wrong.exceeds
    assert 0.9 < wrong.measured_epsilon < math.log(3)
    assert wrong.counts[wrong.likely] > wrong.counts[1 - wrong.likely]
    with pytest.raises(
        GuaranteeError, match=r"claimed 0\.9, measured at least 1\.0.*The event: the output is"
    ):
        wrong.check()


def test_an_audit_with_a_seed_can_be_repeated():
    assert audit_epsilon(noisy, (0, 1), size=4_000, rng=5) == audit_epsilon(noisy, (0, 1), size=4_000, rng=5)


def test_nothing_is_shown_of_a_mechanism_that_says_nothing():
    found = audit_epsilon(lambda value, size, rng: np.zeros(size), (0, 1), size=2_000)

    assert found.measured_epsilon == 0
    assert str(found) == ("nothing claimed, measured at least 0 at 99.9 %: an audit cannot prove privacy.")
    assert found.rng == "secure"


def test_the_default_size_shows_an_overrun_of_a_tenth(monkeypatch):
    monkeypatch.setattr(module, "FEWEST", 20_000)
    rare = GRR(k=60, epsilon=1)
    found = audit_epsilon(rare, (0, 1), rng=1)

    assert found.draws > 20_000  # the floor alone would not do for an event this rare
    assert found.smallest_overrun < 0.105
    assert not found.weak
    assert found.size == 2 * found.draws


def test_a_limit_on_the_default_size_is_admitted(monkeypatch):
    monkeypatch.setattr(module, "FEWEST", 5_000)
    monkeypatch.setattr(module, "MOST", 10_000)
    found = audit_epsilon(GRR(k=60, epsilon="1/10"), (0, 1), rng=1)

    assert found.draws == 10_000
    assert found.weak
    assert "Weak: only an overrun of" in str(found)


@pytest.mark.parametrize("claimed", [None, 0])
def test_without_a_claim_the_size_follows_what_is_seen(monkeypatch, claimed):
    monkeypatch.setattr(module, "FEWEST", 5_000)
    found = audit_epsilon(respond, (0, 1), rng=1, claimed=claimed)

    assert found.draws == pytest.approx(_events.enough_draws(math.log(3), 0.25, 1e-3), rel=0.1)
    assert found.smallest_overrun is None
    assert not found.weak
    assert found.exceeds == (claimed == 0)


def test_the_error_is_shared_among_audits():
    """A hundred audits at 99.9 % each would be wrong one time in ten."""
    alone, among = (audit_epsilon(respond, (0, 1), size=20_000, rng=1, share=share) for share in (1, 100))

    assert among.measured_epsilon < alone.measured_epsilon
    assert "at 99.9 % for 100 audits together" in str(among)


def test_half_the_draws_choose_and_half_measure():
    calls = {0: 0, 1: 0}

    def counted(value, size, rng):
        calls[value] += size
        return respond(value, size, rng)

    found = audit_epsilon(counted, (0, 1), size=300_001, rng=1)

    assert (found.draws, found.size) == (150_000, 300_000)
    assert calls == {0: 300_000 + 16, 1: 300_000}  # sixteen tell how large an output is


def test_progress_is_told():
    heard = []
    audit_epsilon(
        respond, (0, 1), size=200_000, rng=1, progress=lambda done, planned: heard.append((done, planned))
    )

    assert heard == sorted(heard)
    assert heard[-1] == (400_000, 400_000)
    assert len(heard) > 4


def test_wide_outputs_are_drawn_a_few_at_a_time(monkeypatch):
    """Memory stays a constant however wide a report is."""
    monkeypatch.setattr(_draws, "_MOST_BYTES_AT_ONCE", 1 << 18)
    asked = []

    def wide(value, size, rng):
        asked.append(size)
        rows = np.zeros((size, 1_000), dtype=np.uint8)
        rows[:, 77] = respond(value, size, rng)
        return rows

    found = audit_epsilon(wide, (0, 1), claimed=2, size=1_500, rng=1)

    assert max(asked) * 1_000 <= 1 << 18
    assert found.event.startswith("coordinate 77 is")


# -- delta ---------------------------------------------------------------------------------------


def leaky(value, size, rng):
    """Say the value one time in 128, else nothing: (0, 1/128)."""
    return np.where(bernoulli("1/128", size=size, source=rng), value, 0)


def test_delta_excuses_what_it_allows_and_no_more():
    told = {"claimed": "1/10", "size": 100_000, "rng": 1}

    assert not audit_epsilon(leaky, (1, 2), delta="1/128", **told).exceeds
    assert audit_epsilon(leaky, (1, 2), delta="1/256", **told).exceeds
    assert audit_epsilon(leaky, (1, 2), **told).exceeds
    assert "(delta 0.0078125)" in str(audit_epsilon(leaky, (1, 2), delta="1/128", **told))


def test_the_claim_comes_from_the_guarantee():
    pure = audit_epsilon(Promising(Guarantee.pure(1, **CENTRAL)), (0, 1), size=2_000, rng=1)
    loose = audit_epsilon(Promising(Guarantee.approximate(1, "1/50", **CENTRAL)), (0, 1), size=2_000, rng=1)
    looser = audit_epsilon(
        Promising(Guarantee.approximate(1, "1/50", **CENTRAL)), (0, 1), delta=0.1, size=2_000, rng=1
    )
    zcdp = audit_epsilon(Promising(Guarantee.zcdp("1/2", **CENTRAL)), (0, 1), size=2_000, rng=1, delta="1e-3")
    nothing = audit_epsilon(Promising(Guarantee.no_guarantee(unit="replace one")), (0, 1), size=2_000, rng=1)
    told = audit_epsilon(Promising(Guarantee.pure(1, **CENTRAL)), (0, 1), size=2_000, rng=1, claimed="1/2")

    assert (pure.claimed_epsilon, pure.delta) == (1, 0)
    assert (loose.claimed_epsilon, loose.delta) == (1, Fraction(1, 50))
    assert loose.smallest_overrun is None
    assert looser.delta == Fraction(1, 10)
    assert zcdp.claimed_epsilon == Guarantee.zcdp("1/2", **CENTRAL).to_approximate(delta="1e-3").epsilon
    assert (nothing.claimed_epsilon, nothing.delta) == (None, 0)
    assert told.claimed_epsilon == Fraction(1, 2)


# -- how it reads --------------------------------------------------------------------------------


def test_claimed_and_measured_are_never_mixed_up():
    assert str(made()) == (
        "claimed 1, measured at least 0.976 at 99.9 %: no violation seen; an audit cannot prove privacy."
    )
    assert str(made(measured_epsilon=2.3199)) == (
        "claimed 1, measured at least 2.31 at 99.9 %: the claim does not hold."
    )


@pytest.mark.parametrize(
    ("measured", "text"), [(1.00004, "1.00004"), (1 + 2**-52, "1.0000000000000002"), (123.456, "123")]
)
def test_the_measured_figure_is_rounded_down_but_not_into_the_claim(measured, text):
    assert f"measured at least {text} at" in str(made(measured_epsilon=measured))


@pytest.mark.parametrize(
    ("claimed", "measured", "text"),
    [
        (Fraction(1, 3), 0.2, "claimed 0.333334, measured at least 0.2 "),
        (Fraction("1.0000001"), 0.9, "claimed 1.00001, measured at least 0.9 "),
        (Fraction(1, 3), 0.3333339, "claimed 0.3333334, measured at least 0.3333339 "),
        (Fraction(1, 3), 0.333333333333334, "claimed 1/3, measured at least 0.333333333333334 "),
        (Fraction(1), 0.9759999999999999, "claimed 1, measured at least 0.975 "),
        (Fraction(1), 0.976, "claimed 1, measured at least 0.976 "),
        (Fraction(1), 0.0, "claimed 1, measured at least 0 "),
        (Fraction(0), 0.0123456, "claimed 0, measured at least 0.0123 "),
    ],
)
def test_a_claim_is_rounded_up_and_a_measurement_down_and_an_overrun_stays_one(claimed, measured, text):
    """A claim shown smaller than it is promises what nobody proved; a bound shown larger accuses wrongly."""
    assert str(made(claimed_epsilon=claimed, measured_epsilon=measured)).startswith(text)


def test_a_delta_is_rounded_up():
    assert "(delta 0.333334)" in str(made(delta=Fraction(1, 3)))


def test_an_audit_becomes_plain_values():
    record = json.loads(json.dumps(made().to_dict()))

    assert record["claimed_epsilon"] == "1"
    assert record["measured_epsilon"] == 0.97654
    assert record["counts"] == [270, 100]
    assert record["exceeds"] is False
    assert made(claimed_epsilon=None).to_dict()["claimed_epsilon"] is None


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pair", "mechanism"),
    [
        ((1, 1), respond),
        ((1, 2, 3), respond),
        (3, respond),
        ((np.zeros(3), np.zeros(3)), respond),
        ((0, 0), GRR(k=3, epsilon=1)),
        ((0, 1.5), GRR(k=3, epsilon=1)),
        ((False, True), GRR(k=3, epsilon=1)),
        (({"a": 1}, {"b": 1}), GRR(k=3, epsilon=1)),
        (({"a": 1}, {"a": 1}), GRR(k=3, epsilon=1)),
        ((0, {"a": 1}), GRR(k=3, epsilon=1)),
    ],
)
def test_a_pair_is_two_different_inputs(pair, mechanism):
    with pytest.raises(
        InvalidParameterError, match="'pair' parameter of audit_epsilon must be two different"
    ):
        audit_epsilon(mechanism, pair, size=1_000)


def test_equal_frames_are_seen_to_be_equal():
    import pandas as pd

    frame = pd.DataFrame({"a": [1, 2]})

    with pytest.raises(InvalidParameterError, match=r"two different inputs\. Got two equal ones"):
        audit_epsilon(respond, (frame, frame.copy()), size=1_000)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"mechanism": 3},
            "'mechanism' parameter of audit_epsilon must be a function of value, size and rng",
        ),
        ({"mechanism": lambda v, n, r: np.zeros(n + 1)}, "Got 17 outputs for 16 asked instead"),
        ({"mechanism": lambda v, n, r: 1.0}, "Got a value without a length"),
        ({"mechanism": lambda v, n, r: np.zeros((n, 0))}, "rows without coordinates"),
        ({"mechanism": lambda v, n, r: [[0] * (j % 3) for j in range(n)]}, "rows of different lengths"),
        ({"mechanism": lambda v, n, r: np.zeros(n, dtype=complex)}, "an array of type complex128"),
        ({"mechanism": lambda v, n, r: _objects([[]] * n)}, "lists or other things that cannot be compared"),
        ({"mechanism": lambda v, n, r: _objects([(1, [])] * n)}, "things that cannot be compared"),
        ({"mechanism": lambda v, n, r: np.zeros((n, 3 if n == 16 else 2))}, "same kind of outputs in every"),
        (
            {"mechanism": lambda v, n, r: np.zeros(n, int if n == 16 else "U1")},
            "same kind of outputs in every",
        ),
        (
            {"features": lambda outputs: np.zeros((len(outputs), 1 + (len(outputs) == 16)))},
            "'features' .* same",
        ),
        (
            {"mechanism": OUE(k=5, epsilon=1), "pair": (0, 5)},
            "'pair' parameter of audit_epsilon must be two codes from",
        ),
        (
            {"mechanism": OUE(k=5, epsilon=1), "pair": (0, 2**70)},
            "'pair' parameter of audit_epsilon must be two codes",
        ),
        (
            {"mechanism": OUE(k=5, epsilon=1), "pair": (0, -1)},
            "'pair' parameter of audit_epsilon must be two codes",
        ),
        ({"claimed": 10**400}, "must be left out: no number of draws can show"),
        ({"features": 3}, "'features' parameter of audit_epsilon must be a function"),
        ({"features": lambda outputs: outputs[:-1]}, "'features' parameter .* Got 15 outputs for 16"),
        ({"confidence": 1.0}, "'confidence' parameter of audit_epsilon must be a number above 0 and below 1"),
        ({"confidence": 0.0}, "'confidence'"),
        ({"confidence": True}, "'confidence'"),
        ({"confidence": "0.9"}, "'confidence'"),
        ({"share": 0}, "'share' parameter of audit_epsilon must be a whole number of at least 1"),
        ({"size": 3}, "'size' parameter of audit_epsilon must be a whole number of at least 4"),
        ({"size": 20}, "'size' parameter of audit_epsilon must be at least 50: fewer draws cannot show more"),
        ({"claimed": 800}, "must be left out: no number of draws can show"),
        ({"claimed": -1}, "'claimed' parameter of audit_epsilon must be a number >= 0"),
        ({"delta": 1}, "'delta' parameter of audit_epsilon must be a number >= 0 and < 1"),
        ({"delta": -1}, "'delta' parameter of audit_epsilon must be a number >= 0"),
        ({"delta": 2, "claimed": None, "mechanism": OUE(k=2, epsilon=1)}, "must be a number >= 0 and < 1"),
    ],
)
def test_what_cannot_be_audited_is_refused(changed, message):
    told = {"mechanism": respond, "pair": (0, 1), "claimed": 1, "size": 1_000} | changed
    with pytest.raises(InvalidParameterError, match=message):
        audit_epsilon(told.pop("mechanism"), told.pop("pair"), **told)


def _objects(values):
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def test_a_delta_below_that_of_the_guarantee_is_refused():
    """The guarantee says nothing there, so a finding would accuse nobody."""
    promised = Promising(Guarantee.approximate(1, "1/50", **CENTRAL))
    with pytest.raises(InvalidParameterError, match=r"must be a number >= 1/50 and < 1.*Hint"):
        audit_epsilon(promised, (0, 1), delta="1/100", size=1_000)


def test_a_claim_in_words_of_ones_own_keeps_the_delta_of_the_guarantee():
    """Said once more, the epsilon of a right mechanism must not turn into a claim of pure privacy."""

    class Leaky(Promising):
        def __call__(self, value, size, rng):
            return leaky(value, size, rng)

    promised = Leaky(Guarantee.approximate("1/10", "1/128", **CENTRAL))
    told = {"claimed": "1/10", "size": 100_000, "rng": 1}

    assert audit_epsilon(promised, (1, 2), **told).delta == Fraction(1, 128)
    assert not audit_epsilon(promised, (1, 2), **told).exceeds
    assert audit_epsilon(promised, (1, 2), delta=0, **told).exceeds


@pytest.mark.parametrize("claimed", ["1e-200", "1e-400"])
def test_a_claim_of_next_to_nothing_is_audited_like_any_other(claimed, monkeypatch):
    """Such an epsilon is zero as a float, or its square is; neither may end in an error of division."""
    monkeypatch.setattr(module, "FEWEST", 1_000)
    monkeypatch.setattr(module, "MOST", 2_000)

    assert audit_epsilon(respond, (0, 1), claimed=claimed, size=1_000, rng=1).exceeds
    assert audit_epsilon(respond, (0, 1), claimed=claimed, rng=1).exceeds


def test_inputs_that_cannot_be_compared_are_taken_to_differ():
    def first(value, size, rng):
        return respond(int(value[0][0]), size, rng)

    assert (
        audit_epsilon(first, ([np.zeros(2)], [np.ones(2)]), claimed=1, size=2_000, rng=1).measured_epsilon
        > 0.5
    )


def test_long_texts_are_drawn_a_few_at_a_time(monkeypatch):
    """Memory would grow with the length of a text, which no column shows."""
    monkeypatch.setattr(_draws, "_MOST_BYTES_AT_ONCE", 1 << 20)
    asked = []

    def long(value, size, rng):
        asked.append(size)
        return ["x" * 10_000] * size

    audit_epsilon(long, (0, 1), claimed=1, size=1_000, rng=1)
    assert max(asked) <= 105


def test_a_guarantee_in_rho_needs_a_delta():
    with pytest.raises(InvalidParameterError, match=r"'delta' .* > 0 where the guarantee is in rho"):
        audit_epsilon(Promising(Guarantee.zcdp("1/2", **CENTRAL)), (0, 1), size=1_000)


@pytest.mark.parametrize(("rng", "kind"), [(None, AuditSource), (3, SeededSource)])
def test_the_mechanism_is_given_a_source_that_moves_on(rng, kind):
    """With one seed for every call, all draws would be the same."""
    seen = []

    def watched(value, size, rng):
        seen.append((type(rng), rng.words(1)[0]))
        return respond(value, size, rng)

    audit_epsilon(watched, (0, 1), size=1_000, rng=rng)

    assert {each for each, _ in seen} == {kind}
    assert len({word for _, word in seen}) == len(seen)
