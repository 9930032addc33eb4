"""Messages of the rest of evenhand as the browser says them: with its own controls, not with options or code.

A message of the library names an argument or an option of the command line, since that is what its reader
has. Whoever reads it in the browser has a page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

HOW_WRITTEN = "How the file is written"
"""The fold of the first page where a person says how a file is written."""

_OPTION = r" \(--[a-z][^)<]*\)"
_UNDER = f" under “{HOW_WRITTEN}”"
_CHANGE = "say on the page of the columns, under “Change”, what becomes of"
_WORDS = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (
            r"pass limits=Limits\([^)]*\) if you trust the file",
            "leave out what is so large, save the file and open it again",
        ),
        (r",? or pass quote=None", ""),
        (r" \(--(?:encoding|delimiter|decimal|sheet)\b[^)]*\)", _UNDER),
        (r"band them, with bands=.*? or leave it out with columns=\[\.\.\.\]", "choose bands under “Change”"),
        (r"band them: --band (?:'[^']*'|[^\s.,;]+)", "choose bands under “Change”"),
        (r"--band \S+ 1q or 6m; numbers 10\b", "choose bands under “Change”"),
        (
            r"draft it \(evenhand schema FILE.*?Schema\.load\('schema\.toml'\)\)",
            "paste public code lists on the page of the columns, or say there which lists are public",
        ),
        (r'declare outside="other"', f"{_CHANGE} a value outside these"),
        (r'declare nulls="other" for this column', f"{_CHANGE} a missing value"),
        (r"--strategy combined\b", "choose the strategy “combined”"),
        (r"[Gg]o on with resume=True \(--resume on the command line\)", "press “Go on”"),
        (
            r"The plan field 'data' cannot be decided on: the data must be one whose column ('[^']*') holds ",
            r"Column \1 cannot be used here: it must hold ",
        ),
        (
            r"whole numbers from 0 to 10\*\*15 and no missing ones",
            "counts, which are whole numbers, none of them below 0 and none missing",
        ),
        (r"The rule cannot be read at column (\d+): ", r"The rule cannot be read at character \1: "),
        (r", got the end\.", ", and the text ends there."),
        (r"\n {4}.*\n {4} *\^", ""),  # where a caret stands is lost in a line of the browser
        (r" with \w+=[^\s.,;]+ \(--[^)]*\)", ""),
        (_OPTION, ""),
        (
            r"Hint: pip install ('[^']+'|\S+)\.?$",
            r"Hint: stop the workbench, type pip install \1 in the terminal, and start it again.",
        ),
    )
)
_PARAMETER = re.compile(r"The '([^']+)' parameter of [\w' -]+? must be ")
_NOTHING = re.compile(r"\. Got '(?:nothing|none|)' instead\.")
_GOT = re.compile(r"\. Got (.+?) instead\.")


def leave_out_options(text: str) -> str:
    """Return a report without the options in brackets that its sentences have for the command line.

    >>> leave_out_options("First leave out age (--drop), or randomise it too (--sensitive).")
    'First leave out age, or randomise it too.'
    """
    return re.sub(_OPTION, "", text)


def say_in_browser(text: str, labels: Mapping[str, str] | None = None) -> str:
    """Return a message with the words of the page.

    Parameters
    ----------
    text : str
    labels : mapping of str to str, optional
        What the page calls the answers that a message may be about, by name.

    Examples
    --------
    >>> say_in_browser("a.csv was not read: it is no text. Hint: say which encoding it has (--encoding).")
    'a.csv was not read: it is no text. Hint: say which encoding it has under “How the file is written”.'
    >>> wrong = "The 'repeats' parameter of Plan must be a whole number >= 1. Got 0 instead."
    >>> say_in_browser(wrong, {"repeats": "Repeats"})
    '“Repeats” must be a whole number >= 1. It is 0.'
    """
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    found = _PARAMETER.search(text)
    if found is None:
        return text
    name = (labels or {}).get(found[1], found[1].replace("_", " "))
    said = f"{text[: found.start()]}“{name}” must be {text[found.end() :]}"
    return _GOT.sub(r". It is \1.", _NOTHING.sub(".", said), count=1)
