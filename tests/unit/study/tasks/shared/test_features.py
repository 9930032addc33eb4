from fractions import Fraction

import numpy as np
import pytest

from evenhand.collect import PROTOCOLS
from evenhand.errors import InvalidParameterError
from evenhand.learn.encoding.reports import Block, distinct_rows, feature_matrix, layout
from evenhand.privacy.randomness import SeededSource
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.shared.report_settings import check_encoder, report_setting
from evenhand.study.tasks.shared.reported import label_disparities, reported_columns
from unit.study._small_studies import schema

CODES = {"age": np.array([0, 49, 7], np.uint8), "region": np.array([2, 0, 1], np.uint8)}
CODES["job"] = np.array([3, 3, 0], np.uint8)


def slow_matrix(codes, blocks, reported=None):
    """Return the features cell by cell."""
    rows = []
    for place in range(len(codes["age"])):
        row = []
        for block in blocks:
            given = (reported or {}).get(block.column, codes[block.column])[place]
            if np.ndim(given):
                row += list(given)
            elif block.width == 1:
                row += [given]
            else:
                row += [float(value == given) for value in range(block.width)]
        rows.append(row)
    return np.array(rows, float)


@pytest.mark.parametrize(
    ("encoder", "sensitive", "widths"),
    [
        ("narrow", ["region", "age"], [50, 3, 4]),
        ("narrow", ["region"], [1, 3, 4]),
        ("one-hot", ["region"], [50, 3, 4]),
        ("codes", ["region"], [1, 1, 1]),
    ],
)
def test_columns_become_features_in_the_schemas_order(encoder, sensitive, widths):
    blocks = layout(schema(sensitive=sensitive), encoder)

    assert [block.column for block in blocks] == ["age", "region", "job"]
    assert [block.width for block in blocks] == widths
    assert [block.start for block in blocks] == [0, widths[0], widths[0] + widths[1]]


