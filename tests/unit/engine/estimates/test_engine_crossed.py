"""Rates of crossed columns from files of reports are those of the reports themselves, to the last bit."""

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.collect import Aggregate, JointReports, Reports, group_rates
from evenhand.collect.joint.combined import ProductStrategy
from evenhand.engine import count_file, estimate_file
from evenhand.engine.counting import ReportFile
from evenhand.engine.writers import part_names
from evenhand.errors import ColumnNotFoundError, InvalidParameterError, UnreadableFileError
from evenhand.schema import Column, Domain, Schema
from unit.engine._keeping import privatize_all
from unit.engine._streams import write

SCHEMA = Schema(
    [
        Column("sex", Domain.categorical(["f", "m"])),
        Column("race", Domain.categorical(["a", "b", "c"])),
        Column("union", Domain.categorical(["no", "yes"])),
        Column("hired", Domain.categorical(["no", "yes"])),
    ],
    sensitive=["sex", "race", "union"],
    target="hired",
    positive="yes",
)
MADE = {
    "grr": {"protocol": "grr"},
    "sets": {"protocol": {"sex": "grr", "race": "oue", "union": "ss"}},
    "combined": {"strategy": "combined"},
}
CROSSED = ("race", "sex")
ALLOWED = {"by": "hired", "simulated": "allow"}


def people(rows, seed=5):
    draw = np.random.default_rng(seed)
    sex, race, union = (draw.integers(0, k, rows) for k in (2, 3, 2))
    hired = draw.random(rows) < np.where(sex == race, 0.7, 0.2)
    values = {"sex": sex, "race": race, "union": union, "hired": hired.astype(int)}
    return pa.table({name: np.array(SCHEMA[name].labels)[codes] for name, codes in values.items()})


def privatize(tmp_path, name, *, rows=3_000, form="parquet", seed=5, **how):
    source = write(people(rows, seed), tmp_path / f"people-{seed}.parquet")
    out = tmp_path / f"{name}-{seed}.{form}"
    how = {"epsilon": 6, **MADE[name], **how}
    return privatize_all(source, out, schema=SCHEMA, simulate=seed, keep_order=True, **how).places.out


def read_reports(path):
    """Return the outcomes and the joint reports of a Parquet file, without the engine's counting."""
    table, strategy = pq.read_table(path).combine_chunks(), ReportFile(path).record.strategy
    parts = []
    for name, law in strategy.protocols.items():
        columns = {part: table[own].chunk(0) for part, own in part_names(name, law.layout).items()}
        parts.append(Reports(law.layout.from_columns(columns), protocol=law, simulated=True))
    if isinstance(strategy, ProductStrategy):
        codes = np.ravel_multi_index([part.values.astype(int) for part in parts], strategy.shape)
        parts = [Reports(codes, protocol=strategy.product, simulated=True)]
    return table["hired"].to_pylist(), JointReports(parts, strategy=strategy)


def labels():
    return {name: SCHEMA[name].display_labels for name in CROSSED}


def assert_same(found, expected):
    assert found.labels == expected.labels
    for own, other in ((found, expected), *((found.margins[n], expected.margins[n]) for n in CROSSED)):
        assert [*own.rates.values()] == [*other.rates.values()]
        assert [*own.shares.values()] == [*other.shares.values()]
        assert own.interval(own.labels[0]) == other.interval(other.labels[0])
        assert own.privileged == other.privileged
    assert found.is_hidden() == expected.is_hidden()


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("batch_rows", [1 << 18, 701])
def test_crossed_rates_of_a_file_are_those_of_its_reports(tmp_path, name, batch_rows):
    """If this is false, the command tells another gap than the library does from the same reports."""
    path = privatize(tmp_path, name)
    outcome, joint = read_reports(path)

    found = estimate_file(
        path, protected=CROSSED, privileged=("b", "m"), batch_rows=batch_rows, **ALLOWED
    ).rates

    expected = group_rates(
        outcome, joint, columns=CROSSED, labels=labels(), privileged=("b", "m"), positive="yes"
    )
    assert [*found] == ["sex", "race", "race × sex"]
    assert_same(found["race × sex"], expected)


@pytest.mark.parametrize("name", MADE)
def test_a_text_file_of_the_same_reports_has_the_same_crossed_rates(tmp_path, name):
    paths = [privatize(tmp_path, name, form=form) for form in ("parquet", "csv")]

    one, two = (estimate_file(path, protected=CROSSED, **ALLOWED).rates["race × sex"] for path in paths)

    assert_same(one, two)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_saved_sums_of_crossed_columns_merge_in_any_order(tmp_path, name, ending):
    """If this is false, collectors who send sums get another gap than those who send reports."""
    paths = [privatize(tmp_path, name, rows=900, seed=seed) for seed in (1, 2, 3)]
    for path in paths:
        count_file(path, protected=CROSSED, **ALLOWED).save(tmp_path / f"{path.stem}-sum.{ending}")
    sums = [Aggregate.load(tmp_path / f"{path.stem}-sum.{ending}") for path in paths]
    parts = [read_reports(path) for path in paths]
    outcome = list(itertools.chain.from_iterable(part[0] for part in parts))
    joint = JointReports.concat([part[1] for part in parts])

    expected = group_rates(outcome, joint, columns=CROSSED, labels=labels(), positive="yes")

    for order in itertools.permutations(sums):
        assert_same(Aggregate.merged(order).group_rates(CROSSED), expected)


