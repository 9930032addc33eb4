"""A domain says exactly which values a column may hold, and two domains are equal only if they do."""

# ruff: noqa: PD011 - `values` are those of a domain, not of a data frame

import copy
import dataclasses
import decimal
import math
import pickle
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.schema import Domain

ONE_OF_EACH = [
    Domain.categorical([False, True]),
    Domain.categorical([0, 1]),
    Domain.categorical([0.0, 1.0]),
    Domain.categorical(["0", "1"]),
    Domain.categorical(["False", "True"]),
    Domain.categorical([0, 1], ordered=True),
    Domain.categorical([1, 0]),
    Domain.integers(0, 1),
    Domain.binned([0, 1]),
    Domain.binned([0, 1], labels=["0 to 1"]),
    Domain.binned([0, 0.5, 1]),
]


def test_the_declared_order_is_the_order_of_the_codes():
    domain = Domain.categorical(["Male", "Female", "Another"])

    assert [domain.code(value) for value in domain.values] == [0, 1, 2]
    assert domain.labels == ("Male", "Female", "Another")
    assert (domain.kind, domain.size, domain.ordered, domain.value_type) == ("categorical", 3, False, str)


def test_a_range_includes_both_ends():
    domain = Domain.integers(17, 90)

    assert (domain.size, domain.low, domain.high, domain.ordered) == (74, 17, 90, True)
    assert (domain.find(17), domain.find(90), domain.find(16), domain.find(91)) == (0, 73, None, None)
    assert Domain.integers(5, 5).size == 1


def test_a_bin_holds_its_left_edge_and_the_last_one_both():
    domain = Domain.binned([0, 10, 20.5])

    assert domain.labels == ("[0, 10)", "[10, 20.5]")
    assert (domain.edges, domain.size, domain.kind, domain.value_type) == (
        (0.0, 10.0, 20.5),
        2,
        "binned",
        float,
    )
    assert Domain.binned([1, 2]).labels == ("[1, 2]",)


def test_labels_of_bins_may_be_declared():
    domain = Domain.binned([0, 18, 65, 120], labels=["child", "adult", "senior"])

    assert domain.labels == ("child", "adult", "senior")
    assert domain.find("adult") == 1
    assert domain.find("[18, 65)") is None


@pytest.mark.parametrize("left", range(len(ONE_OF_EACH)))
def test_equal_looking_domains_of_other_types_are_not_equal(left):
    """True == 1 == 1.0 in Python: a schema with flags would pass for one with counts."""
    for right, other in enumerate(ONE_OF_EACH):
        assert (ONE_OF_EACH[left] == other) == (left == right)
        assert (ONE_OF_EACH[left] != other) == (left != right)


def test_domains_of_other_types_are_told_apart_in_sets_and_mappings():
    assert len(set(ONE_OF_EACH)) == len(ONE_OF_EACH)
    assert {domain: place for place, domain in enumerate(ONE_OF_EACH)}[Domain.categorical([0.0, 1.0])] == 2


def test_equal_domains_have_equal_hashes():
    pairs = [
        (Domain.categorical(["a", "b"]), Domain.categorical(np.array(["a", "b"]))),
        (Domain.categorical([1, 2]), Domain.categorical([np.int8(1), np.uint64(2)])),
        (Domain.categorical([True]), Domain.categorical([np.True_])),
        (Domain.categorical([0.5]), Domain.categorical([np.float32(0.5)])),
        (Domain.categorical([0.0]), Domain.categorical([-0.0])),
        (Domain.integers(0, 9), Domain.integers(np.int64(0), np.uint8(9))),
        (Domain.binned([0, 1]), Domain.binned([-0.0, np.float32(1)])),
    ]

    for left, right in pairs:
        assert left == right
        assert hash(left) == hash(right)
        assert repr(left) == repr(right)


def test_a_domain_is_equal_to_nothing_else():
    assert Domain.integers(0, 1) != (0, 1)
    assert Domain.integers(0, 1) != "Domain.integers(0, 1)"


def test_minus_zero_is_zero():
    domain = Domain.categorical([-0.0, 1.0])

    assert math.copysign(1, domain.values[0]) == 1
    assert math.copysign(1, Domain.binned([-0.0, 1]).edges[0]) == 1
    assert domain.find(-0.0) == domain.find(0) == 0


