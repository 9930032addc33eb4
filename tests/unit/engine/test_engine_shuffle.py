"""All rows in one uniform order, whatever the memory; what lies on the disk meanwhile is nobody's to read."""

import gc
import io
import itertools
import math
import os
import stat
import subprocess
import sys
import tempfile
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from evenhand.engine import shuffle
from evenhand.engine.privatize import privatize_file
from evenhand.engine.shuffle import Shuffle, regroup
from evenhand.errors import UnwritableFileError
from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.schema import Column, Domain, Schema
from statistical._exact import ALPHA, exact_events_pvalue

ORDERS = {order: code for code, order in enumerate(itertools.permutations(range(4)))}


def _rows(*values):
    return pa.RecordBatch.from_arrays([pa.array(values, pa.int64())], ["place"])


def _order(folder, batches, source):
    with Shuffle(folder / "out.csv", source) as shuffled:
        for batch in batches:
            shuffled.add(batch)
        return tuple(value for batch in shuffled.shuffled() for value in batch["place"].to_pylist())


@pytest.fixture
def small(monkeypatch):
    """Let no more than three rows stay in memory."""
    monkeypatch.setattr(shuffle, "MOST_ROWS", 3)
    monkeypatch.setattr(shuffle, "BUCKETS", 2)


# --- the law --------------------------------------------------------------------------------------------


class _EveryPath:
    """Stands in for both draws and goes through all that they can give, with the probability of each."""

    def __init__(self, most_draws):
        self.most_draws = most_draws
        self.ahead = [[]]

    def paths(self):
        while self.ahead:
            self.script, self.taken, self.chance = self.ahead.pop(), [], Fraction(1)
            yield self

    def choose(self, options):
        place = len(self.taken)
        if place >= self.most_draws:
            raise TimeoutError
        if place >= len(self.script):
            self.ahead += [[*self.taken, other] for other in range(1, options)]
            self.script.append(0)
        self.taken.append(self.script[place])
        self.chance /= options
        return self.taken[-1]

    def uniform_below(self, n, *, size, source):
        return np.array([self.choose(n) for _ in range(size)])

    def permutation(self, n, *, source):
        return np.array(list(itertools.permutations(range(n)))[self.choose(math.factorial(n))])


def _law(folder, batches, every):
    """Return the exact probability of each order, and of paths that are too long to be followed."""
    law, left = dict.fromkeys(ORDERS, Fraction(0)), Fraction(0)
    for path in every.paths():
        try:
            law[_order(folder, batches, SeededSource(0))] += path.chance
        except TimeoutError:
            left += path.chance
    return law, left


@pytest.mark.parametrize("cuts", [(4,), (1, 3), (2, 2)])
def test_every_order_has_exactly_the_same_probability(tmp_path, monkeypatch, small, cuts):
    """By going through all draws there can be, buckets within buckets among them."""
    every = _EveryPath(most_draws=10)
    monkeypatch.setattr(shuffle, "uniform_below", every.uniform_below)
    monkeypatch.setattr(shuffle, "permutation", every.permutation)
    places = iter(range(4))
    law, left = _law(tmp_path, [_rows(*itertools.islice(places, cut)) for cut in cuts], every)

    assert set(law.values()) == {(1 - left) / 24}
    assert 0 < left < Fraction(1, 10)


def test_permuting_blocks_is_seen_by_that_test(tmp_path, monkeypatch):
    """The twin: rows that stay in their batch, batches in a random order."""
    every = _EveryPath(most_draws=10)
    monkeypatch.setattr(shuffle, "permutation", every.permutation)

    def order_of_blocks(folder, batches, source):
        first = shuffle.permutation(2, source=source)
        return tuple(value for place in first for value in batches[place]["place"].to_pylist())

    monkeypatch.setitem(globals(), "_order", order_of_blocks)
    law, _ = _law(tmp_path, [_rows(0, 1), _rows(2, 3)], every)

    assert len(set(law.values())) > 1


@pytest.mark.figures
@pytest.mark.statistical
@pytest.mark.parametrize("source", [SecureSource(), SeededSource(20261116)], ids=repr)
@pytest.mark.parametrize("memory", ["memory", "disk"])
def test_drawn_orders_are_uniform(tmp_path, source, memory, monkeypatch):
    if memory == "disk":
        monkeypatch.setattr(shuffle, "MOST_ROWS", 3)
        monkeypatch.setattr(shuffle, "BUCKETS", 3)
    batches = [_rows(0, 1), _rows(2, 3)]
    codes = [ORDERS[_order(tmp_path, batches, source)] for _ in range(1_500)]
    blocks = [0.5 if order in {(0, 1, 2, 3), (2, 3, 0, 1)} else 0.0 for order in ORDERS]

    assert exact_events_pvalue(codes, [1 / 24] * 24) > ALPHA
    assert exact_events_pvalue(codes, blocks) < ALPHA


