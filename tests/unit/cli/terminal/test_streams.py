"""Standard streams that are closed, full or no longer read end a command cleanly, with a code of the list."""

import contextlib
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evenhand.cli import main
from evenhand.cli.app import COMMANDS, app
from unit.cli.conftest import people

pytestmark = [
    pytest.mark.figures,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="streams are closed in a child process"),
]

WORDS = {
    "demo": ["demo", "--workers", "0"],
    "audit": ["audit", "people.csv"],
    "advise": ["advise", "people.csv"],
    "privatize": [
        "privatize", "people.csv", "out.csv", "--infer-schema", "--columns", "sex", "--epsilon", "1",
        "--overwrite",
    ],
    "estimate": ["estimate", "nowhere.csv"],
    "measure": [
        "measure", "people.csv", "--prediction", "hired", "--positive", "yes", "--protected", "sex",
        "--overwrite",
        "--out", "numbers.json",  # what draws a page has threads, which a child process does not get
    ],
    "release": [
        "release", "people.csv", "--infer-schema", "--columns", "sex", "--mechanism", "laplace",
        "--epsilon", "1", "--out", "table.csv", "--overwrite",
    ],
    "schema": ["schema", "people.csv", "--out", "drafted.toml", "--overwrite"],
    "datasets": ["datasets"],
    "verify": ["verify", "nowhere.csv", "--key", "nowhere.pub"],
    "ledger": ["ledger", "show", "nowhere.db"],
    "keys": ["keys", "show", "nowhere.key"],
    "reproduce": ["reproduce"],
    "doctor": ["doctor"],
    "serve": ["serve", "--report", "nowhere"],
}  # fmt: skip
"""A command line of each command that takes a moment."""

FINE = {"measure", "privatize", "release", "schema", "datasets", "reproduce", "doctor"}
EACH = [[], ["--version"], ["--help"], *WORDS.values(), *([*words, "--json"] for words in WORDS.values())]
STREAMS = {"in": 0, "out": 1, "err": 2}


def _replace(stream, how):
    """Do to a stream of this process what a shell does before a program starts."""
    number = STREAMS[stream]
    if how == "closed":
        os.close(number)
        setattr(sys, f"std{stream}", None)  # as Python does when it starts
        return
    if how == "full":
        target = os.open("/dev/full", os.O_WRONLY)
    elif how == "unread":
        reading, target = os.pipe()
        os.close(reading)
    else:
        target = os.open(how, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(target, number)
    os.close(target)
    setattr(sys, f"std{stream}", open(number, "r" if stream == "in" else "w", closefd=False))  # noqa: SIM115


def _call(words, **streams):
    """Run a command line in a child process with streams like these; return its code and what it said."""
    from posix import _exit  # os._exit saves all that coverage counted so far, a megabyte per child

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of Arrow; they start anew in the child
        child = os.fork()
    if child == 0:
        code = 99
        try:
            signal.alarm(120)
            for stream, how in {"in": "/dev/null", "out": "out.txt", "err": "err.txt", **streams}.items():
                _replace(stream, how)
            sys.argv = ["evenhand", *words]
            try:
                main()
            except SystemExit as ended:
                code = ended.code
            for stream in (sys.stdout, sys.stderr):
                stream.flush()  # as Python does when it ends; an error gives the code 120
        except BaseException:  # noqa: BLE001 - a traceback, as Python would show it
            sys.excepthook(*sys.exc_info())
            code = 98
        finally:
            _exit(code)
    _, status = os.waitpid(child, 0)
    told = [
        Path(f"{name}.txt").read_text() if Path(f"{name}.txt").exists() else "" for name in ("out", "err")
    ]
    return os.waitstatus_to_exitcode(status), *told


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    """Return what every command line does with all its streams, and load what commands need."""
    folder = tmp_path_factory.mktemp("here")
    people(folder / "people.csv")
    with contextlib.chdir(folder):
        for words in WORDS.values():
            CliRunner().invoke(app, words)  # a child that has to load a library takes seconds
        return {"folder": folder, **{tuple(words): _call(words) for words in EACH}}


@pytest.fixture
def here(usual, monkeypatch):
    monkeypatch.chdir(usual["folder"])
    for name in ("out.csv", "table.csv", "out.txt", "err.txt"):
        Path(name).unlink(missing_ok=True)
    return usual


def _label(words):
    return " ".join(words[:1] + words[-1:]) if len(words) > 1 else " ".join(words) or "none"


def _shows(words):
    """Whether a command line writes to standard output; the others are wrong use."""
    return "--json" in words or not words or words[0] in {"--version", "--help", *FINE}


@pytest.mark.parametrize("words", EACH, ids=_label)
def test_with_standard_output_closed_no_command_does_anything(here, words):
    """A file that is opened next would get its number, and results would be written into it."""
    code, _, said = _call(words, out="closed")

    assert code == 2
    assert said.startswith("Error    Standard output is closed")
    assert "/dev/null" in said
    assert not any(Path(name).exists() for name in ("out.csv", "table.csv"))


@pytest.mark.parametrize("words", EACH, ids=_label)
def test_with_standard_output_full_every_command_says_so(here, words):
    code, _, said = _call(words, out="full")

    assert code == 2
    assert "Traceback" not in said
    if _shows(words):
        assert "Error    Standard output cannot be written: No space left on device." in said
    else:
        assert said == here[tuple(words)][2]


@pytest.mark.figures
@pytest.mark.parametrize("words", EACH, ids=_label)
def test_with_standard_output_unread_every_command_that_writes_there_ends_with_141(here, words):
    code, _, said = _call(words, out="unread")

    assert code == (141 if _shows(words) else 2)
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "how", ["closed", *(pytest.param(how, marks=pytest.mark.figures) for how in ("full", "unread"))]
)
@pytest.mark.parametrize("words", EACH, ids=_label)
def test_without_standard_error_a_command_does_what_it_does(here, words, how):
    """Its code and its results are the same; only notices are lost."""
    expected, shown, _ = here[tuple(words)]
    code, told, _ = _call(words, err=how)

    assert (code, told) == (expected, shown)


