"""The theorems of zhu2023: formulas against listings of all outputs, and verdicts that can change."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from evenhand.papers.claims import Evidence
from evenhand.papers.zhu2023 import PAPER, data
from evenhand.papers.zhu2023 import theory_checks as listed
from evenhand.papers.zhu2023.data import EPSILONS, compare_bounds
from evenhand.papers.zhu2023.theory_checks import (
    hockey_stick,
    sampling_law,
    suppression_law,
    worst_delta,
)
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Laplace
from evenhand.release import alpha_bounds
from evenhand.release.postprocess import clamp_bias

HOLD = {
    "laplace-private", "gaussian-private", "lemma-1", "suppression-not-private", "theorem-1",
    "quasi-identifiers", "theorem-5", "theorem-6", "proposition-1", "theorem-10-bounds", "theorems-8-9-norm",
}  # fmt: skip
FAIL = {"theorem-3", "theorem-3-generality", "theorem-10-suppression", "theorem-10-swapping"}
SLIPS = {"gaussian-deviation", "definition-3", "algorithm-2"}
EXPECTED = (
    dict.fromkeys(HOLD, "agrees")
    | dict.fromkeys(FAIL, "contradicted")
    | dict.fromkeys(SLIPS, "slip")
    | {"theorem-7-tight": "cannot be checked"}
)
STATED = {claim.id: claim for claim in PAPER.claims if not claim.needs and claim.id != "repetitions"}


def judged(name):
    """Return the row of a claim that needs no records."""
    return STATED[name].judge(Evidence({}))


@pytest.mark.parametrize("name", list(STATED))
def test_every_theorem_has_the_verdict_that_was_derived(name):
    """Wrong formulas are contradicted, and where the paper contradicts itself it is a slip."""
    assert set(STATED) == set(EXPECTED)
    assert judged(name).verdict == EXPECTED[name]


def test_reasons_have_the_known_numbers():
    """The counter-examples and corrected values of the formula sheet."""
    third = judged("theorem-3").why

    assert all(each in third for each in ("0.5300", "0.2449", "0.8894, 0.8917, 0.9080, 0.9703"))
    assert "0.3935, 0.6321, 0.8647, 0.9817" in judged("theorem-5").why
    assert "8.084 for Laplace and 0.9983 for suppression" in judged("theorem-10-suppression").why
    assert "in 0 and below it in 48." in judged("lemma-1").why
    assert "in 0 of 8 combinations" in judged("theorem-1").why


def test_a_formula_that_is_wrong_is_seen(monkeypatch):
    """The listing must be able to contradict a theorem that is said to hold, and to confirm a right one."""
    right = data.swapping_delta
    monkeypatch.setattr(data, "suppression_theorem", lambda *_: 0.9)
    monkeypatch.setattr(data, "swapping_theorem", right)
    monkeypatch.setattr(listed, "theorem_5_delta", lambda _: 0.1)

    assert judged("theorem-1").verdict == "contradicted"
    assert judged("theorem-3").verdict == "agrees"
    assert judged("theorem-5").verdict == "contradicted"


def test_our_own_formulas_decide_no_theorem(monkeypatch):
    """A mistake of ours beside the listing must not contradict the paper."""
    monkeypatch.setattr(data, "suppression_delta", lambda *_: 0.5)

    assert judged("theorem-1").verdict == "agrees"


def test_suppression_that_hides_everything_would_be_private(monkeypatch):
    """That suppression is not private is found by listing, not taken as given."""
    assert "a delta of 1." in judged("suppression-not-private").why

    monkeypatch.setattr(listed, "hidden_law", lambda *_, **__: {"nothing": 1.0})

    assert judged("suppression-not-private").verdict == "contradicted"


def test_a_proposition_that_is_wrong_is_seen(monkeypatch):
    """A bias off by a hundredth of a person is no formula."""
    right = alpha_bounds.swapping_bias
    monkeypatch.setattr(
        alpha_bounds, "swapping_bias", lambda rows, epsilon: right(rows, epsilon=epsilon) + 0.01
    )

    assert judged("proposition-1").verdict == "contradicted"


# --- formulas -------------------------------------------------------------------------------------


def test_the_bias_of_rounded_noise_is_the_sum_over_its_law():
    """Exactly what 200 repetitions of the paper's method estimate."""
    for text, count in product(EPSILONS, (0, 1, 5)):
        law = Laplace(2 / Fraction(text))
        places = np.arange(-600, 601)
        mass = law.cdf(places + 0.5) - law.cdf(places - 0.5)
        expected = float((np.maximum(count + places, 0) * mass).sum()) - count

        assert data.rounded_bias(np.array([count]), Fraction(text))[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("law", [DiscreteGaussian(5), DiscreteGaussian(40), DiscreteLaplace(4)])
def test_the_bias_of_clipped_integer_noise_is_the_sum_over_its_law(law):
    """For each count by itself."""
    places = np.arange(-500, 501)
    for count in (0, 3, 20):
        expected = float((np.maximum(count + places, 0) * law.pmf(places)).sum()) - count

        assert clamp_bias(np.array([count]), law)[0] == pytest.approx(expected, abs=1e-10)


def test_the_exact_delta_of_the_gaussian_is_that_of_its_outputs():
    """Two cells, one person moves: the hockey stick over all pairs of outputs."""
    variance, epsilon = Fraction(4), 1.0
    law = DiscreteGaussian(variance)
    places = np.arange(-40, 41)

    def outputs(first, second):
        one, other = law.pmf(places - first), law.pmf(places - second)
        return {(a, b): one[a] * other[b] for a in range(81) for b in range(81)}

    expected = hockey_stick(outputs(1, 0), outputs(0, 1), epsilon)

    assert data.gaussian_delta(variance, epsilon) == pytest.approx(expected, rel=1e-9)
    assert data.gaussian_delta(variance, Fraction(1)) == pytest.approx(0.0379694447235, rel=1e-10)


def printed_by_listing(epsilon, most=200):
    """Return the delta of Theorem 5, term by term."""
    share = -math.expm1(-float(epsilon))
    least = min(
        math.fsum(
            math.comb(count, kept) * share**kept * (1 - share) ** (count - kept)
            for kept in range(math.floor(share * count) + 1)
        )
        for count in range(1, most + 1)
    )
    return 1 - least**2


def proposition_1(matrix, epsilon):
    """Return the bias of swapping, with a row for each combination of the other columns."""
    size = matrix.shape[1]
    return (matrix.sum(axis=1, keepdims=True) - size * matrix) / (math.exp(epsilon) + size - 1)


def test_exact_deltas_are_those_of_the_release_mechanisms():
    """Two programs that share no formula, on the table of a made-up survey."""
    from evenhand.release.kanonymity.mechanisms import SampledKAnonymity
    from evenhand.release.mechanisms.random_swapping import RandomSwapping
    from evenhand.release.mechanisms.suppression import NoisySuppression
    from evenhand.release.table.histogram import Histogram
    from evenhand.schema import Column, Domain, Schema

    schema = Schema(
        (Column("race", Domain.integers(1, 9)), Column("sex", Domain.integers(1, 2))),
        quasi_identifiers="race",
    )
    table = Histogram.of(np.arange(18).reshape(9, 2), schema, bound=30)
    for text in EPSILONS:
        epsilon = Fraction(text)
        swapping = RandomSwapping(epsilon=epsilon)
        sampled = SampledKAnonymity(k=6, epsilon=epsilon)
        suppression = NoisySuppression(epsilon=epsilon, threshold=6, fill="half-threshold")
        bias = swapping.bias(table)

        assert float(swapping.guarantee_for(table, epsilon=epsilon).delta) == pytest.approx(
            data.swapping_delta(epsilon, 9)
        )
        assert float(swapping.guarantee_for(table, as_printed=True).delta) == pytest.approx(
            data.swapping_theorem(epsilon, 9)
        )
        assert float(sampled.guarantee_for(table).delta) == pytest.approx(data.anonymity_delta(epsilon))
        assert float(sampled.guarantee_for(table, as_printed=True).delta) == pytest.approx(
            printed_by_listing(epsilon)
        )
        assert float(suppression.guarantee_for(table, as_printed=True).delta) == pytest.approx(
            data.suppression_theorem(epsilon, 6, 30)
        )
        assert bias.l1 == pytest.approx(np.abs(proposition_1(table.as_matrix(), epsilon)).sum())


def test_bounds_hold_on_tables_that_are_drawn_at_random():
    """Theorem 4 is an equation, the others are bounds."""
    draw = np.random.default_rng(3)
    for _ in range(50):
        matrix = draw.integers(0, 40, size=(4, 5))
        found = compare_bounds(matrix, Fraction(int(draw.integers(1, 9)), 4), int(draw.integers(1, 12)))
        equal = found.pop("theorem 4")

        assert equal[0] == pytest.approx(equal[1])
        assert all(true <= most + 1e-9 for true, most in found.values())


# --- listings -------------------------------------------------------------------------------------


def test_listed_laws_are_laws():
    """Probabilities of all outputs add up to 1."""
    assert math.fsum(suppression_law((3, 9), Fraction(1), 5).values()) == pytest.approx(1)
    assert math.fsum(sampling_law((3, 2), 0.4).values()) == pytest.approx(1)


def test_the_listing_sees_both_directions():
    """Adding a person may tell more than removing one."""
    law = {(0,): {"a": 1.0}, (1,): {"a": 0.5, "b": 0.5}}.get

    assert worst_delta(law, [((0,), (1,))], 0.0) == worst_delta(law, [((1,), (0,))], 0.0) == 0.5
    assert worst_delta(law, [((0,), (1,))], math.log(2)) == 0.5


def test_an_inequality_that_is_tight_in_both_readings_agrees(monkeypatch):
    """The statement cannot be checked only because the two that may be meant differ."""
    met = float(np.ptp(data.suppression_bias(np.array([0, 3]), Fraction(1), 6)))
    monkeypatch.setattr(alpha_bounds, "suppression_alpha_bound", lambda *_, **__: met)

    assert judged("theorem-7-tight").verdict == "agrees"


def test_both_forms_of_a_theorem_are_compared_with_the_symbol_that_was_defined(monkeypatch):
    """With the usual norm, the largest count, they would not be equal."""
    monkeypatch.setattr(alpha_bounds, "laplace_alpha_bound", lambda _, epsilon: math.exp(-epsilon) / 2 * 50)

    assert judged("theorems-8-9-norm").verdict == "contradicted"
