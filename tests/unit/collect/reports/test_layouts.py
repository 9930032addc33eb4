"""The wire form of every layout, byte by byte, and what each refuses."""

import contextlib
import itertools

import numpy as np
import pyarrow as pa
import pytest

from evenhand.collect.reports.layouts import BitsLayout, HashedLayout, IntegerLayout, SetLayout
from evenhand.errors import InvalidParameterError

INTEGERS = IntegerLayout(k=300)
BITS = BitsLayout(k=10)
SETS = SetLayout(k=300, size=2)
HASHED = HashedLayout(width=64, g=4)
SHORT = HashedLayout(width=32, g=300)


def records(layout, *rows):
    return np.array(list(rows), dtype=layout.dtype)


EXAMPLES = {
    "integers": (INTEGERS, np.array([7, 299], dtype=np.uint16)),
    "bits": (BITS, np.array([[0b101, 0b10], [0xFF, 0b11]], dtype=np.uint8)),
    "sets": (SETS, np.array([[299, 2], [0, 1]], dtype=np.uint16)),
    "hashed": (HASHED, records(HASHED, (2**64 - 1, 5, 3), (0, 2**53, 0))),
    "short": (SHORT, records(SHORT, (2**32 - 1, 5, 299), (0, 1, 0))),
}


@pytest.fixture(params=EXAMPLES)
def example(request):
    return EXAMPLES[request.param]


# --- the forms --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "kind"), [(2, "uint8"), (256, "uint8"), (257, "uint16"), (65_537, "uint32")])
def test_an_integer_takes_the_smallest_type(k, kind):
    assert str(IntegerLayout(k).arrow_type) == kind
    assert IntegerLayout(k).dtype == kind
    assert IntegerLayout(k).bytes_per_report == np.dtype(kind).itemsize


@pytest.mark.parametrize(("k", "width"), [(2, 1), (8, 1), (9, 2), (16, 2), (17, 3)])
def test_bits_are_packed_eight_to_a_byte(k, width):
    assert BitsLayout(k).arrow_type == pa.binary(width)
    assert BitsLayout(k).bytes_per_report == width


