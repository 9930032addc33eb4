"""The tutorial: a sentence at each step of the demo that says what to do and what to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htmltools import Tag, tags

from evenhand.app.pages.glossary import read_words
from evenhand.app.pages.parts import bold, button
from evenhand.errors import EvenhandError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.app.pages.address import Address
    from evenhand.app.pages.visit import Visit

SENTENCES: dict[str, str] = read_words("tutorial")
"""What the tutorial says at each step."""


def draw(visit: Visit, address: Address) -> Tag | None:
    """Return the sentence of the tutorial for a step, where the study is in tutorial mode."""
    if address.place != "study" or not address.study or address.page not in SENTENCES:
        return None
    try:
        record = visit.record(address.study)
    except EvenhandError:
        return None
    if not record.tutorial:
        return None
    place = list(SENTENCES).index(address.page) + 1
    return tags.aside(
        tags.p(tags.b(f"Tutorial, {place} of {len(SENTENCES)}. "), bold(SENTENCES[address.page])),
        button("End the tutorial", "tutorial.end", look="small", data_study=record.id, id="end-tutorial"),
        class_="coach",
        aria_label="Tutorial",
        id="tutorial",
    )


async def _end(visit: Visit, event: Mapping[str, Any]) -> None:
    visit.change(str(event["study"]), draw=True, tutorial=False)


ACTIONS = {"tutorial.end": _end}
"""What the controls of the tutorial do."""
