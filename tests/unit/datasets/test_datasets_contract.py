"""Every data set, with every option, keeps the same promises."""

import copy
import pickle
import time

import narwhals as nw
import numpy as np
import pytest

from evenhand.datasets import describe, load, names
from evenhand.table.encode import Table

# Name, options, rows, columns.
WAYS = [
    ("acs_coverage", {}, 98_739, 15),
    ("acs_coverage", {"keep_state": True}, 98_739, 16),
    ("adult", {}, 45_849, 11),
    ("adult", {"threshold": 10_000}, 45_849, 11),
    ("adult", {"binarised": True, "threshold": 27_260}, 45_849, 9),
    ("adult", {"version": "uci"}, 45_222, 15),
    ("adult", {"version": "uci", "part": "train"}, 30_162, 15),
    ("adult", {"version": "uci", "part": "test"}, 15_060, 15),
    ("adult", {"version": "uci", "unknown": "keep"}, 48_842, 15),
    ("adult", {"version": "uci", "part": "train", "unknown": "keep"}, 32_561, 15),
    ("adult", {"version": "uci", "part": "test", "unknown": "keep"}, 16_281, 15),
    ("adult", {"version": "fair_projection"}, 46_447, 10),
    ("causal", {"version": "stored"}, 100_000, 4),
    ("compas", {}, 5_915, 5),
    ("compas", {"filter": "and", "threshold": 1}, 5_278, 5),
    ("compas", {"version": "fair_projection"}, 5_278, 7),
    ("compas", {"version": "propublica"}, 7_214, 46),
    ("credit_default", {}, 30_000, 24),
    ("credit_default", {"unnamed_codes": "merge"}, 30_000, 24),
    ("lsac", {}, 20_427, 7),
    ("lsac", {"race": "five groups"}, 20_427, 7),
    ("lsac", {"missing": "used columns"}, 22_076, 7),
    ("lsac", {"missing": "used columns", "race": "five groups"}, 22_076, 7),
    ("nist_excerpts", {}, 7_634, 24),
    ("nist_excerpts", {"part": "tx", "histogram": True}, 9_276, 25),
    ("nist_excerpts", {"part": "national", "histogram": True, "age_brackets": True}, 27_253, 26),
    ("section203", {}, 187, 6),
    ("section203", {"version": "alaska"}, 29, 7),
    ("section203", {"version": "alaska", "language": "all"}, 390, 7),
    ("section203", {"version": "simulated"}, 3_129, 7),
    ("title1", {}, 16_641, 5),
    ("title1", {"state": "NEW YORK"}, 972, 5),
    ("title1", {"version": "nces"}, 16_641, 5),
    ("title1", {"version": "nces", "least_students": 0}, 17_025, 5),
    ("title1", {"version": "saipe"}, 13_183, 7),
    ("title1", {"version": "saipe", "year": 2015}, 13_245, 7),
    ("title1", {"version": "saipe", "year": 2020}, 13_172, 7),
]
MADE = [
    ("causal", {"n": 500}, 500, 4),
    ("causal", {"n": 500, "privileged_group": 0, "quantile": 0.75, "mediator": "as_printed"}, 500, 4),
    ("counties", {"n": 500}, 500, 5),
    ("counties", {"n": 500, "near_per_mille": 0}, 500, 5),
    ("school_districts", {"n": 500}, 500, 4),
]
# Target and its positive value, protected column and its privileged group, sensitive columns in the
# order of the schema, quasi-identifiers: what the papers compare, protect and predict.
_NOBODY = (None, None, (), ())
_COVERED = ("covered", 1, *_NOBODY)
_ALLOTMENT = (None, None, *_NOBODY)
_DEFAULT = "default.payment.next.month"
_COMPAS = ("race", "Caucasian")
_LSAC = ("fam_inc", "gender", "fulltime", "race1")
_NIST = (None, None, ("AGEP", "SEX", "RAC1P"), ("RAC1P",))
_FIVE = ("age", "marital-status", "native-country", "gender", "race")
ROLES = [
    # arcolezi2023: DIS, AGEP, SEX, SCHL; group 1 of DIS is called privileged.
    ("acs_coverage", {}, ("PUBCOV", 1, "DIS", 1, ("AGEP", "SCHL", "SEX", "DIS"), ())),
    # arcolezi2023: gender, race, native-country, age; Male is 1.
    (
        "adult",
        {"version": "reconstructed"},
        ("income", 1, "gender", "Male", ("age", "native-country", "gender", "race"), ()),
    ),
    # makhlouf2024: five binary attributes, 32 cells.
    ("adult", {"version": "reconstructed", "binarised": True}, ("income", 1, "gender", 1, _FIVE, ())),
    # ghoukasian2024, chapter 3: sex alone.
    ("adult", {"version": "uci"}, ("income", ">50K", "sex", "Male", ("sex",), ())),
    # ghoukasian2024, chapter 5: race, white is 1.
    ("adult", {"version": "fair_projection"}, ("income", ">50K", "race", "White", ("race",), ())),
    # makhlouf2024: A, C and M; group 1 is the majority.
    ("causal", {"version": "generated"}, ("Y", 1, "A", 1, ("C", "A", "M"), ())),
    ("causal", {"version": "generated", "privileged_group": 0}, ("Y", 1, "A", 0, ("C", "A", "M"), ())),
    ("causal", {"version": "stored"}, ("Y", 1, "A", 1, ("C", "A", "M"), ())),
    # makhlouf2024: race, age and sex; white is 1.
    (
        "compas",
        {"version": "makhlouf2024"},
        ("high_violence_score", 1, *_COMPAS, ("sex", "race", "age_cat"), ()),
    ),
    # ghoukasian2024, chapter 5: race, white is 1; the label is a new charge.
    ("compas", {"version": "fair_projection"}, ("is_recid", 1, *_COMPAS, ("race",), ())),
    ("compas", {"version": "propublica"}, ("two_year_recid", 1, *_COMPAS, ("sex", "age", "race"), ())),
    ("counties", {}, _COVERED),
    # ghoukasian2024, chapter 3: SEX alone, 1 is male; the label is a default.
    ("credit_default", {}, (_DEFAULT, 1, "SEX", 1, ("SEX",), ())),
    # arcolezi2023: race1, fam_inc, gender, fulltime; everybody who is not black is 1.
    ("lsac", {}, ("pass_bar", 1, "race1", "other", _LSAC, ())),
    ("lsac", {"race": "five groups"}, ("pass_bar", 1, "race1", "white", _LSAC, ())),
    # zhu2023: race is the quasi-identifier, income above 50,000 the outcome.
    ("nist_excerpts", {}, (None, None, *_NIST)),
    ("nist_excerpts", {"histogram": True}, ("INCOME_ABOVE_50000", 1, *_NIST)),
    ("school_districts", {}, _ALLOTMENT),
    ("section203", {"version": "determined"}, _COVERED),
    ("section203", {"version": "alaska"}, _COVERED),
    ("section203", {"version": "simulated"}, _COVERED),
    ("title1", {"version": "districts"}, _ALLOTMENT),
    ("title1", {"version": "nces"}, _ALLOTMENT),
    ("title1", {"version": "saipe"}, _ALLOTMENT),
]


