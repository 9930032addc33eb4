"""Write the glossary of the documentation from the words of the workbench, which are the only list of them.

The fence ``{glossary-words}`` of the page becomes Sphinx's glossary, in the order of the alphabet.
"""

from __future__ import annotations

import tomllib
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import evenhand

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["glossary_text", "read_words", "setup"]

WORDS = Path(evenhand.__file__).parent / "app" / "pages" / "words" / "glossary.toml"
FENCE = "```{glossary-words}\n```"


def read_words() -> dict[str, dict[str, str]]:
    """Return every word with its name and its definition, by its key."""
    return tomllib.loads(WORDS.read_text(encoding="utf-8"))


def glossary_text() -> str:
    """Return the glossary as Markdown; a Greek letter stands where its name in brackets does."""
    entries = sorted(read_words().values(), key=lambda word: _sorted_as(word["name"]))
    listed = "\n\n".join(f"{word['name']}\n  {word['text']}" for word in entries)
    return f"```{{glossary}}\n{listed}\n```"


def _sorted_as(name: str) -> str:
    plain = name.partition("(")[2] if name.startswith(("ε", "δ", "ρ", "α")) else name
    return unicodedata.normalize("NFKD", plain).casefold()


def _fill_source(app: Sphinx, name: str, source: list[str]) -> None:
    """Fill in the page of the glossary, which is made again when a definition changes."""
    if name == "glossary":
        source[0] = source[0].replace(FENCE, glossary_text())
        app.env.note_dependency(str(WORDS))


def setup(app: Sphinx) -> dict[str, Any]:
    """Fill in the glossary before it is read."""
    app.connect("source-read", _fill_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
