"""Guarantees add over the same people and combine over disjoint people, by the rules of their unit."""

import itertools
from fractions import Fraction

import pytest

from evenhand.errors import GuaranteeError, InvalidParameterError, PrivacyWarning
from evenhand.privacy import Guarantee, Trust, Unit
from evenhand.privacy.guarantees.loss import Loss

CENTRAL = {"unit": "replace one", "trust": "central"}
ADD = {"unit": "add or remove one", "trust": "central"}
REPORT = {"unit": "one report", "trust": "local"}
SIZES = (
    "where the two largest of several parts count, each part's guarantee also holds when the number of "
    "people in the part changes by one"
)
FIXED = "where only the largest of several parts counts, which part a person is in is public and fixed"
OWN = "where only the largest of several local parts counts, the part a person answers in is fixed"


# -- one after the other ----------------------------------------------------------------------------


@pytest.mark.parametrize("unit", list(Unit))
def test_amounts_add(unit):
    first = Guarantee.approximate("1/10", "1e-6", unit=unit, trust="central")
    second = Guarantee.approximate("2/10", "2e-6", unit=unit, trust="central")

    assert (first + second).loss == Loss(Fraction(3, 10), Fraction(3, 10**6))
    assert (first + second).unit is unit


def test_rhos_add():
    assert (Guarantee.zcdp("1/10", **ADD) + Guarantee.zcdp("1/5", **ADD)).rho == Fraction(3, 10)


def test_pure_counts_as_half_its_square_beside_zcdp():
    total = Guarantee.pure("1/2", **ADD) + Guarantee.zcdp("1/10", **ADD)

    assert (total.epsilon, total.rho) == (None, Fraction(1, 10) + Fraction(1, 8))


def test_zcdp_does_not_add_to_a_delta_before_it_is_converted():
    gaussian, other = Guarantee.zcdp("1/10", **ADD), Guarantee.approximate(1, "1e-6", **ADD)
    with pytest.raises(GuaranteeError, match=r"convert the zCDP one first, with \.to_approximate"):
        gaussian + other

    assert (gaussian.to_approximate(delta="1e-6") + other).delta == Fraction(2, 10**6)


def test_delta_of_a_sum_stays_within_one():
    half = Guarantee.approximate(1, "2/3", **ADD)

    assert (half + half).delta == 1


def test_columns_are_united_and_one_that_is_shown_is_not_protected():
    """A column that one report hides and the next one shows is known."""
    first = Guarantee.pure(1, **REPORT, protects=["race", "age"], in_clear=["income"])
    second = Guarantee.pure(1, **REPORT, protects=["income", "sex"], in_clear=["age"])
    total = first + second

    assert total.protects == ("race", "sex")
    assert total.in_clear == ("income", "age")
    assert "In the clear, and so not protected: income and age." in str(total)


def test_proofs_and_assumptions_are_kept_once_in_order():
    first = Guarantee.pure(1, **REPORT, proof="randomized response", assumptions=["a", "b"])
    second = Guarantee.pure(1, **REPORT, proof="subset selection", assumptions=["b", "c"])

    assert (first + second + first).proof == "randomized response; subset selection"
    assert (first + second + first).assumptions == ("a", "b", "c")


@pytest.mark.parametrize(
    ("first", "second", "whole"),
    [("local", "local", "local"), ("local", "central", "central"), ("central", "central", "central")],
)
def test_trust_is_the_weakest(first, second, whole):
    parts = [Guarantee.pure(1, unit="one person", trust=trust) for trust in (first, second)]

    assert (parts[0] + parts[1]).trust == whole
    assert (parts[0] | parts[1]).trust == whole


@pytest.mark.parametrize("other", [Guarantee.pure(1, **ADD, protects=["race"]), Guarantee.zcdp(1, **ADD)])
def test_nothing_beside_anything_is_nothing(other):
    nothing = Guarantee.no_guarantee(unit="add or remove one", in_clear=["age"], people=5)
    for whole in (nothing + other, other + nothing, nothing | other, other | nothing):
        assert whole.trust is Trust.NONE
        assert (whole.epsilon, whole.delta, whole.protects) == (0, 1, ())
        assert set(whole.in_clear) == {"age", *other.protects}


