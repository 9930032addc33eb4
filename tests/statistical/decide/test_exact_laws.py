"""The exact probability of a rule against simulation, and wrong formulas, which simulation must see."""

import pytest

from evenhand.decide.exact.rule_probability import rule_probability
from evenhand.decide.language.terms import count, ratio
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from evenhand.privacy.randomness import SeededSource
from evenhand.release.postprocess.steps import Nonnegative
from statistical._exact import ALPHA, binomial_pvalue

SHARE, MANY, SCHOOLED = ratio("sp", "s") > 0.05, count("sp") > 10_000, ratio("spe", "sp") > 0.0131
RULE = (SHARE | MANY) & SCHOOLED
COUNTY = {"s": 200_000, "sp": 10_050, "spe": 140}
SMALL = {"s": 80, "sp": 4, "spe": 1}
FEW, MILLION = 60_000, 1_000_000
WIDE = [Laplace(300), Gaussian(180_000), DiscreteLaplace(300), DiscreteGaussian(180_000)]
NARROW = [Laplace(10), Gaussian(200), DiscreteLaplace(10), DiscreteGaussian(200)]


def happened(rule, counts, law, steps, draws, seed=1):
    """Count how often the rule holds on that many noisy copies of the counts."""
    source = SeededSource(seed)
    columns = {}
    for name, each in counts.items():
        columns[name] = each + law.draw(size=draws, source=source)
        for step in steps:
            columns[name] = step.apply(columns[name])
    return int(rule.holds(columns).sum())


def independent(counts, law):
    """Return what the rule's probability would be if its comparisons shared no count."""
    share, many, schooled = (rule_probability(each, counts, law) for each in (SHARE, MANY, SCHOOLED))
    return (share + many - share * many) * schooled


@pytest.mark.statistical
@pytest.mark.parametrize("law", [WIDE[0], WIDE[2]], ids=repr)
@pytest.mark.parametrize("draws", [FEW, pytest.param(MILLION, marks=pytest.mark.slow)])
def test_simulation_agrees_with_the_exact_law_and_not_with_independence(law, draws):
    """The comparisons share a count; multiplying their probabilities is off by 12 points."""
    seen = happened(RULE, COUNTY, law, [], draws)

    assert binomial_pvalue(seen, draws, rule_probability(RULE, COUNTY, law)) > ALPHA
    assert binomial_pvalue(seen, draws, independent(COUNTY, law)) < ALPHA  # the twin: it must be seen


@pytest.mark.statistical
@pytest.mark.slow
@pytest.mark.parametrize("law", WIDE + NARROW, ids=repr)
@pytest.mark.parametrize("counts", [COUNTY, SMALL], ids=["large", "small"])
@pytest.mark.parametrize("steps", [[], [Nonnegative()]], ids=["plain", "clamped"])
def test_a_million_draws_agree_with_the_exact_law(law, counts, steps):
    """All laws, a county of 200,000 and one of 80, clamped or not."""
    exact = rule_probability(RULE, counts, law, post=steps)
    seen = happened(RULE, counts, law, steps, MILLION)

    assert binomial_pvalue(seen, MILLION, exact) > ALPHA
    if 0.01 < exact < 0.99:
        for wrong in (exact + 0.005, exact - 0.005):
            assert binomial_pvalue(seen, MILLION, wrong) < ALPHA  # the twin: half a point is seen


@pytest.mark.statistical
def test_simulation_sees_a_forgotten_clamp():
    """Counts raised to 1 make ratios that would not be there; an exact law without them is wrong."""
    law, clamp = DiscreteLaplace(10), [Nonnegative(least=1)]
    seen = happened(RULE, SMALL, law, clamp, FEW)

    assert binomial_pvalue(seen, FEW, rule_probability(RULE, SMALL, law, post=clamp)) > ALPHA
    assert binomial_pvalue(seen, FEW, rule_probability(RULE, SMALL, law)) < ALPHA  # the twin
