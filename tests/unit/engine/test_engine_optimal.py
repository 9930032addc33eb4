"""Files of reports by the optimal channel: one column, several columns, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.collect.estimates.group_rates import group_rates
from evenhand.collect.fairest.group_outcomes import GroupOutcomes
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.optimal import Optimal
from evenhand.engine.choices import strategy_of
from evenhand.engine.estimates import estimate_file
from evenhand.engine.privatize import privatize_file
from evenhand.errors import InvalidParameterError
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema(
    [Column("race", Domain.categorical(["a", "b"])), Column("job", Domain.categorical(["x", "y", "z"]))],
    sensitive=["race", "job"],
    protected="race",
)
CENSUS = GroupOutcomes.public([0.7, 0.3], [0.2, 0.6], source="census")


def made(columns=("race", "job"), schema=SCHEMA, **given):
    how = {"epsilon": 2, "protocol": CENSUS, "split": "optimal", "strategy": "independent"} | given
    return strategy_of(schema, columns, **how)


def test_the_protected_column_has_the_optimal_channel():
    found = made()

    assert isinstance(found.protocols["race"], Optimal)
    assert found.protocols["job"].name == "grr"
    assert found.epsilon == 2
    assert made(("race",), strategy="single").columns == ("race",)


@pytest.mark.parametrize("protocol", ["optimal", "Optimal", {"race": "optimal", "job": "grr"}])
def test_a_name_alone_is_refused_with_what_is_missing(protocol):
    with pytest.raises(InvalidParameterError, match="--outcomes FILE"):
        made(protocol=protocol)


def test_what_files_cannot_hold_is_refused():
    with pytest.raises(InvalidParameterError, match="'independent' or 'single'"):
        made(strategy="combined")
    with pytest.raises(InvalidParameterError, match="several with the protected one"):
        made(schema=SCHEMA.with_roles(protected=None))


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_a_file_is_read_back_by_the_very_matrix_that_made_it(tmp_path, end):
    second = np.random.default_rng(3).random(5000) < 0.3
    rows = [f"{'ab'[int(each)]},{'xyz'[place % 3]}" for place, each in enumerate(second)]
    (tmp_path / "people.csv").write_text("\n".join(["race,job", *rows, ""]))
    out = tmp_path / f"reports.{end}"
    done = privatize_file(tmp_path / "people.csv", out, schema=SCHEMA, epsilon=4, protocol=CENSUS, simulate=5)
    found = estimate_file(out, simulated="allow")

    assert done.rows == 5000
    assert '"law"' in (tmp_path / f"reports.{end}.guarantee.json").read_text()
    assert found.shares["race"].values == pytest.approx([0.7, 0.3], abs=0.06)
    assert found.record.strategy == done.record.strategy


def told(tmp_path, outcomes):
    """Return what a file of reports promises, after it was written and read back."""
    (tmp_path / "people.csv").write_text("race,job\n" + "a,x\nb,y\n" * 500)
    out = tmp_path / "reports.csv"
    done = privatize_file(tmp_path / "people.csv", out, schema=SCHEMA, epsilon=2, protocol=outcomes)
    found = estimate_file(out)

    assert found.record.guarantee == done.guarantee
    return done.guarantee


def test_a_file_says_who_published_what_its_matrix_was_made_from(tmp_path):
    assert "public before: census" in " ".join(told(tmp_path, CENSUS).assumptions)


def test_a_file_counts_what_a_noisy_table_cost(tmp_path):
    """Else a budget that was spent on the very same people would be missing from what they are promised."""
    rows = np.repeat([0, 1], 500)
    table = GroupOutcomes.noisy(rows, rows, k=2, epsilon="1/10")
    promise = told(tmp_path, table)

    assert promise.epsilon == 2 + Fraction(1, 10)  # what was asked for, whatever the matrix happens to spend
    assert (str(promise.trust), str(promise.unit)) == ("central", "replace one")


def test_a_file_from_a_pilot_says_so(tmp_path):
    rows = np.repeat([0, 1], 500)
    reports = GRR(k=2, epsilon=3).privatize(rows)
    pilot = told(tmp_path, GroupOutcomes.from_pilot(group_rates(rows, reports)))

    assert "nobody of the pilot reports again" in pilot.assumptions
    assert str(pilot.trust) == "local"


def test_exact_counts_are_said_to_void_a_file_s_promise(tmp_path):
    rows = np.repeat([0, 1], 500)

    assert "only if" in " ".join(told(tmp_path, GroupOutcomes.exact(rows, rows, k=2)).assumptions)


UNDONE = GroupOutcomes.public([0.6, 0.2, 0.2], [0.5, 0.7, 0.3], source="census")  # b and c are made alike
WIDE = Schema(
    [Column("race", Domain.categorical(["a", "b", "c"])), Column("job", Domain.categorical(["x", "y", "z"]))],
    sensitive=["race", "job"],
    protected="race",
)


def written(tmp_path, **given):
    (tmp_path / "people.csv").write_text("race,job,hired\n" + "a,x,1\nb,y,0\nc,z,1\n" * 300)
    out = tmp_path / "reports.csv"
    how = {"schema": WIDE, "epsilon": 2, "protocol": UNDONE, "split": "uniform"} | given
    privatize_file(tmp_path / "people.csv", out, keep=["hired"], **how)
    return out


def test_a_column_without_an_inverse_does_not_stop_the_others(tmp_path):
    """The file is as it is: what can be estimated is, and the rest says why it cannot be."""
    found = estimate_file(written(tmp_path))

    assert list(found.shares) == ["job"]
    assert list(found.refused) == ["race"]
    assert "the values b and c send the same reports" in found.refused["race"]
    assert "error" not in found.refused["race"]
    assert found.table().num_rows == 3


def test_a_file_without_any_invertible_column_has_empty_tables(tmp_path):
    out = written(tmp_path, epsilon=1, columns=["race"])
    found = estimate_file(out, by="hired")

    assert list(found.refused) == ["race"]
    assert (found.shares, found.rates) == ({}, {})
    assert found.table().num_rows == found.rates_table().num_rows == 0
