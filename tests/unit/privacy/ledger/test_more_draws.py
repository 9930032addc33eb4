"""Reports, permanent answers and noisy group counts charge a ledger too; audits and mitigations do not."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from evenhand.collect import GRR, GroupOutcomes, LocalPrivatizer, Memo, strategy_for
from evenhand.decide import Allotment, parse
from evenhand.decide.mitigate.registry import MITIGATIONS, mitigation_kind
from evenhand.errors import BudgetExceededError, EvenhandError, GuaranteeError, InvalidParameterError
from evenhand.privacy import randomness
from evenhand.privacy.audit import audit_epsilon
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.ledger.charging import VARIABLE
from evenhand.privacy.randomness import SecureSource
from evenhand.schema import Column, Domain, Schema

CODES = np.arange(60) % 2
STRATEGY = strategy_for({"a": 2, "b": 3}, epsilon="1/2", protocol="grr", split="uniform")


def report(**given):
    return GRR(k=2, epsilon="1/2").privatize(CODES, **given)


def report_columns(**given):
    return STRATEGY.privatize({"a": CODES, "b": np.arange(60) % 3}, **given)


def answer(*, ledger=None, rng=None):
    return Memo(GRR(k=2, epsilon="1/2"), ledger=ledger).answer(np.arange(60), CODES, rng=rng)


def count_groups(**given):
    return GroupOutcomes.noisy(CODES, np.arange(60) % 3, k=3, epsilon="1/2", **given)


DRAWS = {
    "Protocol.privatize": report, "Strategy.privatize": report_columns, "Memo.answer": answer,
    "GroupOutcomes.noisy": count_groups,
}  # fmt: skip
every_draw = pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db", epsilon="3/4", delta="1e-6")


def _no_words(*args):
    raise AssertionError("words were drawn")


@every_draw
@pytest.mark.parametrize("way", ["object", "path", "environment", "named source"])
def test_a_draw_is_charged_once_and_a_second_is_refused(draw, way, ledger, monkeypatch):
    given = {"ledger": ledger if way == "object" else str(ledger.path)}
    if way in {"environment", "named source"}:
        monkeypatch.setenv(VARIABLE, str(ledger.path))
        given = {"rng": SecureSource()} if way == "named source" else {}
    draw(**given)
    monkeypatch.setattr(randomness, "_stream", _no_words)
    with pytest.raises(BudgetExceededError, match=r"has 0\.25 left of 0\.75"):
        draw(**given)

    assert Fraction(1, 2) - Fraction(1, 10**6) <= ledger.total().spent.epsilon <= Fraction(1, 2)
    assert ledger.total().charges == 1


@every_draw
def test_seeded_draws_are_refused_by_a_ledger_that_is_given_and_free_otherwise(draw, ledger, monkeypatch):
    with pytest.raises(GuaranteeError, match="Draws with a seed are not charged"):
        draw(ledger=ledger, rng=7)
    monkeypatch.setenv(VARIABLE, str(ledger.path))
    draw(rng=7)

    assert len(ledger.history()) == 1


NAMES = ["a\nb", *(f"a long name of a column {number}" for number in range(30))]


@pytest.mark.parametrize("draw", ["strategy", "protocol", "transformer"])
def test_long_and_odd_names_do_not_stand_in_the_way_of_a_charge(draw, ledger):
    """Nobody typed the purpose, so nobody can be told that it is wrong."""
    codes = dict.fromkeys(NAMES, CODES)
    if draw == "strategy":
        strategy_for(dict.fromkeys(NAMES, 2), epsilon="1/4", protocol="grr").privatize(codes, ledger=ledger)
    elif draw == "protocol":
        GRR(k=2, epsilon=Fraction(10**600, 4 * 10**600 + 1)).privatize(CODES, ledger=ledger)
    else:
        schema = Schema([Column(name, Domain.integers(0, 1)) for name in NAMES], sensitive=NAMES)
        model = LocalPrivatizer("grr", epsilon="1/4", columns=NAMES, schema=schema, ledger=ledger)
        model.fit_transform(pd.DataFrame(codes))
    purpose = ledger.history()[-1].purpose

    assert len(purpose) <= 500
    assert purpose.isprintable()


def test_bad_input_is_refused_before_the_charge(ledger):
    outside = np.full(3, 9)
    acts = [
        lambda: GRR(k=2, epsilon=1).privatize(outside, ledger=ledger),
        lambda: STRATEGY.privatize({"a": outside, "b": outside}, ledger=ledger),
        lambda: Memo(GRR(k=2, epsilon=1), ledger=ledger).answer([1, 2, 3], outside),
        lambda: GroupOutcomes.noisy([0, 1, 7], [0, 1, 0], k=2, epsilon=1, ledger=ledger),
        lambda: report(ledger=ledger, purpose=""),
        lambda: count_groups(ledger=ledger, purpose="two\nlines"),
    ]
    for act in acts:
        with pytest.raises(EvenhandError):
            act()

    assert len(ledger.history()) == 1


def test_permanent_answers_cost_once_for_each_value_that_somebody_holds(tmp_path):
    """Asked again they cost nothing, newcomers neither; who changes the value pays for one report more."""
    ledger = Ledger(tmp_path / "ledger.db", epsilon=10)
    memo = Memo(GRR(k=3, epsilon=1), ledger=ledger)
    spent = []
    for people, codes in [([1, 2], [0, 1]), ([1, 2], [0, 1]), ([3], [2]), ([1], [1]), ([2, 2], [0, 2])]:
        memo.answer(people, codes)
        spent.append(int(ledger.total().spent.epsilon))

    assert spent == [1, 1, 1, 2, 3]
    assert ledger.total().spent.epsilon == memo.guarantee_for(values_held=3).epsilon


def test_permanent_answers_that_cannot_be_paid_are_not_kept(tmp_path):
    memo = Memo(GRR(k=3, epsilon=1), ledger=Ledger(tmp_path / "ledger.db", epsilon="1/2"))
    for _ in range(2):
        with pytest.raises(BudgetExceededError):
            memo.answer([1, 2], [0, 1])


@pytest.mark.parametrize("rng", [None, SecureSource()], ids=["left out", "named"])
def test_an_audit_of_a_mechanism_is_not_charged(ledger, monkeypatch, rng):
    """It draws for two inputs that are nobody's, some million times."""
    monkeypatch.setenv(VARIABLE, str(ledger.path))
    audit_epsilon(GRR(k=2, epsilon="1/2"), (0, 1), size=20_000, rng=rng)
    audit_epsilon(STRATEGY, ({"a": 0, "b": 0}, {"a": 1, "b": 2}), size=20_000, rng=rng)

    assert len(ledger.history()) == 1


PARAMETERS = {"sum-constraint": {"total": 200}, "output-perturbation": {"least_total": 100}}


@pytest.mark.parametrize("name", MITIGATIONS)
def test_no_mitigation_draws_for_a_release(name):
    """So none has anything to charge: they compute what noise does, and refuse the secure source."""
    kind = mitigation_kind(name)
    problem = Allotment([1, 2, 1.5]) if "allotment" in kind.problems else parse("x >= 40")
    given = {own.name: PARAMETERS[name][own.name] for own in kind.parameters if own.is_needed}
    with pytest.raises(InvalidParameterError, match="this is a simulation, not a release"):
        kind.decide(
            problem,
            {"x": [30, 50, 80]},
            DiscreteLaplace(2),
            unit="add or remove one",
            rng=SecureSource(),
            **given,
        )
