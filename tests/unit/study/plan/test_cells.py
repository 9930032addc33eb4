import copy
import pickle
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.results.lookup import setting_of
from evenhand.study.tasks.shared.report_settings import report_setting

FEWER = settings(max_examples=settings().max_examples // 2)
any_setting = st.builds(
    report_setting,
    st.sampled_from(["none", "grr", "olh"]),
    st.none() | st.fractions(Fraction(1, 1000), 100),
    st.sampled_from(["none", "uniform", "k-based"]),
    st.sampled_from(["none", "independent", "combined"]),
    st.sampled_from([{}, {"as_printed": True}, {"b": 1, "a": "x"}]),
)
cells = st.builds(Cell, any_setting, st.integers(0, 1000))


@FEWER
@given(cells)
def test_a_cell_comes_back_from_its_name(cell):
    """A store knows cells by their names alone."""
    assert Cell.from_id(cell.id) == cell
    assert Cell.from_id(cell.id).id == cell.id


@FEWER
@given(cells, cells)
def test_different_cells_have_different_names(one, other):
    """A store would give one the result of the other, and both would draw the same."""
    assert (one.id == other.id) == (one == other)
    assert (draw_text(one) == draw_text(other)) == (one == other)


def test_the_name_does_not_depend_on_the_order_of_parameters():
    one = report_setting("olh", Fraction(1), "uniform", "independent", {"a": 1, "b": 2})
    other = report_setting("olh", Fraction(1), "uniform", "independent", {"b": 2, "a": 1})

    assert one.id == other.id
    assert one == other
    assert hash(one) == hash(other)


def test_names_are_the_ones_on_record():
    """A name that changes would orphan every stored study: these are frozen."""
    setting = report_setting("olh", Fraction(1, 2), "k-based", "independent", {"as_printed": True})

    assert Cell(setting, 7).id == (
        '{"epsilon":"1/2","mechanism":"olh","options":{"as_printed":true,'
        '"split":"k-based","strategy":"independent"},"repeat":7}'
    )


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_a_cell_survives_the_way_to_a_worker(copied):
    cell = Cell(report_setting("olh", Fraction(1, 2), "k-based", "independent", {"as_printed": True}), 7)

    assert copied(cell) == cell


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (Setting(), "unprotected"),
        (report_setting("grr", Fraction(4), "none", "combined"), "GRR, combined, ε = 4"),
        (report_setting("oue", Fraction(1, 4), "k-based", "independent"), "OUE, k-based split, ε = 0.25"),
        (report_setting("oue", Fraction(1, 4), "none", "single"), "OUE, single, ε = 0.25"),
    ],
)
def test_a_setting_reads_as_people_say_it(setting, words):
    assert str(setting) == words
    assert setting != words


def test_settings_that_differ_read_differently():
    """A table that names both by one name would make one seem to be better than itself."""
    plain = report_setting("olh", Fraction(1), "uniform", "independent")
    printed = report_setting("olh", Fraction(1), "uniform", "independent", {"as_printed": True})
    switched_off = report_setting("olh", Fraction(1), "uniform", "independent", {"as_printed": False})

    assert str(printed) == "OLH, as_printed, uniform split, ε = 1"
    assert str(switched_off) == "OLH, as_printed=False, uniform split, ε = 1"
    for each in (plain, printed, switched_off):
        assert setting_of(str(each), [plain, printed, switched_off], owner="test") == each
