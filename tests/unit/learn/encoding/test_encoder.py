"""Features made from the schema alone."""

import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from evenhand import datasets
from evenhand.errors import (
    ColumnNotFoundError,
    DataSetNotFoundError,
    InvalidParameterError,
    LimitExceededError,
    OutsideDomainError,
    SchemaError,
)
from evenhand.learn.encoding.blocks import Scale, bin_cuts, scale_of
from evenhand.learn.encoding.encoder import PublicEncoder
from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table

SCHEMA = Schema(
    [
        Column("sex", Domain.categorical(["f", "m"]), outside="other"),
        Column("age", Domain.integers(20, 80), nulls="other"),
        Column("gain", Domain.integers(-1_000_000, 2_000_000)),
        Column("score", Domain.binned([0, 0.5, 2.0])),
        Column("late", Domain.integers(-2, 8)),
        Column("grade", Domain.categorical([1.5, 2.0, 4.0], ordered=True)),
        Column("label", Domain.integers(0, 1)),
    ],
    protected="sex",
    target="label",
)
PEOPLE = pa.table(
    {
        "sex": ["m", "f", "?"],
        "age": [50, None, 80],
        "gain": [0, -1_000_000, 2_000_000],
        "score": [0.1, 1.9, 2.0],
        "late": [-2, 8, 0],
        "grade": [4.0, 1.5, 2.0],
        "label": [0, 1, 1],
    }
)
EDGES = Domain.binned([-1e9, *np.linspace(-9, 9, 99), 1e9])
CHECKED = Schema([Column(f"x{place}", EDGES, outside="other", nulls="other") for place in range(40)])


EXPECTED_FAILED_CHECKS = {
    "check_estimators_empty_data_messages": "no rows are as good as any, since nothing is learnt from them",
}


def width_of(rows):
    shape = np.shape(np.asarray(rows))
    return shape[1] if len(shape) == 2 else 40


class AnyWidth(PublicEncoder):
    """The same transformer with as many columns as scikit-learn's checks bring along."""

    def __init__(self, *, numbers="linear"):
        super().__init__(CHECKED, numbers=numbers)
        self._width = 40

    def _all(self):
        return CHECKED.names[: self._width]

    def fit(self, X, y=None):  # noqa: N803 - scikit-learn's name
        self._width = width_of(X)
        return super().fit(X, y)

    def transform(self, X):  # noqa: N803 - as above
        self._width = getattr(self, "n_features_in_", width_of(X))
        return super().transform(X)


