"""Counting a lazy frame gives what counting the collected frame gives, whatever the engine and the rows."""

import pytest
from contract._engines import ENGINES
from contract._lazy_tables import tables
from hypothesis import given, settings

from evenhand.errors import EvenhandError
from evenhand.release import Histogram


def outcome(frame, schema):
    try:
        histogram = Histogram.count(frame, schema)
    except EvenhandError as error:
        return type(error).__name__, getattr(error, "column", None)
    cells, filled = histogram.filled_cells()
    return cells.tolist(), filled.tolist(), filled.dtype.name


@pytest.fixture(params=ENGINES, ids=lambda engine: engine.name)
def engine(request):
    request.param.require()
    return request.param


@given(made=tables())
@settings(max_examples=60)
def test_a_lazy_frame_is_counted_as_the_collected_one(engine, made):
    table, schema = made
    lazy = engine.load(table)

    assert outcome(lazy, schema) == outcome(engine.collect(lazy), schema)