def test_a_sum_is_tight_only_with_a_single_term():
    tight = Guarantee.pure(1, **REPORT, tight=True)
    zero = Guarantee.pure(0, **REPORT)

    assert not (tight + tight).tight
    assert (tight + zero).tight
    assert (zero + tight).tight
    assert not (zero + Guarantee.pure(1, **REPORT)).tight


def test_a_tight_epsilon_is_not_a_tight_rho():
    """Half the square of epsilon is a bound on rho, even with nothing added."""
    tight, zero = Guarantee.pure(1, **REPORT, tight=True), Guarantee.zcdp(0, **REPORT)

    assert not (tight + zero).tight
    assert not (tight | zero).tight


@pytest.mark.parametrize(
    ("first", "second", "unit", "epsilon"),
    [
        (REPORT, {"unit": "one person", "trust": "local"}, Unit.ONE_PERSON, 2),
        (REPORT, CENTRAL, Unit.REPLACE_ONE, 2),
        (REPORT, ADD, Unit.REPLACE_ONE, 3),
        ({"unit": "one person", "trust": "local"}, ADD, Unit.REPLACE_ONE, 3),
        (CENTRAL, ADD, Unit.REPLACE_ONE, 3),
    ],
)
def test_different_units_are_brought_to_a_common_one(first, second, unit, epsilon):
    total = Guarantee.pure(1, **first) + Guarantee.pure(1, **second)

    assert (total.unit, total.epsilon) == (unit, epsilon)
    assert total == Guarantee.pure(1, **second) + Guarantee.pure(1, **first)


def test_units_without_a_valid_conversion_do_not_mix():
    """Rows of a central table say nothing about people until it is said how many rows a person has."""
    rows = Guarantee.pure(1, unit="one report", trust="central")
    for compose in (rows.__add__, rows.__or__):
        with pytest.raises(GuaranteeError, match=r"a person may have several\. Hint: say how many"):
            compose(Guarantee.pure(1, **CENTRAL))


def test_the_larger_number_of_people_counts_in_a_sum_and_both_in_parallel():
    first, second = Guarantee.pure(1, **ADD, people=5), Guarantee.pure(1, **ADD, people=7)
    unknown = Guarantee.pure(1, **ADD)

    assert (first + second).people == 7
    assert (first | second).people == 12
    assert (first + unknown).people == 5
    assert (first | unknown).people is (unknown | first).people is None
    assert (unknown + unknown).people is (unknown | unknown).people is None


def test_groups_add_when_they_are_of_one_size_and_not_otherwise():
    """Five people at once under one term and one person under the other is no statement about anybody."""
    one = Guarantee.pure(1, **ADD)

    assert (one.group(5) + one.group(5)).group_size == 5
    assert (one.group(5) + one.group(5)).epsilon == 10
    nothing = Guarantee.no_guarantee(unit="add or remove one", group_size=2)
    assert one.group(5) + nothing == nothing + one.group(5) == nothing
    with pytest.raises(GuaranteeError, match="groups of one size"):
        one.group(5) + one
    with pytest.raises(GuaranteeError, match="compose first, then call"):
        one.group(5) | one.group(5)


@pytest.mark.parametrize("other", [1, b"x", None, 0.0, {}])
def test_only_guarantees_compose(other):
    one = Guarantee.pure(1, **ADD)
    for compose in (lambda: one + other, lambda: other + one, lambda: one | other, lambda: other | one):
        with pytest.raises(TypeError, match=r"unsupported operand|can't concat"):
            compose()


def test_a_list_of_guarantees_can_be_summed():
    assert sum([Guarantee.pure(1, **ADD), Guarantee.pure(2, **ADD)]).epsilon == 3


# -- over disjoint people ---------------------------------------------------------------------------

PAIRS = [
    (Fraction(1, 2), Fraction(1, 10**6)),
    (Fraction(1, 4), Fraction(3, 10**6)),
    (Fraction(1, 8), Fraction(0)),
]


def parts_with(unit, trust="central"):
    return [Guarantee.approximate(epsilon, delta, unit=unit, trust=trust) for epsilon, delta in PAIRS]


