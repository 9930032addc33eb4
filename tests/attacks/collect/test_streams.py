"""Streams under attack: draws shared between batches, hostile files, broken runs, memory that grows."""

import json
import os
import random
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attacks import _mutations as mutations
from evenhand.engine import drawing, estimate_file, privatize_file
from evenhand.errors import EvenhandError
from evenhand.privacy.randomness import SeededSource
from evenhand.schema import Column, Domain, Schema
from statistical._exact import ALPHA, Event, binomial_pvalue, exact_events_pvalue

pytestmark = pytest.mark.figures

K = 4
BATCH = 2_000
ROWS = 20 * BATCH
SCHEMA = Schema([Column("v", Domain.categorical(list("abcd")))], sensitive="v")


def _reports(folder, **how):
    """Return what everybody holds and what they said, in one order; batches are alike, place by place."""
    codes = np.tile(np.arange(BATCH) % K, ROWS // BATCH)
    pq.write_table(
        pa.table({"v": np.array(list("abcd"))[codes]}), folder / "in.parquet", row_group_size=BATCH
    )
    how |= {"batch_rows": BATCH, "keep_order": True}
    made = privatize_file(folder / "in.parquet", folder / "o.parquet", schema=SCHEMA, epsilon=1, **how)
    return codes, pq.read_table(folder / "o.parquet")["v"].to_numpy(), made.record.strategy.protocols["v"]


def _law_pvalue(codes, said, law):
    counts = np.bincount(codes * K + said, minlength=K * K).reshape(K, K)
    people = np.bincount(codes, minlength=K)
    return min(1.0, K * K * float(binomial_pvalue(counts, people[:, None], law.matrix()).min()))


def _same_places_pvalue(codes, said, law):
    """Test how often two people at the same place of neighbouring batches, who hold the same, say the same.

    Pairs do not overlap, so they are independent if people are.
    """
    pairs = said.reshape(-1, 2, BATCH)
    both = codes.reshape(-1, 2, BATCH)
    assert np.array_equal(both[:, 0], both[:, 1])
    same = Event(lambda each: each[:, 0] == each[:, 1], float((law.matrix()[0] ** 2).sum()))
    return exact_events_pvalue(pairs.transpose(0, 2, 1).reshape(-1, 2), events=[same])


@pytest.mark.statistical
@pytest.mark.parametrize("simulate", [None, 20261122])
def test_reports_of_all_batches_follow_the_law_and_no_two_share_their_draws(tmp_path, simulate):
    codes, said, law = _reports(tmp_path, simulate=simulate)

    assert _law_pvalue(codes, said, law) > ALPHA
    assert _same_places_pvalue(codes, said, law) > ALPHA


@pytest.mark.statistical
def test_batches_that_start_from_the_same_seed_are_noticed(tmp_path, monkeypatch):
    """Two people given one random stream: each report alone follows the law, and both together tell all."""
    drawn = drawing.draw_joint_reports
    monkeypatch.setattr(
        drawing, "draw_joint_reports", lambda strategy, codes, _: drawn(strategy, codes, SeededSource(5))
    )
    codes, said, law = _reports(tmp_path)

    assert _same_places_pvalue(codes, said, law) < ALPHA


@pytest.mark.statistical
def test_reports_that_tell_the_truth_too_often_are_noticed(tmp_path, monkeypatch):
    drawn = drawing.draw_joint_reports

    def keen(strategy, codes, source):
        made = drawn(strategy, codes, source)
        values = np.array(made.sent[0].values)
        values[::8] = codes["v"][::8]
        return type(made)(
            [type(made.sent[0])(values, protocol=made.sent[0].protocol, simulated=False)], strategy=strategy
        )

    monkeypatch.setattr(drawing, "draw_joint_reports", keen)

    assert _law_pvalue(*_reports(tmp_path)) < ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize("out", ["o.csv", "o.parquet"])
@pytest.mark.parametrize("protocol", ["grr", "olh", "oue", "ss"])
def test_an_estimate_of_a_file_is_near_the_truth(tmp_path, protocol, out):
    """All the way: file, reports, file, counts. The interval misses one time in a billion."""
    draw = np.random.default_rng(5)
    codes = draw.choice(K, 20_000, p=[0.6, 0.3, 0.08, 0.02])
    pq.write_table(pa.table({"v": np.array(list("abcd"))[codes]}), tmp_path / "in.parquet")
    privatize_file(tmp_path / "in.parquet", tmp_path / out, schema=SCHEMA, epsilon=1, protocol=protocol)
    found = estimate_file(tmp_path / out, batch_rows=3_000).shares["v"]
    truth = np.bincount(codes, minlength=K) / codes.size
    low, high = found.interval(1 - ALPHA / K)

    assert ((low <= truth) & (truth <= high)).all()
    assert not ((low <= truth[::-1]) & (truth[::-1] <= high)).all()  # the twin: shares of others are outside


# --- hostile files ------------------------------------------------------------------------------


def _refusal(call, *given, **how):
    """Return what our error says; nothing if there is none. Any other error is a failure."""
    try:
        call(*given, **how)
    except EvenhandError as error:
        return str(error)
    return ""


WAYS = [mutations.flip_bits, mutations.cut_off, mutations.cut_out, mutations.double_a_piece]


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Return the bytes of an input and of the three files made of it, in either form."""
    folder = tmp_path_factory.mktemp("originals")
    table = pa.table({"v": list("abcd") * 60, "note": [mutations.SENTINEL] * 240})
    pq.write_table(table, folder / "in.parquet", row_group_size=80, write_page_checksum=True)
    (folder / "in.csv").write_text(
        "v,note\n" + "".join(f"{row['v']},{row['note']}\n" for row in table.to_pylist())
    )
    for form in ("csv", "parquet"):
        privatize_file(folder / f"in.{form}", folder / f"o.{form}", schema=SCHEMA, epsilon=1)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _some(small, many):
    """Return how many files to break: some each time, many at night."""
    return pytest.mark.parametrize("count", [small, pytest.param(many, marks=pytest.mark.nightly)])


@_some(40, 2_500)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_broken_input_gives_our_error_and_leaves_nothing(originals, form, count, tmp_path):
    draw = random.Random(f"input {form}")
    (tmp_path / "out").mkdir()
    refused = 0
    for _ in range(count):
        (tmp_path / f"in.{form}").write_bytes(mutations.mutated(originals[f"in.{form}"], draw, WAYS))
        out = tmp_path / "out" / f"o.{form}"
        told = _refusal(privatize_file, tmp_path / f"in.{form}", out, schema=SCHEMA, epsilon=1, batch_rows=50)
        left = list((tmp_path / "out").iterdir())
        refused += bool(told)

        assert mutations.SENTINEL not in told
        assert len(left) == (0 if told else 3)
        for path in left:
            path.unlink()
    print(f"{form}: {refused} of {count} refused")  # noqa: T201 - the figures, for `pytest -s`

    assert refused > count / 4


@_some(20, 1_000)
@pytest.mark.parametrize("broken", ["", ".guarantee.json", ".schema.toml"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_broken_collection_gives_our_error(originals, form, broken, count, tmp_path):
    draw = random.Random(f"collection {form} {broken}")
    name = f"o.{form}{broken}"
    refused = 0
    for each, data in originals.items():
        (tmp_path / each).write_bytes(data)
    for _ in range(count):
        (tmp_path / name).write_bytes(mutations.mutated(originals[name], draw, WAYS))
        told = _refusal(estimate_file, tmp_path / f"o.{form}", batch_rows=50)
        refused += bool(told)

        assert mutations.SENTINEL not in told
    print(f"{name}: {refused} of {count} refused")  # noqa: T201 - as above

    assert refused > count / 4


@pytest.mark.parametrize("changed", ["epsilon", "p", "name", "rows"])
def test_a_forged_guarantee_is_refused(originals, changed, tmp_path):
    """Somebody who promises more than was drawn, or has estimates come out wrong, is found out."""
    for name, data in originals.items():
        (tmp_path / name).write_bytes(data)
    beside = tmp_path / "o.csv.guarantee.json"
    said = json.loads(beside.read_text())
    if changed == "epsilon":
        said["epsilon"] = said["guarantee"]["epsilon"] = said["columns"][0]["protocol"]["epsilon"] = "1/100"
    elif changed == "p":
        said["columns"][0]["p"] = "1/2"
    elif changed == "name":
        said["columns"][0]["name"] = "note"
    else:
        said["rows"] += 1
    beside.write_text(json.dumps(said))

    with pytest.raises(EvenhandError):
        estimate_file(tmp_path / "o.csv")


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_no_output(tmp_path):
    """Half a file would pass for a whole one, and what is hidden beside it holds rows in the clear."""
    (tmp_path / "in.csv").write_text("v\n" + "a\nb\n" * 50_000)
    SCHEMA.save(tmp_path / "schema.toml")
    code = (
        "import os; from evenhand.engine import privatize_file; from evenhand.schema import Schema\n"
        "privatize_file('in.csv', 'o.csv', schema=Schema.load('schema.toml'), epsilon=1, batch_rows=1000, "
        "progress=lambda rows, share: os.kill(os.getpid(), 9) if rows > 50_000 else None)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    after = {path.name for path in tmp_path.iterdir()} - {"in.csv", "schema.toml"}
    privatize_file(tmp_path / "in.csv", tmp_path / "p.csv", schema=SCHEMA, epsilon=1)

    assert done.returncode == -9
    assert after
    assert all(name.endswith(".evenhand.part") for name in after)
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith((".", "o.csv"))]


# --- memory -------------------------------------------------------------------------------------


def _peak(folder, rows, form):
    """Return the peak memory, in bytes, of a process that privatises and estimates so many rows.

    It is read from what the system says of the process: `ru_maxrss` begins at the peak of the parent, here
    of all tests that ran before.
    """
    letters = pa.array(np.array(list("abcd"))[np.arange(100_000) % K])
    part = pa.table({"v": letters, "note": pa.array([f"person {place}" for place in range(100_000)])})
    if form == "parquet":
        with pq.ParquetWriter(folder / "in.parquet", part.schema) as writer:
            for _ in range(rows // part.num_rows):
                writer.write_table(part)
    else:
        text = "".join(f"{row['v']},{row['note']}\n" for row in part.to_pylist())
        with (folder / "in.csv").open("w") as file:
            file.write("v,note\n")
            for _ in range(rows // part.num_rows):
                file.write(text)
    SCHEMA.save(folder / "schema.toml")
    code = (
        "import pathlib; from evenhand.engine import estimate_file, privatize_file\n"
        "from evenhand.schema import Schema\n"
        "schema = Schema.load('schema.toml')\n"
        f"privatize_file('in.{form}', 'o.{form}', schema=schema, epsilon=1, overwrite=True)\n"
        f"estimate_file('o.{form}')\n"
        "status = pathlib.Path('/proc/self/status').read_text()\n"
        "print(1024 * int(status.split('VmHWM:')[1].split()[0]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        env=dict(os.environ),
    )
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_memory_does_not_grow_with_the_length_of_a_file(tmp_path, form):
    """Fifty million rows must not need fifty million rows of memory."""
    short, long = (_peak(tmp_path, rows, form) for rows in (1_000_000, 5_000_000))

    assert long < 512e6
    assert long < short + 50e6