@pytest.mark.figures
@pytest.mark.parametrize("words", EACH, ids=_label)
def test_without_standard_input_a_command_does_what_it_does(here, words):
    assert _call(words, **{"in": "closed"}) == here[tuple(words)]


@pytest.mark.parametrize("words", [WORDS["privatize"], WORDS["release"]], ids=_label)
def test_whoever_stops_reading_the_notices_does_not_stop_the_files(here, words):
    """`2>&1 >/dev/null | head -1` once ended the command before a row was drawn."""
    code, _, _ = _call(words, err="unread")

    assert code == 0
    assert Path({"privatize": "out.csv", "release": "table.csv"}[words[0]]).exists()


@pytest.mark.parametrize("words", [WORDS["privatize"], ["datasets"]], ids=_label)
def test_where_nobody_reads_either_stream_a_command_ends_with_141(here, words):
    assert _call(words, out="unread", err="unread")[0] == 141


@pytest.mark.parametrize("streams", [{"out": "closed", "err": "closed"}, {"out": "full", "err": "full"}])
@pytest.mark.parametrize("words", [[], ["--version"], ["datasets", "--json"], WORDS["privatize"]], ids=_label)
def test_without_both_a_command_ends_with_2(here, words, streams):
    assert _call(words, **streams)[0] == 2


@pytest.mark.parametrize("streams", [{"out": "closed", "err": "closed", "in": "closed"}, {"in": "closed"}])
def test_numbers_of_closed_streams_are_taken_so_that_no_file_gets_them(here, streams):
    """A library that writes to number 1 would write into a table of people."""
    from evenhand.cli.terminal.streams import open_closed_streams

    child = os.fork()
    if child == 0:
        for stream in streams:
            _replace(stream, "closed")
        open_closed_streams()
        number = os.open("people.csv", os.O_RDONLY)
        os._exit(0 if number > 2 and sys.stdin is not None and sys.stderr is not None else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(
    ("shell", "code", "said"),
    [
        (">&-", 2, "Standard output is closed"),
        (">/dev/full", 2, "Standard output cannot be written"),
        ("2>&-", 0, ""),
        ("<&-", 0, ""),
        ("<&- >&- 2>&-", 2, ""),
    ],
)
def test_a_shell_sees_the_same(here, shell, code, said):
    """The tests above set the streams by hand; here a shell does."""
    program = f'exec "{sys.executable}" -c "from evenhand.cli import main; main()" --version {shell}'
    done = subprocess.run(["/bin/sh", "-c", program], capture_output=True, text=True, check=False)

    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_every_command_is_tried():
    assert set(WORDS) == set(COMMANDS)