def test_values_given_as_a_pandas_or_polars_series_are_taken_in_order():
    expected = Domain.categorical(["b", "a"])

    assert Domain.categorical(pd.Series(["b", "a"])) == expected
    assert Domain.categorical(pl.Series(["b", "a"])) == expected
    assert Domain.categorical(value for value in "ba") == expected


def test_numpy_values_become_python_values():
    assert [type(value) for value in Domain.categorical([np.int16(1), np.int16(2)]).values] == [int, int]
    assert type(Domain.categorical([np.str_("a")]).values[0]) is str
    assert type(Domain.categorical([np.True_]).values[0]) is bool


def test_large_whole_numbers_stay_exact():
    """2**53 + 1 is the first whole number a float cannot hold: a detour over floats would merge two."""
    domain = Domain.categorical([2**53, 2**53 + 1, 2**63 - 1, -(2**63)])

    assert domain.find(2**53 + 1) == 1
    assert domain.labels[1] == "9007199254740993"
    assert Domain.integers(2**53, 2**53 + 2).find(2**53 + 1) == 1
    assert Domain.integers(2**53, 2**53 + 2).find(float(2**53)) is None


def test_a_billion_whole_numbers_cost_nothing():
    start = time.perf_counter()
    domain = Domain.integers(0, 10**9)
    facts = (
        domain.size,
        domain.labels[-1],
        len(domain.labels),
        domain.describe(),
        domain.find(10**9),
        hash(domain),
    )

    assert time.perf_counter() - start < 0.1
    assert facts[:5] == (10**9 + 1, "1000000000", 10**9 + 1, "1,000,000,001 values: 0 … 1000000000", 10**9)


def test_the_largest_range_still_has_signed_codes():
    domain = Domain.integers(-(2**62), 2**62 - 3)

    assert domain.size == 2**63 - 2
    assert len(domain.labels) == domain.size
    with pytest.raises(InvalidParameterError, match=r"at most 2\*\*63 - 2 values"):
        Domain.integers(-(2**62), 2**62 - 2)


@pytest.mark.parametrize(
    ("domain", "value", "code"),
    [
        (Domain.categorical([False, True]), True, 1),
        (Domain.categorical([False, True]), 1, None),
        (Domain.categorical([False, True]), "True", None),
        (Domain.categorical([0, 1]), True, None),
        (Domain.categorical([0, 1]), 1.0, None),
        (Domain.categorical([0, 1]), "1", None),
        (Domain.categorical([0.0, 1.0]), 1, 1),
        (Domain.categorical([0.0, 1.0]), True, None),
        (Domain.categorical(["0", "1"]), 1, None),
        (Domain.categorical(["a", ""]), "", 1),
        (Domain.categorical(["a"]), None, None),
        (Domain.categorical([1.0]), math.nan, None),
        (Domain.integers(0, 9), True, None),
        (Domain.integers(0, 9), np.int8(3), 3),
        (Domain.integers(0, 9), 10**30, None),
        (Domain.binned([0, 1, 2]), 0.5, None),
        (Domain.binned([0, 1, 2]), "[1, 2]", 1),
        (Domain.categorical(["a"]), ["a"], None),
    ],
)
def test_types_count_when_a_value_is_looked_up(domain, value, code):
    assert domain.find(value) == code


def test_a_value_outside_is_refused_with_what_is_inside():
    with pytest.raises(
        InvalidParameterError, match=r"value of the domain \(2 values: Female, Male\). Got 'male'"
    ):
        Domain.categorical(["Female", "Male"]).code("male")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "at least one value. Got an empty list"),
        (["a", "b", "a"], "distinct values. Got 'a' twice"),
        ([0.0, -0.0], "distinct values. Got 0.0 twice"),
        (["a", 1], "values of one type. Got whole numbers and text"),
        ([True, 1], "values of one type. Got truth values and whole numbers"),
        ([1, 1.0], "values of one type. Got numbers and whole numbers"),
        (["a", None], "Got the value None"),
        ([1.0, math.nan], "Got the value nan"),
        ([math.inf], "Got the value inf"),
        ([2**63], "64-bit whole numbers.* Got the value 9223372036854775808"),
        ([10**5000], "Got the value a value of type int"),
        ([pd.NaT], "Got the value a value of type NaTType"),
        ([decimal.Decimal(1)], "Got the value a value of type Decimal"),
        ([b"a"], "Got the value a value of type bytes"),
        (["\ud800"], "Got the value"),
        ([["a"]], "Got the value a value of type list"),
        ("abc", "a list or a tuple. Got a value of type str"),
        ({"a", "b"}, "Got a value of type set instead. Hint: give a set an order with sorted"),
        ({"a": 1}, "Got a value of type dict"),
        (3, "Got a value of type int"),
        (np.array(3), "Got a value of type ndarray"),
    ],
)
def test_a_list_that_cannot_be_a_domain_is_refused(values, message):
    with pytest.raises(
        InvalidParameterError, match=f"'values' parameter of Domain.categorical must be .*{message}"
    ):
        Domain.categorical(values)


