"""Exported text never starts a formula, and numbers are unchanged."""

import csv
import random

import pyarrow as pa

from evenhand.table import read_csv, write_csv
from evenhand.table.write import inert_text

STARTS = ("=", "+", "-", "@", "\t", "\r", "\0")
COUNT = 10_000


def hostile_strings(count):
    draw = random.Random(5)
    pieces = [
        "=",
        "+",
        "-",
        "@",
        "\t",
        "\r",
        "\0",
        "cmd|' /C calc'!A0",
        "1",
        ",",
        '"',
        "'",
        "\n",
        " ",
        "ü",
        "a",
        ";",
        "＝",
    ]
    return ["".join(draw.choices(pieces, k=draw.randint(0, 5))) for _ in range(count)]


def cells_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_no_text_cell_of_ten_thousand_starts_a_formula(tmp_path):
    """A spreadsheet would run it on the computer of whoever opens the table."""
    strings = hostile_strings(COUNT)
    path = tmp_path / "out.csv"
    numbers = [random.Random(place).uniform(-1e9, 1e9) for place in range(COUNT)]
    write_csv(pa.table({"=text": strings, "-number": numbers, "whole": range(-COUNT // 2, COUNT // 2)}), path)
    header, *rows = cells_of(path)

    assert header == ["'=text", "'-number", "whole"]
    assert len(rows) == COUNT
    assert [cell for cell, _, _ in rows if cell.startswith(STARTS)] == []
    assert [cell for cell, _, _ in rows] == [inert_text(text) for text in strings]
    assert [float(cell) for _, cell, _ in rows] == numbers
    assert [int(cell) for _, _, cell in rows] == list(range(-COUNT // 2, COUNT // 2))


def test_the_check_of_formulas_can_see(tmp_path):
    """The twin: a plain writer lets them through."""
    path = tmp_path / "plain.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([text] for text in hostile_strings(200))

    assert [row for row in cells_of(path) if row and row[0].startswith(STARTS)] != []


def test_text_without_a_formula_reads_back_as_it_was(tmp_path):
    strings = [
        text for text in hostile_strings(2_000) if not text.startswith(STARTS) and "\0" not in text and text
    ]
    path = tmp_path / "out.csv"
    write_csv(pa.table({"text": strings, "beside": ["x"] * len(strings)}), path)

    assert read_csv(path)["text"].to_pylist() == strings
