"""The theorems of fioretto2021: verdicts as derived, and checks that can come out the other way."""

import math
from fractions import Fraction
from itertools import count

import numpy as np
import pytest

from evenhand.papers.claims import Evidence
from evenhand.papers.fioretto2021 import PAPER
from evenhand.papers.fioretto2021 import theory_checks as theory

HOLD = {
    "theorem-3", "corollary-1", "example-1-trace", "corollary-5", "theorem-9", "integrality", "theorem-10",
    "theorem-11", "theorem-4", "property-1", "lemma-1", "lemma-2", "lemma-3", "theorem-5", "theorem-6",
    "corollary-2", "corollary-3", "corollary-4", "corollary-6", "theorem-7", "theorem-8",
}  # fmt: skip
FAIL = {
    "equation-4g", "equation-5b", "corollary-4-convex", "example-1-different", "integrality-decisions",
    "composition", "allotment-expectation", "figure-7-private",
}  # fmt: skip
SLIPS = {"theorem-9-text", "equation-29", "equation-20b"}
EXPECTED = dict.fromkeys(HOLD, "agrees") | dict.fromkeys(FAIL, "contradicted") | dict.fromkeys(SLIPS, "slip")
_LATER = count()
NUMBERS = {"county-ratios", "example-1-consistent"}
STATED = {claim.id: claim for claim in PAPER.claims if not claim.needs and claim.id not in NUMBERS}


def judged(name):
    """Return the row of a claim that needs no records."""
    return STATED[name].judge(Evidence({}))


@pytest.mark.parametrize("name", list(STATED))
def test_every_theorem_has_the_verdict_that_was_derived(name):
    """Wrong formulas are contradicted; where another line of the paper has it right, it is a slip."""
    assert set(STATED) == set(EXPECTED)
    assert judged(name).verdict == EXPECTED[name]


def test_reasons_have_the_known_numbers():
    """The counter-examples and corrected values of the formula sheet."""
    assert "\N{MINUS SIGN}1.66e-05, \N{MINUS SIGN}0.000142, 0.000158 exactly" in judged("equation-4g").why
    assert "differ by 24" in judged("corollary-2").why
    assert "1.3720 by the theorem, and 0.5488" in judged("theorem-9-text").why
    assert "gives 0.52; with two signs put right 0.20" in judged("equation-20b").why


def test_the_mean_of_a_function_of_noise_is_an_integral():
    """Powers, exponentials and cosines have closed forms."""
    for power, expected in ((0, 1), (1, 0), (2, 2), (4, 24)):
        assert theory.expected(lambda noise, k=power: noise**k, 1.0) == pytest.approx(expected, abs=1e-9)
    assert theory.expected(lambda noise: np.exp(noise / 2), 1.0) == pytest.approx(4 / 3, rel=1e-9)
    assert theory.expected(lambda noise: np.cos(noise / 2), 1.0) == pytest.approx(4 / 5, rel=1e-9)
    assert theory.expected(np.abs, 3.0) == pytest.approx(3, rel=1e-12)


def test_formulas_that_were_right_would_be_seen(monkeypatch):
    """If the curvature of the paper gave the exact bias, its equations would agree."""
    true = theory._exact_shares()
    monkeypatch.setattr(theory.bounds_curvature, "second_order_bias", lambda *_, **__: true)
    monkeypatch.setattr(theory.bounds_curvature, "second_order_alpha", lambda *_, **__: float(np.ptp(true)))

    assert judged("equation-4g").verdict == judged("equation-5b").verdict == "agrees"


def test_a_trace_or_a_clamp_that_is_wrong_is_seen(monkeypatch):
    """The checks must be able to contradict what is said to hold."""
    trace = theory.bounds_curvature.allotment_trace
    monkeypatch.setattr(theory.bounds_curvature, "allotment_trace", lambda *given: 2 * trace(*given))
    monkeypatch.setattr(theory.bounds_curvature, "ratio_trace", lambda x, _: np.zeros(len(x)))
    monkeypatch.setattr(theory, "expected", lambda *_: math.exp(-3 / 5))

    assert judged("example-1-trace").verdict == judged("corollary-5").verdict == "contradicted"
    assert judged("theorem-9-text").verdict == "agrees"


