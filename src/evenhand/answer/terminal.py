"""An answer in the columns of a terminal: the page's order, its picture in letters, no wider than asked."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from evenhand.answer.picture import Paper, draw_panel
from evenhand.report.columns import columns_of, fit, pad, wrap
from evenhand.report.language import fixed_word, written_in
from evenhand.report.words import capital, clean, epsilon_of

if TYPE_CHECKING:
    from evenhand.answer.view import View
    from evenhand.report.marks import LackCurve

WIDTH = 80
NARROWEST = 60
"""A picture needs so many columns; a narrower terminal breaks its lines."""

_LEAD = 12
_CELL = 8
_MOST_SECOND = 9
_TOKEN = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*'|["'])+""")


class TextLine(NamedTuple):
    """A line of a terminal, and whether it is bold."""

    text: str
    is_bold: bool = False


def render_terminal(view: View, *, width: int = WIDTH, encoding: str | None = "utf-8") -> str:
    """Return an answer as text, at least 60 columns wide.

    A word of a command that is longer stays whole, since it could not be copied otherwise. The marks
    ``│ ● ◆ ━ ─ ·`` are ``| o * = - .`` where the encoding has none of them.
    """
    return "\n".join(line.text for line in draw_lines(view, width=width, encoding=encoding))


def draw_lines(view: View, *, width: int = WIDTH, encoding: str | None = "utf-8") -> list[TextLine]:
    """Return the lines of an answer, as :func:`render_terminal` has them."""
    paper = Paper(max(width, NARROWEST), encoding or "utf-8")
    with written_in(view.language):
        verdict = wrap(paper.fit(view.verdict), paper.width - 2)
        blocks = [
            [TextLine(line) for line in wrap(paper.fit(view.question), paper.width)],
            [TextLine(f"  {line}", is_bold=True) for line in verdict],
            _sentences(view, paper),
            *_pictures(view, paper),
            _remedies(view, paper),
            _curve(view, paper),
            [*_commands(view, paper), *_warning(view, paper)],
        ]
    lines: list[TextLine] = []
    for block in filter(None, blocks):
        lines += [
            *([TextLine("")] if lines else []),
            *(line._replace(text=line.text.rstrip()) for line in block),
        ]
    return lines


def _lead(paper: Paper, word: str, text: str) -> list[TextLine]:
    """Return a leading word with a text wrapped beside it."""
    lines = wrap(paper.fit(text), paper.width - 2 - _LEAD)
    words = [paper.fit(word), *[""] * len(lines)]
    return [TextLine(f"  {pad(word, _LEAD)}{line}") for word, line in zip(words, lines, strict=False)]


def _sentences(view: View, paper: Paper) -> list[TextLine]:
    return [
        line
        for name, sentence in view.sentences.items()
        if sentence.text
        for line in _lead(paper, fixed_word(f"terminal.{name}"), sentence.text)
    ]


def _pictures(view: View, paper: Paper) -> list[list[TextLine]]:
    """Return the first panel, and the second if it is short."""
    drawn = [[TextLine(line) for line in draw_panel(panel, paper)] for panel in view.panels]
    return drawn[:1] + [panel for panel in drawn[1:2] if len(panel) <= _MOST_SECOND]