def _same_roles(loaded):
    schema = loaded.schema
    fitting = [
        (len(options), roles)
        for name, options, roles in ROLES
        if name == loaded.name and loaded.options.items() >= options.items()
    ]
    _, expected = max(fitting)  # the row that says most about the options

    assert (
        schema.target,
        schema.positive,
        schema.protected,
        schema.privileged,
        schema.sensitive,
        schema.quasi_identifiers,
    ) == expected


def _promises(loaded, rows, width):
    frame = nw.from_native(loaded.frame, eager_only=True)
    table = Table.encode(loaded.frame, loaded.schema)

    assert frame.shape == (rows, width)
    assert loaded.provenance.rows == rows
    assert loaded.provenance.cleaning
    assert loaded.provenance.citation
    assert loaded.provenance.licence
    assert set(loaded.schema.names) <= set(frame.columns)
    assert all(column.outside == "error" and column.nulls == "error" for column in loaded.schema)
    assert all(len(table[name]) == rows for name in loaded.schema.names)


@pytest.mark.parametrize(("name", "options", "rows", "width"), WAYS)
def test_real_rows_are_counted_and_fit_the_declared_domains(name, options, rows, width, real):
    """If a value were outside, a domain would have been declared wrong or a row read wrong."""
    loaded = real(name, **options)

    assert len(loaded.provenance.files) >= 1
    assert loaded.provenance.url.startswith("https://")
    assert loaded.options.items() >= options.items()
    _promises(loaded, rows, width)


