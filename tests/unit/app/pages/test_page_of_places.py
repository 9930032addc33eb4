"""A file of places passes the page of the columns, lists can be public together, dates go into bands."""

import pytest

from evenhand.app.pages.address import study_address
from unit.app.pages._tab import Controls

PLACES = "place,people,poor\n" + "".join(f"p{row},{500 + 13 * row},{40 + 7 * row}\n" for row in range(60))
DATED = "sex,born,hired\n" + "".join(
    f"{'fm'[row % 2]},19{50 + row % 45}-0{1 + row % 9}-11,{'yes' if row % 3 else 'no'}\n"
    for row in range(200)
)


@pytest.fixture
def open_columns(tab):
    """Return a function that opens a file on the page of its columns."""

    def open_text(text):
        study = tab.add_study(rows=text)
        tab.do(do="data.uploaded", study=study)
        tab.go(study_address(study, "schema"))
        return study

    return open_text


def test_a_file_of_places_needs_no_roles_of_people(tab, open_columns):
    """Otherwise people are asked which column is predicted, where nobody is predicted anything."""
    study = open_columns(PLACES)
    assert "role-0" in Controls(tab.read()).by_id
    tab.change("rows-are", "places")
    html = tab.read()
    controls = Controls(html).by_id

    assert tab.record(study).kind == "decide"
    assert "no column needs a role" in html
    assert not any(name.startswith(("role-", "missing-")) for name in controls)
    assert "disabled" not in controls["right"]
    assert "guessed" not in html
    assert "save-schema" not in controls  # a decision has no schema
    assert "between 500 and 1267" in html
    tab.change("rows-are", "people")
    assert tab.record(study).kind == "collect"
    assert "role-0" in Controls(tab.read()).by_id


def test_all_lists_are_called_public_at_once(tab, open_columns):
    study = open_columns(DATED)
    tab.press("all-public")
    html = tab.read()

    assert "were read from these rows" not in html
    assert "all-public" not in Controls(html).by_id
    assert all(edit == {"public": True} for edit in tab.record(study).columns.values())


def test_dates_are_put_into_bands_and_taken_out_again(tab, open_columns):
    """A date of birth is left out as it stands, for a single day points at a person."""
    study = open_columns(DATED)
    bands = [name for name in Controls(tab.read()).by_id if name.startswith("band-")]
    assert len(bands) == 1
    assert "choose bands under “Change”" in tab.read()
    tab.change(bands[0], "10y")

    assert tab.record(study).roles["bands"] == {"born": "10y"}
    assert "choose bands under “Change”" not in tab.read()
    tab.change(bands[0], "")
    assert "born" not in tab.record(study).roles.get("bands", {})


def test_a_file_that_was_refused_opens_the_fold_that_its_hint_names(tab):
    study = tab.workspace.create("Study").id
    tab.go(study_address(study, "data"))
    assert "open" not in Controls(tab.read()).by_id["format"]
    hint = "it has 2 sheets with cells. Hint: say which by its name, or by its place such as 1 (--sheet)."
    tab.do(do="data.failed", study=study, value=f"two.xlsx was not read: {hint}")
    html = tab.read()

    assert "open" in Controls(html).by_id["format"]
    assert "--sheet" not in html
    assert {"format-delimiter", "format-decimal", "format-encoding", "format-sheet", "again"} <= set(
        Controls(html).by_id
    )
