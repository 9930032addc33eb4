"""The noise on each input, and the guarantee that counts every input a person touches."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.exact.noise import guarantee_of, noise_of, share_noise
from evenhand.decide.language.parse import parse
from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law
from evenhand.release.mechanisms import noise as mechanisms
from evenhand.release.mechanisms.registry import TableMechanism
from evenhand.release.mechanisms.suppression import NoisySuppression
from evenhand.release.mechanisms.thresholded import ThresholdedLaplace

LANGUAGE = parse("(sp/s > 0.05 or sp > 10000) and spe/sp > 0.0131")
REPLACE, REMOVE = "replace one", "add or remove one"


def test_one_law_is_on_every_input():
    law = DiscreteLaplace(10)

    assert dict(noise_of(law, inputs=LANGUAGE.inputs)) == {"sp": law, "s": law, "spe": law}


def test_a_mechanism_gives_the_law_that_it_draws_from():
    laplace = mechanisms.Laplace("1/10", unit=REPLACE)
    gaussian = mechanisms.DiscreteGaussian(rho="1/8", unit=REMOVE)

    laws = noise_of({"s": laplace, "sp": gaussian, "spe": Laplace(3)}, inputs=LANGUAGE.inputs)

    assert laws == {"sp": DiscreteGaussian(4), "s": DiscreteLaplace(20), "spe": Laplace(3)}
    with pytest.raises(TypeError):
        laws["s"] = Laplace(1)


@pytest.mark.parametrize(
    "noise",
    [None, 3, "laplace", Laplace, ThresholdedLaplace.example(), NoisySuppression.example()],
    ids=["none", "number", "text", "class", "thresholded", "suppression"],
)
def test_what_does_more_than_add_noise_is_refused(noise):
    """A thresholded release has a law too, but a count of it is not the true one plus that noise."""
    with pytest.raises(InvalidParameterError, match="a law of noise, or the mechanism"):
        noise_of(noise, inputs=["x"])


def test_a_mapping_has_the_inputs_and_no_others():
    with pytest.raises(UnknownNameError, match="'s' is not given"):
        noise_of({"sp": Laplace(1)}, inputs=LANGUAGE.inputs)
    with pytest.raises(InvalidParameterError, match="inputs alone"):
        noise_of({"x": Laplace(1), "X": Laplace(1)}, inputs=["x"])


@pytest.mark.parametrize("unit", [REPLACE, REMOVE])
def test_nested_counts_cost_three_times_and_as_printed_once(unit):
    """Who is in spe is in sp and in s as well; a claim for one count would be three times too small."""
    laplace = mechanisms.Laplace("1/10", unit=unit)

    true, printed = guarantee_of(LANGUAGE, laplace), guarantee_of(LANGUAGE, laplace, as_printed=True)

    assert true.epsilon == Fraction(3, 10)
    assert printed.epsilon == Fraction(1, 10)
    assert true.protects == printed.protects == ("sp", "s", "spe")
    assert true.unit == printed.unit == unit
    assert "as printed" in printed.proof
    assert not printed.tight
    assert "counted at most once in each input" in true.assumptions[0]


def measured(laws, moves):
    """Return the largest log-ratio of the probabilities of an outcome when the counts move so."""
    places = np.arange(-40, 41)
    ratios = [np.log(law.pmf(places) / law.pmf(places - move)) for law, move in zip(laws, moves, strict=True)]
    return sum(float(np.abs(each).max()) for each in ratios)


@pytest.mark.parametrize(("unit", "moves"), [(REMOVE, [1, 1, 1]), (REPLACE, [1, 1, 1, -1, -1, -1])])
def test_the_claim_is_what_the_probabilities_show(unit, moves):
    """The loss over all outcomes, from the law itself: the claim meets it, what is printed is less."""
    laplace = mechanisms.Laplace("1/2", unit=unit)
    seen = measured([laplace.law] * len(moves), moves)

    assert float(guarantee_of(LANGUAGE, laplace).epsilon) == pytest.approx(seen, rel=1e-9)
    assert float(guarantee_of(LANGUAGE, laplace, as_printed=True).epsilon) < 0.34 * seen


def test_a_replaced_person_who_changes_inputs_stays_within_the_claim():
    """Somebody leaves a count of one input and enters one of another with other noise."""
    noise = {"a": mechanisms.Laplace(1, unit=REPLACE), "b": mechanisms.Laplace(2, unit=REPLACE)}
    claimed = guarantee_of(parse("a > 1 or b > 1"), noise, touches=1)
    laws = {name: each.law for name, each in noise.items()}

    for pair in ("aa", "ab", "bb"):
        assert measured([laws[name] for name in pair], [1, -1]) <= float(claimed.epsilon) * (1 + 1e-12)


def test_an_allotment_has_one_input():
    laplace = mechanisms.Laplace("1/10", unit=REPLACE)

    assert guarantee_of(Allotment([1, 2]), laplace).epsilon == Fraction(1, 10)
    assert guarantee_of(Allotment([1, 2]), laplace).tight
    assert not guarantee_of(Allotment([1]), laplace).tight
    assert guarantee_of(Allotment([1]), mechanisms.Laplace(1, unit=REMOVE)).tight


def test_gaussian_noise_adds_in_rho_and_calibrated_noise_in_epsilon_and_delta():
    rho = guarantee_of(LANGUAGE, mechanisms.DiscreteGaussian(rho="1/8", unit=REPLACE))
    pair = guarantee_of(LANGUAGE, mechanisms.DiscreteGaussian(epsilon=1, delta="1e-6", unit=REPLACE))

    assert (rho.rho, rho.epsilon) == (Fraction(3, 8), None)
    assert pair.epsilon == 3
    assert Fraction("2.9e-6") < pair.delta <= Fraction("3e-6")


@pytest.mark.parametrize(
    ("law", "unit", "stated"),
    [
        (DiscreteLaplace(10), REMOVE, {"epsilon": Fraction(3, 10)}),
        (DiscreteLaplace(10), REPLACE, {"epsilon": Fraction(6, 10)}),
        (Laplace("1/3"), REMOVE, {"epsilon": Fraction(9)}),
        (DiscreteGaussian(100), REMOVE, {"rho": Fraction(3, 200)}),
        (Gaussian(100), REPLACE, {"rho": Fraction(3, 100)}),
    ],
)
def test_laws_promise_what_their_scale_gives(law, unit, stated):
    made = guarantee_of(LANGUAGE, law, unit=unit)

    assert {name: getattr(made, name) for name in stated} == stated
    assert any("simulation only" in each for each in made.assumptions) == law.idealized


def test_a_law_and_a_mechanism_of_the_same_noise_promise_the_same():
    mechanism = mechanisms.Laplace("1/7", unit=REPLACE)

    assert guarantee_of(LANGUAGE, mechanism).loss == guarantee_of(LANGUAGE, mechanism.law, unit=REPLACE).loss


def test_fewer_inputs_per_person_cost_the_largest_of_them():
    noise = {name: mechanisms.Laplace(each, unit=REMOVE) for name, each in zip("abc", (1, 2, 3), strict=True)}
    rule = parse("a > 1 and b > 1 and c > 1")

    assert [guarantee_of(rule, noise, touches=each).epsilon for each in (1, 2, 3)] == [3, 5, 6]
    assert guarantee_of(rule, noise).epsilon == 6
    assert guarantee_of(rule, noise, as_printed=True).epsilon == 3
    two = guarantee_of(rule, noise, touches=2)
    assert two.protects == ("a", "b", "c")
    assert "each person is counted in at most 2 of the 3 inputs" in two.assumptions


def test_noise_of_several_kinds_is_composed_over_all_inputs():
    """Which of a pure and a concentrated loss is larger has no answer; all of them together bound any two."""
    rule = parse("a > 1 and b > 1")
    noise = {
        "a": mechanisms.Laplace("1/10", unit=REMOVE),
        "b": mechanisms.DiscreteGaussian(epsilon=1, delta="1e-6", unit=REMOVE),
    }

    assert guarantee_of(rule, noise, touches=1).loss == guarantee_of(rule, noise).loss
    assert guarantee_of(rule, noise).epsilon == Fraction(11, 10)
    with pytest.raises(InvalidParameterError, match="of one kind"):
        guarantee_of(rule, noise, as_printed=True)
    same = dict.fromkeys("ab", noise["b"])
    assert guarantee_of(rule, same, touches=1).epsilon == 1


class Uniform(Law):
    """A law of somebody else's."""

    idealized, support, variance = True, "reals", 1.0

    def __init__(self):
        pass

    def draw(self, *, size, source):
        raise NotImplementedError

    def _beyond(self, x):
        return x

    def _lower_end(self, x):
        return x

    def _successor(self, x):
        return x


