"""The mechanism "optimal" in a plan: what it may be told, and what it is called."""

from fractions import Fraction

import pytest

from evenhand.collect.fairest.group_outcomes import GroupOutcomes
from evenhand.errors import InvalidParameterError, PlanError
from evenhand.study.plan.cells import Cell
from evenhand.study.plan.plan import Plan
from evenhand.study.tasks.collect.task import CollectTask, Mechanism
from evenhand.study.tasks.shared.protection import promise_of, strategy_of
from evenhand.study.tasks.shared.report_settings import OptimalWay, check_optimal
from unit.study._small_studies import schema

TABLE = {"weights": [5, 3, 2], "rates": [0.2, 0.3, 0.6]}
LSAC = """
format = 1
[task]
epsilons = [1]
[[task.protocols]]
name = "optimal"
error = "minimum"
[task.protocols.outcomes]
weights = [5, 3, 2]
rates = [0.2, 0.3, 0.6]
source = "census"
"""


def optimal(**parameters):
    return Mechanism("optimal", parameters)


def setting(strategy="independent", split="uniform", epsilon=1, **parameters):
    made = CollectTask([optimal(**parameters)], epsilon, splits=split, strategies=strategy)
    return next(made.settings())


def test_defaults_do_not_make_another_mechanism():
    """The name of a cell is its seed: a default that is spelled out must not change what is drawn."""
    spelled = optimal(outcomes="pilot", pilot=0.1, error="grr", kind="ratio", as_printed=False)

    assert spelled == optimal() == Mechanism.of("OPTIMAL")
    assert spelled.parameters == {}
    assert hash(spelled) == hash(optimal())


def test_tables_are_equal_by_value_and_kept_in_plans():
    first, second = (
        optimal(outcomes=TABLE),
        optimal(outcomes={"rates": (0.2, 0.3, 0.6), "weights": (0.5, 0.3, 0.2)}),
    )

    assert first == second
    assert first != optimal(outcomes=TABLE | {"source": "census"})
    plan = Plan(
        task=CollectTask([first, "grr", optimal(outcomes="noisy", budget=0.1)], [1, 2], splits="uniform")
    )
    assert Plan.from_toml(plan.to_toml()) == plan
    for cell in plan.cells():
        assert Cell.from_id(cell.id) == cell


def test_a_plan_file_holds_a_table():
    plan = Plan.from_toml(LSAC)
    way = OptimalWay.read(plan.task.protocols[0].parameters)

    assert way.error == "minimum"
    assert isinstance(way.outcomes, GroupOutcomes)
    assert way.outcomes.source == "census"
    assert Plan.from_toml(plan.to_toml()) == plan


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        ("weights = [5, 3, 2]", "weights = [5, 3, -2]", "task.protocols.optimal.outcomes.weights"),
        ("weights = [5, 3, 2]", "weights = 'x'", "task.protocols.optimal.outcomes.weights"),
        ("rates = [0.2, 0.3, 0.6]", "rates = [0.2, 0.3]", "task.protocols.optimal.outcomes.rates"),
        ("rates = [0.2, 0.3, 0.6]", "rate = 1", "task.protocols.optimal.outcomes"),
        ('error = "minimum"', 'error = "least"', "task.protocols.optimal.error"),
        ('error = "minimum"', "error = 3", "task.protocols.optimal.error"),
        ('error = "minimum"', "error = 0.1", "task.protocols.optimal.error"),  # 0.4202 is the least
        ('error = "minimum"', 'kind = "sum"', "task.protocols.optimal.kind"),
        ('error = "minimum"', 'as_printed = "yes"', "task.protocols.optimal.as_printed"),
        ('error = "minimum"', "pilot = 0.2", "task.protocols.optimal.pilot"),
        ('error = "minimum"', "budget = 1", "task.protocols.optimal.budget"),
        ('error = "minimum"', "target = 1", "task.protocols.optimal.target"),
        ('error = "minimum"', "targets = 1", "task.protocols.optimal.targets"),
    ],
)
def test_every_fault_of_a_plan_names_its_field(before, after, field):
    with pytest.raises(PlanError) as caught:
        Plan.from_toml(LSAC.replace(before, after))
    assert caught.value.field == field
    assert "instead. instead" not in str(caught.value)


