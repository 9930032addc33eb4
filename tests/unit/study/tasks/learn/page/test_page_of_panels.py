"""The page on classifiers of rows of which one person may have several."""

import pytest

from evenhand._notes import Note
from evenhand.report.drawing import Drawing
from evenhand.study.page.page import page_of
from unit.study._learn_studies import made, sections, usual


@pytest.mark.parametrize("unit", ["add or remove one", "replace one"])
@pytest.mark.parametrize("methods", [["dp"], ["dp+parity"], ["local"]], ids=str)
def test_the_promise_is_for_a_row_where_one_person_may_have_several(methods, unit, monkeypatch):
    """If this is false, the page promises a person of a panel what holds for one of their rows."""
    noticed = (Note("unit", "Values of 'nr' repeat."),)
    claim = (Note("unit", "one report" if methods == ["local"] else unit), Note("trust", "central"))
    monkeypatch.setattr(Drawing, "svg", lambda _: '<svg width="10" height="10"></svg>')
    monkeypatch.setattr(Drawing, "_add", lambda *_, **__: None)
    page = page_of(made(usual, methods=methods, unit=unit, notes=claim, facts_notes=noticed))
    section = sections(page)["promise"]
    facts = {fact.term: fact.text for fact in section.facts}

    assert "promises one row ε = " in section.heading
    assert "person" not in section.lead
    assert facts["Neighbouring data"].endswith("; one person may have several, and is promised this for each")
    assert "one row per person" not in str(facts)
    assert "as one person" not in str(facts)
    assert "Promised to one row" in str(page)
    assert "Promised to one person" not in str(page)