def test_narrow_takes_bins_and_ordered_categories_as_codes():
    columns = [
        Column("income", Domain.binned([0, 10, 20, 30])),
        Column("grade", Domain.categorical(["low", "high"], ordered=True)),
        Column("job", Domain.categorical(["a", "b"])),
    ]

    assert [block.width for block in layout(Schema(columns), "narrow")] == [1, 1, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("encoder", ["narrow", "one-hot", "codes"])
def test_clean_features_are_those_of_the_slow_version(encoder, dtype):
    blocks = layout(schema(sensitive=["region"]), encoder)
    matrix = feature_matrix(CODES, blocks=blocks, dtype=dtype)

    assert matrix.dtype == dtype
    assert (matrix == slow_matrix(CODES, blocks)).all()


def test_reports_take_the_place_of_codes():
    blocks = layout(schema(), "one-hot")
    reported = {"region": np.array([[1, 1, 0], [0, 0, 0], [0, 1, 1]], np.uint8)}
    matrix = feature_matrix(CODES, blocks=blocks, reported=reported)

    assert (matrix == slow_matrix(CODES, blocks, reported)).all()
    assert (matrix[:, 50:53] == reported["region"]).all()


def test_reported_codes_take_the_place_of_codes():
    blocks = layout(schema(), "codes")
    matrix = feature_matrix(CODES, blocks=blocks, reported={"region": np.array([0, 2, 2], np.uint8)})

    assert matrix.tolist() == [[0, 0, 3], [49, 2, 3], [7, 2, 0]]


def test_a_block_of_one_value_takes_an_indicator_too():
    blocks = (Block("a", 0, 1), Block("b", 1, 2))
    codes = {"a": np.array([0, 0]), "b": np.array([1, 0])}
    matrix = feature_matrix(codes, blocks=blocks, reported={"a": np.array([[1], [0]])})

    assert matrix.tolist() == [[1, 0, 1], [0, 1, 0]]


# --- reports --------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if name != "optimal"])
def test_every_protocol_but_grr_is_refused_as_codes(protocol):
    setting = report_setting(protocol, Fraction(1), "uniform", "independent")
    if protocol == "grr":
        check_encoder("codes", setting)
        return
    with pytest.raises(InvalidParameterError, match="only GRR's reports are codes") as caught:
        check_encoder("codes", setting)
    assert caught.value.parameter == "encoder"
    check_encoder("one-hot", setting)
    check_encoder("codes", Setting())


def test_a_sampled_report_has_no_codes():
    with pytest.raises(InvalidParameterError, match="one column each"):
        check_encoder("codes", report_setting("grr", Fraction(1), "sample", "independent"))


def reports(strategy, *, encoder="one-hot", protocol="grr", split="none", n=500):
    codes = {"region": np.arange(n) % 3, "age": np.arange(n) % 50, "job": np.arange(n) % 4}
    setting = report_setting(protocol, Fraction(1), split, strategy)
    return reported_columns(codes, setting=setting, schema=schema(), encoder=encoder, source=SeededSource(4))


def test_nothing_is_reported_where_nothing_is_protected():
    found = reported_columns(
        CODES, setting=Setting(), schema=schema(), encoder="one-hot", source=SeededSource(4)
    )

    assert found == {}


def test_single_reports_the_protected_column_alone():
    assert set(reports("single")) == {"region"}


@pytest.mark.parametrize(("strategy", "split"), [("independent", "k-based"), ("combined", "none")])
def test_the_other_strategies_report_every_sensitive_column(strategy, split):
    assert set(reports(strategy, split=split)) == {"region", "age"}


@pytest.mark.parametrize(("strategy", "split"), [("independent", "uniform"), ("combined", "none")])
def test_codes_and_indicators_are_of_the_same_reports(strategy, split):
    as_codes = reports(strategy, split=split, encoder="codes")
    as_indicators = reports(strategy, split=split)

    for column, codes in as_codes.items():
        assert codes.ndim == 1
        assert (as_indicators[column].argmax(axis=1) == codes).all()
        assert (as_indicators[column].sum(axis=1) == 1).all()


def test_whoever_was_not_asked_has_noughts():
    found = reports("independent", split="sample")
    asked = np.stack([found[column].any(axis=1) for column in ("region", "age")])

    assert (asked.sum(axis=0) == 1).all()


# --- labels ---------------------------------------------------------------------------------------


def test_disparities_of_labels_count_rows_by_what_the_report_supports():
    target = np.array([1, 0, 1, 0, 1], np.uint8)
    group = np.array([2, 2, 0, 1, 0], np.uint8)
    reported = np.array([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 0, 0], [1, 0, 1]], np.uint8)
    found = label_disparities(target, group, privileged=2, reported=reported)

    assert found["true"] == pytest.approx(1 / 2 - 2 / 3)
    assert found["reported"] == pytest.approx(2 / 3 - 1 / 4)


def test_disparities_of_reported_codes_are_those_of_groups():
    target, group = np.array([1, 0, 1, 1], np.uint8), np.array([1, 1, 0, 0])
    codes = np.array([0, 1, 1, 2])
    by_code = label_disparities(target, group, privileged=1, reported=codes)
    by_indicator = label_disparities(target, group, privileged=1, reported=np.eye(3, dtype=np.uint8)[codes])

    assert by_code == by_indicator == {"true": -0.5, "reported": -0.5}


def test_a_disparity_is_undefined_where_a_side_has_nobody_or_nothing_is_reported():
    target, group = np.array([1, 0], np.uint8), np.array([1, 1])
    found = label_disparities(target, group, privileged=1, reported=None)
    nobody = label_disparities(target, 1 - group, privileged=1, reported=np.zeros((2, 2), np.uint8))

    assert all(np.isnan(each) for each in (*found.values(), *nobody.values()))


# --- rows that are alike --------------------------------------------------------------------------


def test_distinct_rows_give_every_row_back():
    draws = np.random.default_rng(0)
    sizes = {"a": 3, "b": 50, "c": 2}
    codes = {name: draws.integers(0, size, 500).astype(np.uint8) for name, size in sizes.items()}
    places, same = distinct_rows(codes, sizes=sizes)

    assert len(places) == len({tuple(int(codes[each][row]) for each in sizes) for row in range(500)})
    for column in codes.values():
        assert (column[places][same] == column).all()


def test_more_combinations_than_numbers_are_left_alone():
    codes = {name: np.array([0, 1], np.uint32) for name in "ab"}

    assert distinct_rows(codes, sizes={"a": 2**31, "b": 2**32}) is None
    assert distinct_rows(codes, sizes={"a": 2**31, "b": 2**32 - 1}) is not None