def test_value_v_is_bit_v_modulo_8_of_byte_v_over_8():
    for value in range(20):
        row = np.zeros((1, 3), dtype=np.uint8)
        row[0, value // 8] = 1 << (value % 8)

        assert BitsLayout(20).to_json(row) == [(1 << value).to_bytes(3, "little").hex()]
        assert BitsLayout(20).to_arrow(row)[0].as_py() == (1 << value).to_bytes(3, "little")


def test_arrow_types_are_as_documented():
    assert str(INTEGERS.arrow_type) == "uint16"
    assert str(BITS.arrow_type) == "fixed_size_binary[2]"
    assert SETS.arrow_type == pa.list_(pa.uint16(), 2)
    assert str(HASHED.arrow_type) == "struct<multiplier: uint64, offset: uint64, value: uint8>"
    assert str(SHORT.arrow_type) == "struct<multiplier: uint32, offset: uint32, value: uint16>"
    assert [each.bytes_per_report for each in (INTEGERS, BITS, SETS, HASHED, SHORT)] == [2, 2, 4, 17, 10]


def test_json_forms_are_as_documented():
    """Many readers of JSON keep 53 bits of a number: longer words are text."""
    shown = {name: layout.to_json(values) for name, (layout, values) in EXAMPLES.items()}

    assert shown == {
        "integers": [7, 299],
        "bits": ["0502", "ff03"],
        "sets": [[299, 2], [0, 1]],
        "hashed": [
            {"multiplier": "18446744073709551615", "offset": "5", "value": 3},
            {"multiplier": "0", "offset": "9007199254740992", "value": 0},
        ],
        "short": [
            {"multiplier": 4294967295, "offset": 5, "value": 299},
            {"multiplier": 0, "offset": 1, "value": 0},
        ],
    }


def test_columns_of_a_file_are_flat():
    columns = {name: layout.to_columns(values) for name, (layout, values) in EXAMPLES.items()}

    assert {name: list(each) for name, each in columns.items()} == {
        "integers": ["report"],
        "bits": ["report"],
        "sets": ["report"],
        "hashed": ["multiplier", "offset", "value"],
        "short": ["multiplier", "offset", "value"],
    }
    assert columns["sets"]["report"].to_pylist() == [b"\x2b\x01\x02\x00", b"\x00\x00\x01\x00"]
    assert not any(pa.types.is_nested(array.type) for each in columns.values() for array in each.values())


# --- there and back ---------------------------------------------------------------------------------


def test_reports_come_back(example):
    layout, values = example
    for part in (values, values[:1], values[::-1], values[:0]):
        for got in (
            layout.from_arrow(layout.to_arrow(part)),
            layout.from_json(layout.to_json(part)),
            layout.from_columns(layout.to_columns(part)),
        ):
            assert np.array_equal(part, got)
            assert (got.dtype, got.shape) == (layout.dtype, part.shape)


def test_pieces_of_arrow_come_back(example):
    layout, values = example
    array = layout.to_arrow(values)

    assert np.array_equal(layout.from_arrow(array[1:]), values[1:])
    assert np.array_equal(layout.from_arrow(pa.chunked_array([array])), values)
    assert np.array_equal(
        layout.from_arrow(pa.chunked_array([array[1:], array])), np.concatenate([values[1:], values])
    )
    assert len(layout.from_arrow(pa.chunked_array([], type=array.type))) == 0
    assert len(layout.from_arrow(pa.array([], type=array.type))) == 0


@pytest.mark.parametrize("name", ["integers", "bits", "sets"])
def test_no_memory_is_copied_where_none_need_be(name):
    """A hundred million reports should not need room twice to be handed on."""
    layout, values = EXAMPLES[name]
    array = layout.to_arrow(values)
    there = array.flatten() if name == "sets" else array

    assert there.buffers()[1].address == values.ctypes.data
    assert np.shares_memory(layout.from_arrow(array), values)


def test_the_name_of_the_elements_of_a_list_does_not_matter():
    kind = pa.list_(pa.field("element", pa.uint16(), nullable=False), 2)
    array = pa.array([[3, 4]], type=kind)

    assert SETS.from_arrow(array).tolist() == [[3, 4]]


# --- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layout", "wrong"),
    [
        (INTEGERS, np.array([300])),
        (INTEGERS, np.array([-1])),
        (INTEGERS, np.array([1.0])),
        (INTEGERS, np.array([True])),
        (INTEGERS, np.array([[1]])),
        (INTEGERS, np.array([2**63], dtype=np.uint64)),
        (BITS, np.array([[1, 4]], dtype=np.uint8)),
        (BITS, np.array([[1]], dtype=np.uint8)),
        (BITS, np.array([[1, 1]], dtype=np.int8)),
        (BITS, np.array([1, 1], dtype=np.uint8)),
        (SETS, np.array([[1, 300]])),
        (SETS, np.array([[5, 5]])),
        (SETS, np.array([[1, 2, 3]])),
        (SETS, np.array([[1.0, 2.0]])),
        (SETS, np.array([1, 2])),
        (HASHED, records(HASHED, (1, 1, 4))),
        (HASHED, records(SHORT, (1, 1, 1))),
        (HASHED, np.array([[1, 1, 1]], dtype=np.uint64)),
    ],
)
def test_arrays_that_are_no_reports_are_refused(layout, wrong):
    with pytest.raises(InvalidParameterError) as caught:
        layout.checked(wrong)

    assert layout.described in str(caught.value)
    assert str(caught.value).endswith("Got something else instead.")


