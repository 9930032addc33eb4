"""A published table audited by crossing: every combination and every margin, against brute force."""

import itertools
import json

import narwhals as nw
import numpy as np
import pytest

from evenhand.errors import ColumnNotFoundError, InvalidParameterError
from evenhand.release.audit.audit import BANNER, audit_release
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema(
    [
        Column("town", Domain.categorical(["p", "q", "r"])),
        Column("sex", Domain.categorical(["f", "m"])),
        Column("race", Domain.categorical(["a", "b", "c"])),
    ]
)


def tables(seed):
    draws = np.random.default_rng(seed)
    true = draws.integers(0, 9, (3, 2, 3))
    published = np.maximum(true + draws.integers(-2, 3, true.shape), 0)
    return true, published, Histogram.of(true, SCHEMA), Histogram.of(published, SCHEMA)


def by_hand(true, published):
    errors = (published - true).ravel()
    zeroed = (true.ravel() > 0) & (published.ravel() == 0)
    return {
        "cells": errors.size,
        "people": true.sum(),
        "mean_error": errors.mean(),
        "mean_absolute_error": np.abs(errors).mean(),
        "root_mean_square_error": np.sqrt((errors**2).mean()),
        "unchanged": (errors == 0).sum(),
        "zeroed": zeroed.sum(),
        "hidden_people": true.ravel()[zeroed].sum(),
    }


def same(figures, expected):
    for name, value in expected.items():
        assert getattr(figures, name) == pytest.approx(value)


@pytest.mark.parametrize("columns", [["sex", "race"], ["race", "sex"], ["town", "sex", "race"]])
def test_every_combination_and_every_margin_is_as_counted_cell_by_cell(columns):
    for seed in range(20):
        true, published, *histograms = tables(seed)
        audit = audit_release(*histograms, group=columns)
        domains = [list(range(SCHEMA[name].size)) for name in columns]
        for figures, values in zip(audit.by_group, itertools.product(*domains), strict=True):
            where = [slice(None)] * 3
            for name, value in zip(columns, values, strict=True):
                where[SCHEMA.names.index(name)] = value
            same(figures, by_hand(true[tuple(where)], published[tuple(where)]))
        for name in columns:
            axis = SCHEMA.names.index(name)
            for value, figures in enumerate(audit.by_margin[name]):
                same(figures, by_hand(true.take(value, axis), published.take(value, axis)))


def test_a_crossing_is_named_by_its_labels_in_every_form():
    *_, first, second = tables(1)
    audit = audit_release(first, second, group=("sex", "race"))
    frame = nw.from_native(audit.to_frame(), eager_only=True)
    plain = json.loads(json.dumps(audit.to_dict()))

    assert [figures.name for figures in audit.by_group][:4] == ["f, a", "f, b", "f, c", "m, a"]
    assert list(audit.by_margin) == ["sex", "race"]
    assert "By sex × race" in str(audit)
    assert "By race" in str(audit)
    assert str(audit).endswith(BANNER)
    assert frame["part"].to_list()[8:] == ["group"] * 6 + ["sex"] * 2 + ["race"] * 3
    assert plain["group"] == ["sex", "race"]
    assert [row["name"] for row in plain["by_margin"]["sex"]] == ["f", "m"]
    assert "f, a" in audit._repr_html_()


def test_one_column_has_no_margins_and_none_no_groups():
    *_, first, second = tables(2)
    alone = audit_release(first, second, group="sex")

    assert alone.by_margin == {}
    assert audit_release(first, second, group=["sex"]).by_group == alone.by_group
    assert audit_release(first, second).group == ()


def test_columns_that_cannot_be_crossed_are_refused():
    *_, first, second = tables(3)
    with pytest.raises(ColumnNotFoundError, match="age"):
        audit_release(first, second, group=["sex", "age"])
    with pytest.raises(InvalidParameterError, match="twice"):
        audit_release(first, second, group=["sex", "sex"])
    with pytest.raises(InvalidParameterError, match="none"):
        audit_release(first, second, group=[])
    wide = Schema([Column(name, Domain.integers(0, 99)) for name in "ab"])
    table = Histogram.of_cells([0], [1], wide)
    with pytest.raises(InvalidParameterError, match="at most 1,000 combinations"):
        audit_release(table, table, group=["a", "b"])


def test_long_margins_are_cut_in_text_and_said_to_be():
    schema = Schema([Column("n", Domain.integers(0, 32)), Column("sex", Domain.categorical(["f", "m"]))])
    table = Histogram.of([1] * 66, schema)

    assert "and 39 more; to_frame() has them all" in str(audit_release(table, table, group=["n", "sex"]))
