"""Piecewise linear proxies of a rule."""

import numpy as np
import pytest

from evenhand.decide.language.parse import parse
from evenhand.decide.mitigate import alpha_by_group, compare, piecewise_proxy
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.release.mechanisms.noise import Laplace

RULE = parse("(sp/s > 0.05 or sp > 10000) and spe/sp > 0.0131")
NOISE = Laplace(epsilon=1, unit="add or remove one")


@pytest.fixture(scope="module")
def counties():
    draws = np.random.default_rng(1)
    s = draws.integers(200, 100_000, 120)
    sp = (s * draws.uniform(0, 0.12, 120)).astype(int) + 1
    return {"s": s, "sp": sp, "spe": (sp * draws.uniform(0, 0.03, 120)).astype(int)}


@pytest.mark.parametrize("model", ["regression", "svm"])
def test_models_are_fitted_to_the_release_alone(counties, model):
    """Then the guarantee covers them: nested counts, so three times epsilon."""
    seen = []
    proxy = piecewise_proxy(
        RULE,
        counties,
        NOISE,
        model=model,
        groups=4,
        draws=6,
        progress=lambda done, of: seen.append((done, of)),
    )

    assert float(proxy.guarantee.epsilon) == 3
    assert proxy.name == f"piecewise proxy ({model})"
    assert proxy.decided.draws == 6
    assert seen[-1] == (6, 6)
    assert 0 < proxy.mean_absolute_error < 0.5
    assert (proxy.decided.standard_error > 0).all()
    assert "fitted to the release alone" in proxy.words


@pytest.mark.parametrize("model", ["regression", "svm"])
def test_as_printed_there_is_no_guarantee(counties, model):
    """Models fitted to the true counts publish them."""
    proxy = piecewise_proxy(
        RULE, counties, NOISE, model=model, groups=4, draws=30, as_printed=True, progress=lambda *_: None
    )

    assert proxy.guarantee.trust == "none"
    assert "there is no guarantee" in proxy.words
    assert "none" in str(compare_of(proxy))


def compare_of(*ways):
    from evenhand.decide.mitigate import Comparison

    return Comparison(ways)


def test_the_number_of_a_line_is_linear_in_the_noise(counties):
    """As printed, the mean of the regression is its value at the true counts: exact in all but the draws."""
    proxy = piecewise_proxy(
        RULE, counties, NOISE, model="regression", groups=1, as_printed=True, draws=400, rng=3
    )
    features = np.column_stack([*(counties[name] for name in RULE.inputs), np.ones(120)]).astype(float)
    truth = RULE.holds(counties).astype(float)
    fitted = features @ np.linalg.lstsq(features, truth, rcond=None)[0]

    assert proxy.decided.draws == 400
    assert np.abs(proxy.bias - (fitted - truth)).max() < 6 * proxy.decided.standard_error.max()


def test_groups_are_made_by_the_count_that_most_comparisons_read(counties):
    """Unless told otherwise."""
    assert "noisy sp," in piecewise_proxy(RULE, counties, NOISE, model="regression", draws=3).words
    assert "noisy s," in piecewise_proxy(RULE, counties, NOISE, model="regression", draws=3, by="s").words


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"by": "x"}, "one of the inputs: "),
        ({"model": "tree"}, "one of 'regression', 'svm'"),
        ({"groups": 0}, "a whole number from 1 to 120"),
        ({"draws": 1}, "at least 2"),
    ],
)
def test_parameters_that_make_no_sense(counties, given, words):
    with pytest.raises(InvalidParameterError, match=words):
        piecewise_proxy(RULE, counties, NOISE, **given)


def test_allotments_are_refused():
    from evenhand.decide.allotment.allotment import Allotment

    with pytest.raises(InvalidParameterError, match="must be a Rule"):
        piecewise_proxy(Allotment([1]), {"x": [1]}, NOISE)


def test_groups_that_all_say_the_same_are_constant():
    """A support vector machine needs two sides; a group of one needs none."""
    data = {"x": np.array([1, 2, 3, 1000, 1001, 1002])}
    proxy = piecewise_proxy(
        parse("x > 500"), data, DiscreteLaplace("0.2"), unit="add or remove one", groups=2, draws=5
    )

    assert proxy.bias.tolist() == [0] * 6


def test_alpha_is_returned_for_each_group():
    assert alpha_by_group(np.array([0.0, 0.5, 0.25, 0.25]), np.array([4, 3, 2, 1]), groups=2) == (0.0, 0.5)


def test_rules_are_compared_too(counties):
    found = compare(RULE, counties, NOISE, draws=4, total=10_000)

    assert [way.name for way in found][-2:] == ["piecewise proxy (regression)", "piecewise proxy (svm)"]
    assert "wrong decisions" in str(found)
    assert found["plain release"].moved == pytest.approx(np.abs(found["plain release"].bias).sum())
