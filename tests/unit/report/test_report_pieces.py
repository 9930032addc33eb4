"""Tags of tables."""

from evenhand.report.html import render
from evenhand.report.page import Page, Section, Table


def test_tags_of_a_table_are_words_in_a_tone():
    """A tag says in words what it says in colour."""
    table = Table(
        ["δ", "Guarantee"], [["0", "holds"], ["1", "none <b>"]], [False, False], tags={(1, 1): "bad"}
    )
    text = render(Page("q", ("a",), sections=(Section("h", tables=(table,)),)))

    assert '<span class="tag bad">none &lt;b&gt;</span>' in text
    assert text.count('<span class="tag') == 1
    assert 'data-name="δ"' in text
