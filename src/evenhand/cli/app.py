"""The commands by name. A command's file is imported here when it is named, so that help is quick."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from evenhand import __version__
from evenhand._shared_folders import remove_left_folders
from evenhand.cli.help import build_command
from evenhand.cli.retyping import TYPED
from evenhand.cli.terminal.ending import FAULT, STOPPED, WRONG, sigterm_as_interrupt, stop_code
from evenhand.cli.terminal.streams import exit_if_output_fails, exit_on_broken_pipe, is_of_output
from evenhand.errors import EvenhandError, EvenhandWarning, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.cli.terminal.console import Terminal

COMMANDS = {
    "demo": "Take a tour on built-in data: five protocols, one report.",
    "serve": "Open the workbench: from a file to an answer, in the browser.",
    "audit": "Protect a table in many ways and report who pays for it.",
    "schema": "Draft a schema file, or check one against a file.",
    "measure": "Audit predictions that you have: who fares worse.",
    "advise": "The setting with the smallest epsilon that keeps your limits.",
    "privatize": "Randomise the sensitive columns of a file, for release.",
    "estimate": "Estimate frequencies and group gaps from randomised reports.",
    "release": "Publish a table of counts, with what it promises.",
    "verify": "Check that a release is what was written and signed.",
    "ledger": "Keep one privacy budget over time, in a file.",
    "keys": "Make a key to sign releases with, or show one.",
    "datasets": "List the data sets, show one, or fetch one.",
    "reproduce": "Run a paper's study and show its claims beside our numbers.",
    "doctor": "Show what is installed here, what is missing, what is in force.",
}
"""Every command and what it does, in the order in which help lists them."""

_FORMER_COMMANDS = {
    "decide": "evenhand audit decide DATA --rule FORMULA",
    "allocate": "evenhand audit decide DATA --allot FORMULA --budget MONEY",
}
_FORMER_OPTIONS = {
    "--task": "name the kind of study after audit, as in: evenhand audit release DATA",
    "--ways": "it is called --methods now.",
    "--way": "it is called --methods now.",
    "--formula": "it is called --allot now.",
}
_CLICK_ERROR: type[Exception] = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
)
_CLUMSY = {
    "Input should be a valid integer, unable to parse string as an integer": "it must be a whole number",
    "Input should be a valid number, unable to parse string as a number": "it must be a number",
}
_HELP = "Who pays when data is protected, how much, and how to make it fairer."
_EXAMPLE = """\
\b
Example:
  evenhand demo
"""


class _Commands(TyperGroup):
    """The group of all commands, which writes every error in one way."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer gives it
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.commands[cmd_name] = _command(cmd_name)
        return super().get_command(ctx, cmd_name)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        # In one line, and without those of completion, which the docs have: so all commands fit on a screen.
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text("--version shows the version; -h or --help helps, after a command too.")
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] in _FORMER_COMMANDS:
            message = f"The command '{args[0]}' is now a kind of audit. Hint: {_FORMER_COMMANDS[args[0]]}"
            raise typer.BadParameter(message)
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise UnknownNameError("Command", args[0], COMMANDS, place="known")
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> Any:
        given = list(sys.argv[1:] if args is None else args)
        extra["standalone_mode"] = False
        TYPED.set(tuple(given))
        remove_left_folders()
        with (
            exit_if_output_fails(lambda message: _terminal().error(message)),
            sigterm_as_interrupt(),
            _report_errors(as_json="--json" in given),
        ):
            try:
                code = super().main(given, *rest, **extra)
            except SystemExit:
                if type(sys.stdout).__name__ == "PacifyFlushWrapper":  # typer's way to say it: nobody reads
                    exit_on_broken_pipe()
                raise
            if code == STOPPED:
                raise KeyboardInterrupt
            sys.exit(code if isinstance(code, int) else 0)


def _command(name: str) -> Any:
    """Return the command of a file: what its `build` returns, its `app`, or the function of its name."""
    module = import_module(f"evenhand.cli.commands.{name}")
    if hasattr(module, "build"):
        return module.build()
    if not hasattr(module, "app"):
        return build_command(getattr(module, name), name=name, example=getattr(module, "EXAMPLE", ""))
    command = typer.main.get_command(module.app)
    command.name = name
    return command