@pytest.mark.parametrize(
    ("problem", "noise", "asked", "words"),
    [
        (LANGUAGE, DiscreteLaplace(1), {}, "'unit' parameter of guarantee_of must be given with a law"),
        (LANGUAGE, DiscreteLaplace(1), {"unit": "one report"}, "'unit' parameter"),
        (LANGUAGE, mechanisms.Laplace(1, unit=REMOVE), {"unit": REPLACE}, "that of the mechanism"),
        (LANGUAGE, mechanisms.Laplace(1, unit=REMOVE), {"touches": 0}, "'touches' parameter"),
        (LANGUAGE, mechanisms.Laplace(1, unit=REMOVE), {"touches": 4}, "'touches' parameter"),
        (LANGUAGE, mechanisms.Laplace(1, unit=REMOVE), {"touches": "one"}, "'touches' parameter"),
        ("x > 3", Laplace(1), {"unit": REMOVE}, "'problem' parameter"),
        (None, Laplace(1), {"unit": REMOVE}, "'problem' parameter"),
        (LANGUAGE, None, {}, "a law of noise"),
        (LANGUAGE, Uniform(), {"unit": REMOVE}, "a Laplace or Gaussian law"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(problem, noise, asked, words):
    with pytest.raises(InvalidParameterError, match=words):
        guarantee_of(problem, noise, **asked)


def test_the_same_unit_may_be_said_twice():
    assert guarantee_of(LANGUAGE, mechanisms.Laplace(1, unit=REMOVE), unit=REMOVE).epsilon == 3


# --- noise that several inputs share --------------------------------------------------------------


@pytest.mark.parametrize("inputs", [1, 2, 3])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [("laplace", {}), ("discrete-gaussian", {"delta": "1e-6"}), ("discrete-gaussian", {"rho": "1/8"})],
)
def test_inputs_that_share_noise_keep_together_what_was_asked_for(name, parameters, inputs):
    """If they kept less, a person would be promised too much; if more, everybody would pay for it."""
    epsilon = None if "rho" in parameters else Fraction(1)
    noise = share_noise(TableMechanism(name, parameters), epsilon=epsilon, inputs=inputs, unit=REPLACE)
    rule = parse(" and ".join(f"x{place} > 3" for place in range(inputs)))
    promised = guarantee_of(rule, noise)

    if epsilon is None:
        assert promised.rho == Fraction(1, 8)
        return
    if promised.rho is not None:
        promised = promised.to_approximate(delta=parameters["delta"])
    assert 0.999 < promised.epsilon <= 1
    assert promised.delta <= Fraction(parameters.get("delta", "0"))
