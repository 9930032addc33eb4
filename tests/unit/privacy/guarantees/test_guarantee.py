"""A guarantee keeps what it is given exactly, refuses what cannot be, and is a plain value."""

import copy
import dataclasses
import itertools
import json
import pickle
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import GuaranteeError, InvalidParameterError, PrivacyWarning
from evenhand.privacy import Guarantee, Measure, Trust, Unit

CENTRAL = {"unit": "replace one", "trust": "central"}
LOCAL = {"unit": "one report", "trust": "local"}


@pytest.mark.parametrize("given", [0.1, "0.1", "1/10", Decimal("0.1"), Fraction(1, 10)])
def test_epsilon_delta_and_rho_are_kept_exact(given):
    """If a tenth were not a tenth, ten of them would overdraw a budget of one."""
    assert Guarantee(epsilon=given, **CENTRAL).epsilon == Fraction(1, 10)
    assert Guarantee(epsilon=1, delta=given, **CENTRAL).delta == Fraction(1, 10)
    assert Guarantee(rho=given, **CENTRAL).rho == Fraction(1, 10)


def test_ten_tenths_are_one():
    assert sum([Guarantee(epsilon=0.1, **CENTRAL)] * 10).epsilon == 1


@pytest.mark.parametrize(
    ("made", "measure", "amounts"),
    [
        (Guarantee.pure(1, **LOCAL), Measure.PURE, (1, 0, None)),
        (Guarantee.approximate(1, "1e-6", **CENTRAL), Measure.APPROXIMATE, (1, Fraction(1, 10**6), None)),
        (Guarantee.zcdp("1/2", **CENTRAL), Measure.ZCDP, (None, 0, Fraction(1, 2))),
        (Guarantee.approximate(1, 0, **CENTRAL), Measure.PURE, (1, 0, None)),
        (Guarantee.no_guarantee(unit="replace one"), Measure.APPROXIMATE, (0, 1, None)),
    ],
)
def test_the_measure_follows_from_the_amounts(made, measure, amounts):
    assert made.measure is measure
    assert (made.epsilon, made.delta, made.rho) == amounts


def test_units_and_trust_are_given_as_words_or_as_members():
    words = Guarantee(epsilon=1, unit="add or remove one", trust="central")
    members = Guarantee(epsilon=1, unit=Unit.ADD_OR_REMOVE_ONE, trust=Trust.CENTRAL)

    assert words == members
    assert [str(unit) for unit in Unit] == ["one report", "one person", "replace one", "add or remove one"]
    assert [str(trust) for trust in Trust] == ["local", "central", "none"]


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"epsilon": -1}, r"'epsilon' parameter of Guarantee must be a number >= 0\. Got -1 instead"),
        ({"epsilon": "nan"}, r"'epsilon' parameter of Guarantee must be a number >= 0\. Got 'nan' instead"),
        ({"epsilon": True}, r"'epsilon' parameter of Guarantee must be a number"),
        ({"rho": -1}, r"'rho' parameter of Guarantee must be a number >= 0"),
        (
            {"epsilon": 1, "delta": 1.5},
            r"'delta' parameter of Guarantee must be a number >= 0 and <= 1\. Got 1\.5",
        ),
        ({"epsilon": 1, "delta": -0.5}, r"'delta' parameter of Guarantee must be a number >= 0 and <= 1"),
        ({}, r"'epsilon' parameter of Guarantee must be given, or rho, but not both"),
        ({"epsilon": 1, "rho": 1}, r"must be given, or rho, but not both"),
        ({"rho": 1, "delta": 0.5}, r"'delta' parameter of Guarantee must be 0 when rho is given"),
        (
            {"epsilon": 1, "unit": "person"},
            r"'unit' parameter of Guarantee must be one of 'one report', 'one person'",
        ),
        (
            {"epsilon": 1, "trust": "me"},
            r"'trust' parameter of Guarantee must be one of 'local', 'central', 'none'",
        ),
        ({"epsilon": 1, "protects": [1]}, r"'protects' parameter of Guarantee must be a sequence of texts"),
        ({"epsilon": 1, "in_clear": [""]}, r"'in_clear' parameter of Guarantee must be a sequence of texts"),
        (
            {"epsilon": 1, "assumptions": 3},
            r"'assumptions' parameter of Guarantee must be a sequence of texts",
        ),
        ({"epsilon": 1, "tight": "yes"}, r"'tight' parameter of Guarantee must be a bool"),
        ({"epsilon": 1, "proof": None}, r"'proof' parameter of Guarantee must be a str"),
        (
            {"epsilon": 1, "people": 0},
            r"'people' parameter of Guarantee must be a whole number from 1 to 1000000000000000",
        ),
        ({"epsilon": 1, "group_size": 0}, r"'group_size' parameter of Guarantee must be a whole number"),
        (
            {"epsilon": 1, "protects": ["race"], "in_clear": ["race"]},
            r"'protects' parameter of Guarantee must be other columns than those in_clear",
        ),
    ],
)
def test_what_cannot_be_is_refused(terms, words):
    with pytest.raises(InvalidParameterError, match=words):
        Guarantee(**{**CENTRAL, **terms})


