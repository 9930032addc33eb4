"""Composition is commutative, associative and monotone, and never claims less than a part loses."""

import warnings
from fractions import Fraction
from functools import reduce
from itertools import product
from operator import add, or_

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evenhand.errors import GuaranteeError, PrivacyWarning
from evenhand.privacy import Guarantee, Measure, Trust, Unit
from evenhand.privacy.guarantees.loss import in_one_measure

pytestmark = [pytest.mark.filterwarnings("ignore::evenhand.errors.PrivacyWarning"), pytest.mark.figures]

fractions = st.integers(0, 8_400).map(lambda n: Fraction(n, 420))
deltas = st.integers(0, 10**6).map(lambda n: Fraction(n, 2 * 10**6))
PURE = st.builds(lambda epsilon: {"epsilon": epsilon}, fractions)
APPROXIMATE = st.builds(lambda epsilon, delta: {"epsilon": epsilon, "delta": delta}, fractions, deltas)
ZCDP = st.builds(lambda rho: {"rho": rho / 14}, fractions)
ONE_MEASURE = (PURE, st.one_of(PURE, APPROXIMATE), ZCDP)
WORDS = [
    {
        "protects": [
            column for column, side in zip(("race", "sex", "age"), sides, strict=True) if side == "p"
        ],
        "in_clear": [
            column for column, side in zip(("race", "sex", "age"), sides, strict=True) if side == "c"
        ],
        "tight": tight,
        "proof": proof,
        "assumptions": assumptions,
        "people": people,
    }
    for sides in product("pc-", repeat=3)
    for tight in (False, True)
    for proof, assumptions, people in (
        ("", [], None),
        ("x", ["a"], 5),
        ("x; y", ["a", "b"], 1_000),
        ("y", ["b"], 7),
    )
]


def guarantees(*, loss, unit=None, trusts=tuple(Trust)):
    return st.builds(
        lambda amount, unit, trust, words: Guarantee(**amount, unit=unit, trust=trust, **words),
        loss,
        st.sampled_from(list(Unit)) if unit is None else st.just(unit),
        st.sampled_from(trusts),
        st.sampled_from(WORDS),
    )


def several(count, *, losses=ONE_MEASURE, trusts=tuple(Trust)):
    """Guarantees in one unit and one measure (pure goes with approximate)."""
    kinds = [guarantees(loss=loss, unit=unit, trusts=trusts) for unit in Unit for loss in losses]
    return st.one_of([st.tuples(*[kind] * count) for kind in kinds])


@pytest.mark.parametrize("compose", [add, or_])
@given(parts=several(2))
def test_the_order_of_two_does_not_matter(compose, parts):
    first, second = parts

    assert compose(first, second) == compose(second, first)
    assert hash(compose(first, second)) == hash(compose(second, first))


@pytest.mark.parametrize("compose", [add, or_])
@given(parts=several(3))
def test_the_grouping_of_three_does_not_matter(compose, parts):
    """If it did, a | b | c under replace one would count three parts, or lose one."""
    first, second, third = parts

    assert compose(compose(first, second), third) == compose(first, compose(second, third))


@given(parts=several(4))
def test_all_at_once_is_the_same_as_one_by_one(parts):
    assert Guarantee.parallel(*parts) == reduce(or_, parts)


@given(parts=several(2, losses=[st.one_of(PURE, ZCDP)], trusts=("local", "central")))
def test_pure_and_zcdp_compose_in_either_order(parts):
    first, second = parts

    assert first + second == second + first
    assert first | second == second | first


@pytest.mark.parametrize("compose", [add, or_])
@given(parts=several(2, trusts=("local", "central")))
def test_the_whole_is_never_less_than_a_part(compose, parts):
    """A whole that claims less than a part loses is a false promise."""
    whole = compose(*parts)
    for part in in_one_measure([part.loss for part in parts]):
        assert whole.loss.amount >= part.amount
        assert whole.loss.delta >= min(1, part.delta)


@pytest.mark.parametrize("compose", [add, or_])
@given(parts=several(3, trusts=("local", "central")))
def test_more_loss_in_a_part_is_never_less_in_the_whole(compose, parts):
    first, second, third = parts
    assume(first.trust is second.trust)
    assume(first.loss.amount <= second.loss.amount and first.loss.delta <= second.loss.delta)
    less, more = compose(first, third).loss, compose(second, third).loss

    assert less.amount <= more.amount
    assert less.delta <= more.delta


