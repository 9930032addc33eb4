"""What a command says, and where: notices on standard error, results on standard output."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evenhand.answer.terminal import WIDTH, break_command, draw_lines
from evenhand.cli.terminal.streams import exit_on_broken_pipe, silence
from evenhand.report.columns import fit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evenhand.answer.view import View

WIDEST = 100
"""The most characters of a line."""

_WORD = 9


def wrong_use(message: str) -> NoReturn:
    """Refuse what was asked: the message is shown after the word Error, and the exit code is 2."""
    raise typer.BadParameter(message)


def quote_names(names: Any, *, most: int = 12) -> str:
    """Return names with commas, those with blanks or quotation marks in quotation marks; at most so many.

    >>> print(quote_names(["age", "native country", "it's"]))
    age, 'native country', "it's"
    """
    texts = [str(name) for name in names]
    shown = [text if re.fullmatch(r"[^\s'\",]+", text) else repr(text) for text in texts[:most]]
    more = [f"and {len(texts) - most:,} more"] if len(texts) > most else []
    return ", ".join(shown + more)


class Column(NamedTuple):
    """A column of a table: its title, and how its cells are set."""

    title: str
    numeric: bool = False
    wraps: bool = False
    min_width: int | None = None


class Terminal:
    """Where a command speaks.

    Notices go to standard error and results to standard output, so that results can be kept in a file. With
    `as_json` standard output holds one JSON object and nothing else; with `quiet` it holds the paths of the
    files that were written, and warnings and errors are the only notices.

    Parameters
    ----------
    as_json, quiet : bool
        As the person asked.
    """

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.notices = _console(sys.stderr, when_unread=lambda: silence(sys.stderr))
        self.results = _console(sys.stdout, when_unread=exit_on_broken_pipe)

    @property
    def is_interactive(self) -> bool:
        """Whether somebody is there to be asked and to watch."""
        return self.notices.is_terminal and sys.stdin.isatty() and not (self.quiet or self.as_json)

    # --- notices ----------------------------------------------------------------------------------

    def say(self, word: str, text: str) -> None:
        """Say what is being done: a leading word such as Reading, and a sentence."""
        if not self.quiet:
            self._notice(word, text, "dim")

    def warn(self, text: str) -> None:
        """Say what a person should know before they rely on the result."""
        self._notice("Warning", text, "bold yellow")

    def error(self, text: str) -> None:
        """Say what is wrong and what to do."""
        self._notice("Error", text, "bold red")

    def command(self, line: str, word: str = "") -> None:
        """Say a command to copy after a word; broken lines end as a shell reads them."""
        for part in break_command(fit(line, self.notices.encoding), _width(self.notices) - _WORD):
            with suppress(OSError):  # as of every notice
                _print(self.notices, f"{word:<{_WORD}}{part}", len(word), "bold")
            word = ""

    def _notice(self, word: str, text: str, style: str) -> None:
        try:
            _leading(self.notices, word, text, style)
        except OSError:  # it is full, and nobody can be told; the result and the exit code stay right
            silence(sys.stderr)

    def ask(self, question: str) -> bool:
        """Ask whether to go on; only where :attr:`is_interactive`."""
        asked = fit(f"{'':<{_WORD}}{question} [y/N] ", self.notices.encoding)
        try:
            answer = self.notices.input(Text(asked))
        except EOFError:
            return False
        return answer.strip().lower() in {"y", "yes"}

    def ask_text(self, question: str, *, default: str = "") -> str | None:
        """Ask for a text; Enter means the default, and None is the end of input. As :meth:`ask`."""
        shown = f" [{default}]" if default else ""
        asked = fit(f"{'':<{_WORD}}{question}{shown}: ", self.notices.encoding)
        try:
            return self.notices.input(Text(asked)).strip() or default
        except EOFError:
            return None

    # --- results ----------------------------------------------------------------------------------

    @property
    def shows(self) -> bool:
        """Whether results are shown as text."""
        return not (self.quiet or self.as_json)

    def show(self, renderable: Any = "") -> None:
        """Show a table or a line of the result."""
        if self.shows:
            self.results.print(renderable, soft_wrap=isinstance(renderable, str))

    def sentence(self, text: str, *, indent: str = "") -> None:
        """Show a sentence in which ``**bold**`` is bold."""
        if not self.shows:
            return
        width = _width(self.results)
        for line in _wrapped(fit(text, self.results.encoding), width - len(indent)):
            line.pad_left(len(indent))
            self.results.print(line, soft_wrap=True)

    def answer(self, view: View) -> None:
        """Show an answer as its page has it, in the columns and the letters that the terminal has."""
        if not self.shows:
            return
        width = min(self.results.width, WIDTH)
        self.results.print()
        for line in draw_lines(view, width=width, encoding=self.results.encoding):
            self.results.print(Text(line.text, "bold" if line.is_bold else ""), soft_wrap=True)
        self.results.print()

    def table(
        self,
        columns: Sequence[Column],
        rows: Iterable[Sequence[tuple[str, str]]],
        *,
        header_style: str = "bold",
    ) -> None:
        """Show a table without lines; each cell is a text and its style."""
        if not self.shows:
            return
        encoding = self.results.encoding
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=header_style)
        for column in columns:
            table.add_column(
                Text(fit(column.title, encoding)),
                justify="right" if column.numeric else "left",
                no_wrap=not column.wraps,
                min_width=column.min_width,
                overflow="fold" if column.wraps else "ellipsis",
            )
        for row in rows:
            table.add_row(*(Text(fit(text, encoding), style) for text, style in row))
        self.results.print(table)

    def fact(self, word: str, text: str) -> None:
        """Show a leading word and what belongs to it."""
        if self.shows:
            _leading(self.results, word, text, "dim")

    def mark(self, word: str, text: str, *, style: str, width: int) -> None:
        """Show a word in colour and a text that is wrapped beside it."""
        if self.shows:
            _leading(self.results, word, text, style, beside=width)

    def files(self, written: Mapping[str, str]) -> None:
        """Say where files were written, each after its word; with `quiet` the paths alone."""
        if self.quiet and not self.as_json:
            for path in written.values():
                self.results.print(fit(path, self.results.encoding), soft_wrap=True)
        for word, path in written.items():
            if self.shows:
                # A path that is cut into two lines cannot be copied.
                line = f"{word:<{_WORD}}{path}"
                _print(self.results, fit(line, self.results.encoding), len(word), "dim")

    def object(self, value: Mapping[str, Any]) -> None:
        """Write the result for machines, if it was asked for."""
        if self.as_json:
            sys.stdout.write(json.dumps(as_json_types(value), ensure_ascii=True, allow_nan=False) + "\n")
            sys.stdout.flush()


def _console(stream: Any, *, when_unread: Callable[[], None]) -> Console:
    """Return a console that calls `when_unread` once the program that read it has ended."""

    class Speaking(Console):
        """A console that ends the command only if results go there; left to itself it always would."""

        def on_broken_pipe(self) -> None:
            when_unread()

    width = None if stream.isatty() else WIDEST
    return Speaking(file=stream, highlight=False, markup=False, emoji=False, width=width)


def _width(console: Console) -> int:
    return max(min(console.width, WIDEST), 30)


def _leading(console: Console, word: str, text: str, style: str, *, beside: int = _WORD) -> None:
    """Print a leading word and a text that is wrapped beside it, but for lines of a command."""
    width = max(_width(console) - beside, 20)
    lines: list[str] = []
    for line in fit(text, console.encoding).split("\n"):
        if line.startswith("evenhand ") or (lines and lines[-1].endswith(" \\")):
            lines.append(line)
        else:  # a word longer than a line, such as a path, stays whole
            lines += textwrap.wrap(line, width, **_WHOLE_WORDS) or [""]
    _print(console, f"{word:<{beside}}{lines[0]}", len(word), style)
    for line in lines[1:]:
        _print(console, f"{'':<{beside}}{line}", 0, style)


_WHOLE_WORDS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False, "drop_whitespace": True}


def _print(console: Console, line: str, styled: int, style: str) -> None:
    text = Text(line)
    text.stylize(style, 0, styled)
    console.print(text, soft_wrap=True)


def _wrapped(text: str, width: int) -> list[Text]:
    """Return the lines of a sentence, bold where it says so."""
    pieces = text.split("**")
    whole = Text()
    for place, piece in enumerate(pieces):
        whole.append(piece, "bold" if place % 2 and place < len(pieces) - 1 else "")
    plain = textwrap.wrap(whole.plain, width, **_WHOLE_WORDS)
    lines, start = [], 0
    for line in plain:
        start = whole.plain.index(line, start)
        lines.append(whole[start : start + len(line)])
        start += len(line)
    return lines


def as_json_types(value: Any) -> Any:
    """Return `value` in JSON's types; what is not a number is null."""
    if isinstance(value, dict):
        return {str(key): as_json_types(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_json_types(part) for part in value]
    if isinstance(value, float) and (value != value or value in {float("inf"), float("-inf")}):  # noqa: PLR0124 - NaN
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
