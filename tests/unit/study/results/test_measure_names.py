"""Names of measures."""

import pytest

from evenhand.errors import InvalidParameterError
from evenhand.study.results.lookup import measure_named


def test_other_names_are_listed_when_a_name_is_refused():
    with pytest.raises(InvalidParameterError, match="one of 'accuracy', 'acc'"):
        measure_named("precision", ["acc"], parameter="x", owner="frontier")
