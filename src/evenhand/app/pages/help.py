"""The pages of help: where to begin, how to read a report, every mechanism, every word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htmltools import HTML, Tag, TagChild, TagList, tags

from evenhand.app.pages.address import HOME, help_address
from evenhand.app.pages.glossary import WORDS, read_words, term
from evenhand.app.pages.mechanisms import EXPLAIN, LIST_MECHANISMS
from evenhand.app.pages.parts import actions, bold, button, error_note, hint, lede, link, panel, waiting

if TYPE_CHECKING:
    from evenhand.app.pages.mechanisms import Entry, Explained
    from evenhand.app.pages.visit import Visit

_PAGES = (
    ("about", "What this is about", "Privacy, chance and who pays, in six short paragraphs."),
    (
        "report",
        "How to read a report",
        "What the verdict, the three sentences and the picture say.",
    ),
    ("mechanisms", "What each mechanism does", "A page with a picture for each way to protect people."),
    ("glossary", "What the words mean", "Every word with a definition, in one list."),
)


def draw(visit: Visit, page: str) -> TagList:
    """Return a page of help."""
    if page == "about":
        return _about()
    if page == "report":
        return _report()
    if page == "glossary":
        return _glossary()
    if page == "mechanisms":
        return _mechanisms(visit)
    if page.startswith("mechanisms/"):
        return _mechanism(visit, page.removeprefix("mechanisms/"))
    return _contents()


def _contents() -> TagList:
    cards = [
        tags.a(tags.b(title), tags.span(sentence), class_="tile", href=help_address(page), id=f"help-{page}")
        for page, title, sentence in _PAGES
    ]
    return TagList(
        tags.h1("What do you want to know?"),
        lede(
            "A dotted word or a question mark on any page opens its definition. "
            "The tutorial walks through the demo."
        ),
        actions(button("Start the tutorial", "home.demo", look="primary", id="tutorial-start")),
        tags.div(*cards, class_="cards"),
        panel(
            tags.h2("What leaves this computer?"),
            tags.p(
                "Nothing of your files. The workbench listens on this computer alone, and keeps them in a "
                "folder that only you can read, until you delete the study. It asks another computer for one "
                "thing: a built-in data set that is not here yet is downloaded when you choose it."
            ),
        ),
        panel(
            tags.h2("What happens to runs when the page or the computer is closed?"),
            tags.p(
                "Finished runs are kept at once. Close the page and the study goes on; stop the workbench "
                "and it waits. “Go on” continues with the same numbers."
            ),
        ),
    )


def _unbroken(text: str) -> str:
    """Return text in which no line ends inside ``ε = 1``; the server loads nothing of the reports for it."""
    return text.replace("ε = ", "ε\u00a0=\u00a0")


def _paragraphs(name: str) -> Tag:
    """Return the paragraphs of a page, each with its finding as a heading."""
    parts = [
        tags.div(tags.h2(part["heading"]), tags.p(_unbroken(part["text"])))
        for part in read_words(name)["part"]
    ]
    return tags.div(*parts, class_="prose")


def _about() -> TagList:
    return TagList(
        tags.h1("What is this about?"),
        lede("You need to know nothing before you read this."),
        _paragraphs("about"),
        actions(button("Start the tutorial", "home.demo", look="primary", id="tutorial-start")),
        _foot(),
    )


def _report() -> TagList:
    words: list[TagChild] = [
        term("interval", "95% interval"),
        ", ",
        term("gap", "gap"),
        ", ",
        term("delta", "δ"),
        ", ",
        term("repeat", "repeat"),
    ]
    return TagList(
        tags.h1("How do you read a report?"),
        lede("From the top. You can stop after the three sentences."),
        _paragraphs("reading"),
        tags.p("Words to look up: ", *words, class_="lede"),
        _foot(),
    )


def _glossary() -> TagList:
    entries = sorted(WORDS.items(), key=lambda entry: entry[1].name.lower())
    pairs = [TagList(tags.dt(word.name, id=f"word-{key}"), tags.dd(word.text)) for key, word in entries]
    return TagList(
        tags.h1("What do the words mean?"),
        lede("The same definitions open behind every dotted word."),
        tags.dl(*pairs, class_="glossary"),
        _foot(),
    )


def _mechanisms(visit: Visit) -> TagList:
    top = [
        tags.h1("What does each mechanism do?"),
        lede("Each page has the rule in words, its promise, and a picture."),
    ]
    answer = visit.inquiry(LIST_MECHANISMS).read("mechanisms")
    if answer.value is None:
        return TagList(*top, error_note(answer.error) if answer.error else waiting("Reading the list."))
    families = list(dict.fromkeys(entry.family for entry in answer.value))
    groups = [
        tags.div(
            tags.h2(family),
            tags.div(*(_card(entry) for entry in answer.value if entry.family == family), class_="cards"),
            class_="part",
        )
        for family in families
    ]
    return TagList(*top, *groups, _foot())


def _card(entry: Entry) -> Tag:
    return tags.a(
        tags.b(entry.title),
        tags.span(entry.sentence),
        class_="tile",
        href=help_address(f"mechanisms/{entry.name}"),
        id=f"mechanism-{entry.name}",
    )


def _mechanism(visit: Visit, name: str) -> TagList:
    answer = visit.inquiry(EXPLAIN).read((name,), name)
    if answer.value is None:
        shown = error_note(answer.error) if answer.error else waiting("Drawing its picture.")
        return TagList(tags.h1("What does this mechanism do?"), shown, _foot())
    explained: Explained = answer.value
    picture = (
        tags.figure(
            tags.div(HTML(explained.picture), class_="picture", role="img", aria_label=explained.alt),
            tags.figcaption(bold(explained.caption)),
            class_="panel",
        )
        if explained.picture
        else None
    )
    return TagList(
        tags.h1(explained.heading),
        lede(explained.sentence),
        picture,
        tags.div(tags.p(explained.fits), class_="prose") if explained.fits else None,
        tags.div(
            tags.h2("What is promised, and what does that assume?"),
            *(tags.p(_unbroken(text)) for text in explained.promised),
            class_="prose",
            id="promised",
        ),
        hint("For a study choose it on the question page."),
        _foot("mechanisms"),
    )


def _foot(page: str = "") -> Tag:
    words = "All mechanisms" if page else "All help"
    return actions(
        link(words, help_address(page), id="all-help"), link("Go to the studies", HOME, id="to-studies")
    )