def test_a_repeated_value_is_found_in_any_row():
    """The rows are looked at in blocks; the last row of the last block counts too."""
    layout = SetLayout(k=1_000, size=500)
    rows = np.tile(np.arange(500), (3_000, 1))
    layout.checked(rows)
    for place in (0, 2_096, 2_097, 2_999):
        broken = rows.copy()
        broken[place, 17] = 400
        with pytest.raises(InvalidParameterError):
            layout.checked(broken)


@pytest.mark.parametrize(
    ("layout", "wrong", "got"),
    [
        (INTEGERS, pa.array([1], pa.int64()), "an Arrow array of int64"),
        (INTEGERS, pa.array([1], pa.uint8()), "an Arrow array of uint8"),
        (INTEGERS, pa.array([1, None], pa.uint16()), "an Arrow array with nulls"),
        (INTEGERS, pa.chunked_array([pa.array([1, None], pa.uint16())]), "an Arrow array with nulls"),
        (INTEGERS, pa.array([31_337], pa.uint16()), "something else"),
        (INTEGERS, pa.array([1], pa.uint16()).dictionary_encode(), "an Arrow array of dictionary"),
        (INTEGERS, [1], "a value of type list"),
        (INTEGERS, None, "a value of type NoneType"),
        (BITS, pa.array([b"abc"], pa.binary(3)), "an Arrow array of fixed_size_binary[3]"),
        (BITS, pa.array([b"ab"], pa.binary()), "an Arrow array of binary"),
        (BITS, pa.array([b"\x00\x04"], pa.binary(2)), "something else"),
        (BITS, pa.array([b"\x00\x00", None], pa.binary(2)), "an Arrow array with nulls"),
        (SETS, pa.array([[1, 2, 3]], pa.list_(pa.uint16(), 3)), "an Arrow array of fixed_size_list"),
        (SETS, pa.array([[1, 2]], pa.list_(pa.uint8(), 2)), "an Arrow array of fixed_size_list"),
        (SETS, pa.array([[1, 2]], pa.list_(pa.uint16())), "an Arrow array of list"),
        (SETS, pa.array([[1, None]], pa.list_(pa.uint16(), 2)), "an Arrow array with nulls"),
        (SETS, pa.array([[1, 2], None], pa.list_(pa.uint16(), 2)), "an Arrow array with nulls"),
        (SETS, pa.array([[7, 7]], pa.list_(pa.uint16(), 2)), "something else"),
        (SETS, pa.array([[7, 31_337]], pa.list_(pa.uint16(), 2)), "something else"),
        (HASHED, pa.array([{"multiplier": 1}]), "an Arrow array of struct"),
        (HASHED, pa.array([1], pa.uint64()), "an Arrow array of uint64"),
        (HASHED, SHORT.to_arrow(EXAMPLES["short"][1]), "an Arrow array of struct"),
        (HASHED, pa.array([None], HASHED.arrow_type), "an Arrow array with nulls"),
        (
            HASHED,
            pa.array([{"multiplier": None, "offset": 1, "value": 1}], HASHED.arrow_type),
            "an Arrow array with nulls",
        ),
        (
            HASHED,
            pa.array([{"multiplier": 1, "offset": 1, "value": 4}], HASHED.arrow_type),
            "something else",
        ),
    ],
)
def test_arrow_that_is_no_reports_is_refused_without_its_content(layout, wrong, got):
    with pytest.raises(InvalidParameterError) as caught:
        layout.from_arrow(wrong)

    assert f"Got {got}" in str(caught.value)
    assert "31337" not in str(caught.value)


def test_a_damaged_arrow_array_is_refused():
    """A message that says it has a thousand reports and brings two: the rest would be other memory."""
    with pytest.raises(InvalidParameterError, match="Got a damaged Arrow array instead"):
        INTEGERS.from_arrow(_array_longer_than_its_memory())