def test_adding_or_removing_a_person_touches_one_part():
    a, b, c = parts_with("add or remove one")
    whole = a | b | c

    assert (whole.epsilon, whole.delta) == (Fraction(1, 2), Fraction(3, 10**6))
    assert whole.assumptions == ()


@pytest.mark.parametrize("unit", ["one report", "one person"])
def test_a_person_stays_in_one_part(unit):
    a, b, c = parts_with(unit, "local")
    whole = a | b | c

    assert (whole.epsilon, whole.delta) == (Fraction(1, 2), Fraction(3, 10**6))
    assert whole.assumptions == (OWN,)


def test_replacing_a_person_touches_two_parts():
    """Three counties do not cost three times; one county alone does not cover a move."""
    a, b, c = parts_with("replace one")
    whole = a | b | c

    assert (whole.epsilon, whole.delta) == (Fraction(3, 4), Fraction(4, 10**6))
    assert whole.assumptions == (SIZES,)
    assert whole == a | (b | c) == c | b | a == Guarantee.parallel(b, c, a)


def test_public_membership_costs_the_largest_part():
    whole = Guarantee.parallel(*parts_with("replace one"), membership="public")

    assert (whole.epsilon, whole.delta) == (Fraction(1, 2), Fraction(3, 10**6))
    assert whole.assumptions == (FIXED,)
    assert whole.blocks == ()


def test_zcdp_in_parallel():
    rhos = [Guarantee.zcdp(rho, **CENTRAL) for rho in ("1/10", "1/5", "3/10")]

    assert (rhos[0] | rhos[1] | rhos[2]).rho == Fraction(1, 2)
    assert Guarantee.parallel(*rhos, membership="public").rho == Fraction(3, 10)
    assert (rhos[0] | Guarantee.pure(1, **CENTRAL)).rho == Fraction(6, 10)
    with pytest.raises(GuaranteeError, match="convert the zCDP one first"):
        rhos[0] | Guarantee.approximate(1, "1e-6", **CENTRAL)


def test_a_whole_is_as_tight_as_the_part_that_makes_it():
    tight, loose = Guarantee.pure(1, **ADD, tight=True), Guarantee.pure("1/2", **ADD)

    assert (tight | loose).tight
    assert not (tight | Guarantee.pure(2, **ADD)).tight
    assert not (tight | Guarantee.approximate("1/2", "1e-6", **ADD)).tight
    assert not (Guarantee.pure(1, **CENTRAL, tight=True) | Guarantee.pure(1, **CENTRAL, tight=True)).tight


def test_parts_in_different_units_are_brought_to_a_common_one_first():
    whole = Guarantee.pure(1, **ADD) | Guarantee.pure("1/2", **CENTRAL)

    assert (whole.unit, whole.epsilon) == (Unit.REPLACE_ONE, Fraction(5, 2))


def test_a_sum_after_a_whole_is_a_single_part_again():
    a, b, c = (Guarantee.pure(epsilon, **CENTRAL) for epsilon in (1, 2, 3))

    assert ((a | b) + c).blocks == ()
    assert (((a | b) + c) | a).epsilon == 7


def test_reading_a_whole_for_replace_one_doubles_it():
    """Who leaves and who comes may be in the same part, so two parts are no better than one part twice."""
    whole = Guarantee.pure(1, **ADD) | Guarantee.pure("1/4", **ADD)

    assert whole.as_unit("replace one").epsilon == 2


def test_one_part_is_itself_and_no_part_is_refused():
    one = Guarantee.pure(1, **CENTRAL)

    assert Guarantee.parallel(one) is one
    with pytest.raises(InvalidParameterError, match="must be one or more guarantees"):
        Guarantee.parallel()
    with pytest.raises(InvalidParameterError, match="'membership' parameter"):
        Guarantee.parallel(one, one, membership="secret")


def test_parallel_warns_of_new_trouble_only():
    six, seven = Guarantee.pure(6, **CENTRAL), Guarantee.pure(7, **CENTRAL)
    with pytest.warns(PrivacyWarning, match="epsilon = 13"):
        whole = six | seven

    assert (whole | six).epsilon == 13


# -- who may change parts ---------------------------------------------------------------------------