def test_there_is_no_hidden_unit_and_no_hidden_trust():
    """A default adjacency would halve the noise of everybody who thought of the other one."""
    with pytest.raises(TypeError, match="unit"):
        Guarantee(epsilon=1, trust="central")
    with pytest.raises(TypeError, match="trust"):
        Guarantee(epsilon=1, unit="replace one")


def test_a_pure_guarantee_is_not_given_a_delta():
    with pytest.raises(TypeError, match="delta"):
        Guarantee.pure(1, delta=0.5, **CENTRAL)


def test_one_column_is_a_list_of_one_and_doubles_count_once():
    made = Guarantee(epsilon=1, protects="race", in_clear=["income", "income"], **CENTRAL)

    assert (made.protects, made.in_clear) == (("race",), ("income",))


def test_trust_in_nobody_guarantees_nothing_whatever_else_is_said():
    """If an epsilon stood beside trust none, a reader would take it for a promise."""
    made = Guarantee(
        epsilon=1, unit="replace one", trust="none", protects=["race"], in_clear=["age"], tight=True
    )

    assert (made.epsilon, made.delta, made.tight) == (0, 1, False)
    assert (made.protects, made.in_clear) == ((), ("age", "race"))


def test_a_guarantee_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Guarantee(epsilon=1, **CENTRAL).epsilon = 2


def test_equality_and_hash_are_by_what_is_said():
    first = Guarantee(epsilon=0.5, protects=["race", "age"], assumptions=["a", "b"], **CENTRAL)
    second = Guarantee(epsilon="1/2", protects=["age", "race"], assumptions=["b", "a"], **CENTRAL)

    assert first == second
    assert hash(first) == hash(second)
    assert first != Guarantee(epsilon=0.5, protects=["race"], **CENTRAL)
    assert first != "first"


def test_a_copy_a_pickle_and_a_replacement_keep_the_terms():
    made = Guarantee(epsilon=0.5, protects=["race"], people=7, **CENTRAL)

    assert copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == made
    assert dataclasses.replace(made, people=9).people == 9
    assert dataclasses.replace(made, people=7) == made


def test_the_repr_shows_the_terms_that_say_something():
    made = Guarantee(epsilon=0.1, delta="1e-6", protects=["race"], tight=True, **CENTRAL)

    assert repr(made) == (
        "Guarantee(epsilon='1/10', delta='1/1000000', unit='replace one', trust='central', "
        "protects=['race'], tight=True)"
    )
    assert eval(repr(made), {"Guarantee": Guarantee}) == made


texts = st.lists(st.text(min_size=1, max_size=5), max_size=3, unique=True)
amounts = st.fractions(min_value=0, max_value=9)
deltas = st.fractions(min_value=0, max_value=Fraction(1, 1000))