def test_whether_the_order_counts_is_true_or_false():
    with pytest.raises(
        InvalidParameterError, match=r"'ordered' parameter of Domain.categorical must be True or False"
    ):
        Domain.categorical(["a"], ordered="yes")


@pytest.mark.parametrize(
    ("low", "high", "parameter"),
    [
        (1, 0, "high"),
        (0, 2**63, "high"),
        (-(2**63) - 1, 0, "low"),
        (0.0, 1, "low"),
        (False, 1, "low"),
        ("0", 1, "low"),
        (None, 1, "low"),
        pytest.param(0, 10**5000, "high", id="endless"),
    ],
)
def test_ends_that_make_no_range_are_refused(low, high, parameter):
    with pytest.raises(InvalidParameterError, match=f"'{parameter}' parameter of Domain.integers must be"):
        Domain.integers(low, high)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([], "at least two numbers"),
        ([1], "at least two numbers"),
        ([0, 0], "strictly increasing. Got 0 followed by 0"),
        ([0, -0.0], "strictly increasing"),
        ([1, 0.5], "strictly increasing. Got 1 followed by 0.5"),
        ([0, math.inf], "finite numbers.* Got the edge inf"),
        ([math.nan, 1], "finite numbers"),
        ([0, "1"], "Got the edge '1'"),
        ([False, True], "Got the edge False"),
        ([0, 2**53 + 1], "that a 64-bit float holds exactly. Got the edge 9007199254740993"),
        ("01", "a list or a tuple"),
    ],
)
def test_edges_that_make_no_bins_are_refused(edges, message):
    with pytest.raises(
        InvalidParameterError, match=f"'edges' parameter of Domain.binned must be .*{message}"
    ):
        Domain.binned(edges)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], "a list of 2 labels. Got 0 of them"),
        (["a"], "a list of 2 labels. Got 1 of them"),
        (["a", "a"], "distinct values. Got 'a' twice"),
        (["a", ""], "non-empty string"),
        (["a", 3], "non-empty string"),
        ("ab", "a list or a tuple"),
    ],
)
def test_labels_that_do_not_fit_the_bins_are_refused(labels, message):
    with pytest.raises(
        InvalidParameterError, match=f"'labels' parameter of Domain.binned must be .*{message}"
    ):
        Domain.binned([0, 1, 2], labels=labels)


def test_a_domain_made_without_its_makers_is_checked_too():
    assert Domain("binned", edges=(0, 1), bin_labels=("all",), values=("ignored",)) == Domain.binned(
        [0, 1], labels=["all"]
    )
    with pytest.raises(InvalidParameterError, match="one of 'categorical', 'integers', 'binned'"):
        Domain("unknown")
    with pytest.raises(InvalidParameterError, match="at least one value"):
        Domain("categorical")


@pytest.mark.parametrize("domain", ONE_OF_EACH)
def test_a_domain_cannot_be_changed(domain):
    for field in dataclasses.fields(domain):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(domain, field.name, None)


@pytest.mark.parametrize("domain", ONE_OF_EACH)
def test_a_domain_survives_copies_and_other_processes(domain):
    for twin in (copy.copy(domain), copy.deepcopy(domain), pickle.loads(pickle.dumps(domain))):
        assert twin == domain
        assert hash(twin) == hash(domain)


@pytest.mark.parametrize("domain", [*ONE_OF_EACH, Domain.binned([0.1, 1e300])])
def test_the_repr_makes_the_domain_again(domain):
    assert eval(repr(domain), {"Domain": Domain}) == domain


def test_a_long_domain_is_described_by_its_ends():
    assert Domain.integers(17, 90).describe() == "74 values: 17 … 90"
    assert Domain.integers(1, 3).describe() == "3 values: 1, 2, 3"
    assert Domain.categorical(["a"]).describe() == "1 value: a"
    assert Domain.categorical(list("abcdefgh")).describe() == "8 values: a, b, c … h"
    assert Domain.binned(range(0, 101, 10)).describe() == "10 bins: [0, 10) … [90, 100]"