def test_all_rows_come_out_once_however_often_they_went_to_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(shuffle, "MOST_ROWS", 20)
    monkeypatch.setattr(shuffle, "BUCKETS", 3)
    batches = [_rows(*range(start, start + 7)) for start in range(0, 2_100, 7)]
    order = _order(tmp_path, batches, SeededSource(1))

    assert sorted(order) == list(range(2_100))
    assert order == _order(tmp_path, batches, SeededSource(1))
    assert order != _order(tmp_path, batches, SeededSource(2))


def test_a_row_longer_than_the_memory_for_rows_is_no_trap(tmp_path, monkeypatch):
    monkeypatch.setattr(shuffle, "MOST_BYTES", 1)

    assert sorted(_order(tmp_path, [_rows(0), _rows(1, 2)], SeededSource(3))) == [0, 1, 2]


def test_no_rows_come_out_of_no_rows(tmp_path):
    assert _order(tmp_path, [_rows()], SeededSource(0)) == ()


def test_groups_have_the_size_that_was_asked_for():
    batches = [_rows(*range(5)), _rows(), _rows(5), _rows(*range(6, 13))]
    groups = [batch["place"].to_pylist() for batch in regroup(batches, 4)]

    assert groups == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12]]


# --- on the disk ----------------------------------------------------------------------------------------


def _spill_and_look(folder):
    """Yield the names in the folder, and the file itself, while rows are on the disk."""
    with Shuffle(folder / "out.csv", SeededSource(0)) as shuffled:
        shuffled.add(_rows(*range(10)))
        shuffled._file.flush()
        yield [path.name for path in folder.iterdir()], shuffled._file


def test_nobody_else_may_read_what_is_on_the_disk(tmp_path, small):
    for names, file in _spill_and_look(tmp_path):
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600
        assert os.fstat(file.fileno()).st_size > 0
        assert os.fstat(file.fileno()).st_dev == tmp_path.stat().st_dev
        assert names == []
    assert file.closed


def test_a_system_without_nameless_files_gives_it_a_name_that_is_swept(tmp_path, small, monkeypatch):
    """Should the process be killed in the moment before the name is taken away, the next one removes it."""
    made = []
    monkeypatch.setattr(tempfile, "_O_TMPFILE_WORKS", False)
    monkeypatch.setattr(tempfile, "_mkstemp_inner", _noting(tempfile._mkstemp_inner, made))
    for names, _ in _spill_and_look(tmp_path):
        assert names == []
    name = os.path.basename(made[0])  # noqa: PTH119 - a name alone

    assert name.startswith(".out.csv.")
    assert name.endswith(".evenhand.part")


def _noting(call, made):
    def noted(*given, **how):
        result = call(*given, **how)
        made.append(result[1])
        return result

    return noted


def test_a_killed_process_leaves_nothing_of_its_buckets(tmp_path):
    code = (
        "import os, pathlib, pyarrow as pa; from evenhand.engine import shuffle\n"
        "from evenhand.privacy.randomness import SeededSource\n"
        "shuffle.MOST_ROWS = 3\n"
        "rows = pa.RecordBatch.from_arrays([pa.array(range(10))], ['place'])\n"
        "shuffled = shuffle.Shuffle(pathlib.Path('out.csv').absolute(), SeededSource(0))\n"
        "shuffled.add(rows)\n"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)

    assert done.returncode == -9
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("out", ["o.csv", "o.parquet"])
def test_a_disk_that_is_full_of_buckets_is_said_and_nothing_is_left_behind(tmp_path, small, monkeypatch, out):
    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Full())
    (tmp_path / "in.csv").write_text("v\n" + "a\nb\n" * 50)
    schema = Schema([Column("v", Domain.categorical(["a", "b"]))], sensitive="v")
    with pytest.raises(UnwritableFileError, match=f"{out} was not written: the disk is full"):
        privatize_file(tmp_path / "in.csv", tmp_path / out, schema=schema, epsilon=1)
    gc.collect()

    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_an_error_on_the_way_leaves_nothing_behind(tmp_path, small):
    def fail():
        with Shuffle(tmp_path / "out.csv", SeededSource(0)) as shuffled:
            opened.append(shuffled)
            shuffled.add(_rows(*range(10)))
            raise RuntimeError

    opened = []
    with pytest.raises(RuntimeError):
        fail()

    assert opened[0]._file.closed
    assert list(tmp_path.iterdir()) == []
