from fractions import Fraction

import pytest

import evenhand as eh
from evenhand.collect import PROTOCOLS, split_budget
from evenhand.errors import InvalidParameterError
from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.collect.task import CollectTask, Mechanism
from evenhand.study.tasks.shared.protection import strategy_of
from evenhand.study.tasks.shared.report_settings import report_setting

SCHEMA = eh.datasets.load("causal", n=10).schema
SIZES = {name: SCHEMA[name].size for name in SCHEMA.sensitive}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("strategy", ["independent", "single", "combined"])
@pytest.mark.parametrize("split", ["uniform", "k-based", "optimal", "sample"])
def test_every_setting_of_a_grid_spends_its_epsilon_and_no_more(protocol, strategy, split):
    """The report states this epsilon: the reports must not cost more (full epsilon on each column would)."""
    grid = CollectTask(
        ["grr"] if strategy == "combined" else [protocol],
        [Fraction(3, 2)],
        splits=[split],
        strategies=[strategy],
    )
    (setting,) = grid.settings()
    made = strategy_of(setting, SCHEMA)

    assert made.guarantee.epsilon <= Fraction(3, 2)
    assert made.guarantee.epsilon > (1 if protocol == "the" else Fraction(149, 100))  # THE's own is smaller


def test_columns_get_the_shares_of_the_split():
    made = strategy_of(report_setting("oue", Fraction(1), "k-based", "independent"), SCHEMA)
    shares = split_budget(1, SIZES, how="k-based", exact=True)

    assert {name: made.epsilon_within_report(name) for name in SIZES} == shares


@pytest.mark.parametrize("split", ["uniform", "sample", "none"])
def test_parameters_of_a_protocol_reach_every_column(split):
    """`as_printed` is what a reproduction is about: dropping it silently would compare something else."""
    strategy = "single" if split == "none" else "independent"
    made = strategy_of(report_setting("olh", Fraction(2), split, strategy, {"as_printed": True}), SCHEMA)

    assert {protocol.as_printed for protocol in made.protocols.values()} == {True}


def test_nothing_is_made_for_an_unprotected_setting():
    with pytest.raises(InvalidParameterError, match="a protected one"):
        strategy_of(Setting(), SCHEMA)


def test_mechanisms_are_equal_by_value_and_named_in_any_case():
    assert Mechanism.of("GRR") == Mechanism("grr")
    assert Mechanism.of(Mechanism("grr")) == Mechanism("grr")
    assert hash(Mechanism("olh", {"as_printed": True})) == hash(
        Mechanism.of({"name": "OLH", "as_printed": True})
    )
    assert CollectTask("grr", 1) == CollectTask(["grr"], ["1"])
