"""The console: two streams, no colour where none is wanted, plain characters where needed."""

import io
import json

import pytest

from evenhand.cli.terminal.console import Terminal, quote_names
from evenhand.cli.terminal.streams import exit_on_broken_pipe
from evenhand.report.columns import fit


class _Stream(io.TextIOWrapper):
    """A stream of one encoding that may be a terminal."""

    def __init__(self, encoding="utf-8", *, terminal=False):
        super().__init__(io.BytesIO(), encoding=encoding, newline="\n")
        self.terminal = terminal

    def isatty(self):
        return self.terminal

    def text(self):
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)


@pytest.fixture
def streams(monkeypatch):
    def put(**options):
        out, error = _Stream(**options), _Stream(**options)
        monkeypatch.setattr("sys.stdout", out)
        monkeypatch.setattr("sys.stderr", error)
        return out, error

    return put


def test_notices_and_results_go_to_different_streams(streams):
    """Somebody who keeps the output in a file wants the results in it and nothing else."""
    out, error = streams()
    terminal = Terminal()
    terminal.say("Reading", "people.csv")
    terminal.sentence("**Bold** claim.")

    assert error.text() == "Reading  people.csv\n"
    assert out.text() == "Bold claim.\n"


def test_nothing_in_a_pipe_is_a_control_character(streams):
    out, error = streams()
    terminal = Terminal()
    terminal.warn("careful \x1b[31m")
    terminal.error("wrong\x07")
    terminal.sentence("**x**")
    terminal.files({"Report": "a\x1b.html"})

    assert "\x1b" not in out.text() + error.text()
    assert "\x07" not in error.text()


def test_a_terminal_has_colour_unless_no_colour_is_asked_for(streams, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    _, error = streams(terminal=True)
    Terminal().warn("careful")
    monkeypatch.setenv("NO_COLOR", "1")
    _, plain = streams(terminal=True)
    Terminal().warn("careful")

    assert "\x1b[1;33mWarning" in error.text()
    assert "33m" not in plain.text()


def test_an_encoding_without_greek_gets_words(streams):
    """A terminal from long ago must not end in an error after an hour's work."""
    out, _ = streams(encoding="ascii")
    terminal = Terminal()
    terminal.sentence("at ε = 1: −0.9 for é")
    terminal.files({"Report": "é.html"})

    assert out.text() == "at eps = 1: -0.9 for \\xe9\nReport   \\xe9.html\n"


def test_an_unknown_encoding_is_taken_as_plain():
    assert fit("ε", None) == "ε"
    assert fit("é−", "latin-1") == "é-"


def test_long_notices_are_wrapped_beside_their_word_and_paths_stay_whole(streams):
    out, error = streams()
    terminal = Terminal()
    terminal.say("Note", "word " * 40)
    path = "folder/" * 30 + "report.html"
    terminal.files({"Report": path})

    lines = error.text().splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= 100
    assert all(line.startswith(" " * 9) for line in lines[1:])
    assert out.text() == f"Report   {path}\n"


def test_quiet_says_paths_warnings_and_errors_only(streams):
    out, error = streams()
    terminal = Terminal(quiet=True)
    terminal.say("Reading", "people.csv")
    terminal.show("a table")
    terminal.sentence("a sentence")
    terminal.fact("Cite", "somebody")
    terminal.warn("careful")
    terminal.files({"Report": "r.html", "Plan": "p.toml"})

    assert out.text() == "r.html\np.toml\n"
    assert error.text() == "Warning  careful\n"


def test_json_is_one_object_and_what_is_no_number_is_null(streams):
    out, error = streams()
    terminal = Terminal(as_json=True)
    terminal.say("Reading", "people.csv")
    terminal.sentence("a sentence")
    terminal.files({"Report": "r.html"})
    terminal.object({"nan": float("nan"), "inf": [float("inf")], "ε": (1, 0.5, None, True), "other": {1}})

    assert json.loads(out.text()) == {"nan": None, "inf": [None], "ε": [1, 0.5, None, True], "other": "{1}"}
    assert out.text().isascii()
    assert error.text() == "Reading  people.csv\n"


def test_without_json_no_object_is_written(streams):
    out, _ = streams()
    Terminal().object({"a": 1})

    assert out.text() == ""


@pytest.mark.parametrize(("typed", "answer"), [("y\n", True), ("Yes\n", True), ("\n", False), ("", False)])
def test_a_question_is_answered_by_yes_alone(streams, monkeypatch, typed, answer):
    streams()
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))

    assert Terminal().ask("Go on?") is answer


def test_nobody_is_asked_where_nobody_is_there(streams, monkeypatch):
    streams(terminal=True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdin", _Stream(terminal=True))

    assert Terminal().is_interactive
    assert not Terminal(quiet=True).is_interactive
    assert not Terminal(as_json=True).is_interactive


def test_names_are_quoted_so_that_blanks_are_seen():
    assert quote_names(["a", " b", 'c"d']) == "a, ' b', 'c\"d'"
    assert quote_names(range(14)).endswith("11, and 2 more")


def test_a_lone_pair_of_stars_is_no_bold(streams):
    out, _ = streams()
    Terminal().sentence("2 ** 3 is **eight** here")

    assert out.text() == "2  3 is eight here\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Return a function that puts two files in place of the streams."""
    opened = []

    def put():
        for name in ("stdout", "stderr"):
            opened.append((tmp_path / name).open("w"))
            monkeypatch.setattr(f"sys.{name}", opened[-1])
        return opened

    yield put
    for each in opened:
        each.close()


def test_after_nobody_reads_nothing_is_written_any_more(files, tmp_path):
    """The interpreter writes what is left when it ends, and would complain of the pipe once more."""
    streams = files()
    with pytest.raises(SystemExit) as ended:
        exit_on_broken_pipe()
    for stream in streams:
        stream.write("late")
        stream.flush()

    assert ended.value.code == 141
    assert [each.read_text() for each in tmp_path.iterdir()] == ["", ""]


def test_a_console_that_nobody_reads_ends_the_program_in_our_way(files):
    """Left to itself it would end with 1, which means that cells failed."""
    files()

    with pytest.raises(SystemExit) as ended:
        Terminal().results.on_broken_pipe()
    assert ended.value.code == 141


def test_streams_that_are_no_files_are_left_as_they_are(streams):
    streams()

    with pytest.raises(SystemExit):
        exit_on_broken_pipe()
