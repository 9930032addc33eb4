"""A protocol is one file and one line of `homes.py`: a ninth one goes everywhere without another change."""

import numpy as np
import pytest

import evenhand as eh
from contract._protocol_claims import (
    assert_draws_follow_the_law,
    assert_exact_law,
    assert_people_are_independent,
    assert_private,
)
from evenhand.collect import (
    PROTOCOLS,
    LocalPrivatizer,
    Memo,
    Reports,
    group_rates,
    protocol_from,
    protocol_named,
    split_budget,
    split_cost,
    strategy_for,
)
from evenhand.collect.protocols.homes import CLASSES
from evenhand.collect.protocols.registry import formula_names, ideal, is_convex
from evenhand.engine import estimate_file, privatize_file
from evenhand.errors import UnknownNameError
from evenhand.study import CollectTask, DataSource, Plan
from unit.collect.protocols._halved_response import HalvedResponse
from unit.engine._streams import SCHEMA, people, write


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """Add the line, and take it out again after the test."""
    monkeypatch.setitem(CLASSES, "halved", "unit.collect.protocols._halved_response:HalvedResponse")


@pytest.fixture
def protocol():
    return HalvedResponse(k=5, epsilon=2)


def test_it_is_known_by_its_name(protocol):
    assert PROTOCOLS["halved"] is protocol_named("HALVED") is HalvedResponse
    assert protocol_from(protocol.to_dict()) == protocol
    assert len(PROTOCOLS) == 9


def test_it_is_unknown_without_its_line(monkeypatch):
    """Else the other tests would show nothing about the registry."""
    monkeypatch.delitem(CLASSES, "halved")

    with pytest.raises(UnknownNameError, match="halved"):
        protocol_named("halved")


def test_it_keeps_the_claims_of_the_contract(protocol):
    assert_private(protocol)
    assert_exact_law(protocol)
    assert_draws_follow_the_law(HalvedResponse(k=3, epsilon=2), n=20_000, seed=5)
    assert_people_are_independent(protocol, n=50_000, seed=6)


def test_its_guarantee_and_description_state_the_smaller_epsilon(protocol):
    assert protocol.guarantee.epsilon == 1
    assert "halved randomized response" in protocol.describe()
    assert "epsilon = 1, pure, local" in protocol.describe()
    assert "halved randomized response" in str(protocol.guarantee)
    assert "<table" in protocol._repr_html_()


def test_its_formula_agrees_with_its_exact_law(protocol):
    assert "halved" in formula_names()
    assert is_convex("halved")
    assert ideal("halved", 5, 2.0).variance == pytest.approx(protocol.variance(), rel=1e-12)


def test_its_estimates_have_intervals_and_covariances(protocol):
    codes = np.arange(20_000) % 5
    found = protocol.estimate(protocol.privatize(codes, rng=7))
    low, high = found.interval(0.999_999)

    assert ((low < 0.2) & (high > 0.2)).all()
    assert found.covariance().sum() == pytest.approx(0, abs=1e-12)


def test_its_reports_are_read_back_from_files_and_texts(protocol, tmp_path):
    sent = protocol.privatize([0, 3, 4, 4])
    sent.write_parquet(tmp_path / "reports.parquet", keep_order=True)

    for got in (Reports.read_parquet(tmp_path / "reports.parquet"), Reports.from_json(sent.to_json())):
        assert got.protocol == protocol
        assert sorted(got.values) == sorted(sent.values)


def test_it_has_permanent_answers_and_rates_of_groups(protocol):
    memo = Memo(protocol)
    first, again = (memo.answer(["ada", "ben"], [0, 4], rng=seed) for seed in (1, 2))
    group = np.arange(50_000) % 5
    found = group_rates(group < 2, protocol.privatize(group, rng=3))

    assert np.array_equal(first, again)
    assert found.interval(0).low > 0.5 > found.interval(4).high


def test_several_columns_are_reported_by_it():
    sizes = {"gender": 2, "race": 5}
    parts = split_budget(2, sizes, how="optimal", protocol="halved")
    uniform = split_budget(2, sizes, how="uniform")
    strategy = strategy_for(sizes, epsilon=2, protocol="halved", split="optimal")
    reports = strategy.privatize({"gender": [0, 1, 1], "race": [4, 0, 2]}, rng=7)
    costs = [split_cost(each, sizes, protocol="halved") for each in (parts, uniform)]

    assert costs[0] < costs[1]
    assert strategy.guarantee.epsilon == 1
    assert "HalvedResponse" in str(strategy)
    assert set(strategy.estimate(reports)) == {"gender", "race"}
    assert strategy.estimate_joint(reports).values.shape == (2, 5)
    assert strategy_for(sizes, epsilon=2, protocol="halved", split="sample").epsilon == 2


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_is_privatised_by_it_and_estimated(tmp_path, kind):
    source = write(people(), tmp_path / f"people.{kind}")
    made = privatize_file(source, tmp_path / f"out.{kind}", schema=SCHEMA, epsilon=3, protocol="halved")
    found = estimate_file(tmp_path / f"out.{kind}")

    assert {type(each.protocol) for each in found.shares.values()} == {HalvedResponse}
    assert found.table().num_rows == sum(len(each) for each in found.shares.values())
    assert made.record.guarantee.epsilon <= 3


def test_the_privatizer_takes_it():
    data = eh.datasets.load("causal", n=200)
    privatizer = LocalPrivatizer("halved", epsilon=2, columns=["A", "C"], schema=data.schema, rng=7)
    made = privatizer.fit_transform(data.frame)

    assert len(made) == 200
    assert privatizer.guarantee_.epsilon == 1


def test_a_study_compares_it_with_another():
    data = DataSource(dataset="causal", options={"n": 300})
    results = eh.run(Plan(data=data, task=CollectTask(["grr", "halved"], [2]), repeats=1), workers=1)

    assert "halved" in {setting.mechanism for setting in results.settings}
    assert not results.failures
    assert "halved" in results.report().lower()