@st.composite
def guarantees(draw):
    loss = draw(
        st.one_of(
            st.fixed_dictionaries({"epsilon": amounts}),
            st.fixed_dictionaries({"epsilon": amounts, "delta": deltas}),
            st.fixed_dictionaries({"rho": st.fractions(min_value=0, max_value=1)}),
        )
    )
    protects = draw(texts)
    return Guarantee(
        **loss,
        unit=draw(st.sampled_from(list(Unit))),
        trust=draw(st.sampled_from(list(Trust))),
        protects=protects,
        in_clear=[name for name in draw(texts) if name not in protects],
        tight=draw(st.booleans()),
        proof=draw(st.text(max_size=5)),
        assumptions=draw(texts),
        group_size=draw(st.integers(1, 3)),
    )


@given(guarantees())
def test_a_record_reads_back_as_the_same_guarantee(made):
    """A ledger or a sidecar that reads back another promise is worse than none."""
    record = json.loads(json.dumps(made.to_dict()))

    assert Guarantee.from_dict(record) == made
    assert Guarantee.from_dict(record).to_dict() == made.to_dict()


def test_a_record_of_a_parallel_composition_keeps_its_two_heaviest_parts():
    parts = [Guarantee(epsilon=e, delta=d, **CENTRAL) for e, d in ((1, "1e-6"), (2, 0), (3, "1e-7"))]
    whole = parts[0] | parts[1]
    read = Guarantee.from_dict(json.loads(json.dumps(whole.to_dict())))

    assert read == whole
    assert read | parts[2] == whole | parts[2]


def test_a_record_may_leave_out_what_is_not_said():
    record = {"epsilon": "1/10", "unit": "replace one", "trust": "central"}

    assert Guarantee.from_dict(record) == Guarantee(epsilon=0.1, **CENTRAL)
    assert Guarantee.from_dict({"unit": "replace one", "trust": "none"}) == Guarantee.no_guarantee(
        unit="replace one"
    )


GOOD = {"epsilon": "3", "unit": "replace one", "trust": "central"}


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (
            {"epsilon": "1", "trust": "central"},
            "'record' parameter .* must be a mapping with the keys unit and trust",
        ),
        (GOOD | {"surprise": 1}, "Got the keys epsilon, surprise, trust, unit instead"),
        (["epsilon"], "Got 'list' instead"),
        (GOOD | {"epsilon": "x"}, "'epsilon' parameter"),
        (GOOD | {"measure": "zCDP"}, "'measure' parameter of Guarantee.from_dict must be 'pure'"),
        (GOOD | {"blocks": [["1", "0"]]}, "'blocks' parameter"),
        (
            GOOD | {"blocks": [["1", "0"], ["1", "0"]]},
            "two pairs of an amount and a delta that make up the whole",
        ),
        (GOOD | {"blocks": [["2", "0"], ["-1", "0"]]}, "'blocks' parameter"),
        (GOOD | {"blocks": [["2", "0"], ["1"]]}, "'blocks' parameter"),
        (GOOD | {"blocks": 3}, "'blocks' parameter"),
        (GOOD | {"unit": "add or remove one", "blocks": [["2", "0"], ["1", "0"]]}, "'blocks' parameter"),
        (GOOD | {"unit": "one person", "blocks": [["2", "0"], ["2", "0"]]}, "'blocks' parameter"),
        (GOOD | {"blocks": [["2", "0"], ["1", "0"], ["0", "0"]]}, "'blocks' parameter"),
        (GOOD | {"blocks": itertools.repeat(["1", "0"])}, "'blocks' parameter"),
        (GOOD | {"measure": np.array(["pure", "zCDP"])}, "'measure' parameter"),
        (GOOD | {"trust": "none", "blocks": [["0", "1"], ["0", "0"]]}, "'blocks' parameter"),
    ],
)
def test_a_record_that_is_not_one_is_refused(record, words):
    with pytest.raises(InvalidParameterError, match=words):
        Guarantee.from_dict(record)


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"epsilon": 12}, "epsilon = 12 allows odds to change by a factor of 163,000"),
        ({"epsilon": "10.0001"}, "allows odds to change by a factor of 22,100"),
        ({"epsilon": 1, "delta": "1/1000", "people": 1000}, "allows publishing a random person's row"),
    ],
)
def test_a_weak_guarantee_warns(terms, words):
    """The figures are easily misread: epsilon 12 looks like twelve times epsilon 1."""
    with pytest.warns(PrivacyWarning, match=words) as caught:
        made = Guarantee(**terms, **CENTRAL)

    assert [str(each.message) for each in caught] == list(made.cautions)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "terms",
    [
        {"epsilon": 10},
        {"epsilon": 1, "delta": "1/1001", "people": 1000},
        {"epsilon": 1, "delta": "1/2"},
        {"rho": 2},
    ],
)
def test_nothing_else_warns(terms):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Guarantee(**terms, **CENTRAL)


