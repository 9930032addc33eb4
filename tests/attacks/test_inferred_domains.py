"""A guarantee must not call a domain public that was read from the private rows."""

import json
import warnings
from fractions import Fraction

import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest

from evenhand.collect import LocalPrivatizer
from evenhand.collect.protocols.law import VALUES_PUBLIC
from evenhand.engine import estimate_file, privatize_file
from evenhand.errors import DomainInferredWarning, UnreadableFileError
from evenhand.learn import PublicEncoder
from evenhand.privacy.guarantees.in_clear import READ_FROM_ROWS, leak_of_domains
from evenhand.privacy.guarantees.units import Trust
from evenhand.release import MECHANISMS, Histogram
from evenhand.schema import Column, Domain, Schema
from evenhand.study.intake.opening import open_data
from evenhand.study.intake.setup import RoleOptions, set_up
from evenhand.study.tasks.shared.protection import promise_of
from evenhand.study.tasks.shared.report_settings import report_setting

FRAME = pd.DataFrame({"race": ["white", "black", "white"] * 4, "hired": ["yes", "no", "no"] * 4})
DECLARED = Schema(
    [
        Column("race", Domain.categorical(["black", "white"])),
        Column("hired", Domain.categorical(["no", "yes"])),
    ],
    sensitive="race",
    quasi_identifiers="race",
)
LEAK = leak_of_domains(["race"])
LEAK_OF_BOTH = leak_of_domains(["race", "hired"])
"""Columns in the clear show their values too, by the names of the output columns."""


@pytest.fixture
def inferred():
    with warnings.catch_warnings(action="ignore"):
        return Schema.infer(FRAME, sensitive="race", columns=["race"], quasi_identifiers="race")


@pytest.fixture
def file(tmp_path):
    arrow_csv.write_csv(pa.Table.from_pandas(FRAME, preserve_index=False), tmp_path / "people.csv")
    return tmp_path / "people.csv"


def assert_stated(guarantee, leak=LEAK):
    """The leak stands where it was said that the values are public, and among what is in the clear."""
    assert leak in guarantee.assumptions
    assert not [each for each in guarantee.assumptions if "are public" in each or each == VALUES_PUBLIC]
    assert READ_FROM_ROWS in guarantee.in_clear
    assert "a leak which this guarantee does not cover" in str(guarantee)


# --- files of reports -------------------------------------------------------------------------------


def test_every_file_beside_the_reports_carries_the_warning(inferred, file, tmp_path):
    made = privatize_file(file, tmp_path / "o.csv", schema=inferred, epsilon=1)
    said = json.loads((tmp_path / "o.csv.guarantee.json").read_text("utf-8"))
    beside = (tmp_path / "o.csv.schema.toml").read_text("utf-8")

    assert_stated(made.guarantee)
    assert (said["inferred"], made.record.inferred) == (["race"], ("race",))
    assert LEAK in said["statement"]
    assert LEAK in said["guarantee"]["assumptions"]
    assert beside.startswith(f"# A warning: {LEAK}.\n")
    assert "inferred = true" in beside
    assert estimate_file(tmp_path / "o.csv").record.inferred == ("race",)


def test_a_simulation_carries_it_too(inferred, file, tmp_path):
    privatize_file(file, tmp_path / "o.csv", schema=inferred, epsilon=1, simulate=1)

    assert json.loads((tmp_path / "o.csv.guarantee.json").read_text("utf-8"))["inferred"] == ["race"]
    assert LEAK in (tmp_path / "o.csv.schema.toml").read_text("utf-8")


def test_a_declared_domain_is_public_as_before(file, tmp_path):
    made = privatize_file(file, tmp_path / "o.csv", schema=DECLARED, epsilon=1)

    assert VALUES_PUBLIC in made.guarantee.assumptions
    assert made.record.inferred == ()
    assert (tmp_path / "o.csv.schema.toml").read_text("utf-8").startswith("format = 1\n")


def test_a_domain_read_for_a_column_in_the_clear_is_no_leak(inferred, file, tmp_path):
    """What is in the clear is published anyway."""
    schema = DECLARED.with_columns(Column("hired", Domain.categorical(["no", "yes"]), inferred=True))
    made = privatize_file(file, tmp_path / "o.csv", schema=schema, epsilon=1)

    assert VALUES_PUBLIC in made.guarantee.assumptions
    assert made.record.inferred == ()


@pytest.mark.parametrize("change", ["inferred", "assumptions", "schema"])
def test_a_record_that_hides_the_leak_is_refused(inferred, file, tmp_path, change):
    privatize_file(file, tmp_path / "o.csv", schema=inferred, epsilon=1)
    place = tmp_path / "o.csv.guarantee.json"
    said = json.loads(place.read_text("utf-8"))
    if change == "inferred":
        said["inferred"] = []
        said["guarantee"]["assumptions"] = [VALUES_PUBLIC]
    elif change == "assumptions":
        said["guarantee"]["assumptions"] = [VALUES_PUBLIC]
    else:
        text = (tmp_path / "o.csv.schema.toml").read_text("utf-8").replace("inferred = true\n", "")
        (tmp_path / "o.csv.schema.toml").write_text(text, "utf-8")
        said["schema"] = Schema.from_toml(text).fingerprint
    place.write_text(json.dumps(said), "utf-8")

    with pytest.raises(UnreadableFileError, match=r"is not the schema that|do not keep|does not state"):
        estimate_file(tmp_path / "o.csv")