@pytest.mark.parametrize(("name", "options", "rows", "width"), MADE)
def test_made_rows_fit_the_declared_domains(name, options, rows, width):
    _promises(load(name, **options), rows, width)


@pytest.mark.parametrize(("name", "options", "rows", "width"), WAYS)
def test_real_rows_have_the_roles_of_the_papers(name, options, rows, width, real):
    """A group taken for another turns the sign of every gap around."""
    _same_roles(real(name, **options))


@pytest.mark.parametrize(("name", "options", "rows", "width"), MADE)
def test_made_rows_have_the_roles_of_the_papers(name, options, rows, width):
    _same_roles(load(name, **options))


def test_the_roles_of_every_version_are_on_record():
    """A new version must say in this table whom it compares."""
    offered = {
        (name, version)
        for name in names()
        for version in next(
            (each.choices for each in describe(name).options if each.name == "version"), (None,)
        )
    }
    listed = {(name, options.get("version")) for name, options, _ in ROLES}
    tried = {(name, options.get("version", describe(name).options[0].default)) for name, options, *_ in WAYS}

    assert listed == offered
    assert {each for each in offered if each[1]} - {("causal", "generated")} <= tried


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(("name", "options", "rows", "width"), MADE)
def test_a_data_set_can_be_copied_and_sent_to_another_process(name, options, rows, width, backend, again):
    """A study spreads its runs over processes, and each needs the data."""
    loaded = load(name, backend=backend, **options)
    other = again(loaded)

    assert repr(other) == repr(loaded)
    assert other.schema == loaded.schema
    assert other.provenance == again(loaded.provenance) == loaded.provenance
    assert other.options == loaded.options
    assert other.note == loaded.note
    assert nw.from_native(other.frame).to_arrow().equals(nw.from_native(loaded.frame).to_arrow())
    with pytest.raises(TypeError):
        other.options["seed"] = 1


@pytest.mark.parametrize("again", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
@pytest.mark.parametrize("name", names())
def test_a_description_can_be_copied_and_sent_to_another_process(name, again):
    assert again(describe(name)) == describe(name)


def test_a_data_set_from_files_can_be_sent_to_another_process(real):
    loaded = real("section203", version="simulated")
    other = pickle.loads(pickle.dumps(loaded))

    assert other.provenance == loaded.provenance
    assert other.frame.equals(loaded.frame)


@pytest.mark.parametrize("backend", ["polars", "pyarrow"])
@pytest.mark.parametrize("name", ["adult", "compas", "lsac", "nist_excerpts", "section203"])
def test_every_library_gives_the_same_codes(name, backend, real, data):
    expected = Table.encode(real(name).frame, real(name).schema)
    loaded = load(name, folder=data, download=False, backend=backend)
    actual = Table.encode(loaded.frame, loaded.schema)

    assert loaded.schema == real(name).schema
    for column in loaded.schema.names:
        np.testing.assert_array_equal(actual[column], expected[column])


@pytest.mark.parametrize(
    "name", ["adult", "acs_coverage", "credit_default", "lsac", "nist_excerpts", "title1"]
)
def test_loading_takes_no_time_to_speak_of(name, data):
    load(name, folder=data, download=False, backend="pyarrow")
    started = time.process_time()
    load(name, folder=data, download=False, backend="pyarrow")

    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("name", "options", "rows", "width"), [*MADE, ("causal", {}, 0, 0), ("counties", {}, 0, 0)]
)
def test_made_rows_are_the_same_each_time(name, options, rows, width):
    first, second = (load(name, backend="pyarrow", **options).frame for _ in range(2))

    assert first.equals(second)


@pytest.mark.parametrize("name", ["causal", "counties", "school_districts"])
def test_another_seed_gives_other_rows(name):
    first, second = (load(name, backend="pyarrow", n=500, seed=seed).frame for seed in (0, 1))

    assert not first.equals(second)
