"""Reports survive every wire form, and what is no report is refused without a word about its content."""

import io
import json
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attacks._mutations import cut_off, cut_out, double_a_piece, flip_bits, insert, mutated, overwrite
from evenhand.collect.protocols.registry import PROTOCOLS, protocol_from
from evenhand.collect.reports.reports import Reports
from evenhand.errors import EvenhandError

pytestmark = pytest.mark.figures

names = st.sampled_from(sorted(PROTOCOLS))
sizes = st.one_of(st.integers(2, 20), st.sampled_from([255, 256, 257, 1_000]), st.just(65_537))
epsilons = st.fractions("1/2", 8, max_denominator=20)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


LAWFUL = {
    "weights": [0.5, 0.5],
    "rates": [0.1, 0.9],
    "law": [[1 << 52, 1 << 52], [1 << 52, 1 << 52]],
    "error": 0.4,
    "kind": "difference",
    "origin": "pilot",
}
"""What a record of a matrix may say."""


@st.composite
def batches(draw):
    """Return reports of any protocol: at most twelve people, sliced."""
    made, k = PROTOCOLS[draw(names)], draw(sizes)
    if made.name != "grr":  # whose reports do not grow with k
        k = min(k, 6 if made.name == "optimal" else 1_000)
    people = draw(st.lists(st.integers(0, k - 1), max_size=12))
    reports = made.example(k=k, epsilon=draw(epsilons)).privatize(people)
    return reports[slice(draw(st.integers(0, 3)), None, draw(st.integers(1, 3)))]


def _tried(reader, given):
    """Return what the reader made of it, and the message if it refused; any other error is a failure."""
    try:
        return reader(given), ""
    except EvenhandError as error:
        return None, str(error)


def _same(one, other):
    return (
        np.array_equal(one, other)
        and (one.dtype, one.shape, one.protocol) == (other.dtype, other.shape, other.protocol)
        and one.simulated == other.simulated
    )


@given(batches())
def test_every_wire_form_gives_the_same_reports(sent):
    array = sent.to_arrow()
    cut = pa.chunked_array([array[:2], array[2:]], type=array.type)
    columns = sent.protocol.layout.to_columns(sent.values)

    assert array.type == sent.protocol.layout.arrow_type
    assert _same(sent, Reports.from_arrow(array, sent.protocol, simulated=False))
    assert _same(sent, Reports.from_arrow(cut, sent.protocol, simulated=False))
    assert _same(sent, Reports.from_json(sent.to_json(keep_order=True)))
    assert _same(sent, Reports.from_json(sent.to_json(keep_order=True).encode()))
    assert np.array_equal(sent, sent.protocol.layout.from_columns(columns))


@settings(max_examples=30)
@given(batches())
def test_a_file_gives_the_same_reports(tmp_path_factory, sent):
    path = tmp_path_factory.getbasetemp() / "wire.parquet"
    sent.write_parquet(path, keep_order=True)

    assert _same(sent, Reports.read_parquet(path))
    assert _same(sent, Reports.read_parquet(io.BytesIO(path.read_bytes())))


@given(batches(), st.data())
def test_arrow_of_another_protocol_is_refused_or_fits(sent, data):
    """Where types and sizes agree the bytes cannot tell; where they do not, nothing is taken."""
    other = data.draw(batches()).protocol
    got, message = _tried(lambda array: Reports.from_arrow(array, other), sent.to_arrow())

    if got is None:
        assert message.startswith("The 'reports' parameter")
    else:
        assert other.layout.arrow_type == sent.to_arrow().type
        assert np.array_equal(sent, got)


@given(batches(), st.data())
def test_json_with_something_else_among_the_reports_is_refused_in_one_sentence(sent, data):
    record = json.loads(sent.to_json())
    foreign = data.draw(plain)
    record["reports"].append(foreign)
    got, message = _tried(Reports.from_json, json.dumps(record))

    if got is None:
        assert message.startswith("The text was not read: ")
        assert len(message) < 200
    else:
        assert sent.protocol.layout.to_json(got.values)[-1] == foreign


@given(
    st.dictionaries(
        st.sampled_from(
            ["protocol", "k", "epsilon", "as_printed", "recalibrated", "size", "__class__", *LAWFUL]
        ),
        names
        | plain
        | st.integers(2, 9)
        | st.sampled_from(["1", "1/3", "1e400", "1e-400", "9" * 5_000, *LAWFUL.values()]),
    )
)
def test_any_record_is_a_protocol_or_refused(record):
    """It reads files from outside: nothing but a protocol may come of them, and nothing but our errors."""
    made, message = _tried(protocol_from, record)

    assert len(message) < 1_000
    if made is not None:
        assert protocol_from(made.to_dict()) == made
        assert record.keys() <= made.to_dict().keys()


WAYS = [flip_bits, cut_off, cut_out, double_a_piece, overwrite, insert(b"\x00", b"\xff\xff", b"PAR1")]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_damaged_file_is_refused_or_read_as_reports(name, tmp_path):
    """Damage never becomes a crash, a hang, or reports that no person of the protocol could send."""
    protocol = PROTOCOLS[name].example(k=13)
    protocol.privatize(np.arange(60) % 13).write_parquet(tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    draw = random.Random(f"damage/{name}")
    tried = [_tried(Reports.read_parquet, io.BytesIO(mutated(whole, draw, WAYS))) for _ in range(120)]
    refused = [message for got, message in tried if got is None]
    read = [got for got, _ in tried if got is not None]

    assert len(refused) > 60
    assert all(message.startswith("The buffer was not read: ") for message in refused)
    assert all(np.array_equal(got, got.protocol.layout.checked(got.values)) for got in read)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_damaged_text_is_refused_or_read_as_reports(name):
    text = PROTOCOLS[name].example(k=13).privatize(np.arange(20) % 13).to_json().encode()
    draw = random.Random(f"text/{name}")
    ways = [*WAYS[:-1], insert(b'"', b"[", b"]", b"{}", b"null", b"NaN", b"1e999", b"-1", b"[" * 5_000)]
    tried = [_tried(Reports.from_json, mutated(text, draw, ways)) for _ in range(150)]
    refused = [message for got, message in tried if got is None]
    read = [got for got, _ in tried if got is not None]

    assert len(refused) > 75
    assert all(message.startswith("The text was not read: ") for message in refused)
    assert all(np.array_equal(got, got.protocol.layout.checked(got.values)) for got in read)
