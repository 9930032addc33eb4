"""Parquet files written by hand, so that they can lie about themselves."""

import struct

INT32, INT64, BYTE_ARRAY = 1, 2, 6
PLAIN, RLE, DELTA_BYTE_ARRAY = 0, 3, 7
UNCOMPRESSED, ZSTD = 0, 6


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def zigzag(number):
    return varint((number << 1) ^ (number >> 63))


def text(value):
    return varint(len(value)) + value


def i32(number):
    return 5, zigzag(number)


def i64(number):
    return 6, zigzag(number)


def binary(value):
    return 8, text(value)


def structure(fields):
    """Return a structure of ``{number: (type, bytes)}``."""
    out, last = b"", 0
    for number, (kind, data) in sorted(fields.items()):
        near = number - last < 16
        out += (bytes([(number - last) << 4 | kind]) if near else bytes([kind]) + zigzag(number)) + data
        last = number
    return 12, out + b"\0"


def listing(kind, items):
    head = bytes([len(items) << 4 | kind]) if len(items) < 15 else bytes([0xF0 | kind]) + varint(len(items))
    return 9, head + b"".join(items)


def page(data, *, values, unpacked=None, kind=0, encoding=PLAIN):
    """Return a page whose header may declare anything."""
    details = structure({1: i32(values), 2: i32(encoding), 3: i32(RLE), 4: i32(RLE)})
    where = {0: 5, 2: 7, 3: 8}[kind]
    header = structure(
        {1: i32(kind), 2: i32(len(data) if unpacked is None else unpacked), 3: i32(len(data)), where: details}
    )
    return header[1] + data


def parquet(
    pages, *, rows, physical=INT32, codec=UNCOMPRESSED, chunk_values=None, footer_rows=None, offset=4
):
    """Return a file of one required column, whose pages are `pages`."""
    column = structure(
        {
            1: i32(physical),
            2: listing(5, [zigzag(PLAIN), zigzag(RLE)]),
            3: listing(8, [text(b"a")]),
            4: i32(codec),
            5: i64(rows if chunk_values is None else chunk_values),
            6: i64(len(pages)),
            7: i64(len(pages)),
            9: i64(offset),
        }
    )
    chunk = structure({2: i64(4), 3: column})
    group = structure({1: listing(12, [chunk[1]]), 2: i64(len(pages)), 3: i64(rows)})
    return closed(
        pages, schema=[(b"a", physical)], groups=[group[1]], rows=rows if footer_rows is None else footer_rows
    )


def closed(body, *, schema, groups, rows):
    """Return `body` with magic bytes and a footer around it."""
    root = structure({4: binary(b"schema"), 5: i32(len(schema))})
    leaves = [structure({1: i32(kind), 3: i32(0), 4: binary(name)})[1] for name, kind in schema]
    footer = structure({1: i32(2), 2: listing(12, [root[1], *leaves]), 3: i64(rows), 4: listing(12, groups)})[
        1
    ]
    return b"PAR1" + body + footer + struct.pack("<I", len(footer)) + b"PAR1"
