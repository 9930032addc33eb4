"""Ways to break a file, drawn from a seed so that a failure can be repeated."""

import codecs
import random

SENTINEL = "S3CRET-CELL"


def mutated(base, draw, ways):
    """Return `base` after one to three random changes."""
    data = base
    for _ in range(draw.choice([1, 1, 2, 3])):
        data = draw.choice(ways)(data, draw)
    return data


def _place(data, draw):
    return draw.randrange(len(data) + 1)


def flip_bits(data, draw):
    broken = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 8])):
        if broken:
            broken[draw.randrange(len(broken))] ^= 1 << draw.randrange(8)
    return bytes(broken)


def cut_off(data, draw):
    return data[: _place(data, draw)]


def cut_out(data, draw):
    start = _place(data, draw)
    return data[:start] + data[start + draw.randint(1, 40) :]


def double_a_piece(data, draw):
    start = _place(data, draw)
    return data[:start] + data[start : start + draw.randint(1, 60)] * draw.randint(1, 4) + data[start:]


def overwrite(data, draw):
    start = _place(data, draw)
    return data[:start] + draw.randbytes(draw.randint(1, 16)) + data[start + 8 :]


def insert(*pieces):
    """Return a way that puts one of `pieces` somewhere."""

    def way(data, draw):
        start = _place(data, draw)
        return data[:start] + draw.choice(pieces) + data[start:]

    return way


def swap_lines(data, draw):
    lines = data.split(b"\n")
    draw.shuffle(lines)
    return b"\n".join(lines)


def change_line_ends(data, draw):
    return data.replace(b"\n", draw.choice([b"\r\n", b"\r", b"\n\n", b"\n\r", b"\r\r\n"]))


def change_encoding(data, draw):
    name = draw.choice(["utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-8-sig", "utf-7"])
    return data.decode("utf-8", errors="replace").encode(name, errors="replace")


def double_header(data, draw):
    first, _, rest = data.partition(b"\n")
    names = first.split(b",")
    names[draw.randrange(len(names))] = draw.choice([names[0], b"", b'""', b" ", names[0].upper()])
    return b",".join(names) + b"\n" + rest


def long_field(data, draw):
    start = _place(data, draw)
    return (
        data[:start]
        + draw.choice([b"x", b'"', b",", b"1"]) * draw.choice([1_000, 70_000, 100_000])
        + data[start:]
    )


CSV_WAYS = [
    flip_bits,
    cut_off,
    cut_out,
    double_a_piece,
    overwrite,
    swap_lines,
    change_line_ends,
    change_encoding,
    double_header,
    insert(b'"', b'""', b'"""', b"'"),
    insert(b"\0", b"\x1a", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80"),
    insert(b",", b",,,", b";", b"\t"),
    insert(b"\n", b"\r", b"\r\n", b"\n\n"),
    insert(codecs.BOM_UTF8, codecs.BOM_UTF16_LE),
    insert(b"\x1f\x8b\x08\x00", b"PAR1", b"PK\x03\x04"),
    insert(b"nan", b"-inf", b"1e999", b"0x10", b"9" * 40, b"=cmd()"),
]
RARE_CSV_WAYS = [long_field]
PARQUET_WAYS = [
    flip_bits,
    flip_bits,
    cut_off,
    cut_out,
    double_a_piece,
    overwrite,
    insert(b"\0", b"PAR1", b"\xff" * 8),
]


def drawer(seed):
    return random.Random(seed)
