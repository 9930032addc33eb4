"""An audit and a release read the domains of a column from the same rows by the same rules."""

import warnings

import pytest

from evenhand.cli.commands.privatize import _schema
from evenhand.engine import privatize_file
from evenhand.errors import DomainInferredWarning
from evenhand.schema import Column, Domain, Schema
from evenhand.study.intake.opening import open_data
from evenhand.study.intake.setup import RoleOptions, set_up
from evenhand.study.plan.plan import Plan
from evenhand.study.run.prepare import prepare
from evenhand.table import Table, read

COLUMNS = ("married", "sex", "age", "income", "dep")
ROLES = RoleOptions(
    target="hired", positive="1", protected="sex", privileged="m", sensitive=COLUMNS, drop=("id",)
)


@pytest.fixture
def file(tmp_path):
    """Rows as pandas and R write them: 0.0 and 1.0 beside gaps, the word NA for a missing value."""
    rows = [
        f"{at},{['0.0', '1.0', ''][at % 3]},{['f', 'm', 'NA', 'm', 'f'][at % 5]},{18 + at % 60},"
        f"{1000 * at % 977 + 0.5},{['0', '1', '2', 'NA'][at % 4]},{at % 7 % 2}"
        for at in range(600)
    ]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["id,married,sex,age,income,dep,hired", *rows]) + "\n")
    return path


@pytest.fixture
def audited(file):
    return set_up(open_data(file), ROLES).schema


def test_what_an_audit_tests_has_the_domains_that_privatize_uses(file, audited):
    """Otherwise the audit is about another protocol, split and epsilon than the release."""
    with pytest.warns(DomainInferredWarning):
        released = _schema(file, None, COLUMNS, infer=True)
    with pytest.warns(DomainInferredWarning):
        in_python = Schema.infer(read(file), columns=COLUMNS, sensitive=COLUMNS)

    assert audited.select(COLUMNS).columns == released.columns == in_python.columns


def test_values_with_gaps_are_what_they_are(audited):
    assert audited["married"].domain == Domain.categorical([0, 1], ordered=True)
    assert audited["sex"].domain == Domain.categorical(["f", "m"])
    assert audited["dep"].domain == Domain.categorical([0, 1, 2], ordered=True)
    assert {audited[name].nulls for name in ("married", "sex", "dep")} == {"other"}
    assert audited["age"].domain.kind == "binned"


def test_the_file_is_read_back_by_what_was_inferred(file, audited, tmp_path):
    """The word NA is missing when the rows are read again, in a study and in a release."""
    codes = Table.encode(read(file, schema=audited), audited)["sex"]
    opened = open_data(file)
    prepared = prepare(Plan(data=opened.source, schema=audited, repeats=1))
    made = privatize_file(file, tmp_path / "out.csv", schema=audited, epsilon=1, simulate=1)

    assert (codes == audited["sex"].other_code).mean() == pytest.approx(1 / 5)
    assert (prepared.codes["sex"] == codes).all()
    assert made.rows == 600


def test_a_declared_column_may_hold_the_word(file):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DomainInferredWarning)
        schema = set_up(open_data(file, schema=_declared()), RoleOptions()).schema
    codes = Table.encode(read(file, schema=schema), schema)["sex"]

    assert (codes == schema["sex"].domain.code("NA")).mean() == pytest.approx(1 / 5)


def _declared():
    return Schema([Column("sex", Domain.categorical(["f", "m", "NA"]), nulls="other")])
