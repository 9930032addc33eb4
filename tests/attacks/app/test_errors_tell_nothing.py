"""G7: errors tell nothing private: no traceback, no path of this machine, no value."""

import contextlib
import io
import random
import re
from types import SimpleNamespace

import pytest

from attacks.app._gate import open_gate
from evenhand.app.security.faults import hide_messages

VALUE = "Sentinel-4711"
ROW = f"38,{VALUE},a\n"
TABLE = ("age,name,sex\n" + ROW * 30).encode()
SCHEMA = f'[columns.name]\ntype = "categorical"\ndomain = ["{VALUE}", "b"]\n'
PARTS = ("Sentinel", "4711")
"""Of the value: what is left of it in a spoiled file must not be told either."""

FEW, MANY = 400, 5_000


@pytest.fixture(scope="module", name="gate")
def _gate(tmp_path_factory):
    with open_gate(tmp_path_factory.mktemp("errors") / "workbench") as gate:
        yield gate


@pytest.fixture(scope="module", name="study")
def _study(gate):
    return gate.workbench.workspace.create("Errors").id


def find_leaks(gate, answer):
    """Return what an answer tells that it must not."""
    text = answer.body.decode("utf-8", "replace")
    folder = gate.workbench.workspace.path
    told = {
        "a traceback": "Traceback" in text or 'File "' in text or ", line " in text,
        "a path": str(folder) in text
        or folder.parent.name in text
        or re.search(r"/(work|home|usr|tmp)/", text),
        "a module": "site-packages" in text,
        "a value": any(part in text for part in PARTS),
        "the server": any(name in answer.headers for name in ("server", "x-powered-by")),
    }
    return [what for what, is_told in told.items() if is_told]


def spoil(draw, text):
    """Return a file that was cut, doubled, overwritten or filled with what no table holds."""
    body = bytearray(text)
    for _ in range(draw.randint(1, 6)):
        place = draw.randrange(len(body))
        kind = draw.randrange(6)
        if kind == 0:
            del body[place:]
            body += b"\x00"
        elif kind == 1:
            body[place:place] = draw.choice(
                [b'"', b"\n\n", b",,,,", b"\xff\xfe", b"\x00" * 9, b"\r", b"\t;|"]
            )
        elif kind == 2:
            body[place] = draw.randrange(256)
        elif kind == 3:
            body[:0] = draw.choice(
                [b"PK\x03\x04", b"PAR1", b"\x1f\x8b\x08\x00", b"BZh9", b"\xef\xbb\xbf", b"[[["]
            )
        elif kind == 4:
            body += bytes(body[place:]) + b"=" * draw.randrange(9)
        else:
            body[place : place + 40] = b""
        body = body or bytearray(b"\x00")
    return bytes(body)


def provoke(gate, study, draw):
    """Send one request that goes wrong in some way, and return its answer."""
    label = draw.choice(
        ["a.csv", "a.tsv", "a.txt", "a.xlsx", "a.parquet", "a.pq", "a.csv.gz", "a.csv.bz2", "a.zip"]
    )
    wild = "".join(
        chr(draw.choice([37, 46, 47, 60, 92, 0x7F, 0xE9, 0xFF])) for _ in range(draw.randint(0, 9))
    )
    kind = draw.randrange(7)
    if kind <= 2:
        return gate.upload(study, label, spoil(draw, TABLE))
    if kind == 3:
        return gate.post(f"/studies/{study}/schema", spoil(draw, SCHEMA.encode()))
    if kind == 4:
        return gate.get(
            f"/studies/{study}/files/{draw.choice(['x', 'report.html', 'all.zip', '%00', wild.strip('%')])}"
        )
    if kind == 5:
        return gate.post(f"/studies/{draw.choice(['0' * 16, 'x', study.upper(), '%2e%2e'])}/data", TABLE)
    return gate.get(
        "/" + "".join(letter for letter in wild if ord(letter) > 32 and letter != "%"), Accept="text/html"
    )


