"""Structures of Parquet are read within bounds, and nothing in them is believed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attacks import _parquet_forge as forge
from evenhand.table.parquet.footer import I32, I64, CompactReader, MalformedError, number_of, structures_of


def page(fields):
    return forge.structure(fields)[1]


def test_whole_numbers_and_structures_are_kept_by_number_and_type():
    details = forge.structure({1: forge.i32(7)})
    data = page(
        {
            1: forge.i32(-3),
            2: forge.i64(2**62),
            3: (1, b""),
            4: forge.binary(b"xyz"),
            5: details,
            40: forge.i32(9),
        }
    )
    fields = CompactReader(data).structure("page")

    assert number_of(fields, 1, I32) == -3
    assert number_of(fields, 1, I64) is None
    assert number_of(fields, 2, I64) == 2**62
    assert number_of(fields, 40, I32) == 9
    assert number_of(fields, 99, I32) is None
    assert [number_of(each, 1, I32) for each in structures_of(fields, 5)] == [7]
    assert structures_of(fields, 1) == []


def test_what_is_not_looked_into_is_passed_over():
    everything = {
        2: (1, b""),
        3: (2, b""),
        4: (3, b"\x05"),
        6: (7, b"\0" * 8),
        9: forge.listing(5, [forge.zigzag(1)] * 20),
        10: (10, b"\x28" + forge.text(b"a") + forge.text(b"b")),
        11: (11, forge.varint(1) + b"\x58" + forge.zigzag(4) + forge.text(b"v")),
        12: (11, forge.varint(0)),
        13: (13, b"\0" * 16),
        14: forge.structure({1: (1, b""), 20: forge.i32(4)}),
        15: forge.listing(1, [b"\x01", b"\x02"]),
        16: (4, forge.zigzag(300)),
        60: forge.i32(5),
    }
    reader = CompactReader(page(everything) + b"rest")

    assert number_of(reader.structure("page"), 60, I32) == 5
    assert reader.data[reader.place :] == b"rest"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x15",
        b"\x15\x80",
        b"\x15" + b"\xff" * 11 + b"\0",
        b"\x18\x7f\0",
        b"\x1e\0",
        b"\x19\xf5\xff\xff\xff\xff\x07\0",
        b"\x1c" * 40,
        page({1: forge.i32(1)})[:-1] + page({1: forge.i32(2)})[:1] + b"\x05\x02\x02\0",
        b"\x05\x02\x02" + b"\x05\x02\x02\0",
        b"\x1d\0\0",
        (b"\x19\x19" * 40),
    ],
)
def test_what_is_malformed_is_refused(data):
    with pytest.raises(MalformedError):
        CompactReader(data).structure("page")


def test_a_list_that_names_another_type_for_its_elements_is_refused():
    """A reader that knows the type would read on elsewhere than one that believes the list."""
    group = forge.structure({1: forge.listing(12, []), 3: forge.i64(0)})[1]
    honest = forge.structure({3: forge.i64(0), 4: forge.listing(12, [group])})[1]
    lying = forge.structure({3: forge.i64(0), 4: forge.listing(5, [group])})[1]

    assert len(structures_of(CompactReader(honest).structure("file"), 4)) == 1
    with pytest.raises(MalformedError):
        CompactReader(lying).structure("file")


def test_there_are_at_most_as_many_structures_as_allowed():
    data = page({14: forge.listing(12, [forge.structure({})[1]] * 50)})

    assert CompactReader(data, most_structures=51).structure("page") == {}
    with pytest.raises(MalformedError):
        CompactReader(data, most_structures=50).structure("page")


@given(st.binary(max_size=200), st.sampled_from(["file", "page"]))
def test_any_bytes_are_a_structure_or_malformed(data, name):
    """An endless loop or another error here would reach whoever opens a file."""
    reader = CompactReader(data)
    try:
        reader.structure(name)
    except MalformedError:
        return

    assert reader.place <= len(data)
