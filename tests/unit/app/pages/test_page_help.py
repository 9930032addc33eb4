"""The pages of help: each is reached from the first one, and leads back to the studies."""

import pytest

from evenhand.app.pages.address import HOME, help_address
from evenhand.app.pages.glossary import WORDS
from evenhand.app.pages.mechanisms import list_mechanisms
from evenhand.errors import EvenhandError
from unit.app.pages._tab import Controls, words_of


def test_the_first_page_of_help_leads_to_every_other_one_and_says_that_nothing_leaves(tab):
    html = tab.go(help_address())

    for page in ("report", "mechanisms", "glossary"):
        assert f'href="{help_address(page)}"' in html
    assert "What leaves this computer? Nothing of your files." in words_of(html)


@pytest.mark.parametrize("page", ["report", "glossary", "mechanisms", "mechanisms/grr"])
def test_every_page_of_help_leads_back(tab, page):
    """Somebody in the middle of a study must find the way back to it."""
    html = tab.go(help_address(page))

    assert html.count("<h1>") == 1
    assert f'href="{HOME}"' in html
    assert Controls(html).by_id["all-help"]["href"].startswith("#/help/")


def test_the_tutorial_is_started_from_the_help(tab):
    tab.go(help_address())
    tab.press("tutorial-start")

    assert [record.name for record in tab.workspace.studies()] == ["Demo"]


def test_every_word_has_its_definition_in_the_list(tab):
    words = tab.go(help_address("glossary"))

    assert [key for key in WORDS if f'id="word-{key}"' not in words] == []


def test_every_mechanism_is_listed_and_its_page_has_the_rule_and_a_picture(tab):
    listed = tab.go(help_address("mechanisms"))
    page = tab.go(help_address("mechanisms/laplace"))

    assert [entry.name for entry in list_mechanisms() if f'id="mechanism-{entry.name}"' not in listed] == []
    assert "<svg" in page
    assert "<figcaption><b>" in page.replace("\n", "").replace("  ", "")
    assert f'href="{help_address("mechanisms")}"' in page


def test_while_a_page_is_made_it_says_what_is_waited_for(tab):
    """An empty page looks broken."""
    tab.address = help_address("mechanisms")
    assert "Reading the list." in tab.read(at_once=True)
    tab.address = help_address("mechanisms/grr")
    assert "Drawing its picture." in tab.read(at_once=True)


def test_a_mechanism_that_is_not_there_and_a_fault_of_the_desk_are_said_with_a_way_back(tab):
    missing = tab.go(help_address("mechanisms/nothing"))
    tab.desk.told["list_mechanisms"] = EvenhandError("It ended. Hint: try again.")
    ended = tab.go(help_address("mechanisms"))

    assert 'role="alert"' in missing
    assert 'id="all-help"' in missing
    assert "It ended." in ended