def test_noise_that_is_not_centred_is_seen(monkeypatch):
    """Linear formulas would be biased, quadratic ones would have a bias that depends on the count."""
    right = theory.expected
    shifted = lambda function, *more: right(lambda noise: function(noise + 0.5), *more)  # noqa: E731 - one line
    monkeypatch.setattr(theory, "expected", shifted)

    assert (
        judged("corollary-1").verdict
        == judged("theorem-3").verdict
        == judged("theorem-9").verdict
        == "contradicted"
    )


def test_a_sensitivity_beyond_the_theorem_is_seen(monkeypatch):
    """One person moves shares by 2 a_max / L at most, and by so much in some tables."""
    right = theory._moves
    assert "further in 0 of 336 tables of three entities, and just as far in 48" in judged("theorem-11").why
    for times in (Fraction(101, 100), Fraction(99, 100)):
        monkeypatch.setattr(theory, "_moves", lambda *given, times=times: times * right(*given))

        assert judged("theorem-11").verdict == "contradicted"
    assert float(right((5, 1, 4), (1, 2, 3))) == pytest.approx(0.21052631578947)
    assert right((1, 0, 0), (1, 2, 3)) == 0


@pytest.mark.parametrize("name", ["lemma-1", "lemma-2", "lemma-3"])
def test_a_lemma_that_is_wrong_is_seen(name, monkeypatch):
    """By the exact probability of the joined rule."""
    right = theory.bounds.composed_error
    monkeypatch.setattr(theory.bounds, "composed_error", lambda *given, **more: right(*given, **more) * 1.001)

    assert judged(name).verdict == "contradicted"


def test_bounds_that_are_too_small_are_seen(monkeypatch):
    """Theorems 5 and 6, and what follows from them."""
    monkeypatch.setattr(theory.bounds, "alpha_bound", lambda *_: 0.01)
    monkeypatch.setattr(theory.bounds, "alpha_bound_excess", lambda *_: -0.01)

    assert {judged(each).verdict for each in ("theorem-5", "theorem-6", "corollary-3", "corollary-6")} == {
        "contradicted"
    }


def test_other_answers_that_err_most_would_be_seen(monkeypatch):
    """Theorems 7 and 8 name the pair."""
    monkeypatch.setattr(theory.bounds, "errors_by_truth", lambda *_: {(True, False): 1.0})

    assert judged("theorem-7").verdict == judged("theorem-8").verdict == "contradicted"


@pytest.mark.parametrize(
    ("name", "function", "changed"),
    [
        ("corollary-2", "expected", lambda right: lambda function, *more: right(function, *more) ** 2),
        ("corollary-4", "expected", lambda _: lambda *_: 0.0),
        (
            "corollary-4-convex",
            "expected",
            lambda right: lambda *given: right(*given) + next(_LATER),
        ),
        ("allotment-expectation", "inverse_growth", lambda _: lambda *_: [1.0, 0.1, 0.01]),
    ],
)
def test_a_mean_that_came_out_otherwise_would_change_the_verdict(name, function, changed, monkeypatch):
    """The verdicts rest on integrals, not on the words of a proof."""
    before = judged(name).verdict
    monkeypatch.setattr(theory, function, changed(getattr(theory, function)))
    if name == "corollary-4":
        monkeypatch.setattr(theory.math, "cos", lambda _: 0.0)

    assert judged(name).verdict != before


def test_the_mean_of_an_inverse_gains_the_same_from_every_cut():
    """Twice the density at 0 times the logarithm of the step; without a density there it would shrink."""
    gains = theory.inverse_growth(5, 5, (1e-3, 1e-6, 1e-9))

    assert gains == pytest.approx([2 * math.exp(-1) / 10 * math.log(1000)] * 2, rel=1e-3)
    assert max(theory.inverse_growth(5000, 5, (1e-3, 1e-6))) < 1e-300


def test_coefficients_that_did_not_move_would_be_private(monkeypatch):
    monkeypatch.setattr(theory.np.linalg, "lstsq", lambda *_, **__: (np.ones(3),))

    assert judged("figure-7-private").verdict == "agrees"
