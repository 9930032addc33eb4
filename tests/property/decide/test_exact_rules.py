"""The exact probability of a rule against enumeration and slow integration, for any rule."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.decide.exact import joint_law
from evenhand.decide.exact.components import candidates
from evenhand.decide.exact.rule_probability import exactly_solvable, rule_probability
from evenhand.decide.language.terms import count, ratio
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from evenhand.release.postprocess.steps import Nonnegative
from property._slow_rules import enumerated, integrated

FEWER = settings(max_examples=max(10, settings.default.max_examples // 4), deadline=None)
NAMES = ["a", "b", "c"]
SIGNS = ["__gt__", "__ge__", "__lt__", "__le__"]
LEAST = st.sampled_from([None, 0, -2, 1, 3])
DISCRETE = st.one_of(
    st.integers(2, 7).map(lambda tenths: DiscreteLaplace(Fraction(tenths, 10))),
    st.integers(1, 70).map(lambda tenths: DiscreteGaussian(Fraction(tenths, 10))),
)
REAL = st.one_of(
    st.integers(2, 80).map(lambda tenths: Laplace(Fraction(tenths, 10))),
    st.integers(1, 400).map(lambda tenths: Gaussian(Fraction(tenths, 10))),
)


@st.composite
def comparisons(draw, names):
    chosen = draw(st.permutations(names))
    size = draw(st.integers(1, len(names)))
    bound = Fraction(draw(st.integers(-6, 9)), draw(st.sampled_from([1, 2, 7])))
    sign = draw(st.sampled_from(SIGNS))
    if size > 1 and draw(st.booleans()):
        nonpositive = draw(st.sampled_from(["false", "signed"]))
        return getattr(ratio(chosen[0], chosen[1], nonpositive=nonpositive), sign)(bound)
    weights = [draw(st.sampled_from([1, -1, 2, -3, 5, Fraction(1, 2)])) for _ in range(size)]
    term = sum((w * count(name) for w, name in zip(weights, chosen, strict=False)), start=count("a") * 0)
    return getattr(term, sign)(bound)


@st.composite
def rules(draw, names=tuple(NAMES), most=4):
    parts = [draw(comparisons(list(names))) for _ in range(draw(st.integers(1, most)))]
    rule = parts[0]
    for part in parts[1:]:
        joined = [rule & part, rule | part, rule ^ part]
        rule = joined[draw(st.integers(0, 2))]
        rule = ~rule if draw(st.booleans()) else rule
    return rule


COUNTS = st.fixed_dictionaries({name: st.integers(-3, 10) for name in NAMES})


@FEWER
@given(rules(), COUNTS, st.tuples(DISCRETE, DISCRETE, DISCRETE), LEAST)
def test_discrete_rules_agree_with_every_noise_enumerated(rule, counts, laws, least):
    """A wrong tie, a dropped pattern or an independence that is none would show here, whatever the rule."""
    by_name = dict(zip(NAMES, laws, strict=True))
    steps = [] if least is None else [Nonnegative(least=least)]

    found = rule_probability(rule, counts, by_name, post=steps)

    assert abs(found - enumerated(rule, counts, by_name, steps)) < 1e-11


@FEWER
@given(rules(names=("a", "b"), most=3), COUNTS, st.tuples(REAL, REAL), LEAST)
def test_real_rules_agree_with_slow_integration(rule, counts, laws, least):
    """A kink that was missed costs digits; the slow way finds every one by itself."""
    by_name = dict(zip(NAMES, laws, strict=False))
    steps = None if least is None else [Nonnegative(least=least)]

    found = rule_probability(rule, counts, by_name, post=steps)

    assert abs(found - integrated(rule, counts, by_name, least)) < 1e-11


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(rules(most=2), COUNTS, st.tuples(REAL, REAL, REAL), LEAST)
def test_the_input_conditioned_on_does_not_matter(rule, counts, laws, least):
    """All orders integrate the same law; one that missed a kink of two dimensions would differ."""
    by_name = dict(zip(NAMES, laws, strict=True))
    steps = None if least is None else [Nonnegative(least=least)]
    if exactly_solvable(rule, by_name, steps) is not None:
        return
    found = rule_probability(rule, counts, by_name, post=steps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joint_law, "choice", lambda structure, part: max(candidates(structure, part)))
        last = rule_probability(rule, counts, by_name, post=steps)
        patch.setattr(joint_law, "choice", lambda structure, part: min(candidates(structure, part)))
        first = rule_probability(rule, counts, by_name, post=steps)

    assert abs(found - last) < 1e-10
    assert abs(found - first) < 1e-10


@given(rules(most=3), COUNTS, st.tuples(DISCRETE, DISCRETE, DISCRETE), st.integers(-(10**9), 10**9))
@FEWER
def test_a_rule_and_its_negation_share_one(rule, counts, laws, shift):
    """Probabilities of what happens and what does not add up to 1, also for counts of a billion."""
    by_name = dict(zip(NAMES, laws, strict=True))
    moved = {name: each + shift for name, each in counts.items()}
    both = rule_probability(rule, moved, by_name) + rule_probability(~rule, moved, by_name)

    assert np.isclose(both, 1, atol=1e-12, rtol=0)
