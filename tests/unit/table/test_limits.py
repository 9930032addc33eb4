"""Limits are whole numbers of at least one, and those of one's own file follow the memory."""

import pytest

from evenhand.errors import InvalidParameterError
from evenhand.table import Limits
from evenhand.table.limits import own_file_limits


def test_the_defaults_are_the_documented_ones():
    limits = Limits()

    assert (limits.bytes, limits.columns, limits.field_bytes, limits.row_bytes) == (
        200_000_000,
        5_000,
        65_536,
        1_048_576,
    )


@pytest.mark.parametrize("field", ["bytes", "columns", "field_bytes", "row_bytes"])
@pytest.mark.parametrize("wrong", [0, -1, 1.5, "9", True, None])
def test_a_limit_that_is_no_size_is_refused(field, wrong):
    with pytest.raises(
        InvalidParameterError, match=f"The '{field}' parameter of Limits must be a whole number"
    ):
        Limits(**{field: wrong})


def test_a_table_may_take_half_as_much_again_but_small_ones_are_not_counted():
    assert Limits(bytes=100_000_000).table_bytes == 150_000_000
    assert Limits(bytes=10).table_bytes == 16 << 20


def test_the_limit_for_a_file_of_ones_own_is_never_below_the_default(monkeypatch):
    monkeypatch.setattr("os.sysconf", lambda _: -1)
    assert own_file_limits().bytes == 200_000_000

    monkeypatch.setattr("os.sysconf", lambda _: 2**20)
    assert own_file_limits().bytes == 8_000_000_000

    def unknown(_):
        raise ValueError

    monkeypatch.setattr("os.sysconf", unknown)
    assert own_file_limits().bytes == 200_000_000
