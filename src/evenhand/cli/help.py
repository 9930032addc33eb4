"""Commands whose help has panels and reads registries, and whose errors name the option that was typed."""

from __future__ import annotations

from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING, Any, cast

import typer
from typer.core import TyperCommand

from evenhand.cli.options import PANELS, REGISTRIES, join_names
from evenhand.errors import EvenhandError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_REST = "Options"


class _HelpWords(dict[str, str]):
    """What stands for the words in braces of a help text; registries are read when they are asked for."""

    def __missing__(self, name: str) -> str:
        return join_names(name) if name in REGISTRIES else ""


class PanelCommand(TyperCommand):
    """A command that shows its options in panels and says errors of parameters as errors of options.

    Attributes
    ----------
    defaults : callable
        Returns what is done without an option, by the name of its parameter.
    """

    defaults: Callable[[], Mapping[str, str]] = dict

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, panel by panel."""
        panels: dict[str, list[tuple[str, str]]] = {panel: [] for panel in (*PANELS, _REST)}
        defaults = self.defaults()
        for param in self.get_params(ctx):
            text = getattr(param, "help", None)
            if text:
                words = _HelpWords(default=defaults.get(str(param.name), ""))
                param.help = text.format_map(words)  # type: ignore[attr-defined] # arguments have one too
            record = param.get_help_record(ctx)
            if record is not None:
                panels[getattr(param, "rich_help_panel", None) or _REST].append(record)
        for panel, records in panels.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what was typed; refuse a list with commas that is given twice, of which one would be lost."""
        typed = Counter(word.partition("=")[0] for word in takewhile("--".__ne__, args))
        params: list[Any] = list(self.params)
        for param in params:
            is_list = param.metavar == "COLUMNS" and not getattr(param, "multiple", True)
            if is_list and sum(typed[name] for name in param.opts) > 1:
                hint = "give it once, with commas between the columns."
                raise typer.BadParameter(f"it is given twice. Hint: {hint}", ctx=ctx, param=param)
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error about a parameter says how the parameter is typed."""
        try:
            return super().invoke(ctx)
        except InvalidParameterError as error:
            error.args = (name_option(error, {str(param.name): _typed_as(param) for param in self.params}),)
            raise


def _typed_as(param: Any) -> str:
    return str(param.opts[0] if param.param_type_name == "option" else param.metavar)


def name_option(error: EvenhandError, options: Mapping[str, str]) -> str:
    """Return what an error says, of the option that was typed where it is about a parameter.

    >>> error = InvalidParameterError("epsilons", owner="CollectTask", must_be="a number > 0", got="0")
    >>> name_option(error, {"epsilons": "--epsilon"})
    "--epsilon must be a number > 0. Got '0' instead."
    """
    message = str(error)
    if not isinstance(error, InvalidParameterError):
        return message
    flag = options.get(error.parameter) or options.get(error.parameter.removesuffix("s"))
    if flag is None:
        return message
    return message.replace(f"The '{error.parameter}' parameter of {error.owner} must", f"{flag} must")


def build_command(
    function: Callable[..., Any], *, name: str, example: str = "", **settings: Any
) -> PanelCommand:
    """Return the command of a function; its example ends the help, line by line as it is written."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    epilog = f"\b\nExample:\n{example}" if example else None
    app.command(name=name, cls=PanelCommand, epilog=epilog, **settings)(function)
    command = cast("PanelCommand", typer.main.get_command(app))
    command.name = name
    return command
