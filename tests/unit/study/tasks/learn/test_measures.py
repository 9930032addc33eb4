"""Numbers beside the usual measures: whose predictions change."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.study.tasks.learn.measures import changes_by_group, share_unlike

LABELS = ("f", "m", "x")


@given(st.lists(st.tuples(*[st.integers(0, 1)] * 3, st.integers(0, 1)), min_size=1, max_size=30))
def test_shares_are_counted_one_by_one(rows):
    after, plain, before, group = (np.array(column) for column in zip(*rows, strict=True))
    found = changes_by_group(after, plain=plain, before=before, group=group, labels=LABELS)
    for place, label in enumerate(LABELS):
        own = [row for row in rows if row[3] == place]
        if not own:
            assert all(math.isnan(each) for each in found[label].values())
            continue
        slow = {
            "changed": sum(row[0] != row[1] for row in own) / len(own),
            "promoted": sum(row[0] > row[1] for row in own) / len(own),
            "refused": sum(row[0] < row[1] for row in own) / len(own),
            "flipped": sum(row[0] != row[2] for row in own) / len(own),
        }

        assert found[label] == pytest.approx(slow)


def test_nothing_is_flipped_where_nothing_is_post_processed():
    one = np.array([1, 0])

    assert math.isnan(share_unlike(one, None))
    assert share_unlike(one, one[::-1]) == 1.0
