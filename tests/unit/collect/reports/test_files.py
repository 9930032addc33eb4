"""Files of reports: what they say about themselves, and what is refused."""

import base64
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evenhand
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.hashing import OLH
from evenhand.collect.protocols.subset import SS
from evenhand.collect.protocols.unary import OUE
from evenhand.collect.reports import files as report_files
from evenhand.collect.reports.reports import Reports
from evenhand.errors import (
    GuaranteeError,
    InvalidParameterError,
    LimitExceededError,
    UnreadableFileError,
    UnwritableFileError,
)
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.table.limits import Limits

FIVE = GRR(k=5, epsilon=1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "survey.parquet"


@pytest.fixture
def collected(path):
    """Return reports that are written to the path, in their order."""
    reports = Reports(np.array([0, 1, 2, 3, 4, 4]), protocol=FIVE, simulated=False)
    reports.write_parquet(path, keep_order=True)
    return reports


def _metadata(path):
    return {name.decode(): text.decode() for name, text in pq.read_schema(path).metadata.items()}


def _forged(path, columns=None, **changes):
    """Write the file again with other columns or another note; None leaves a note out."""
    columns = pq.read_table(path) if columns is None else pa.table(columns)
    note = {name: text for name, text in (_metadata(path) | changes).items() if text is not None}
    pq.write_table(columns.replace_schema_metadata(note), path)


# --- what the file says -----------------------------------------------------------------------------


def test_the_file_says_what_it_is(path, collected):
    collected.write_parquet(path)
    said = _metadata(path)

    assert list(said) == ["format", "evenhand", "rng", "protocol", "guarantee"]
    assert said["format"] == "evenhand reports 1"
    assert said["evenhand"] == evenhand.__version__
    assert said["rng"] == "secure"
    assert json.loads(said["protocol"]) == FIVE.to_dict()
    assert Guarantee.from_dict(json.loads(said["guarantee"])) == FIVE.guarantee


def test_a_file_in_the_order_of_the_people_says_that_it_is(path, collected):
    """Where people stood sorted by their value, the order tells what the reports hide."""
    expected = FIVE.guarantee_for(in_clear=["row order"])

    assert Guarantee.from_dict(json.loads(_metadata(path)["guarantee"])) == expected
    assert json.loads(collected.to_json(keep_order=True))["guarantee"] == expected.to_dict()
    assert "row order" not in collected.to_json()
    with pytest.raises(InvalidParameterError, match="'keep_order' parameter"):
        collected.write_parquet(path, keep_order="no")


def test_a_file_holds_the_same_reports_in_another_order(path):
    reports = GRR(k=200, epsilon=9).privatize(np.arange(200))
    reports.write_parquet(path)
    in_file, in_text = Reports.read_parquet(path).values, Reports.from_json(reports.to_json()).values

    for values in (in_file, in_text):
        assert sorted(values.tolist()) == sorted(reports.values.tolist())
        assert not np.array_equal(values, reports.values)
    assert not np.array_equal(in_file, in_text)


def test_the_file_has_no_time_in_it(path, collected):
    """When a report came in may say who sent it. Two files of the same reports are the same file."""
    first = path.read_bytes()
    collected.write_parquet(path, keep_order=True)

    assert path.read_bytes() == first
    assert not any(word in str(_metadata(path)).lower() for word in ("time", "date", "202"))
    assert pq.read_metadata(path).row_group(0).column(0).statistics is None


def test_simulated_reports_say_seeded_and_promise_nothing(path):
    simulated = FIVE.privatize([0, 1], rng=7)
    simulated.write_parquet(path, simulated="allow", keep_order=True)

    assert _metadata(path)["rng"] == "seeded"
    assert "guarantee" not in _metadata(path)
    assert Reports.read_parquet(path).simulated
    assert (Reports.read_parquet(path) == simulated).all()


def test_simulated_reports_are_refused_with_the_next_step(path):
    with pytest.raises(GuaranteeError) as caught:
        FIVE.privatize([0, 1], rng=7).write_parquet(path)

    assert "Hint: give privatize no rng to collect reports" in str(caught.value)
    assert "simulated='allow'" in str(caught.value)
    assert not path.exists()


def test_only_reports_that_can_be_read_again_are_written(path):
    """A column decoded from a joint report has no guarantee of its own, and no protocol to be read by."""
    relative = type("Relative", (GRR,), {})(k=5, epsilon=1)
    with pytest.raises(InvalidParameterError, match="write the whole reports"):
        relative.privatize([0, 1]).write_parquet(path)
    with pytest.raises(InvalidParameterError, match="must be reports of one of the protocols grr, "):
        relative.privatize([0, 1]).to_json()

    assert not path.exists()


@pytest.mark.parametrize("wrong", [True, "yes", None])
def test_the_switch_has_two_positions(path, wrong):
    with pytest.raises(InvalidParameterError, match=r"'simulated' parameter of Reports\.write_parquet"):
        FIVE.privatize([0]).write_parquet(path, simulated=wrong)


@pytest.mark.parametrize(
    ("protocol", "columns"),
    [
        (FIVE, {"report": "uint8"}),
        (GRR(k=70_000, epsilon=1), {"report": "uint32"}),
        (OUE(k=20, epsilon=1), {"report": "fixed_size_binary[3]"}),
        (SS(k=300, epsilon=4), {"report": "fixed_size_binary[10]"}),
        (OLH(k=20, epsilon=1), {"multiplier": "uint32", "offset": "uint32", "value": "uint8"}),
        (OLH(k=1 << 20, epsilon=1), {"multiplier": "uint64", "offset": "uint64", "value": "uint8"}),
    ],
    ids=repr,
)
def test_columns_are_flat(path, protocol, columns):
    protocol.privatize([0, 1]).write_parquet(path)

    assert {each.name: str(each.type) for each in pq.read_schema(path)} == columns


def test_a_large_file_has_groups_of_bounded_size(path, monkeypatch):
    monkeypatch.setattr(report_files, "_GROUP_BYTES", 3_000)
    reports = OUE(k=24, epsilon=1).privatize(np.zeros(2_500, dtype=np.uint8))
    reports.write_parquet(path, keep_order=True)

    assert pq.read_metadata(path).num_row_groups == 3
    assert (Reports.read_parquet(path) == reports).all()


def test_an_old_file_stays_if_the_new_one_cannot_be_written(tmp_path, path, collected):
    before = path.read_bytes()
    with pytest.raises(GuaranteeError):
        FIVE.privatize([0], rng=1).write_parquet(path)
    with pytest.raises(UnwritableFileError, match=r"^survey\.parquet was not written: its folder"):
        collected.write_parquet(tmp_path / "nowhere" / "survey.parquet")

    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["survey.parquet"]


# --- reading ----------------------------------------------------------------------------------------


class OnlyReads:
    """A stream that cannot be searched, such as one from a network."""

    def __init__(self, data):
        self._file = io.BytesIO(data)

    def read(self, size=-1):
        return self._file.read(size)


def test_a_path_a_text_and_a_stream_are_read(path, collected):
    for source in (path, str(path), io.BytesIO(path.read_bytes()), OnlyReads(path.read_bytes())):
        assert (Reports.read_parquet(source) == collected).all()
    with path.open("rb") as stream:
        assert (Reports.read_parquet(stream) == collected).all()


def test_limits_hold_and_name_the_file(path, collected):
    size = path.stat().st_size
    with pytest.raises(LimitExceededError, match=r"^survey\.parquet was not read: it holds more") as caught:
        Reports.read_parquet(path, limits=Limits(bytes=size - 1))
    assert caught.value.limit == "bytes"
    with pytest.raises(LimitExceededError, match=r"^The buffer was not read"):
        Reports.read_parquet(OnlyReads(path.read_bytes()), limits=Limits(bytes=size - 1))
    with pytest.raises(InvalidParameterError, match="'limits' parameter"):
        Reports.read_parquet(path, limits=100)

    assert len(Reports.read_parquet(path, limits=Limits(bytes=size))) == 6


def test_a_file_that_unfolds_is_refused_and_named(path):
    GRR(k=2, epsilon=1).privatize(np.zeros(400_000, dtype=np.uint8)).write_parquet(path)
    with pytest.raises(LimitExceededError, match=r"^survey\.parquet was not read: unpacked"):
        Reports.read_parquet(path, limits=Limits(bytes=path.stat().st_size + 1))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "there is no such file"),
        (b"", "it is not a Parquet file"),
        (b"k,v\n1,2\n" * 9, "it is not a Parquet file"),
        (b"PAR1" + b"\0" * 40 + b"PAR1", "damaged"),
    ],
)
def test_what_is_no_file_of_reports_is_refused_by_name(path, content, why):
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UnreadableFileError, match=rf"^survey\.parquet was not read: .*{why}"):
        Reports.read_parquet(path)