def _remedies(view: View, paper: Paper) -> list[TextLine]:
    """Return "Which remedy?": what the worst-off still lack with each, and its price."""
    if not view.remedies or not view.remedy_heading:
        return []
    rows = []
    for remedy in view.remedies:
        is_plain = remedy.tag in ("recommended", "as planned") and remedy.price
        price = ": ".join(filter(None, ("" if is_plain else remedy.tag_words, remedy.price)))
        rows.append((remedy.name, remedy.left or "-", price))
    titles = (view.remedy_heading, fixed_word("terminal.worst_off"), fixed_word("terminal.price"))
    left = max(columns_of(paper.fit(row[1])) for row in (titles, *rows))
    name = min(max(columns_of(paper.fit(row[0])) for row in (titles, *rows)), paper.width // 2 - 8)
    rooms = (name, left, paper.width - name - left - 6)
    lines = []
    for place, row in enumerate((titles, *rows)):
        cells = [wrap(paper.fit(text), room) for text, room in zip(row, rooms, strict=True)]
        marked = place > 0 and view.remedies[place - 1].tag == "recommended"
        for part, (first, second, third) in enumerate(zip_longest(*cells, fillvalue="")):
            mark = "> " if marked and not part else "  "
            text = f"{mark}{pad(first, name)}  {pad(second, left, right=True)}  {third}"
            lines.append(TextLine(text, is_bold=place == 0))
    caption = wrap(paper.fit(view.remedy_caption), paper.width - 2) if view.remedy_caption else []
    return [*lines, *(TextLine(f"  {line}") for line in caption)]


def _curve(view: View, paper: Paper) -> list[TextLine]:
    """Return "Which ε?" with what the worst-off lack at each epsilon."""
    if not view.epsilon_heading:
        return []
    lines = [
        TextLine(f"  {line}", is_bold=True) for line in wrap(paper.fit(view.epsilon_heading), paper.width - 2)
    ]
    curve = view.curve
    if curve is None or not curve.lines:
        return lines
    room = min(max(columns_of(paper.fit(line.name)) for line in curve.lines), paper.width // 2)
    texts = [epsilon_of(epsilon) for line in curve.lines for epsilon in line.epsilons]
    texts += [shown for line in curve.lines for shown in line.shown]
    cell = max(*(columns_of(paper.fit(text)) + 2 for text in texts), _CELL)
    tried = _shown_epsilons(curve, (paper.width - room - 2) // cell)
    rows = [("  ", "ε", [epsilon_of(epsilon) for epsilon in tried])]
    for line in curve.lines:
        lacks = dict(zip(line.epsilons, line.shown, strict=True))
        values = [lacks.get(epsilon, "-") for epsilon in tried]
        rows.append(("> " if line.role == "recommended" else "  ", line.name, values))
    for mark, name, values in rows:
        cells = "".join(pad(paper.fit(value), cell, right=True) for value in values)
        *above, last = wrap(paper.fit(name), room)
        lines += [*(TextLine(f"  {part}") for part in above), TextLine(f"{mark}{pad(last, room)}{cells}")]
    unit = f"{capital(curve.unit)}; {curve.matters_words}."
    return [*lines, *(TextLine(f"  {line}") for line in wrap(paper.fit(unit), paper.width - 2))]


def _shown_epsilons(curve: LackCurve, most: int) -> list[float]:
    """Return the epsilons that have room: the page's, the ends, then those between."""
    tried = sorted({epsilon for line in curve.lines for epsilon in line.epsilons})
    if len(tried) <= most:
        return tried
    step = (len(tried) - 1) / (most - 1)
    kept = {tried[round(place * step)] for place in range(most)}
    if curve.chosen in tried and curve.chosen not in kept:
        kept.remove(min(kept - {tried[0], tried[-1]}, key=lambda epsilon: abs(epsilon - curve.chosen)))
        kept.add(curve.chosen)
    return sorted(kept)


def _commands(view: View, paper: Paper) -> list[TextLine]:
    """Return the commands to copy, each with what it does where there are several or where it is no command.

    What a line takes that no shell has, such as Python, stands before it.
    """
    lines: list[TextLine] = []
    for command in view.commands:
        word = "" if lines else fixed_word(f"terminal.{'apply' if view.recommended else 'command'}")
        parts = break_command(fit(clean(command.line), paper.encoding), paper.width - 2 - _LEAD)
        if len(view.commands) > 1 or command.note:
            lines += _lead(paper, word, f"{', '.join(filter(None, (command.label, command.note)))}:")
            word = ""
        lines += [
            TextLine(f"  {pad(word if not place else '', _LEAD)}{part}") for place, part in enumerate(parts)
        ]
    return lines


def break_command(line: str, columns: int) -> list[str]:
    """Return a command in lines that a shell reads as one, broken between its words."""
    pieces: list[str] = []
    for token in _TOKEN.findall(line):
        joined = f"{pieces[-1]} {token}" if pieces else token
        if pieces and not token.startswith("-") and columns_of(joined) <= columns - 6:
            pieces[-1] = joined  # an option stays beside its value
        else:
            pieces.append(token)
    lines: list[str] = []
    for piece in pieces:
        if lines and columns_of(f"{lines[-1]} {piece}") <= columns - 2:
            lines[-1] = f"{lines[-1]} {piece}"
        else:
            lines.append(f"    {piece}" if lines else piece)
    return [*(f"{part} \\" for part in lines[:-1]), *lines[-1:]]


def _warning(view: View, paper: Paper) -> list[TextLine]:
    """Return the most important warning, and how many more there are."""
    if not view.warnings:
        return []
    first, more = view.warnings[0], len(view.warnings) - 1
    count = fixed_word("terminal.more_warnings", count=more) if more else ""
    text = " ".join(filter(None, (first.head, first.text, count)))
    return _lead(paper, fixed_word("terminal.warning"), text)
