"""evenhand audit: protect data in many ways and report who pays for it, one sub-command per kind of study."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import typer
from typer.core import CompletionItem, TyperGroup  # type: ignore[attr-defined] # its only public place

from evenhand.cli.options import complete_data, names_in
from evenhand.cli.tasks.registry import DEFAULT_KIND, TASK_COMMANDS, load_task_command

EXAMPLE = """\
  evenhand audit people.csv --target hired --positive yes \\
      --protected sex --privileged male --sensitive sex,age
  evenhand audit people.csv --guess --epsilon 0.5,1,2 --protocol grr,oue
  evenhand audit release people.csv --columns county,sex,job --protected sex
  evenhand audit --plan plan.toml
  evenhand audit --resume --out study
"""
_STUDY = "study"


class _Kinds(TyperGroup):
    """The kinds of study; the one that is meant need not be named where a plan or DATA alone says it."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer gives it
        return list(TASK_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - typer gives it
        return load_task_command(cmd_name).build()

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer gives it
        return ["[KIND] DATA [OPTIONS]"]

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - typer gives it
        with formatter.section("Kinds of study (evenhand audit KIND --help shows the options of one)"):
            formatter.write_dl([(kind, entry.summary) for kind, entry in TASK_COMMANDS.items()])

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = bool(args) and (args[0] in TASK_COMMANDS or args[0] in ctx.help_option_names)
        if not named and (args or not ctx.resilient_parsing):
            args = [_kind_of(args), *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[CompletionItem]:
        files = [CompletionItem(name) for name in complete_data(incomplete)]
        return [*super().shell_complete(ctx, incomplete), *files]


def _kind_of(args: list[str]) -> str:
    """Return the kind of the plan that is named, or of the folder to go on with; else the default."""
    path = _value_of("--plan", args)
    if path is None and "--resume" in args:
        path = str(Path(_value_of("--out", args) or _STUDY) / "plan.toml")
    try:
        task = tomllib.loads(Path(path).read_text("utf-8"))["task"] if path and Path(path).is_file() else {}
        kind = str(task.get("kind", DEFAULT_KIND))
    except (OSError, ValueError, LookupError, AttributeError, RecursionError):  # which Plan.load explains
        return DEFAULT_KIND
    return kind if kind in TASK_COMMANDS or kind in names_in("kinds") else DEFAULT_KIND


def _value_of(flag: str, args: list[str]) -> str | None:
    """Return the value of an option as it was typed; None if it was not.

    >>> _value_of("--out", ["--resume", "--out=a"]), _value_of("--out", [])
    ('a', None)
    """
    for place, word in enumerate(args):
        if word.startswith(f"{flag}="):
            return word.partition("=")[2]
        if word == flag and place + 1 < len(args):
            return args[place + 1]
    return None


app = typer.Typer(cls=_Kinds, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.callback(epilog=f"\b\nExample:\n{EXAMPLE}")
def audit() -> None:
    """Protect a table in many ways and report who pays for it.

    Writes report.html, the plan and every number to a folder. Without a KIND the study is that of the plan or
    the folder that is named, and else of collect; a file that is called like a kind is written ./release.
    What an audit computes comes from the true data and is itself not private.
    """