def _array_longer_than_its_memory():
    batch = pa.record_batch({"report": pa.array([25, 26], pa.uint16())})
    raw, two = batch.serialize().to_pybytes(), (2).to_bytes(8, "little")
    places = [place for place in range(len(raw)) if raw.startswith(two, place)]
    for pair in itertools.combinations(places, 2):
        lying = bytearray(raw)
        for place in pair:
            lying[place : place + 8] = (1_000).to_bytes(8, "little")
        with contextlib.suppress(OSError):
            return pa.ipc.read_record_batch(pa.py_buffer(bytes(lying)), batch.schema).column(0)
    raise AssertionError("no such message could be made")


@pytest.mark.parametrize(
    ("layout", "wrong"),
    [
        (INTEGERS, [300]),
        (INTEGERS, [-1]),
        (INTEGERS, [1.0]),
        (INTEGERS, [True]),
        (INTEGERS, ["1"]),
        (INTEGERS, [None]),
        (INTEGERS, [[1]]),
        (INTEGERS, [10**30]),
        (INTEGERS, {"0": 1}),
        (INTEGERS, "12"),
        (BITS, ["0504"]),
        (BITS, ["FF03"]),
        (BITS, ["ff0"]),
        (BITS, ["ff 3"]),
        (BITS, ["ff003"]),
        (BITS, ["\u0660\u0660\u0660\u0660"]),
        (BITS, [1]),
        (BITS, ["ff03", None]),
        (SETS, [[1, 300]]),
        (SETS, [[1, 1]]),
        (SETS, [[1]]),
        (SETS, [[1, 2.0]]),
        (SETS, [[True, 2]]),
        (SETS, ["12"]),
        (SETS, [{"0": 1, "1": 2}]),
        (HASHED, [{"multiplier": 1, "offset": "1", "value": 1}]),
        (HASHED, [{"multiplier": "01", "offset": "1", "value": 1}]),
        (HASHED, [{"multiplier": "-1", "offset": "1", "value": 1}]),
        (HASHED, [{"multiplier": "+1", "offset": "1", "value": 1}]),
        (HASHED, [{"multiplier": "1_0", "offset": "1", "value": 1}]),
        (HASHED, [{"multiplier": "\u0661", "offset": "1", "value": 1}]),
        (HASHED, [{"multiplier": str(2**64), "offset": "1", "value": 1}]),
        (HASHED, [{"multiplier": "1", "offset": "1", "value": 4}]),
        (HASHED, [{"multiplier": "1", "offset": "1", "value": "1"}]),
        (HASHED, [{"multiplier": "1", "offset": "1"}]),
        (HASHED, [{"multiplier": "1", "offset": "1", "value": 1, "time": 1}]),
        (HASHED, [["1", "1", 1]]),
        (SHORT, [{"multiplier": 2**32, "offset": 1, "value": 1}]),
        (SHORT, [{"multiplier": "1", "offset": 1, "value": 1}]),
    ],
)
def test_json_that_is_no_reports_is_refused(layout, wrong):
    with pytest.raises(InvalidParameterError, match="The 'reports' parameter of the protocol must be"):
        layout.from_json(wrong)


def test_other_columns_are_refused(example):
    layout, values = example
    columns = layout.to_columns(values)
    for wrong in (
        {},
        columns | {"time": pa.array([1, 2])},
        {f"{name}s": each for name, each in columns.items()},
    ):
        with pytest.raises(InvalidParameterError, match="Got other columns instead"):
            layout.from_columns(wrong)


@pytest.mark.parametrize("k", range(2, 18))
def test_every_bit_past_the_last_value_is_refused_and_no_other(k):
    """A bit that no value has can carry what no guarantee speaks of."""
    layout = BitsLayout(k)
    for bit in range(8 * layout.width):
        row = np.zeros((1, layout.width), dtype=np.uint8)
        row[0, bit // 8] = 1 << bit % 8
        if bit < k:
            assert (layout.checked(row) == row).all()
        else:
            with pytest.raises(InvalidParameterError, match=f"hold {k} bits"):
                layout.checked(row)
