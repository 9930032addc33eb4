"""What stands beside a file of reports comes back as it was, and is not believed where it can be computed."""

import json
from dataclasses import replace

import pytest

from evenhand.collect.joint.build import strategy_for
from evenhand.engine.promise import Linkability
from evenhand.engine.record import Record
from evenhand.errors import LimitExceededError, UnreadableFileError
from evenhand.privacy.signing.notes import EVIDENCE, MOST_BYTES

SIZES = {"race": 5, "age": 20}
STRATEGIES = {
    "independent": {"protocol": {"race": "grr", "age": "olh"}, "split": "optimal"},
    "sets": {"protocol": "ss"},
    "bits": {"protocol": "the"},
    "sampled": {"protocol": "oue", "split": "sample"},
    "combined": {"strategy": "combined"},
    "single": {"strategy": "single", "protected": "age"},
}


LINKS = Linkability(0.25)


def _record(name="independent", *, simulated=False):
    strategy = strategy_for(SIZES, epsilon=1, **STRATEGIES[name])
    promise = None if simulated else strategy.guarantee_for(in_clear=("hired",)).as_unit("one person")
    clear = ("hired", *LINKS.in_clear)
    return Record(strategy, "csv", 12, clear, "ab" * 32, simulated, promise, linkability=LINKS)


def _said(name="independent", **kind):
    return json.loads(_record(name, **kind).to_json())


def _read(said):
    return Record.from_json(json.dumps(said).encode(), "x.guarantee.json")


@pytest.mark.parametrize("simulated", [False, True])
@pytest.mark.parametrize("name", STRATEGIES)
def test_a_record_comes_back_as_it_was(name, simulated):
    record = _record(name, simulated=simulated)
    again = Record.from_json(record.to_json(), "x")

    assert again.strategy.protocols == record.strategy.protocols
    assert again.strategy.epsilon == record.strategy.epsilon
    assert (again.guarantee, again.simulated, again.rows) == (record.guarantee, record.simulated, record.rows)
    assert again.to_json() == record.to_json()


def test_it_says_what_another_language_needs():
    said = _said()
    race, age = said["columns"]

    assert (said["rng"], said["simulated"], said["epsilon"], said["in_clear"]) == (
        "secure",
        False,
        "1",
        ["hired", "linkable rows (25 % are unique on these columns)"],
    )
    assert said["linkable"] == {"unique_share": 0.25, "is_sampled": False}
    assert said["guarantee"]["unit"] == "one person"
    assert said["guarantee"]["protects"] == ["race", "age"]
    assert race.keys() == {"name", "values", "protocol", "p", "q"}
    assert age.keys() == {"name", "values", "protocol", "p", "q", "buckets", "word_bits", "top_bits"}
    assert _said("sets")["columns"][1]["size"] > 1
    assert _said("bits")["columns"][1]["bits"] == 20
    assert all("asked" in column for column in _said("sampled")["columns"])


def test_simulated_reports_promise_nothing():
    said = _said(simulated=True)

    assert (said["rng"], said["simulated"], said["guarantee"]) == ("seeded", True, None)
    assert said["statement"].startswith("Simulated")


@pytest.mark.parametrize(
    "change",
    [
        {"rows": -1},
        {"rows": "12"},
        {"rows": True},
        {"simulated": "no"},
        {"rng": "seeded"},
        {"file": "xlsx"},
        {"evenhand": 1},
        {"in_clear": "hired"},
        {"in_clear": [1]},
        {"in_clear": ["hired"]},
        {"linkable": 0.25},
        {"linkable": {"unique_share": 0.25}},
        {"linkable": {"unique_share": "0.25", "is_sampled": False}},
        {"linkable": {"unique_share": 1.5, "is_sampled": False}},
        {"linkable": {"unique_share": 0.5, "is_sampled": False}},
        {"linkable": {"unique_share": 0.25, "is_sampled": 0}},
        {"inferred": "race"},
        {"inferred": [["race"]]},
        {"inferred": ["income"]},
        {"inferred": ["age", "race"]},
        {"inferred": ["race"]},
        {"columns": []},
        {"columns": {}},
        {"columns": [1]},
        {"strategy": "other"},
        {"strategy": "single"},
        {"strategy": "sampled"},
        {"epsilon": "2"},
        {"epsilon": 1},
        {"guarantee": None},
        {"guarantee": {}},
        {"guarantee": 3},
        {"simulated": True, "rng": "seeded"},
        {"extra": 1},
        {"format": "evenhand privatized 1"},
        {"format": "evenhand privatized 2"},  # which has no evidence
        {"format": "evenhand privatized 3"},  # which does not say what links
        {"format": "evenhand privatized 5"},
        {"format": "evenhand privatized 04"},
        {"format": "something else"},
        {"format": None},
    ],
)
def test_a_changed_record_is_refused(change):
    with pytest.raises(UnreadableFileError, match=r"x\.guarantee\.json was not read"):
        _read(_said() | change)


def test_a_record_of_an_older_version_is_refused_with_the_way_to_read_it():
    """It may say that a domain is public which was read from the rows, and it cannot be told from here."""
    said = _said() | {"format": "evenhand privatized 1"}
    del said["inferred"]

    with pytest.raises(UnreadableFileError, match="Hint: read it with the evenhand that wrote it"):
        _read(said)


def test_a_record_of_a_newer_version_is_refused_with_who_wrote_it():
    said = _said() | {"format": "evenhand privatized 5", "evenhand": "9.1"}

    with pytest.raises(
        UnreadableFileError, match=r"written by evenhand 9\.1.*Hint: install a newer evenhand"
    ):
        _read(said)


@pytest.mark.parametrize(("number", "lacks"), [(2, {*EVIDENCE, "linkable"}), (3, {"linkable"})])
def test_records_of_the_forms_before_are_read_though_they_say_less(number, lacks):
    """Reports cannot be drawn again without a second cost, so those that were collected stay readable."""
    said = {name: value for name, value in _said().items() if name not in lacks}
    read = _read(said | {"format": f"evenhand privatized {number}"})

    assert read.linkability is None
    assert replace(read, linkability=LINKS).to_dict() == _record().to_dict()


@pytest.mark.parametrize(("field", "value"), [("p", "1/2"), ("q", "1/3"), ("values", 6), ("name", "age")])
def test_what_does_not_follow_from_the_protocols_is_refused(field, value):
    """Estimates computed with other probabilities than those drawn would be wrong, and nobody would know."""
    said = _said()
    said["columns"][0][field] = value

    with pytest.raises(UnreadableFileError):
        _read(said)


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "1/2"},
        {"unit": "replace one"},
        {"trust": "central"},
        {"protects": ["income"]},
        {"group_size": 2},
    ],
)
def test_a_promise_that_the_protocols_do_not_keep_is_refused(change):
    said = _said()
    said["guarantee"] |= change

    with pytest.raises(UnreadableFileError, match="guarantee"):
        _read(said)


def test_a_missing_field_is_refused():
    for field in _said():
        with pytest.raises(UnreadableFileError):
            _read({name: value for name, value in _said().items() if name != field})


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"{", b'{"format": "x", "format": "x"}', b"\xff", b"[" * 100_000, b"NaN"]
)
def test_an_object_that_is_no_record_is_refused(text):
    with pytest.raises(UnreadableFileError):
        Record.from_json(text, "x")


def test_a_long_record_is_refused():
    with pytest.raises(LimitExceededError):
        Record.from_json(b" " * (MOST_BYTES + 1), "x")
