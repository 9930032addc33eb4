"""The table of the page on data sets says what loading gives."""

import pathlib
import re

import pytest

from evenhand.datasets import describe, load, names

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "datasets.md"


def table():
    """Return the rows of the page's table: name, options, and the other cells as they stand."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("| name | rows |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        first, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        name, *options = re.findall(r"`([^`]*)`", first)
        rows.append((name, dict(re.findall(r'(\w+)="(\w+)"', " ".join(options))), cells))
    return rows


def test_every_data_set_is_in_the_table():
    assert {name for name, _, _ in table()} == set(names())


@pytest.mark.parametrize(("name", "options", "cells"), table())
def test_the_table_agrees_with_what_is_loaded(name, options, cells, real):
    """Who plans a study from the page must find these columns in these roles."""
    rows, target, protected, sensitive, licence, _ = cells
    if "histogram=True" in target:
        options = {**options, "histogram": True}
    loaded = load(name) if describe(name).built_in else real(name, **options)
    schema = loaded.schema

    assert rows.split(" / ")[0] == f"{loaded.provenance.rows:,}"
    assert target.split(" ")[0].strip("`") == (schema.target or "none")
    assert protected.split(" ")[0].strip("`") == (schema.protected or "none")
    assert schema.protected is None or f"({schema.privileged}" in protected
    assert sensitive == (", ".join(schema.sensitive) or "none")
    assert licence