def _terminal(*, as_json: bool = False) -> Terminal:
    """Return where messages go."""
    from evenhand.cli.terminal.console import Terminal  # noqa: PLC0415 - rich, which help does without

    return Terminal(as_json=as_json)


@contextmanager
def _report_errors(*, as_json: bool) -> Iterator[None]:
    """Write errors and warnings in our words, without a traceback, and end with the right exit code."""
    shown: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, EvenhandWarning) and str(message) not in shown:
            shown.add(str(message))
            _terminal(as_json=as_json).warn(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", EvenhandWarning)
        warnings.showwarning = show
        try:
            yield
        except EvenhandError as error:
            _end(type(error).__name__, str(error), WRONG, as_json=as_json)
        except _CLICK_ERROR as error:
            _usage(error, as_json=as_json)
        except (KeyboardInterrupt, typer.Abort):
            _terminal(as_json=as_json).say("Stopped", "nothing is left half written.")
            sys.exit(stop_code())
        except MemoryError:
            hint = "Hint: use fewer rows with --rows, or fewer workers with --workers."
            _end("MemoryError", f"There is not enough memory. {hint}", WRONG, as_json=as_json)
        except BrokenPipeError:
            exit_on_broken_pipe()
        except OSError as error:
            _report_refusal(error, as_json=as_json)
        except Exception as error:  # noqa: BLE001 - its message may hold a private value and is not shown
            _end(type(error).__name__, _fault(error), FAULT, as_json=as_json)


def _report_refusal(error: OSError, *, as_json: bool) -> None:
    """Write what the system refused; an error of standard output is reported where output ends."""
    if is_of_output(error):
        raise error
    where = f" ({error.filename})" if error.filename else ""
    refusal = f"{error.strerror or 'The system refused'}{where}."
    _end(type(error).__name__, refusal, WRONG, as_json=as_json)


def _usage(error: Any, *, as_json: bool) -> None:
    """Say what is wrong with the arguments; a command without any shows its help instead."""
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.message)
        sys.exit(0)
    bare = isinstance(error, typer.BadParameter) and error.param is None and error.param_hint is None
    text = str(error.message if bare else error.format_message())
    for theirs, ours in _CLUMSY.items():
        text = text.replace(theirs, ours)
    text = text if text.endswith((".", "?")) or bare else f"{text}."
    context = getattr(error, "ctx", None)
    hint = "" if bare or context is None else f" Hint: see {context.command_path} --help."
    former = _FORMER_OPTIONS.get(getattr(error, "option_name", ""))
    hint = f" Hint: {former}" if former else hint
    _end("UsageError", f"{text}{hint}", WRONG, as_json=as_json)


def _fault(error: Exception) -> str:
    """Say where something unforeseen happened, without what it said."""
    place = ""
    trace = error.__traceback__
    while trace is not None:
        name = str(trace.tb_frame.f_globals.get("__name__", ""))
        if name.startswith("evenhand."):
            place = f" in {name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    what = f"Something unforeseen happened: {type(error).__name__}{place}."
    return f"{what} This is a fault of evenhand; please report it."


def _end(kind: str, message: str, code: int, *, as_json: bool) -> None:
    terminal = _terminal(as_json=as_json)
    terminal.error(message)
    terminal.object({"error": {"kind": kind, "message": message}, "exit": code})
    sys.exit(code)


def refuse_closed_output() -> NoReturn:
    """End before any work is done: results would have no place."""
    _terminal().error(
        "Standard output is closed, so there is no place for results. Hint: send them to a file, or to "
        "/dev/null."
    )
    sys.exit(WRONG)


app = typer.Typer(
    name="evenhand",
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        typer.echo(f"evenhand {__version__}")
        raise typer.Exit


@app.callback(help=_HELP, epilog=_EXAMPLE)
def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Take the options that go before a command."""
