"""Splits of a budget: the published figures, the sums, and what is refused."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.collect.joint.split import (
    decimal_parts,
    dyadic_shares,
    float_below,
    sampling_cost,
    split_budget,
    split_cost,
)
from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import exact

ADULT = (2, 5, 41, 74)
ACS = (2, 50, 2, 24)
LSAC = (2, 2, 5, 2)
ONES = (1, 1, 1, 1)
TABLE = [  # sizes, epsilon, protocol, weights, cost of uniform, k-based and optimal, as printed
    (ADULT, 1, "grr", None, "87996", "37224", "24684"),
    (ADULT, 1, "grr", ONES, "1476.8", "6389.7", "788.05"),
    (ADULT, 1, "oue", None, "7767.5", "43892", "4745.9"),
    (ADULT, 1, "auto", None, "7300", "17425", "3750"),
    (ACS, 1, "auto", None, "4522.5", "7455.4", "2041"),
    (LSAC, 1, "grr", None, "361.0", "250.1", "242.3"),
    ((2, 2, 74), 4, "grr", None, "720.6", "384.5", "34.35"),
]


@pytest.mark.parametrize(("sizes", "epsilon", "protocol", "weights", "uniform", "k_based", "optimal"), TABLE)
def test_the_costs_of_the_splits_are_those_worked_out_elsewhere(
    sizes, epsilon, protocol, weights, uniform, k_based, optimal
):
    for how, printed in (("uniform", uniform), ("k-based", k_based), ("optimal", optimal)):
        split = split_budget(epsilon, sizes, how=how, protocol=protocol, weights=weights)
        cost = split_cost(split, sizes, protocol=protocol, weights=weights)
        digits = len(printed.partition(".")[2])

        assert f"{cost:.{digits}f}" == printed


def test_the_optimal_split_of_oue_to_ten_digits():
    found = split_budget(1, ADULT, how="optimal", protocol="oue")

    assert [f"{each:.10f}" for each in found] == [
        "0.1186784509",
        "0.1610713330",
        "0.3248004469",
        "0.3954497692",
    ]


def test_asking_one_attribute_of_each_person_costs_less_still():
    asked = split_budget(1, ADULT, how="sample", protocol="auto")
    cost = sampling_cost(asked, 1, ADULT, protocol="auto")
    roots = sum((k * split_cost([1], [k], protocol="auto", weights=[1])) ** 0.5 for k in ADULT)

    assert f"{cost:.1f}" == "1062.7"
    assert cost == pytest.approx(roots**2, rel=1e-12)


def test_equal_weights_make_uniform_optimal_where_the_size_does_not_matter():
    for protocol in ("oue", "blh", "rappor"):
        assert split_budget(1, ADULT, how="optimal", protocol=protocol, weights=ONES) == pytest.approx(
            (0.25,) * 4, rel=1e-12
        )


def test_weights_of_cells_are_the_default():
    named = split_budget(1, ADULT, how="optimal", weights="cells")

    assert (
        named == split_budget(1, ADULT, how="optimal") == split_budget(1, ADULT, how="optimal", weights=ADULT)
    )


@pytest.mark.parametrize("epsilon", [1, 0.1, "1/3", Fraction(7, 11), Decimal("0.3"), 50])
def test_exact_splits_sum_to_the_whole(epsilon):
    whole = exact(epsilon, name="epsilon", owner="test")
    for how in ("uniform", "k-based"):
        assert sum(split_budget(epsilon, ADULT, how=how, exact=True)) == whole
    best = sum(split_budget(epsilon, ADULT, how="optimal", exact=True))

    assert 0 <= whole - best < Fraction(1, 10**12)
    assert sum(split_budget(epsilon, ADULT, how="sample", exact=True)) == 1


@pytest.mark.parametrize("how", ["uniform", "k-based", "optimal"])
@pytest.mark.parametrize("epsilon", [1, 0.1, "1/3", 0.7, 4])
def test_the_decimals_that_the_floats_print_fit_into_the_budget(how, epsilon):
    """A sum of floats may pass the whole by its last bit; then the ledger would refuse the report."""
    split = split_budget(epsilon, (2, 3, 7), how=how)

    assert sum(Fraction(repr(part)) for part in split) <= exact(epsilon, name="epsilon", owner="test")
    assert sum(split) == pytest.approx(float(Fraction(str(epsilon))), rel=1e-14)


def test_a_mapping_gives_a_dictionary_in_the_same_order():
    sizes = {"race": 5, "age": 74, "gender": 2}
    for how in ("uniform", "k-based", "optimal", "sample"):
        found = split_budget(1, sizes, how=how)

        assert list(found) == list(sizes)
        assert tuple(found.values()) == split_budget(1, tuple(sizes.values()), how=how)


def test_mappings_are_read_by_name_not_by_order():
    sizes = {"a": 2, "b": 50}
    weights, turned = {"a": 1, "b": 9}, {"b": 9, "a": 1}
    protocols = {"b": "oue", "a": "grr"}

    assert split_budget(1, sizes, how="optimal", weights=weights) == split_budget(
        1, sizes, how="optimal", weights=turned
    )
    assert split_cost({"b": 0.5, "a": 1}, sizes, protocol=protocols) == pytest.approx(
        split_cost([1, 0.5], [2, 50], protocol=["GRR", "OUE"])
    )


def test_equal_attributes_get_exactly_equal_parts():
    assert split_budget(1, (4, 4, 4), how="optimal", protocol="grr", exact=True) == (Fraction(1, 3),) * 3
    assert split_budget("1/7", [9], how="optimal", protocol="ss", exact=True) == (Fraction(1, 7),)


def test_own_numbers_are_kept_as_they_are_given():
    assert split_budget(1, (2, 3), how=[0.1, "9/10"], exact=True) == (Fraction(1, 10), Fraction(9, 10))
    assert split_budget(1, {"a": 2, "b": 3}, how={"b": 0.2, "a": 0.1}) == {"a": 0.1, "b": 0.2}


@pytest.mark.parametrize(
    ("how", "match"),
    [
        ([0.5, 0.6], "sum to at most 1. Got epsilons that sum to 11/10"),
        ([0.5], "a sequence of 2"),
        ([0.5, 0], "'how' parameter .* a number > 0"),
        ({"a": 0.1, "b": 0.1}, "a sequence of 2"),
        ("auto", "one of 'uniform', 'k-based', 'optimal', 'sample'"),
        (7, "a sequence of 2"),
    ],
)
def test_wrong_splits_are_refused(how, match):
    with pytest.raises(InvalidParameterError, match=match):
        split_budget(1, (2, 3), how=how)


def test_own_numbers_by_name_must_have_the_right_names():
    for wrong in ({"a": 0.1}, {"a": 0.1, "c": 0.1}, [0.1, 0.1]):
        with pytest.raises(InvalidParameterError, match="a mapping with the keys a, b"):
            split_budget(1, {"a": 2, "b": 3}, how=wrong)


@pytest.mark.parametrize("sizes", [[], {}, None, "23", 5])
def test_no_sizes_are_refused(sizes):
    with pytest.raises(InvalidParameterError, match="'sizes' parameter of split_budget"):
        split_budget(1, sizes)


@pytest.mark.parametrize("sizes", [[1, 2], [2, 2.5], [2, True], [2, 2**31]])
def test_wrong_sizes_are_refused(sizes):
    with pytest.raises(InvalidParameterError, match="a whole number from 2"):
        split_budget(1, sizes)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), "x"])
def test_wrong_epsilons_are_refused(epsilon):
    with pytest.raises(InvalidParameterError, match="'epsilon' parameter of split_budget"):
        split_budget(epsilon, ADULT)


@pytest.mark.parametrize("how", ["optimal", "sample"])
@pytest.mark.parametrize("epsilon", ["1e-7", 701])
def test_where_the_formulas_lose_digits_no_variances_are_compared(how, epsilon):
    with pytest.raises(InvalidParameterError, match="from 1e-6 to 700"):
        split_budget(epsilon, ADULT, how=how)
    assert len(split_budget(epsilon, ADULT, how="uniform")) == 4


@pytest.mark.parametrize("wrong", ["1e400", 1e308, "1e-101"])
@pytest.mark.parametrize("protocol", ["grr", "auto"])
def test_weights_whose_costs_are_no_floats_are_refused(wrong, protocol):
    """The search would compare infinities, and with kinks in the variance never end."""
    with pytest.raises(InvalidParameterError, match="numbers from 1e-100 to 1e100"):
        split_budget(1, (2, 3), how="optimal", protocol=protocol, weights=(wrong, wrong))

    for least in ("1e-100", "1e100"):
        parts = split_budget("1e-6", (2, 3), how="optimal", protocol=protocol, weights=(least, "1e100"))
        assert 0 < sum(parts) <= 1e-6


def test_wrong_protocols_and_weights_are_refused():
    with pytest.raises(InvalidParameterError, match="'protocol' parameter of split_budget must be one of"):
        split_budget(1, ADULT, how="optimal", protocol="laplace")
    with pytest.raises(InvalidParameterError, match="'protocol' parameter of split_budget must be one of"):
        split_budget(1, ADULT, how="optimal", protocol=5)
    with pytest.raises(InvalidParameterError, match="'protocol' parameter"):
        split_budget(1, ADULT, how="optimal", protocol=["grr"])
    with pytest.raises(InvalidParameterError, match="'weights' parameter"):
        split_budget(1, ADULT, how="optimal", weights=(1, 1, 1, 0))
    with pytest.raises(InvalidParameterError, match="'epsilons' parameter of split_cost"):
        split_cost((1, 1), ADULT)
    with pytest.raises(InvalidParameterError, match="'probabilities' parameter of sampling_cost"):
        sampling_cost((0.5, 0.5, 0, 0), 1, ADULT)


# --- Parts of a whole stay within the whole, whatever is rounded ---


amounts = st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=8)
totals = st.fractions(min_value=Fraction(1, 10**6), max_value=700, max_denominator=10**6)


@given(amounts)
def test_dyadic_shares_sum_to_one_and_none_is_zero(given):
    shares = dyadic_shares([Fraction(each) for each in given])

    assert sum(shares) == 1
    assert all(share > 0 and (share * 2**53).denominator == 1 for share in shares)


def test_a_share_too_small_for_the_grid_gets_one_unit():
    assert dyadic_shares([Fraction(1), Fraction(1, 10**30)])[1] == Fraction(1, 2**53)


@given(totals, amounts)
def test_decimal_parts_never_exceed_the_total_and_lose_next_to_nothing(total, given):
    parts = decimal_parts(total, given)

    assert 0 <= total - sum(parts) <= total / 10**15
    assert all(part > 0 for part in parts)


def test_a_part_too_small_for_the_unit_is_lifted_and_the_total_kept():
    parts = decimal_parts(Fraction(700), [1.0, 1e-30])

    assert parts[1] > 0
    assert sum(parts) <= 700


def test_a_large_total_of_few_parts_needs_no_fractions():
    assert sum(decimal_parts(Fraction(10**25), [1.0, 1.0])) <= 10**25


@given(totals)
def test_the_float_below_reads_as_no_more(total):
    """A budget written with a float must not grow when it is read back."""
    found = float_below(total)

    assert Fraction(repr(found)) <= total
    assert float(total) - found <= 1e-15 * float(total)