LOCAL_UNITS = [("one report", "local"), ("one person", "local")]
MOVING_UNITS = [("one report", "central"), ("one person", "central"), ("replace one", "central")]


@pytest.mark.parametrize(("unit", "trust"), MOVING_UNITS)
def test_a_record_that_changes_may_change_parts(unit, trust):
    """A table for each race: a person whose race is another one moves a count in both, and loses the sum."""
    a, b, c = parts_with(unit, trust)
    whole = a | b | c

    assert (whole.epsilon, whole.delta) == (Fraction(3, 4), Fraction(4, 10**6))
    assert whole.assumptions == (SIZES,)
    assert whole == a | (b | c) == Guarantee.parallel(c, a, b) == Guarantee.from_dict(whole.to_dict())


@pytest.mark.parametrize(("unit", "trust"), LOCAL_UNITS + MOVING_UNITS)
def test_membership_that_is_said_to_be_private_counts_two_parts(unit, trust):
    whole = Guarantee.parallel(*parts_with(unit, trust), membership="private")

    assert (whole.epsilon, whole.delta) == (Fraction(3, 4), Fraction(4, 10**6))
    assert whole.assumptions == (SIZES,)
    assert Guarantee.from_dict(whole.to_dict()) == whole


@pytest.mark.parametrize(("unit", "trust"), LOCAL_UNITS + MOVING_UNITS)
def test_membership_that_is_said_to_be_public_counts_the_largest(unit, trust):
    whole = Guarantee.parallel(*parts_with(unit, trust), membership="public")

    assert (whole.epsilon, whole.delta) == (Fraction(1, 2), Fraction(3, 10**6))
    assert (whole.assumptions, whole.blocks) == ((FIXED,), ())


@pytest.mark.parametrize("membership", [None, "private", "public"])
def test_membership_means_nothing_to_adding_or_removing(membership):
    whole = Guarantee.parallel(*parts_with("add or remove one"), membership=membership)

    assert (whole.epsilon, whole.delta, whole.assumptions) == (Fraction(1, 2), Fraction(3, 10**6), ())


@pytest.mark.parametrize(("unit", "trust"), LOCAL_UNITS + MOVING_UNITS)
@pytest.mark.parametrize("reports", [1, 3])
def test_a_whole_read_for_replace_one_is_never_below_its_parts_read_for_it(unit, trust, reports):
    """Otherwise the order of two steps would halve what is claimed."""
    a, b, c = parts_with(unit, trust)
    asked = {"unit": "replace one"} | ({"reports": reports} if unit == "one report" else {})
    first = (a | b | c).as_unit(**asked)
    last = a.as_unit(**asked) | b.as_unit(**asked) | c.as_unit(**asked)

    assert last.loss.within(first.loss)
    assert OWN not in first.assumptions
    assert SIZES in first.assumptions
    assert Guarantee.from_dict(first.to_dict()) == first


def test_a_local_whole_keeps_its_parts_on_the_way_to_replace_one():
    a, b = (Guarantee.pure(epsilon, **REPORT) for epsilon in (1, 2))
    person = (a | b).as_unit("one person", reports=2)

    assert (person.epsilon, person.assumptions) == (4, (OWN, "each person sends at most 2 reports"))
    assert Guarantee.from_dict(person.to_dict()) == person
    assert person.as_unit("replace one").epsilon == 6
    assert not (a | b).as_unit("replace one").tight


def test_a_local_whole_keeps_its_parts_in_a_sum():
    a, b, c, d = (Guarantee.pure(epsilon, **REPORT) for epsilon in (1, 2, 4, 8))

    assert ((a | b) + c).epsilon == 6
    assert ((a | b) + c).as_unit("replace one").epsilon == 7
    assert ((a | b) + (c | d)).epsilon == 10
    with pytest.warns(PrivacyWarning, match="epsilon = 15"):
        assert ((a | b) + (d | c)).as_unit("replace one").epsilon == 15
    assert ((a | b) + Guarantee.zcdp(1, **REPORT)).as_unit("replace one").rho == Fraction(7, 2)