def test_a_large_rho_is_cautioned_of_where_epsilon_would_be():
    """The sentence says that epsilon is above 10, so it must be."""
    small, large = Guarantee(rho="1.5392", **CENTRAL), Guarantee(rho="1.5394", **CENTRAL)

    assert small.cautions == ()
    assert "rho = 1.5394 means epsilon above 10 already at delta = 1.0e-6" in large.cautions[0]
    assert Fraction("9.99") < small.to_approximate(delta="1e-6").epsilon < 10
    with pytest.warns(PrivacyWarning, match="epsilon <= 10"):
        assert large.to_approximate(delta="1e-6").epsilon > 10


def test_a_composition_warns_of_new_trouble_only():
    """A warning for each of a thousand additions would hide the one that matters."""
    six, five = Guarantee(epsilon=6, **CENTRAL), Guarantee(epsilon=5, **CENTRAL)
    with pytest.warns(PrivacyWarning, match="epsilon = 11") as caught:
        eleven = six + five
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        more = eleven + five

    assert len(caught) == 1
    assert "epsilon = 16" in more.cautions[0]


def test_reading_a_record_does_not_warn_again():
    with pytest.warns(PrivacyWarning):
        made = Guarantee(epsilon=12, **CENTRAL)

    assert Guarantee.from_dict(made.to_dict()).cautions == made.cautions


def test_a_warning_can_be_silenced_by_its_class():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PrivacyWarning)
        Guarantee(epsilon=12, **CENTRAL)


@pytest.mark.parametrize("amount", [{}, {"epsilon": 1, "delta": 0.5}])
def test_a_conversion_is_told_one_of_epsilon_and_delta(amount):
    with pytest.raises(InvalidParameterError, match="must be given, or delta, but not both"):
        Guarantee.zcdp(1, **CENTRAL).to_approximate(**amount)


def test_a_conversion_names_its_step_and_is_a_bound():
    gaussian = Guarantee.zcdp(
        "1/10", **CENTRAL, proof="discrete Gaussian", tight=True, protects=["race"], people=50
    )
    made = gaussian.to_approximate(delta="1e-6")

    assert made.proof == "discrete Gaussian; conversion from zCDP"
    assert (made.tight, made.protects, made.people, made.unit) == (False, ("race",), 50, Unit.REPLACE_ONE)
    assert made.delta == Fraction(1, 10**6)


def test_what_is_not_zcdp_is_returned_if_it_is_within_what_is_asked():
    made = Guarantee.approximate(1, "1e-6", **CENTRAL)

    assert made.to_approximate(epsilon=1) is made
    assert made.to_approximate(delta="1e-5") is made
    for asked in ({"epsilon": "1/2"}, {"delta": "1e-7"}):
        with pytest.raises(GuaranteeError, match="larger than the one given"):
            made.to_approximate(**asked)


def test_no_loss_in_zcdp_is_no_loss_at_all():
    for asked in ({"delta": "1e-6"}, {"epsilon": 1}):
        made = Guarantee.zcdp(0, **CENTRAL).to_approximate(**asked)

        assert (made.epsilon, made.delta, made.rho) == (0, 0, None)


@pytest.mark.parametrize("delta", [0, -1, 1.5, "x"])
def test_a_delta_that_zcdp_cannot_meet_is_refused(delta):
    with pytest.raises(InvalidParameterError, match="'delta' parameter"):
        Guarantee.zcdp(1, **CENTRAL).to_approximate(delta=delta)