@parametrize_with_checks([AnyWidth()], expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


def test_the_page_lists_exactly_the_checks_that_fail(root):
    """A list in the docs that is shorter than the truth would be a promise."""
    page = (root / "docs" / "catalogue" / "mitigations" / "logistic.md").read_text(encoding="utf-8")
    part = page.split("\n### In a pipeline\n")[1].split("\n## ")[0]
    listed = dict(re.findall(r"^\| `(check_\w+)` \| (.+?) \|$", part, flags=re.MULTILINE))

    assert listed == EXPECTED_FAILED_CHECKS


def test_every_feature_is_what_the_formula_says():
    """A wrong constant would be a model that no one can recompute from the schema."""
    encoder = PublicEncoder(SCHEMA)
    made = dict(zip(encoder.get_feature_names_out(), encoder.fit_transform(PEOPLE).T, strict=True))
    low, high = -math.log(1 + 1e6), math.log(1 + 2e6)

    assert made.pop("gain_log") == pytest.approx([-2 * low / (high - low) - 1, -1, 1])
    assert made.pop("gain") == pytest.approx([0, -0.5, 1])
    assert made.pop("age").tolist() == [0, 0, 1]
    assert made.pop("age_other").tolist() == [0, 1, 0]
    assert [made.pop(f"sex_{each}").tolist() for each in ("f", "m", "other")] == [
        [0, 1, 0],
        [1, 0, 0],
        [0, 0, 1],
    ]
    assert [made.pop(f"late_{each}").tolist() for each in (-2, 8, 0)] == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert [made.pop(f"grade_{each}").tolist() for each in (1.5, 4.0)] == [[0, 1, 0], [1, 0, 0]]
    assert made.pop("score_[0, 0.5)").tolist() == [1, 0, 0]
    assert {name.split("_")[0] for name in made} == {"late", "grade", "score"}


def test_linear_takes_the_middle_of_a_bin_and_the_value_of_an_ordered_number():
    encoder = PublicEncoder(SCHEMA, columns=["score", "grade", "late"], numbers="linear")

    assert encoder.get_feature_names_out().tolist() == ["score", "grade", "late"]
    assert encoder.transform(PEOPLE) == pytest.approx(
        np.array([[-0.75, 1, -1], [0.25, -1, 1], [0.25, -0.6, -0.6]])
    )


def test_bins_are_parts_of_the_declared_range():
    encoder = PublicEncoder(SCHEMA, columns=["age", "gain", "late"], numbers="bins")
    names = encoder.get_feature_names_out().tolist()
    made = pd.DataFrame(encoder.transform(PEOPLE), columns=names)

    assert names[:2] == ["age_[20, 26)", "age_[26, 32)"]
    assert names[9:11] == ["age_[74, 80]", "age_other"]
    assert "gain_[-1, 1)" in names
    assert (made.sum(axis=1) == 3).all()
    assert made["gain_[-1, 1)"].tolist() == [1, 0, 0]
    assert made["age_[74, 80]"].tolist() == [0, 0, 1]


def test_the_logarithm_may_be_asked_for_everywhere():
    made = PublicEncoder(SCHEMA, columns="age", numbers="log").transform(pa.table({"age": [20, 40, 80]}))
    ends = [math.log(1 + value) for value in (20, 40, 80)]

    assert made[:, 0] == pytest.approx([-1, 2 * (ends[1] - ends[0]) / (ends[2] - ends[0]) - 1, 1])
    far = Schema([Column("far", Domain.integers(2**62, 2**62 + 30))])
    rows = Table(far, {"far": np.array([0, 15, 30])})

    assert PublicEncoder(far, numbers="log").transform(rows)[:, 0].tolist() == [-1, 0, 1]


@pytest.mark.parametrize(
    ("domain", "wide"),
    [
        (Domain.integers(0, 99_999), True),
        (Domain.integers(0, 1_000), False),
        (Domain.integers(-5, 1_001), True),
        (Domain.integers(1_000_000, 1_002_000), False),
        (Domain.integers(-5_000, -2), True),
        (Domain.binned([0, 0.001, 2]), True),
        (Domain.binned([0, 1, 2]), False),
        (Domain.categorical([3], ordered=True), False),
    ],
)
def test_three_orders_of_magnitude_of_the_declaration_make_a_range_wide(domain, wide):
    assert scale_of(domain).is_wide is wide


def test_a_single_value_is_nought():
    schema = Schema([Column("one", Domain.integers(7, 7))])

    assert PublicEncoder(schema, numbers="linear").transform(pa.table({"one": [7]})).tolist() == [[0]]
    assert PublicEncoder(schema, numbers="log").transform(pa.table({"one": [7]})).tolist() == [[0]]


def test_negative_ranges_are_cut_by_magnitude_too():
    assert bin_cuts(Scale(-2000, 20)).tolist() == pytest.approx(
        [2000 + cut for cut in (-1000, -(10**2.5), -100, -(10**1.5), -10, -(10**0.5), -1, 1, 10**0.5, 10)]
    )


def test_no_row_changes_the_features_of_another():
    """If fit learnt anything from the rows, the guarantee of what is trained on them would not hold."""
    whole = PublicEncoder(SCHEMA).fit_transform(PEOPLE)
    fresh = PublicEncoder(SCHEMA)
    one_by_one = np.vstack([fresh.transform(PEOPLE.slice(place, 1)) for place in range(3)])
    elsewhere = PublicEncoder(SCHEMA).fit(PEOPLE.slice(0, 1)).transform(PEOPLE)

    assert np.array_equal(whole, one_by_one)
    assert np.array_equal(whole, elsewhere)


def test_fit_keeps_names_and_numbers_of_columns_and_nothing_else():
    encoder = PublicEncoder(SCHEMA).fit(PEOPLE)
    kept = set(vars(encoder)) - set(encoder.get_params())

    assert kept == {"n_features_in_", "feature_names_in_", "_fitted_plan"}
    assert encoder._fitted_plan == PublicEncoder(SCHEMA)._read_plan()  # which knows no rows
    assert encoder.n_features_in_ == 7


@pytest.mark.parametrize(
    "as_frame", [lambda each: each.to_pandas(), pl.from_arrow, lambda each: each.to_batches()[0]]
)
def test_every_library_gives_the_same_features(as_frame):
    expected = PublicEncoder(SCHEMA).fit_transform(PEOPLE)

    assert np.array_equal(expected, PublicEncoder(SCHEMA).fit_transform(as_frame(PEOPLE)))


def test_arrays_and_codes_give_the_same_features():
    codes = {name: np.array([0, 2, 1]) for name in ("late", "score", "grade")} | {
        "score": np.array([0, 1, 1])
    }
    chosen = SCHEMA.select(["late", "score", "grade"])
    table = Table(chosen, codes)
    encoder = PublicEncoder(SCHEMA, columns=["late", "grade"])
    array = np.array([[-2, 1.5], [0, 4.0], [-1, 2.0]])
    expected = encoder.fit_transform(array)

    assert np.array_equal(expected, encoder.features(codes))
    assert np.array_equal(expected, PublicEncoder(SCHEMA, columns=["late", "grade"]).fit_transform(table))
    assert encoder.features(codes, dtype=np.float32).dtype == np.float32
    assert PublicEncoder(chosen, columns="late").transform(np.array([[0, 0.2, 4.0]]))[0, 2] == 1
    with pytest.raises(InvalidParameterError, match="array with the 3 columns"):
        PublicEncoder(chosen, columns="late").transform(np.zeros((2, 2)))


def test_codes_over_another_declaration_are_refused():
    """Code 0 of one domain is another value in the next, and nothing would tell."""
    encoder = PublicEncoder(SCHEMA, columns="late")
    shifted = Table(Schema([Column("late", Domain.integers(-1, 9))]), {"late": np.array([0])})
    opened = Table(Schema([Column("late", Domain.integers(-2, 8), nulls="other")]), {"late": np.array([0])})
    absent = Table(Schema([Column("later", Domain.integers(-2, 8))]), {"later": np.array([0])})

    for table in (shifted, opened):
        with pytest.raises(InvalidParameterError, match="column 'late' is declared as in the schema"):
            encoder.transform(table)
    with pytest.raises(ColumnNotFoundError, match="in the table"):
        encoder.transform(absent)


def test_it_works_in_a_pipeline_and_with_set_output():
    frame = PEOPLE.to_pandas()
    encoder = PublicEncoder(SCHEMA, without="sex").set_output(transform="pandas")
    model = make_pipeline(encoder, LogisticRegression()).fit(frame, frame["label"])
    made = clone(encoder).set_output(transform="polars").fit_transform(frame)

    assert list(model[-1].feature_names_in_) == list(encoder.get_feature_names_out())
    assert not any(name.startswith("sex") for name in made.columns)
    assert isinstance(made, pl.DataFrame)
    assert list(encoder.get_feature_names_out(frame.columns)) == made.columns
    assert list(PublicEncoder(SCHEMA, without="sex").get_feature_names_out(["any"])) == made.columns


def test_the_assumptions_name_what_is_taken_as_public():
    said = " ".join(PublicEncoder(SCHEMA).assumptions)

    for words in (
        "sex: 3 declared values",
        "age: scaled by the declared range 20 to 80",
        "gain: signed logarithm and value, scaled by the declared range -1e+06 to 2e+06",
        "declared without looking",
    ):
        assert words in said
    assert "bins of the declared range" in PublicEncoder(SCHEMA, columns="age", numbers="bins").assumptions[0]
    assert "signed logarithm scaled" in PublicEncoder(SCHEMA, columns="age", numbers="log").assumptions[0]


@pytest.mark.parametrize(
    ("changed", "error", "match"),
    [
        ({"schema": {"a": 1}}, InvalidParameterError, "'schema' parameter of PublicEncoder must be a Schema"),
        ({"numbers": "ranks"}, InvalidParameterError, "one of 'auto'"),
        ({"columns": 3}, InvalidParameterError, "a name or a list of names"),
        ({"columns": ["age", "age"]}, InvalidParameterError, "distinct"),
        ({"columns": "ag"}, ColumnNotFoundError, "did you mean 'age'"),
        ({"without": "ag"}, ColumnNotFoundError, "did you mean 'age'"),
        ({"columns": "age", "without": ["age"]}, InvalidParameterError, "a column is left"),
    ],
)
def test_parameters_that_cannot_be_are_refused(changed, error, match):
    with pytest.raises(error, match=match):
        PublicEncoder(**{"schema": SCHEMA} | changed).fit(PEOPLE)


@pytest.mark.parametrize(
    ("columns", "error", "match"),
    [
        ([Column("a", Domain.integers(0, 1), nulls="drop")], SchemaError, "nulls='drop'"),
        (
            [Column("a", Domain.categorical(["b_c"])), Column("a_b", Domain.categorical(["c"]))],
            InvalidParameterError,
            "one from 'a' and one from 'a_b'",
        ),
        ([Column("a", Domain.categorical(range(70_000)))], LimitExceededError, "column 'a'"),
        ([Column("a", Domain.binned([*range(30), 1e301]))], InvalidParameterError, "at most 1e300"),
        ([Column("a", Domain.binned([0, 5e-324, *range(1, 30)]))], InvalidParameterError, "narrowest step"),
    ],
)
def test_schemas_that_cannot_be_encoded_are_refused(columns, error, match):
    with pytest.raises(error, match=match):
        PublicEncoder(Schema(columns)).get_feature_names_out()


def test_rows_that_do_not_fit_are_refused_without_telling_a_value():
    late = PublicEncoder(SCHEMA, columns="late")

    with pytest.raises(OutsideDomainError) as caught:
        late.transform(pa.table({"late": [0, 4711]}))
    assert "4711" not in str(caught.value)
    with pytest.raises(ColumnNotFoundError, match="in the frame"):
        late.fit(pa.table({"later": [0]}))
    with pytest.raises(ColumnNotFoundError, match="among the codes"):
        late.features({"later": np.array([0])})
    with pytest.raises(InvalidParameterError, match="whole numbers from 0 to 10"):
        late.features({"late": np.array([11])})


@pytest.mark.parametrize(
    ("name", "width", "options"),
    [
        ("adult", 122, {"version": "uci"}),
        ("credit_default", 106, {}),
        ("compas", 9, {}),
        ("lsac", 18, {}),
        ("acs_coverage", 51, {}),
    ],
)
def test_the_data_sets_at_hand_fit(name, width, options):
    """The rule must suit real declarations, and no row may be so long that clipping rules the training."""
    try:
        people = datasets.load(name, backend="pyarrow", **options)
    except DataSetNotFoundError:
        pytest.skip(f"{name} is not on this machine")
    made = PublicEncoder(people.schema).transform(people.frame.slice(0, 2_000))

    assert made.shape[1] == width
    assert np.abs(made).max() <= 1
    assert np.linalg.norm(made, axis=1).max() <= 5
