"""The door to all methods: which one is taken, what is said of it, vectors, and hostile inputs."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.decide.allotment.allotment import Allotment, Formula
from evenhand.decide.bounds import check_independent, composed_error, error_limits
from evenhand.decide.language.parse import parse
from evenhand.decide.language.terms import count, ratio, threshold
from evenhand.decide.result.bias import bias
from evenhand.decide.result.entities import Entities
from evenhand.decide.result.figures import BANNER
from evenhand.errors import ColumnNotFoundError, EvenhandError, InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from evenhand.release.mechanisms import noise
from evenhand.release.postprocess.steps import Integral, Nonnegative, Shrink, SumTo
from evenhand.table.frames import make_frame

LANGUAGE = parse("(sp/s > 0.05 or sp > 10000) and spe/sp > 0.0131")
SIGNED = ((ratio("sp", "s", nonpositive="signed") > 0.05) | (count("sp") > 10_000)) & (
    ratio("spe", "sp", nonpositive="signed") > 0.0131
)
DISTRICTS = Allotment([1, 2, 1.5], budget=1_000_000)
THREE = [30, 50, 80]
LAWS = [Laplace(2), Gaussian(4), DiscreteLaplace(2), DiscreteGaussian(4)]


def county(s, sp, spe):
    return {"s": [s], "sp": [sp], "spe": [spe]}


# --- vectors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (Laplace(2), -0.18393972058572),
        (Gaussian(4), -0.15865525393146),
        (DiscreteLaplace(2), -0.13888945025695),
    ],
)
def test_thresholds_have_their_vectors(law, expected):
    assert bias(threshold("x", 10), [12], law).bias == pytest.approx([expected], abs=1e-9)


def test_a_ratio_has_its_vector():
    found = bias(ratio("x", "y", nonpositive="signed") > 0.05, {"x": [45], "y": [10**6 + 800]}, Laplace(10))
    assert found.truth.tolist() == [False]

    near = bias(ratio("x", "y", nonpositive="false") > 0.05, {"x": [45], "y": [800]}, Laplace(10))
    assert near.expected == pytest.approx([0.69597466355248], abs=1e-9)


@pytest.mark.parametrize(
    ("counts", "scale", "expected"),
    [
        ((80, 4, 1), 10, 0.26955266644323),
        ((3305, 160, 3), 10, 0.15833826036665),
        ((200000, 10050, 140), 300, 0.29830374711809),
    ],
)
def test_the_language_rule_has_its_vectors(counts, scale, expected):
    """Three comparisons that share one count, which independence gets wrong by up to 12 points."""
    assert bias(SIGNED, county(*counts), Laplace(scale)).expected == pytest.approx([expected], abs=1e-9)


def test_taking_comparisons_that_share_a_count_for_independent_is_off_by_twelve_points():
    """Lemmas 1 and 2 of the paper, on its own rule, whose three comparisons read one count."""
    data, law = county(200000, 10050, 140), Laplace(300)
    share, many = ratio("sp", "s", nonpositive="signed") > 0.05, count("sp") > 10_000
    schooling = ratio("spe", "sp", nonpositive="signed") > 0.0131
    one, two, three = (bias(rule, data, law) for rule in (share, many, schooling))
    either = composed_error("or", one.flip, two.flip, first_true=one.truth, second_true=two.truth)
    both = composed_error(
        "and", either, three.flip, first_true=one.truth | two.truth, second_true=three.truth
    )
    exact = bias(SIGNED, data, law)
    low, high = error_limits(
        "and",
        bias(share | many, data, law).flip,
        three.flip,
        first_true=one.truth | two.truth,
        second_true=three.truth,
    )

    assert np.where(exact.truth, 1 - both, both) == pytest.approx([0.4214], abs=1e-4)
    assert exact.expected == pytest.approx([0.29830374711809], abs=1e-9)
    assert low <= exact.flip <= high
    with pytest.raises(InvalidParameterError, match="also reads 'sp'"):
        check_independent(share, many)


def test_the_language_rule_has_its_discrete_vector():
    found = bias(LANGUAGE, county(3305, 160, 3), DiscreteLaplace(10))

    assert found.expected == pytest.approx([0.154698191405], abs=1e-9)


def test_three_districts_have_their_vector():
    found = bias(DISTRICTS, THREE, Laplace(2))
    expected = [-1.6604364767501711e-05, -1.4155275772336337e-04, 1.5815712249086508e-04]  # in 30 digits

    assert found.bias == pytest.approx(expected, abs=1e-15, rel=1e-9)
    assert (np.abs(found.bias - expected) <= found.error_bound).all()
    assert found.cost() == pytest.approx(158.15712249151, rel=1e-9)
    assert found.bias.sum() == pytest.approx(0, abs=1e-15)


# --- which method ------------------------------------------------------------------------------------


def test_auto_is_exact_where_it_can_be():
    for problem, data in ((LANGUAGE, county(80, 4, 1)), (DISTRICTS, THREE)):
        found = bias(problem, data, Laplace(2))

        assert found.exact
        assert found.draws is None
        assert "sampled" not in found.method
        assert np.array_equal(found.bias, bias(problem, data, Laplace(2), method="exact").bias)


@pytest.mark.parametrize(
    ("problem", "data", "post", "reason"),
    [
        (threshold("x", 50), {"x": THREE}, [SumTo(160)], "ties the counts"),
        (DISTRICTS, THREE, [SumTo(160)], "need sampling"),
        (Formula(lambda x: x / x.sum()), THREE, None, "given as a function"),
        (ratio("x", "y") > 0.5, {"x": THREE, "y": THREE}, {"x": [Nonnegative()]}, "steps differ"),
    ],
)
def test_auto_samples_what_has_no_exact_method_and_says_why(problem, data, post, reason):
    found = bias(problem, data, Laplace(2), post=post, draws=100)

    assert not found.exact
    assert found.method.startswith("sampled, because")
    assert reason in found.method
    assert found.draws == 100
    with pytest.raises(InvalidParameterError, match=f"no exact method applies.*{reason}"):
        bias(problem, data, Laplace(2), post=post, method="exact")


def test_auto_samples_where_noise_is_too_wide_for_any_series():
    """Whole noise with weights that are no ratios of small numbers has neither series nor lattice here."""
    found = bias(Allotment([1, np.pi]), [10, 10], DiscreteLaplace(10), draws=100)

    assert found.method == "sampled, because the series does not come near enough for noise as wide as this"
    assert bias(Allotment([1, np.pi]), [1000, 1000], DiscreteLaplace(10)).exact


def test_sampling_can_be_asked_for():
    found = bias(LANGUAGE, county(80, 4, 1), DiscreteLaplace(10), method="sample", draws=4_000, rng=2)
    low, high = found.interval(1 - 1e-9)
    exact = bias(LANGUAGE, county(80, 4, 1), DiscreteLaplace(10)).bias

    assert found.method == "sampled"
    assert low[0] <= exact[0] <= high[0]


def test_progress_is_reported_when_sampling():
    told = []
    bias(DISTRICTS, THREE, Laplace(2), method="sample", draws=10, progress=lambda *at: told.append(at))

    assert told == [(10, 10)]


def test_clamped_shares_are_exact_and_agree_with_draws():
    for post in ([Nonnegative()], [Shrink(2.0)]):
        exact = bias(DISTRICTS, [3, 5, 8], DiscreteLaplace(2), post=post)
        drawn = bias(DISTRICTS, [3, 5, 8], DiscreteLaplace(2), post=post, method="sample", draws=20_000)
        low, high = drawn.interval(1 - 1e-9)

        assert exact.exact
        assert ((low <= exact.bias) & (exact.bias <= high)).all()
        assert exact.variance == pytest.approx(drawn.variance, rel=0.1)


def test_a_formula_that_never_has_a_total_is_not_said_to_have_one_of_0():
    root = Formula(lambda x: np.sqrt(x) / np.sqrt(x).sum())
    with np.errstate(invalid="ignore"):
        found = bias(root, [1, 4], Laplace(2), draws=200)

    assert found.notes[0].startswith("There were no shares in ")
    assert "total" not in found.notes[0]


def test_wide_noise_has_a_note_on_the_total():
    """The mean does not exist under continuous noise; whoever quotes it must know."""
    found = bias(DISTRICTS, [3, 5, 8], Laplace(10))
    assert any("0 or less" in note for note in found.notes)
    assert "principal value" in " ".join([*found.notes, found.method])

    drawn = bias(DISTRICTS, [3, 5, 8], DiscreteLaplace(10), method="sample", draws=200)
    assert any("not to be relied on" in note for note in drawn.notes)
    assert bias(DISTRICTS, [3000, 5000, 8000], Laplace(10)).notes == ()


@pytest.mark.parametrize("law", LAWS)
def test_every_law_is_exact_for_every_problem(law):
    for problem, data in ((LANGUAGE, county(80, 4, 1)), (DISTRICTS, THREE), (threshold("x", 31), THREE)):
        found = bias(problem, data, law)

        assert found.exact
        assert np.isfinite(found.bias).all()
        assert (found.variance >= 0).all()


def test_a_mechanism_stands_for_its_noise():
    mechanism = noise.Laplace(epsilon="1/2", unit="add or remove one")
    found = bias(threshold("x", 10), [12], mechanism)

    assert found.bias == pytest.approx([-0.13888945025695], abs=1e-9)
    assert found.noise == "discrete Laplace, scale 2"


def test_inputs_may_have_noise_of_their_own():
    laws = {"x": Laplace(3), "y": Laplace(20)}
    found = bias(ratio("x", "y", nonpositive="signed") > 0.05, {"x": [38], "y": [800]}, laws)

    assert found.bias == pytest.approx([0.28033867425354], abs=1e-9)
    assert found.noise == "x: Laplace, scale 3; y: Laplace, scale 20"


def test_what_the_entities_carry_goes_with_them():
    table = {"d": ["Ash", "Bay", "Cod"], "x": THREE, "young": [1, 2, 3], "old": [3, 2, 1]}
    entities = Entities.read(table, name="d", counts=["x"], groups={"under 20": "young", "older": "old"})
    found = bias(DISTRICTS, entities, Laplace(2))

    assert found.names == ("Ash", "Bay", "Cod")
    assert list(found.populations) == ["under 20", "older"]
    assert found.by("group")["older"].people == 6
    assert found.budget == 1_000_000
    assert found.coupled
    assert not bias(threshold("x", 40), entities, Laplace(2)).coupled
    assert bias(threshold("x", 40), entities, Laplace(2), post=[SumTo(5)], draws=10).coupled
    assert BANNER in str(found)


# --- hostile inputs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_places_of_nobody_are_decided(law):
    found = bias(DISTRICTS, [0, 0, 80], law, post=[Nonnegative()])
    assert np.isfinite(found.bias).all()
    assert (found.bias[:2] > 0).all()

    rule = bias(LANGUAGE, {"s": [0, 0], "sp": [0, 0], "spe": [0, 0]}, law)
    assert rule.truth.tolist() == [False, False]
    assert ((rule.flip >= 0) & (rule.flip <= 1)).all()


def test_weights_of_zero_get_no_share_and_change_no_other():
    with_zero = bias(Allotment([1, 2, 1.5, 0]), [*THREE, 1000], Laplace(2))

    assert with_zero.bias[3] == 0
    assert with_zero.bias[:3] == pytest.approx(bias(DISTRICTS, THREE, Laplace(2)).bias, rel=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_one_entity_gets_everything_whatever_the_noise(law):
    found = bias(Allotment([2.0]), [7], law)

    assert found.bias.tolist() == [0]
    assert found.alpha == 0


@pytest.mark.parametrize("law", LAWS)
def test_counts_in_the_billions_are_counts(law):
    big = 10**9
    shares = bias(Allotment([1, 1]), [big, 3 * big], law)
    second = law.variance * np.array([-0.5, 0.5]) * 6.25e-20
    assert shares.bias == pytest.approx(second, rel=1e-6, abs=1e-30)

    rule = bias(threshold("x", big), [big, big - 1, 2 * big], law)
    assert rule.flip[2] == 0
    assert 0 < rule.flip[1] < 0.5 <= 0.5 + rule.flip[0]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"x": [-1, 2, 3]}, "'x'"),
        ({"x": [1, None, 3]}, "'x'"),
        ({"x": [1, 2.5, 3]}, "'x'"),
        ({"x": [1, float("nan"), 3]}, "'x'"),
        ({"x": ["a", "b", "c"]}, "'x'"),
    ],
)
def test_counts_that_are_none_are_refused_without_telling_them(data, message):
    """The column may be named; what is in it may not."""
    with pytest.raises(EvenhandError, match=message) as caught:
        bias(DISTRICTS, data, Laplace(2))

    assert "2.5" not in str(caught.value)
    assert "-1" not in str(caught.value)


def test_missing_inputs_are_named():
    with pytest.raises(ColumnNotFoundError, match="'spe' is not among the counts"):
        bias(LANGUAGE, {"s": [1], "sp": [1]}, Laplace(2))
    entities = Entities.read({"s": [1], "sp": [1]}, counts=["s", "sp"])
    with pytest.raises(ColumnNotFoundError, match="'spe' is not among the counts"):
        bias(LANGUAGE, entities, Laplace(2))


def test_missing_entities_are_noticed():
    with pytest.raises(InvalidParameterError, match="as many entities as there are weights"):
        bias(DISTRICTS, [30, 50], Laplace(2))


def test_counts_with_a_weighted_total_of_zero_are_refused():
    with pytest.raises(InvalidParameterError, match="weighted total is above 0"):
        bias(DISTRICTS, [0, 0, 0], Laplace(2))
    with pytest.raises(InvalidParameterError, match="weighted total is above 0"):
        bias(Allotment([0, 1]), [5, 0], Laplace(2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"problem": "x > 5"}, "must be a Rule, an Allotment or a Formula"),
        ({"method": "guess"}, "one of 'auto', 'exact', 'second order', 'sample'"),
        ({"data": 5}, "Entities, a frame, or counts by the names"),
        ({"problem": Formula(lambda x: x * np.nan)}, "finite on the true counts"),
        ({"noise": 0.5}, "a law of noise"),
        ({"post": "nonnegative"}, "post-processing steps"),
        ({"post": {"y": [Nonnegative()]}}, "for the inputs alone"),
    ],
)
def test_invalid_arguments_are_refused(change, message):
    given = {"problem": threshold("x", 5), "data": {"x": [5]}, "noise": Laplace(2)} | change
    with pytest.raises(InvalidParameterError, match=message):
        bias(given.pop("problem"), given.pop("data"), given.pop("noise"), **given)


def test_an_array_is_enough_for_one_input_only():
    with pytest.raises(InvalidParameterError, match="Entities"):
        bias(LANGUAGE, [1, 2, 3], Laplace(2))

    assert bias(threshold("x", 5), np.array([5]), Laplace(2)).names == ("1",)


def test_a_frame_is_enough():
    frame = make_frame({"x": [5, 6], "y": ["a", "b"]}, backend="pyarrow")

    assert bias(threshold("x", 5), frame, Laplace(2)).flip == pytest.approx([0.5, 0.30326533])
    with pytest.raises(ColumnNotFoundError, match="'z'"):
        bias(threshold("z", 5), frame, Laplace(2))


def test_noise_that_is_hardly_there_is_exact_too():
    """Its effects are far below rounding; a bound relative to them could never be met."""
    found = bias(Allotment([1, 1]), [1, 5], DiscreteLaplace("1/100"), post=Nonnegative())

    assert found.exact
    assert found.bias == pytest.approx([0, 0], abs=1e-12)


def test_equal_places_are_exact_too():
    """Their bias is 0 by symmetry; a bound relative to the bias itself could never be met."""
    found = bias(Allotment([1] * 4), [25] * 4, DiscreteLaplace(2))

    assert found.exact
    assert found.bias == pytest.approx(np.zeros(4), abs=1e-15)


def test_steps_that_change_no_count_stay_exact():
    plain = bias(threshold("x", 10), [12], DiscreteLaplace(2))
    rounded = bias(threshold("x", 10), [12], DiscreteLaplace(2), post=[Integral(), Nonnegative()])

    assert rounded.exact
    assert rounded.bias == pytest.approx(plain.bias)
    assert "then rounded at random" in rounded.noise


def test_budgets_are_numbers_however_they_are_written():
    assert bias(Allotment([1, 1], budget=Fraction(1, 3)), [1000, 2000], Laplace(2)).budget == pytest.approx(
        1 / 3
    )