def test_a_local_whole_whose_parts_are_forgotten_counts_twice_for_replace_one():
    """After a conversion nobody knows the second part any more; it may be as large as the first."""
    whole = (Guarantee.zcdp("1/10", **REPORT) | Guarantee.zcdp("1/20", **REPORT)).to_approximate(delta="1e-6")
    moved = whole.as_unit("replace one")
    c = Guarantee.pure("1/7", **REPORT)

    assert (whole.blocks, moved.loss) == ((), whole.loss.plus(whole.loss))
    assert OWN not in moved.assumptions
    assert (whole + c).as_unit("replace one").epsilon == 2 * whole.epsilon + Fraction(1, 7)
    assert Guarantee.parallel(whole, c, membership="private").epsilon == 2 * whole.epsilon


def test_a_local_whole_whose_parts_are_forgotten_is_written_and_read_back_for_another_unit():
    """A file holds two parts or none; with any other number it would be refused when it is read."""
    whole = (Guarantee.zcdp("1/10", **REPORT) | Guarantee.zcdp("1/20", **REPORT)).to_approximate(delta="1e-6")
    moved = whole.as_unit("one person", reports=1)

    assert moved.blocks == (whole.loss, whole.loss)
    assert Guarantee.from_dict(moved.to_dict()) == moved


def test_a_local_whole_beside_a_central_part_counts_two_parts():
    a, b = (Guarantee.pure(epsilon, unit="one person", trust="local") for epsilon in (1, 2))
    c = Guarantee.pure(4, unit="one person", trust="central")

    assert ((a | b) | c).epsilon == (a | (b | c)).epsilon == 6
    assert (a | b) | c == a | (b | c)
    assert ((a | b) | c).assumptions == (SIZES,)


def test_what_was_said_to_be_public_stays_an_assumption():
    a, b, c = (Guarantee.pure(epsilon, **REPORT) for epsilon in (1, 2, 4))
    whole = Guarantee.parallel(Guarantee.parallel(a, b, membership="public"), c, membership="private")

    assert (whole.epsilon, whole.assumptions) == (6, (FIXED, SIZES))


def test_a_record_cannot_claim_less_than_its_largest_part():
    record = (Guarantee.pure(1, **REPORT) | Guarantee.pure(2, **REPORT)).to_dict()

    assert Guarantee.from_dict(record).epsilon == 2
    for epsilon in ("1", "4"):
        with pytest.raises(InvalidParameterError, match="'blocks' parameter"):
            Guarantee.from_dict(record | {"epsilon": epsilon})
    with pytest.raises(InvalidParameterError, match="'blocks' parameter"):
        Guarantee.from_dict(record | {"assumptions": []})


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([(REPORT, 1), (CENTRAL, 2), (ADD, 3)], (Unit.REPLACE_ONE, 8)),
        ([(REPORT, 1), ({"unit": "one person", "trust": "local"}, 2), (REPORT, 3)], (Unit.ONE_PERSON, 3)),
        ([(REPORT, 1), ({"unit": "one person", "trust": "central"}, 2), (REPORT, 3)], (Unit.ONE_PERSON, 5)),
        ([(ADD, 1), (ADD, 2), (CENTRAL, 1)], (Unit.REPLACE_ONE, 6)),
    ],
)
def test_three_parts_of_mixed_units_cost_the_same_in_each_order(order, terms, expected):
    parts = [Guarantee.pure(terms[index][1], **terms[index][0]) for index in order]
    whole = Guarantee.parallel(*parts)

    assert (whole.unit, whole.epsilon) == expected
    assert whole == Guarantee.parallel(*reversed(parts))


@pytest.mark.parametrize(
    "other",
    [
        Guarantee.pure(1, unit="one report", trust="central"),
        Guarantee.pure(1, unit="add or remove one", trust="central", group_size=3),
        Guarantee.zcdp(1, unit="one person", trust="local"),
        Guarantee.approximate(1, "1e-6", unit="one report", trust="local", group_size=2),
    ],
)
@pytest.mark.parametrize("unit", list(Unit))
def test_nothing_beside_what_cannot_be_converted_is_still_nothing(unit, other):
    nothing = Guarantee.no_guarantee(unit=unit)
    for whole in (nothing + other, other + nothing, nothing | other, other | nothing):
        assert (whole.trust, whole.epsilon, whole.delta, whole.group_size) == (Trust.NONE, 0, 1, 1)