def test_a_foreign_parquet_file_is_refused(path):
    pq.write_table(pa.table({"report": pa.array([1, 2], pa.uint8())}), path)
    with pytest.raises(UnreadableFileError, match="it holds no reports of evenhand"):
        Reports.read_parquet(path)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"format": "something else"}, "holds no reports of evenhand"),
        ({"format": None}, "holds no reports of evenhand"),
        ({"format": "evenhand reports 2"}, "knows the format 1. Hint: install a newer evenhand."),
        ({"format": "evenhand reports 0"}, "Hint: read it with the evenhand that wrote it."),
        ({"evenhand": None}, "does not say which version"),
        ({"evenhand": "1" * 81}, "does not say which version"),
        ({"rng": None}, "'secure' or 'seeded'"),
        ({"rng": "os"}, "'secure' or 'seeded'"),
        ({"rng": "seeded"}, "simulated ones none; here it is otherwise"),
        ({"guarantee": None}, "simulated ones none; here it is otherwise"),
        ({"guarantee": "null"}, "simulated ones none; here it is otherwise"),
        ({"guarantee": "[]"}, "its guarantee is not a record"),
        ({"guarantee": "{}"}, "its guarantee cannot be understood"),
        ({"guarantee": '{"trust": "local", "trust": "local"}'}, "says about itself cannot be understood"),
        ({"protocol": None}, "its protocol is not a record"),
        ({"protocol": "{"}, "says about itself cannot be understood"),
        ({"protocol": "NaN"}, "says about itself cannot be understood"),
        ({"protocol": "[" * 20_000}, "says about itself cannot be understood"),
        ({"protocol": " " * 70_000}, "says about itself is too long"),
        ({"protocol": '{"protocol": "grr", "k": 5}'}, "its protocol cannot be understood"),
        ({"protocol": '{"protocol": "grr", "k": true, "epsilon": "1"}'}, "its protocol cannot be understood"),
        ({"protocol": '{"protocol": "x", "k": 5, "epsilon": "1"}'}, "its protocol cannot be understood"),
        ({"protocol": '{"protocol": "grr", "k": 4, "epsilon": "1"}'}, "its reports are not whole numbers"),
        ({"protocol": '{"protocol": "grr", "k": 999, "epsilon": "1"}'}, "its reports are not whole numbers"),
        ({"protocol": '{"protocol": "oue", "k": 5, "epsilon": "1"}'}, "its reports are not rows of 1 bytes"),
        ({"protocol": '{"protocol": "olh", "k": 5, "epsilon": "1"}'}, "its reports are not records"),
        (
            {"protocol": '{"protocol": "grr", "k": 5, "epsilon": "2"}'},
            "guarantee that its protocol does not keep",
        ),
        (
            {"protocol": '{"protocol": "the", "k": 5, "epsilon": "1e-300"}'},
            "its protocol cannot make reports",
        ),
    ],
)
def test_a_note_that_is_off_is_refused_in_one_sentence(path, collected, changes, why):
    """The file comes from outside: what it says is believed only as far as it agrees with itself."""
    _forged(path, **changes)
    with pytest.raises(UnreadableFileError) as caught:
        Reports.read_parquet(path)

    assert str(caught.value).startswith("survey.parquet was not read: ")
    assert why in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    "terms",
    [
        {"epsilon": "9/10"},
        {"unit": "one person"},
        {"trust": "central"},
        {"epsilon": None, "rho": "1"},
        {"group_size": 2},
    ],
)
def test_a_promise_that_the_protocol_does_not_keep_is_refused(path, collected, terms):
    """A forged epsilon must not travel with the reports."""
    record = FIVE.guarantee.to_dict() | {"measure": None} | terms
    _forged(path, guarantee=json.dumps(record))
    with pytest.raises(UnreadableFileError, match="guarantee that its protocol does not keep"):
        Reports.read_parquet(path)