@pytest.mark.parametrize("name", MADE)
def test_crossed_counts_of_reports_in_memory_are_those_of_the_file(tmp_path, name):
    path = privatize(tmp_path, name, rows=500)
    outcome, joint = read_reports(path)
    hired = np.array([value == "yes" for value in outcome], int)

    own = Aggregate.of(joint, outcome=hired, protected=CROSSED).crossed_outcome
    other = count_file(path, protected=CROSSED, **ALLOWED).crossed_outcome

    assert own.columns == other.columns
    assert own.counts.together.tobytes() == other.counts.together.tobytes()
    assert own.counts.people.tolist() == other.counts.people.tolist()


def test_one_protected_column_alone_has_rates(tmp_path):
    path = privatize(tmp_path, "grr")

    found = estimate_file(path, protected="race", privileged="b", **ALLOWED)

    assert [*found.shares] == ["sex", "race", "union"]
    assert [*found.rates] == ["race"]
    assert found.rates["race"].privileged == "b"
    assert estimate_file(path, columns="sex", protected="race", **ALLOWED).shares.keys() == {"sex", "race"}


def test_the_privileged_combination_of_the_schema_is_compared_with(tmp_path):
    schema = SCHEMA.with_roles(protected=CROSSED, privileged=("c", "f"))
    source = write(people(500), tmp_path / "people.parquet")
    privatize_all(source, tmp_path / "out.parquet", schema=schema, epsilon=6, protocol="grr", simulate=1)

    found = estimate_file(tmp_path / "out.parquet", protected=CROSSED, **ALLOWED).rates

    assert found["race × sex"].privileged == ("c", "f")
    assert found["race"].privileged == "c"


def test_an_outcome_that_is_left_out_is_in_no_combination(tmp_path):
    """If this is false, people whose outcome is missing count as not hired."""
    table = people(600)
    some = pa.array([None if row % 3 == 0 else value for row, value in enumerate(table["hired"].to_pylist())])
    source = write(table.set_column(3, "hired", some), tmp_path / "people.parquet")
    hired = Column("hired", SCHEMA["hired"].domain, nulls="drop")
    schema = Schema([*(SCHEMA[name] for name in ("sex", "race", "union")), hired], sensitive=["sex", "race"])
    privatize_all(source, tmp_path / "out.parquet", schema=schema, epsilon=6, protocol="grr", simulate=1)

    found = estimate_file(tmp_path / "out.parquet", protected=CROSSED, positive="yes", **ALLOWED)

    assert found.rates["race × sex"].n == found.rates["race"].n == 400


def test_what_cannot_be_crossed_is_refused(tmp_path):
    path = privatize(tmp_path, "grr", rows=200)

    with pytest.raises(ColumnNotFoundError, match="among those reported"):
        estimate_file(path, protected=["sex", "hired"], **ALLOWED)
    with pytest.raises(InvalidParameterError, match=r"'protected' parameter .* unless 'by' names an outcome"):
        estimate_file(path, protected=CROSSED, simulated="allow")
    for privileged in ("b", ("b", "m", "yes")):
        with pytest.raises(
            InvalidParameterError, match="a value of each crossed column, in this order: race"
        ):
            estimate_file(path, protected=CROSSED, privileged=privileged, **ALLOWED)
    with pytest.raises(InvalidParameterError, match="a value of column 'sex'"):
        estimate_file(path, protected=CROSSED, privileged=("b", "x"), **ALLOWED)


def test_reports_of_one_column_each_are_not_crossed(tmp_path):
    path = privatize(tmp_path, "grr", rows=200, split="sample")

    with pytest.raises(InvalidParameterError, match="one column, where each person was asked one"):
        estimate_file(path, protected=CROSSED, **ALLOWED)
    assert [*estimate_file(path, protected="sex", **ALLOWED).rates] == ["sex"]


def test_combinations_that_were_not_counted_cannot_be_asked_of_a_sum(tmp_path):
    path = privatize(tmp_path, "grr", rows=200)
    count_file(path, **ALLOWED).save(tmp_path / "without.json")
    count_file(path, protected=CROSSED, **ALLOWED).save(tmp_path / "with.json")

    with pytest.raises(UnreadableFileError, match=r"not counted by these combinations\..*--protected"):
        estimate_file(tmp_path / "without.json", protected=CROSSED, **ALLOWED)
    with pytest.raises(UnreadableFileError, match="cross them in the order race, sex"):
        estimate_file(tmp_path / "with.json", protected=("sex", "race"), **ALLOWED)
    with pytest.raises(UnreadableFileError, match="not counted by an outcome for these columns"):
        estimate_file(tmp_path / "with.json", protected="union", **ALLOWED)
    with pytest.raises(InvalidParameterError, match="counted by outcome for the same columns"):
        Aggregate.load(tmp_path / "with.json").merge(Aggregate.load(tmp_path / "without.json"))
    with pytest.raises(InvalidParameterError, match="in their order"):
        Aggregate.load(tmp_path / "with.json").group_rates(["sex", "race"])
    assert [*estimate_file(tmp_path / "with.json", protected="sex", **ALLOWED).rates] == ["sex"]
    assert "race × sex" in estimate_file(tmp_path / "with.json", **ALLOWED).rates
    assert "race × sex" in estimate_file(tmp_path / "with.json", columns="union", **ALLOWED).rates
