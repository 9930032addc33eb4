"""Any release passes as it was written, and does not with one cell changed."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.engine import verify
from evenhand.privacy.signing import SigningKey
from evenhand.release import Histogram, Laplace
from evenhand.schema import Column, Domain, Schema

KEY = SigningKey.new()
LETTERS = st.characters(exclude_categories=["C"])
TEXTS = st.text(LETTERS, min_size=1, max_size=8).filter(lambda text: text.strip())
LABELS = st.lists(TEXTS, min_size=1, max_size=5, unique_by=lambda text: text.strip().casefold())
NAMES = st.lists(st.sampled_from(["county", "sex é", "=job", "a,b"]), min_size=1, max_size=2, unique=True)


@st.composite
def releases(draw):
    """Return a release of a table of one or two columns with any labels and any counts."""
    schema = Schema([Column(name, Domain.categorical(draw(LABELS))) for name in draw(NAMES)])
    shape = [column.size for column in schema.columns]
    size = int(np.prod(shape))
    counts = draw(st.lists(st.integers(0, 10**6), min_size=size, max_size=size))
    epsilon = draw(st.sampled_from(["1/100", "1/2", "1", "4"]))
    table = Histogram.of(np.array(counts).reshape(shape), schema)
    return Laplace(epsilon=epsilon, unit="replace one").release(table)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@settings(max_examples=12)
@given(data=st.data())
def test_a_release_passes_unchanged_and_fails_with_one_cell_changed(ending, data):
    release = data.draw(releases())
    key = data.draw(st.sampled_from([None, KEY]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"table.{ending}")
        release.write(path, sign=key)
        public = None if key is None else key.public
        whole = verify(path, key=public, schema=release.histogram.schema)

        values = release.values.copy()
        place = data.draw(st.integers(0, values.size - 1))
        values.flat[place] += data.draw(st.sampled_from([-1, 1, 1000]))
        other = Path(folder, f"other.{ending}")
        changed = type(release)(
            histogram=release.histogram.with_counts(values),
            guarantee=release.guarantee,
            mechanism=release.mechanism,
            simulated=False,
        )
        changed.write(other)
        path.write_bytes(other.read_bytes())
        found = verify(path, key=public)

    assert whole.passed, str(whole)
    assert [check.name for check in found.checks if not check.passed] == ["files"]