@pytest.mark.parametrize(
    "parameters",
    [
        {"outcomes": "guess"},
        {"outcomes": 5},
        {"outcomes": "noisy"},
        {"outcomes": "noisy", "budget": 0},
        {"budget": 1},
        {"pilot": 0},
        {"pilot": True},
        {"pilot": 1},
        {"outcomes": "exact", "pilot": 0.1},
        {"target": 0.5},
        {"outcomes": "exact", "target": 0.5},
    ],
)
def test_what_cannot_be_is_refused(parameters):
    with pytest.raises(InvalidParameterError):
        optimal(**parameters)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"error": 2}, "'protocols.optimal.error' .* or a number from 0 to 1. Got 2 instead"),
        (
            {"kind": "sum"},
            "'protocols.optimal.kind' .* one of 'ratio', 'difference'. Got 'sum' instead",
        ),
        ({"outcomes": {"weights": "x", "rates": [1]}}, "'protocols.optimal.outcomes.weights' .* CollectTask"),
    ],
)
def test_a_refusal_shows_what_was_given_as_it_was_given(parameters, message):
    """A number in quotes looks like a text, and sends somebody after a fault that is not there."""
    with pytest.raises(InvalidParameterError, match=message):
        OptimalWay.read(parameters)


@pytest.mark.parametrize(
    ("roles", "collect", "field"),
    [
        ({"sensitive": ["age"]}, CollectTask("optimal", splits="uniform"), "schema.roles.sensitive"),
        ({}, CollectTask("optimal", strategies="combined", splits="uniform"), "task.protocols"),  # 3 x 50
        ({"protected": "age", "privileged": 18, "sensitive": ["age"]},
         CollectTask([optimal(outcomes=TABLE)], splits="uniform"), "task.protocols.optimal.outcomes"),
        ({}, CollectTask([optimal(as_printed=True)], splits="uniform"), "task.protocols.optimal.as_printed"),
        ({}, CollectTask([optimal(outcomes=TABLE, target=0.5)], strategies="single", splits="uniform"),
         "task.protocols.optimal.target"),
        ({}, CollectTask([optimal(outcomes=TABLE, error=0.421)], [1], splits="uniform"),  # half a column
         "task.protocols.optimal.error"),
    ],
)  # fmt: skip
def test_a_mechanism_that_does_not_fit_the_columns_is_refused_before_anything_runs(roles, collect, field):
    with pytest.raises(PlanError) as caught:
        check_optimal(schema(**roles), collect.settings())
    assert caught.value.field == field


def test_other_mechanisms_need_nothing_of_the_columns():
    check_optimal(schema(sensitive=["age"]), CollectTask("grr", splits="uniform").settings())


def test_combinations_are_reported_by_grr_and_optimal_only():
    grid = CollectTask(["optimal", "oue"], 1, strategies="combined", splits="uniform")

    assert [each.mechanism for each in grid.settings()] == ["optimal"]
    with pytest.raises(InvalidParameterError, match="'grr', 'auto' or 'optimal'"):
        CollectTask("oue", 1, strategies="combined", splits="uniform")


# --- what is promised -----------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["independent", "single", "combined"])
@pytest.mark.parametrize("parameters", [{}, {"outcomes": "exact"}, {"outcomes": TABLE}])
def test_a_setting_promises_its_epsilon_as_a_bound(strategy, parameters):
    promise = promise_of(setting(strategy, **parameters), schema(sensitive=["region"]))

    assert promise.epsilon == 1
    assert not promise.tight
    assert "fairness-optimal" in promise.proof


def test_where_the_numbers_come_from_is_assumed_in_words():
    region = schema(sensitive=["region"])

    assert any("pilot" in each for each in promise_of(setting(), region).assumptions)
    exact = promise_of(setting(outcomes="exact"), region)
    assert any("only if the exact shares" in each for each in exact.assumptions)
    table = promise_of(setting(outcomes=TABLE | {"source": "census"}), region)
    assert any("census" in each for each in table.assumptions)


def test_noise_is_paid_on_top_and_somebody_is_trusted():
    promise = promise_of(setting(outcomes="noisy", budget="1/4"), schema())

    assert promise.epsilon == Fraction(5, 4)
    assert str(promise.trust) == "central"
    assert any("sees the rows" in each for each in promise.assumptions)


def test_a_target_limits_the_protected_column_of_what_is_promised():
    made = strategy_of(setting(epsilon=8, outcomes=TABLE, target=0.1), schema())

    assert made.epsilon_within_report("region") < 1
    assert made.epsilon == 8


@pytest.mark.parametrize("error", [0.421, 0.5, 1.0, "minimum"])
def test_an_error_that_some_channel_has_is_taken(error):
    """Of these three groups the least is 0.4202 at epsilon 1, and GRR has 0.4239."""
    grid = CollectTask(
        [optimal(outcomes=TABLE, error=error), optimal(error=0.1)],
        [1, 2],
        strategies="single",
        splits="uniform",
    )

    check_optimal(schema(), grid.settings())