def provoke_all(gate, study, count):
    """Return the leaks of so many provoked errors, and how many requests that took."""
    draw, leaks, refused, asked = random.Random(23), [], 0, 0
    while refused < count:
        answer = provoke(gate, study, draw)
        asked += 1
        if answer.status >= 400:
            refused += 1
            leaks += find_leaks(gate, answer)
    return leaks, asked


def test_provoked_errors_hold_no_traceback_no_path_and_no_value(gate, study):
    """A path tells who works here and where; a traceback tells how to go on."""
    leaks, asked = provoke_all(gate, study, FEW)

    assert leaks == []
    assert asked < 2 * FEW


@pytest.mark.nightly
def test_five_thousand_provoked_errors_hold_no_traceback_no_path_and_no_value(gate, study):
    leaks, asked = provoke_all(gate, study, MANY)

    assert leaks == []
    assert asked < 2 * MANY


def test_what_must_not_be_told_is_found(gate):
    """The figure is worth nothing if a leak is not seen."""
    told = {
        "Traceback (most recent call last):": "a traceback",
        f"{gate.workbench.workspace.path} is full": "a path",
        "/home/somebody/people.csv": "a path",
        "lib/site-packages": "a module",
        f"line 3 holds {VALUE[:8]}": "a value",
    }
    for text, what in told.items():
        answer = SimpleNamespace(body=text.encode(), headers={})
        assert what in find_leaks(gate, answer), text


def test_a_broken_file_is_refused_without_a_value_of_it(gate, study):
    """What is wrong in a file is often a value, and the sentence is shown, copied and sent around."""
    draw = random.Random(5)
    refused = 0
    for _ in range(FEW // 2):
        label = draw.choice(["a.csv", "a.tsv", "a.xlsx", "a.parquet", "a.csv.gz"])
        answer = gate.upload(study, label, spoil(draw, TABLE))
        refused += answer.status == 422
        assert answer.status in {200, 422}
        assert find_leaks(gate, answer) == []

    assert refused > FEW // 5


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_an_unforeseen_error_is_one_sentence(gate, study, monkeypatch, accept):
    """Its own message would quote the value at which it stopped."""

    def fail(self, study):
        raise KeyError(f"{VALUE} in {gate.workbench.workspace.path}")

    monkeypatch.setattr(type(gate.workbench.workspace), "folder", fail)
    said = []
    with hide_messages(said.append):
        answer = gate.get(f"/studies/{study}/files/cells.csv", Accept=accept)

    assert answer.status == 500
    assert "Something unforeseen happened in the workbench" in answer.text
    assert find_leaks(gate, answer) == []
    assert VALUE not in "".join(said)


def test_the_terminal_is_told_the_kind_and_the_place_of_an_error_only():
    """A log of the terminal is kept for months."""
    said, real = [], io.StringIO()
    with contextlib.redirect_stderr(real), hide_messages(said.append):
        import sys
        import traceback

        try:
            from evenhand.app.state.record import check_id

            try:
                check_id(VALUE)
            except KeyError as error:
                raise ValueError(f"{VALUE} of /home/somebody") from error
        except ValueError:
            traceback.print_exc()
        sys.stderr.write(f"Unhandled error: {VALUE}\n")

    assert real.getvalue() == ""
    assert len(said) == 2
    assert said[0].startswith(
        "Something unforeseen happened: UnknownNameError in evenhand.app.state.record, line "
    )
    assert said[1] == "Something unforeseen happened: ValueError."


def test_whoever_develops_the_workbench_can_see_tracebacks(monkeypatch):
    monkeypatch.setenv("EVENHAND_TRACEBACKS", "1")
    said, real = [], io.StringIO()
    with contextlib.redirect_stderr(real), hide_messages(said.append):
        import sys

        sys.stderr.write("Traceback\n")

    assert (said, real.getvalue()) == ([], "Traceback\n")
