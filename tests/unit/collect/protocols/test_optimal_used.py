"""A protocol with a whole matrix is used where any other is: in strategies, privatizers and files."""

import numpy as np
import pandas as pd
import pytest

from evenhand.collect.joint.build import strategy_for
from evenhand.collect.joint.independent import Independent, Sampled
from evenhand.collect.joint.split import split_budget
from evenhand.collect.privatizer.transformer import LocalPrivatizer
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.optimal import Optimal
from evenhand.collect.protocols.optimal_inputs import ORIGINS
from evenhand.collect.reports.memo import Memo
from evenhand.collect.reports.reports import Reports
from evenhand.errors import InvalidParameterError
from evenhand.schema import Column, Domain, Schema
from unit.privacy._slow_sampling import ScriptedSource

SCHEMA = Schema(
    columns=(
        Column("district", Domain.categorical(["north", "middle", "south"])),
        Column("gender", Domain.categorical(["Female", "Male"])),
    ),
    sensitive=["district", "gender"],
    protected="district",
)
FRAME = pd.DataFrame(
    {"district": ["north", "middle", "south", "north"] * 50, "gender": ["Female", "Male"] * 100}
)


@pytest.fixture(scope="module")
def optimal():
    return Optimal([0.5, 0.3, 0.2], [0.7, 0.4, 0.2], "1/2", error=0.55)


def test_a_privatizer_takes_it_for_one_column_or_for_each(optimal):
    for given, columns in ((optimal, ["district"]), ({"district": optimal, "gender": "grr"}, None)):
        made = LocalPrivatizer(protocol=given, epsilon=1, schema=SCHEMA, columns=columns, rng=7).fit(FRAME)
        out = made.transform(FRAME)

        assert made.strategy_.protocols["district"] == optimal
        assert out.shape == (200, 5)
        assert ORIGINS["public"] in made.guarantee_.assumptions


def test_its_name_alone_is_refused_with_the_next_step():
    for given in ("optimal", {"district": "optimal", "gender": "grr"}):
        with pytest.raises(InvalidParameterError, match=r"Hint: pass the protocol itself: Optimal\("):
            LocalPrivatizer(protocol=given, epsilon=1, schema=SCHEMA, rng=7).fit(FRAME)
    for words in ({}, {"strategy": "single"}, {"split": "sample"}):
        with pytest.raises(InvalidParameterError, match=r"Hint: pass the protocol itself: Optimal\("):
            strategy_for({"district": 3}, epsilon=1, protocol="Optimal", **words)
    with pytest.raises(InvalidParameterError, match=r"Hint: pass the protocol itself"):
        strategy_for({"district": 3}, epsilon=1, protocol=Optimal)


def test_its_share_of_the_budget_is_its_own(optimal):
    """It has its epsilon already; the rest is split among the others."""
    protocols = {"district": optimal, "gender": "grr"}
    made = strategy_for({"district": 3, "gender": 2}, epsilon=1, protocol=protocols, split="optimal")

    assert made.protocols["gender"] == GRR(2, "1/2")
    assert made.guarantee.epsilon == 1
    with pytest.raises(InvalidParameterError, match="'protocol' parameter"):
        split_budget(1, [3, 2], how="optimal", protocol="optimal")


def test_joint_shares_come_back(optimal):
    strategy = Independent({"district": optimal, "gender": GRR(2, 2)})
    codes = {"district": np.repeat([0, 1, 2], [20_000, 12_000, 8_000]), "gender": np.arange(40_000) % 2}
    found = strategy.estimate_joint(strategy.privatize(codes, rng=3))
    truth = np.outer([0.5, 0.3, 0.2], [0.5, 0.5])

    shares = np.asarray(found.values)
    assert np.abs((shares - truth) / found.standard_error).max() < 6
    assert shares.sum() == pytest.approx(1)
    assert strategy.joint_variance(truth, n=40_000) == pytest.approx(found.standard_error**2, rel=0.1)


@pytest.mark.parametrize("other", [GRR(2, 2), GRR(2, "1/4")])
def test_a_lot_names_every_assumption(optimal, other):
    """Also where the other column has the larger epsilon."""
    found = Sampled({"district": optimal, "gender": other}).guarantee

    assert ORIGINS["public"] in found.assumptions
    assert found.assumptions[-1].startswith("which column a person is asked")


def test_permanent_answers_keep_its_assumption(optimal):
    memo = Memo(optimal)
    first = memo.answer(["a", "b"], [0, 2], rng=1)

    assert np.array_equal(first, memo.answer(["a", "b"], [0, 2], rng=2))
    assert ORIGINS["public"] in memo.guarantee.assumptions
    assert "each report uses fresh randomness" not in memo.guarantee.assumptions


def test_reports_are_read_by_the_matrix_that_made_them(optimal, tmp_path, monkeypatch):
    """No solver is asked: another version of it may find another matrix."""
    sent = optimal.privatize(np.arange(60) % 3)
    sent.write_parquet(tmp_path / "reports.parquet")
    text = sent.to_json()
    monkeypatch.setattr("evenhand.collect.protocols.optimal.fairest_channel", None)
    for got in (Reports.read_parquet(tmp_path / "reports.parquet"), Reports.from_json(text)):
        assert got.protocol == optimal
        assert np.array_equal(got.protocol.channel.matrix, optimal.channel.matrix)
        assert np.array_equal(got.protocol.estimate(got).values, optimal.estimate(sent).values)


def test_nothing_is_drawn_where_there_is_no_matrix():
    """An error budget that cannot be kept stops before the first random number."""
    source = ScriptedSource([])
    with pytest.raises(InvalidParameterError, match="'error' parameter"):
        Optimal([0.5, 0.5], [0.2, 0.6], 1, error=0.01).privatize([0, 1], rng=source)

    assert source.asked == []