# --- a privatizer -----------------------------------------------------------------------------------


def test_a_schema_that_is_set_after_a_fit_does_not_make_its_domains_public():
    """The fit has read them, and the names of the output columns show them."""
    with pytest.warns(DomainInferredWarning):
        privatizer = LocalPrivatizer(columns="race", rng=1).fit(FRAME)
    privatizer.set_params(schema=DECLARED)

    for guarantee in (privatizer.guarantee_per_collection_, _collected(privatizer)):
        assert_stated(guarantee, LEAK_OF_BOTH)


def _collected(privatizer, frame=FRAME):
    privatizer.transform(frame)
    return privatizer.guarantee_


def test_a_fit_with_a_declared_schema_does_not_take_back_what_was_collected_without():
    with pytest.warns(DomainInferredWarning):
        privatizer = LocalPrivatizer(columns="race", rng=1).fit(FRAME)
    privatizer.transform(FRAME)
    privatizer.set_params(schema=DECLARED).fit(FRAME)

    assert LEAK_OF_BOTH in privatizer.guarantee_.assumptions
    assert VALUES_PUBLIC in privatizer.guarantee_per_collection_.assumptions


def test_a_schema_that_is_taken_away_after_a_fit_leaves_the_label_in_the_clear():
    schema = DECLARED.with_roles(target="hired", positive="yes")
    privatizer = LocalPrivatizer(schema=schema, rng=1).fit(FRAME[["race"]])
    privatizer.set_params(schema=None)

    assert privatizer.guarantee_per_collection_.in_clear == ("hired", "row order")
    assert VALUES_PUBLIC in privatizer.guarantee_per_collection_.assumptions


def test_a_privatizer_with_an_inferred_schema_says_so(inferred):
    privatizer = LocalPrivatizer(schema=inferred, rng=1).fit(FRAME[["race"]])

    assert_stated(privatizer.guarantee_per_collection_)
    assert_stated(_collected(privatizer, FRAME[["race"]]))


def test_a_column_in_the_clear_whose_values_were_read_is_named():
    """The output has a column for a value that only somebody in the fit had."""
    schema = Schema([DECLARED["race"], *_read_from_rows("hired")], sensitive="race")
    privatizer = LocalPrivatizer(schema=schema, rng=1).fit(FRAME)

    assert_stated(privatizer.guarantee_per_collection_, leak_of_domains(["hired"]))


def _read_from_rows(name):
    with warnings.catch_warnings(action="ignore"):
        return Schema.infer(FRAME, columns=[name])


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_released_table_lists_domains_that_were_read_as_in_the_clear(name, inferred):
    mechanism = MECHANISMS[name].example()
    table = Histogram.count(FRAME, inferred, bound=50)
    guarantee = mechanism.release(table, rng=1).guarantee

    assert READ_FROM_ROWS in guarantee.in_clear
    assert guarantee.assumptions.count(LEAK) == (guarantee.trust is not Trust.NONE)


# --- tables, studies and features -------------------------------------------------------------------


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_table_of_an_inferred_schema_says_so(name, inferred):
    table = Histogram.count(FRAME, inferred, bound=50)
    guarantee = MECHANISMS[name].example().guarantee_for(table)
    if guarantee.trust is Trust.NONE:
        return

    assert LEAK in guarantee.assumptions
    assert not [each for each in guarantee.assumptions if "may have are public" in each or "fixed" in each]


def test_a_study_of_an_inferred_schema_says_so(tmp_path):
    many = pd.concat([FRAME] * 5)
    arrow_csv.write_csv(pa.Table.from_pandas(many, preserve_index=False), tmp_path / "people.csv")
    words = RoleOptions(
        target="hired", positive="yes", protected="race", privileged="white", sensitive=("race",)
    )
    schema = set_up(open_data(tmp_path / "people.csv"), words).schema

    assert schema.inferred == ("race", "hired")
    for protocol, more in (("grr", {}), ("optimal", {"outcomes": "noisy", "budget": "1/10"})):
        setting = report_setting(protocol, Fraction(1), "none", "single", more)
        assert LEAK in promise_of(setting, schema).assumptions
        assert VALUES_PUBLIC not in promise_of(setting, schema).assumptions


def test_features_of_an_inferred_schema_say_so(inferred):
    said = PublicEncoder(inferred).assumptions

    assert LEAK in said
    assert not [each for each in said if "declared without looking" in each or "are public" in each]
    assert [each for each in PublicEncoder(DECLARED).assumptions if "declared without looking" in each]
