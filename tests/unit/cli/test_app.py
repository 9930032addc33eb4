"""The app: help, versions, errors and exit codes, and that it starts quickly."""

import json
import re
import shlex
import subprocess
import sys
import warnings

import pytest
import typer
from typer.core import TyperGroup

from evenhand import __version__
from evenhand.cli import main
from evenhand.cli.app import COMMANDS, app
from evenhand.errors import EvenhandError, PrivacyWarning, UnreadableFileError


def test_help_fits_a_screen(call):
    """A newcomer should see every command at once."""
    done = call("--help")

    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    assert all(f"  {name} " in done.stdout for name in COMMANDS)
    assert "    evenhand demo" in lines  # what a newcomer types first


def test_no_arguments_show_the_help(call):
    assert call().stdout == call("--help").stdout
    assert call().exit_code == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_in_help_what_the_list_says_and_has_an_example(call, name):
    """The list is written by hand so that help is quick; it must not drift."""
    done = call(name, "--help")

    said = " ".join(done.stdout.split())
    assert COMMANDS[name] in said
    assert f"Example: evenhand {name}" in said


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_in_help_are_commands_that_the_app_can_parse(call, name):
    """An example that does not run is worse than none."""
    shown = call(name, "--help").stdout.partition("Example:")[2]
    examples = re.findall(r"evenhand (.*)", shown.replace("\\\n", " "))
    group = typer.main.get_command(app)

    assert examples
    for example in examples:
        words = shlex.split(example)
        assert parse_names(group, words)[0] == name


def parse_names(group, words):
    """Return the names of the commands that the words run through, each of which parses its own."""
    names, context = [], group.make_context("evenhand", list(words))
    while isinstance(context.command, TyperGroup) and (rest := [*context._protected_args, *context.args]):
        name, command, rest = context.command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)
        names.append(name)
    return names


def test_the_version_is_said(call):
    assert call("--version").stdout == f"evenhand {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["autid"], "did you mean 'audit'"),
        (["audit", "--wrong"], "No such option: --wrong"),
        (["audit", "people.csv", "--rows", "many"], "--rows"),
        (["audit"], "DATA is missing"),
        (["advise"], "DATA is missing"),
        (["datasets", "show"], "NAME"),
        (["datasets", "show", "adlt"], "did you mean 'adult'"),
        (["--wrong"], "No such option"),
    ],
)
def test_wrong_use_is_said_without_a_traceback(call, arguments, said):
    done = call(*arguments)

    assert done.exit_code == 2
    assert done.stdout == ""
    assert said in " ".join(done.stderr.split())
    assert done.stderr.startswith("Error    ")
    assert "Traceback" not in done.stderr


def test_an_error_is_an_object_for_machines_too(call):
    done = call("audit", "nowhere.csv", "--json")

    said = json.loads(done.stdout)
    assert said["exit"] == done.exit_code == 2
    assert said["error"]["kind"] == "UnreadableFileError"
    assert "there is no such file" in said["error"]["message"]


def _command_that(call, monkeypatch, act):
    monkeypatch.setattr("evenhand.cli.commands.datasets.load", act)
    return call("datasets", "fetch", "adult")


def _raising(error):
    def act(*_, **__):
        raise error

    return act


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (
            UnreadableFileError("x.csv was not read: it is a folder."),
            2,
            "x.csv was not read: it is a folder.",
        ),
        (EvenhandError("Message."), 2, "Message."),
        (MemoryError(), 2, "--rows"),
        (PermissionError(13, "Permission denied", "out/x"), 2, "Permission denied (out/x)."),
        (OSError("odd"), 2, "The system refused."),
        (KeyboardInterrupt(), 130, "Stopped"),
        (typer.Abort(), 130, "Stopped"),
        (ZeroDivisionError("private 4711"), 70, "ZeroDivisionError in evenhand.cli.commands.datasets, line"),
    ],
)
def test_each_way_to_fail_has_its_exit_code(call, monkeypatch, error, code, said):
    done = _command_that(call, monkeypatch, _raising(error))

    assert done.exit_code == code
    assert said in " ".join(done.stderr.split())


def test_what_an_unforeseen_error_says_is_not_shown(call, monkeypatch):
    """The message of a library may hold a value of somebody's row."""
    done = _command_that(call, monkeypatch, _raising(ValueError("could not convert 'Jane Doe, HIV+'")))

    assert "Jane" not in done.output
    assert "Traceback" not in done.output


def test_warnings_are_said_once_and_in_our_words(call, monkeypatch):
    def act(*_, **__):
        for _ in range(2):
            warnings.warn("epsilon is large", PrivacyWarning, stacklevel=1)
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("deep inside a library", DeprecationWarning, stacklevel=1)
        raise EvenhandError

    done = _command_that(call, monkeypatch, act)

    assert done.stderr.count("Warning  epsilon is large") == 1
    assert "deep inside" not in done.stderr


def test_the_help_imports_nothing_heavy():
    """Help that takes seconds is help that nobody asks for."""
    code = (
        "import sys\nsys.argv = ['evenhand', '--help']\nfrom evenhand.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'pandas', 'pyarrow', 'sklearn', 'numba', 'scipy', 'rich'}\n"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == ""


def test_the_entry_point_runs_the_app(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["evenhand", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == 0
    assert capsys.readouterr().out == f"evenhand {__version__}\n"


def test_the_shell_completes_commands_and_choices():
    def completed(words, place):
        environment = {"_EVENHAND_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(place)}
        group = typer.main.get_command(app)
        runner = typer.testing.CliRunner(env=environment)
        return runner.invoke(app, [], prog_name="evenhand").stdout.split() if group else []

    assert completed("evenhand au", 1) == ["audit"]
    assert completed("evenhand audit --protocol grr,o", 3) == ["grr,olh", "grr,oue", "grr,optimal"]
    assert completed("evenhand audit c", 2) == ["collect", "causal", "compas", "counties", "credit_default"]
    assert completed("evenhand audit release --mechanism lap", 4) == ["laplace", "laplace-totals"]
    assert completed("evenhand audit learn --meth", 3) == ["--methods", "--method"]


@pytest.mark.parametrize("how", ["error", "typer"])
def test_a_pipe_that_is_closed_is_141_however_it_is_noticed(monkeypatch, how):
    """Python notices it when it writes, typer when it ends; 1 would mean that cells failed."""

    class PacifyFlushWrapper:
        """What typer puts in place of standard output."""

        def flush(self):
            """Say nothing, as typer's does."""

    def closed(*_, **__):
        if how == "error":
            raise BrokenPipeError
        monkeypatch.setattr("sys.stdout", PacifyFlushWrapper())
        raise SystemExit(1)

    ended = []

    def end():
        ended.append(True)
        raise SystemExit(141)

    monkeypatch.setattr("evenhand.cli.app.exit_on_broken_pipe", end)
    monkeypatch.setattr("evenhand.cli.app.TyperGroup.main", closed)
    with pytest.raises(SystemExit) as caught:
        app([])

    assert (caught.value.code, ended) == (141, [True])