def test_a_note_that_is_no_text_is_refused(path, collected):
    table = pq.read_table(path)
    note = dict(table.schema.metadata) | {b"rng": b"\xff\xfe"}
    pq.write_table(table.replace_schema_metadata(note), path)
    with pytest.raises(UnreadableFileError, match="cannot be understood"):
        Reports.read_parquet(path)


def _with_notes(path, pairs):
    """Return the columns of the file with other key-value pairs in its footer, in their order."""
    table, file = pq.read_table(path).replace_schema_metadata(None), io.BytesIO()
    with pq.ParquetWriter(file, table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(pa.KeyValueMetadata(pairs))
    return io.BytesIO(file.getvalue())


def _hidden(path, notes):
    """Return the pair in which Arrow keeps a schema of its own, here with notes of its own."""
    schema = pq.read_schema(path).with_metadata(notes)
    return ("ARROW:schema", base64.b64encode(schema.serialize().to_pybytes()))


@pytest.mark.parametrize("name", ["format", "evenhand", "rng", "protocol", "guarantee"])
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("before", [True, False])
def test_a_note_twice_is_refused(path, collected, name, same, before):
    """One reader believes the first, another the last: the file would be of two epsilons."""
    said = list(_metadata(path).items())
    second = [(name, _metadata(path)[name] if same else "seeded")]
    hidden = [_hidden(path, _metadata(path))]  # with it, Arrow itself shows no trace of the second
    for pairs in (second + said if before else said + second, said + hidden + second):
        with pytest.raises(UnreadableFileError, match="it says something about itself twice"):
            Reports.read_parquet(_with_notes(path, pairs))

    assert (Reports.read_parquet(_with_notes(path, said)) == collected).all()
    assert (Reports.read_parquet(_with_notes(path, said + hidden)) == collected).all()


def test_notes_in_the_schema_of_arrow_do_not_replace_those_of_the_file(path, collected):
    """Arrow prefers them; every other reader of Parquet sees those of the file."""
    other = GRR(k=5, epsilon=2)
    notes = {"protocol": json.dumps(other.to_dict()), "guarantee": json.dumps(other.guarantee.to_dict())}
    hidden = _hidden(path, _metadata(path) | notes)
    for pairs in ([*_metadata(path).items(), hidden], [hidden]):
        with pytest.raises(UnreadableFileError, match="it says something about itself twice"):
            Reports.read_parquet(_with_notes(path, pairs))


def test_notes_of_other_programs_do_not_matter(path, collected):
    """Spark and pandas leave notes of their own in a file they rewrite."""
    _forged(path, pandas="{}")

    assert (Reports.read_parquet(path) == collected).all()


@pytest.mark.parametrize(
    "columns",
    [
        {"report": pa.array([31_337], pa.uint16())},
        {"report": pa.array([5], pa.uint8())},
        {"report": pa.array([1, None], pa.uint8())},
        {"report": pa.array(["31337"])},
        {"reports": pa.array([1], pa.uint8())},
        {"report": pa.array([1], pa.uint8()), "name": pa.array(["31337"])},
    ],
)
def test_columns_that_are_no_reports_are_refused_without_their_content(path, collected, columns):
    _forged(path, columns)
    with pytest.raises(UnreadableFileError, match="its reports are not whole numbers from 0 to 4") as caught:
        Reports.read_parquet(path)

    assert "31337" not in str(caught.value)


def test_nested_columns_are_refused(path, collected):
    _forged(path, {"report": pa.array([[1]])})
    with pytest.raises(UnreadableFileError, match="holds lists, records or a type of its own"):
        Reports.read_parquet(path)


def test_a_set_with_a_value_twice_is_refused(path):
    protocol = SS(k=300, epsilon=4)
    protocol.privatize([1]).write_parquet(path)
    twice = np.full((1, protocol.size), 7, dtype="<u2").view(np.uint8)
    _forged(path, {"report": pa.array([twice.tobytes()], pa.binary(twice.size))})
    with pytest.raises(UnreadableFileError, match="different whole numbers"):
        Reports.read_parquet(path)