@given(parts=several(3, trusts=("local", "central")))
def test_in_parallel_costs_at_most_as_much_as_one_after_the_other(parts):
    together, after = reduce(or_, parts).loss, reduce(add, parts).loss

    assert together.amount <= after.amount
    assert together.delta <= after.delta


@given(parts=st.lists(guarantees(loss=PURE, unit="replace one", trusts=("central",)), min_size=2, max_size=6))
def test_replace_one_counts_exactly_the_two_largest(parts):
    largest = sorted(part.epsilon for part in parts)[-2:]

    assert reduce(or_, parts).epsilon == sum(largest)


@pytest.mark.parametrize("compose", [add, or_])
@given(parts=several(2))
def test_no_column_is_both_protected_and_in_the_clear(compose, parts):
    whole = compose(*parts)

    assert not set(whole.protects) & set(whole.in_clear)
    assert set(whole.in_clear) >= {column for part in parts for column in part.in_clear}
    assert set(whole.protects) | set(whole.in_clear) == {
        column for part in parts for column in (*part.protects, *part.in_clear)
    }


@pytest.mark.parametrize("compose", [add, or_])
@given(
    first=guarantees(loss=st.one_of(PURE, APPROXIMATE, ZCDP)),
    second=guarantees(loss=st.one_of(PURE, APPROXIMATE, ZCDP)),
)
def test_any_two_guarantees_compose_or_say_why_not(compose, first, second):
    """Units, measures and trust of every kind: the answer is a guarantee or our error, never another."""
    whole, refused = None, ""
    try:
        whole = compose(first, second)
    except GuaranteeError as error:
        refused = str(error)

    if whole is None:
        assert "Hint: " in refused
    else:
        assert whole.trust in {first.trust, second.trust}
        assert whole.unit in {first.unit, second.unit, Unit.REPLACE_ONE}
        assert str(whole)
        assert Guarantee.from_dict(whole.to_dict()) == whole


@given(
    made=guarantees(loss=st.one_of(PURE, APPROXIMATE, ZCDP), trusts=("local", "central")),
    reports=st.integers(1, 5),
    size=st.integers(1, 5),
)
def test_a_conversion_never_lowers_the_loss(made, reports, size):
    assert made.group(size).loss.amount >= made.loss.amount
    assert made.group(size).loss.delta >= made.loss.delta
    given_reports = reports if made.unit is Unit.ONE_REPORT else None
    if made.unit is not Unit.REPLACE_ONE:
        moved = made.as_unit("replace one", reports=given_reports)

        assert moved.loss.amount >= made.loss.amount
        assert moved.loss.delta >= made.loss.delta


@given(parts=several(3, trusts=("local", "central")), reports=st.integers(1, 4))
def test_a_whole_read_for_replace_one_covers_its_parts_read_for_it(parts, reports):
    """Otherwise composing before converting would claim less than converting before composing."""
    asked = reports if parts[0].unit is Unit.ONE_REPORT else None
    whole = reduce(or_, parts).as_unit("replace one", reports=asked).loss
    apart = reduce(or_, [part.as_unit("replace one", reports=asked) for part in parts]).loss
    unit = parts[0].unit

    assert unit is Unit.ADD_OR_REMOVE_ONE or apart.amount <= whole.amount
    assert unit is Unit.ADD_OR_REMOVE_ONE or apart.delta <= whole.delta
    assert unit is not Unit.ADD_OR_REMOVE_ONE or apart.amount <= 2 * whole.amount


@given(made=guarantees(loss=ZCDP, trusts=("central",)), delta=st.fractions(Fraction(1, 10**9), 1))
def test_a_converted_guarantee_is_no_longer_zcdp(made, delta):
    assume(made.rho > 0)
    moved = made.to_approximate(delta=delta)

    assert moved.measure is Measure.APPROXIMATE
    assert moved.delta == delta


@given(parts=several(2, trusts=("central",)))
def test_tight_is_claimed_only_where_a_part_is_tight(parts):
    for whole in (parts[0] + parts[1], parts[0] | parts[1]):
        assert not whole.tight or any(part.tight and part.loss == whole.loss for part in parts)


def test_the_filter_above_hides_only_our_warnings():
    """If it hid others too, this would pass in silence what is an error everywhere else."""
    with pytest.raises(UserWarning, match="another"):
        warnings.warn("another", UserWarning, stacklevel=1)
    warnings.warn("ours", PrivacyWarning, stacklevel=1)
