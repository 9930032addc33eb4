"""A note has one text, and whatever is changed in it no longer fits."""

import hashlib
import json
import os

import pytest

from evenhand.errors import UnreadableFileError
from evenhand.privacy.signing import SigningKey
from evenhand.privacy.signing.notes import (
    EVIDENCE,
    hash_file,
    hash_terms,
    is_whole,
    parse_note,
    read_small_file,
    render_note,
    seal_note,
)

FIELDS = {"format": "x 1", "epsilon": "1/2", "share": 0.1, "columns": ["é", "b"], "fill": None}


def seal(**options):
    return seal_note(FIELDS, files={"t.csv": "00"}, plan={"a": 1}, **options)


def test_a_sealed_note_is_whole_and_says_what_was_given():
    written = seal(key=SigningKey.new())
    fields = parse_note(written, "t.csv.json")

    assert is_whole(fields, written)
    assert list(fields) == [*FIELDS, *EVIDENCE]
    assert {name: fields[name] for name in FIELDS} == FIELDS
    assert hash_terms(fields) == hash_terms(FIELDS)


def test_every_changed_byte_is_found():
    written = seal()
    for position in range(len(written)):
        for bit in (1, 4, 32, 128):
            changed = bytearray(written)
            changed[position] ^= bit
            try:
                fields = parse_note(bytes(changed), "t.csv.json")
            except UnreadableFileError:
                continue
            assert not is_whole(fields, bytes(changed)), position


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text + b"\n",
        lambda text: text.rstrip(),
        lambda text: json.dumps(json.loads(text)).encode(),
        lambda text: (
            json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False).encode() + b"\n"
        ),
        lambda text: text.replace("é".encode(), b"\\u00e9"),
        lambda text: text.replace(b"0.1", b"1e-1"),
        lambda text: text.replace(b'"fill": null', b'"fill": null,\n  "fill": null'),
        lambda text: text.replace(b'"fill": null', b'"fill": NaN'),
        lambda text: text.replace(b'"fill": null', b'"fill": 1'),
        lambda text: text.replace(b'  "fill": null,\n', b""),
        lambda text: text[:-20],
        lambda text: b"[" * 100_000,
        lambda text: b"[]",
        lambda text: b"",
    ],
)
def test_another_way_to_write_the_same_is_found(change):
    changed = change(seal())
    try:
        fields = parse_note(changed, "t.csv.json")
    except UnreadableFileError:
        return

    assert not is_whole(fields, changed)


def test_a_name_that_is_no_unicode_is_written_by_its_escapes():
    """The name of a file may be any bytes; a note that cannot be written would come after the draw."""
    name = os.fsdecode(b"t\xff.csv")
    written = seal_note({"format": "x 1"}, files={name: "00"}, plan={})
    fields = parse_note(written, "x")

    assert is_whole(fields, written)
    assert list(fields["files"]) == [name]
    assert render_note({"a": "é"}) == '{\n  "a": "é"\n}\n'.encode()


@pytest.mark.parametrize("read", [hash_file, lambda path: read_small_file(path, most_bytes=10)])
def test_only_plain_files_are_read(tmp_path, read):
    """What a link leads to can change without it, and a pipe would be waited for without end."""
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "file").write_bytes(b"text")
    os.mkfifo(tmp_path / "pipe")
    faults = {
        "link": "it is a symbolic link",
        ".": "it is a folder",
        "pipe": "it is not a regular file",
        "none": "there is no such file",
        "file/none": "there is no such file",
        "a\0": "the system does not accept its path",
    }
    for name, fault in faults.items():
        with pytest.raises(UnreadableFileError, match=fault):
            read(tmp_path / name)
    assert read(tmp_path / "file") in {b"text", hashlib.sha256(b"text").hexdigest()}


def test_a_file_that_may_not_be_read_or_is_too_long_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"text")
    with pytest.raises(UnreadableFileError, match="it is longer than 3 bytes"):
        read_small_file(path, most_bytes=3)

    def refuse(*_, **__):
        raise PermissionError

    monkeypatch.setattr(type(path), "open", refuse)
    for read in (hash_file, lambda place: read_small_file(place, most_bytes=10)):
        with pytest.raises(UnreadableFileError, match="you may not read it"):
            read(path)
