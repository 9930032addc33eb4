"""The schema page: what a person says of columns is kept as it was said, and can be taken back."""

import re

import pytest

from evenhand.app.pages.address import study_address
from evenhand.errors import EvenhandError
from unit.app.pages._tab import Controls, words_of

NUMBERS = "sex,age,pay,hired\n" + "".join(
    f"{'fm'[row % 2]},{18 + row % 50},{900.5 + 7 * row},{'yes' if row % 3 else 'no'}\n" for row in range(200)
)


@pytest.fixture
def study(tab):
    """Return a study of a file whose roles were guessed, on its schema page."""
    made = tab.add_study()
    tab.do(do="data.uploaded", study=made)
    tab.go(study_address(made, "schema"))
    return made


def place_of(tab, column):
    """Return the number that the controls of a column have."""
    controls = Controls(tab.read()).by_id
    return next(
        name.removeprefix("role-")
        for name, known in controls.items()
        if name.startswith("role-") and known["data-column"] == column
    )


def columns(tab, study):
    return tab.record(study).columns


def test_without_data_the_page_leads_to_the_data(tab):
    study = tab.workspace.create("Hiring").id
    html = tab.go(study_address(study, "schema"))

    assert Controls(html).by_id["back"]["href"] == study_address(study, "data")
    assert "right" not in Controls(html).by_id


def test_while_the_file_is_read_the_page_says_so_and_a_fault_is_said_with_a_way_back(tab):
    study = tab.add_study()
    tab.address = study_address(study, "schema")
    assert "Reading people.csv." in tab.read(at_once=True)
    tab.desk.told["describe"] = EvenhandError("The process ended. Hint: try again.")
    html = tab.read()

    assert "The process ended." in html
    assert Controls(html).by_id["back"]["href"] == study_address(study, "data")


def test_a_role_that_is_chosen_is_kept_and_the_description_must_be_confirmed_anew(tab, study):
    """A study that runs with roles that nobody confirmed answers another question."""
    tab.press("right")
    assert tab.record(study).described
    assert tab.address == study_address(study, "question")
    tab.go(study_address(study, "schema"))
    tab.change(f"role-{place_of(tab, 'region')}", "left out")

    assert tab.record(study).roles["drop"] == ["region"]
    assert not tab.record(study).described


@pytest.mark.parametrize(
    ("control", "value"),
    [("role", "left out"), ("role", "protected"), ("missing", "drop"), ("kind", "bands"), ("positive", "no")],
)
def test_what_was_chosen_is_shown_before_the_new_description_has_come(tab, study, control, value):
    """On a slow machine a choice would else seem to be taken back, and be made a second time."""
    name = control if control == "positive" else f"{control}-{place_of(tab, 'region')}"
    tab.change(name, value)
    html = tab.read(at_once=True)
    shown = re.search(rf'<select[^>]*id="{name}".*?</select>', html, re.DOTALL)[0]

    assert "Checking." in html
    assert re.findall(r'value="([^"]*)" selected', shown) == [value]


def test_values_of_the_column_before_are_not_asked_for_the_new_one(tab, study):
    """An answer in that moment would be a value that the new column does not have."""
    tab.do(do="schema.role", study=study, column="school", role="", value="target")
    assert "Which value of 'school' do people hope for?" in tab.words()

    tab.do(do="schema.role", study=study, column="region", value="target")
    html = tab.read(at_once=True)

    assert "missing-positive" not in Controls(html).by_id
    assert 'value="a"' not in html.partition('id="positive"')[2].partition("</select>")[0]
    assert "Checking." in html


def test_a_role_that_is_none_changes_nothing(tab, study):
    before = tab.record(study)
    tab.change(f"role-{place_of(tab, 'region')}", "king")

    assert tab.record(study) == before


def test_a_target_in_place_of_another_is_asked_for_its_good_value(tab, study):
    """What people hope for in one column means nothing in another."""
    assert tab.record(study).roles["positive"] == "yes"
    tab.change(f"role-{place_of(tab, 'school')}", "target")
    html = tab.read()
    controls = Controls(html).by_id

    assert "positive" not in tab.record(study).roles
    assert "missing-positive" in controls
    assert "You can answer the questions above later" in html
    tab.change("missing-positive", "b")
    assert tab.record(study).roles["positive"] == "b"
    assert "missing-positive" not in Controls(tab.read()).by_id


def test_a_column_that_is_asked_for_gets_its_role_and_no_answer_changes_nothing(tab, study):
    tab.change(f"role-{place_of(tab, 'hired')}", "clear")
    before = tab.record(study)
    tab.change("missing-target", "")
    assert tab.record(study) == before
    tab.change("missing-target", "school")

    assert tab.record(study).roles["target"] == "school"


def test_a_value_is_written_and_taken_back(tab, study):
    tab.change("privileged", " f ")
    assert tab.record(study).roles["privileged"] == "f"
    tab.change("pool_below", "20")
    assert tab.record(study).roles["pool_below"] == "20"
    tab.change("pool_below", "")

    assert "pool_below" not in tab.record(study).roles


def test_the_group_of_two_crossed_columns_is_a_value_of_each(tab, study):
    """Written as one text it would be a group that nobody is in."""
    tab.change(f"role-{place_of(tab, 'region')}", "protected")
    tab.change("privileged", "m, n")

    assert tab.record(study).roles["protected"] == ["sex", "region"]
    assert tab.record(study).roles["privileged"] == ["m", "n"]
    assert 'value="m, n"' in tab.read()


def test_pasted_values_with_labels_are_declared_and_can_be_undone(tab, study):
    place = place_of(tab, "sex")
    tab.press(f"declare-{place}", text="f: women\nm: men\nx")

    assert columns(tab, study)["sex"] == {
        "kind": "categories", "values": ["f", "m", "x"], "labels": {"f": "women", "m": "men"},
    }  # fmt: skip
    assert "f: women" in Controls(tab.read()).by_id[f"values-{place}"]["value"]
    tab.press(f"undo-{place}")
    assert columns(tab, study) == {}
    assert f"undo-{place}" not in Controls(tab.read()).by_id


def test_the_values_that_stand_there_are_declared_as_they_stand(tab, study):
    """Whoever says that the shown list is right must not have to paste it."""
    tab.press(f"declare-{place_of(tab, 'school')}")

    assert columns(tab, study)["school"]["values"] == ["a", "b"]


def test_a_list_with_a_value_twice_is_refused_above_the_table_and_nothing_changes(tab, study):
    tab.press(f"declare-{place_of(tab, 'sex')}", text="f\nm\nf")

    assert "holds each value once" in words_of(tab.read())
    assert "problem-schema" in Controls(tab.read()).by_id
    assert columns(tab, study) == {}


def test_a_list_is_marked_as_public_and_no_longer(tab, study):
    """The mark is what a person vouches for when a file is privatised for real."""
    place = place_of(tab, "sex")
    assert "checked" not in Controls(tab.read()).by_id[f"public-{place}"]
    tab.change(f"public-{place}", value=True)
    assert "checked" in Controls(tab.read()).by_id[f"public-{place}"]
    tab.change(f"public-{place}", value=False)

    assert columns(tab, study)["sex"] == {"public": False}
    assert "checked" not in Controls(tab.read()).by_id[f"public-{place}"]


def test_bounds_of_numbers_are_kept_and_go_when_the_kind_of_values_changes(tab):
    """Bounds of another kind would be taken for the new one's."""
    study = tab.add_study(rows=NUMBERS)
    tab.do(do="data.uploaded", study=study)
    tab.go(study_address(study, "schema"))
    place = place_of(tab, "age")
    tab.change(f"kind-{place}", "whole numbers")
    tab.change(f"low-{place}", "0")
    tab.change(f"high-{place}", " 120 ")
    tab.change(f"unknown-{place}", "other")

    assert columns(tab, study)["age"] == {
        "kind": "whole numbers", "low": "0", "high": "120", "unknown": "other",
    }  # fmt: skip
    assert Controls(tab.read()).by_id[f"high-{place}"]["value"] == "120"
    tab.change(f"kind-{place}", "bands")
    assert columns(tab, study)["age"] == {"kind": "bands", "unknown": "other"}


def test_what_is_wrong_with_a_column_blocks_the_way_on_and_is_said(tab, study):
    tab.change(f"role-{place_of(tab, 'region')}", "protected")
    record = tab.record(study)
    tab.workspace.save(record.with_(columns={"school": {"kind": "whole numbers", "low": "9", "high": "1"}}))
    html = tab.read()

    assert "at most the highest value" in words_of(html)
    assert "Correct what is marked above first." in html
    assert "disabled" in Controls(html).by_id["right"]
    assert "disabled" in Controls(html).by_id["save-schema"]


def test_a_schema_file_that_was_refused_is_said_and_one_that_was_read_is_shown(tab, study):
    tab.do(do="schema.failed", study=study, value="schema.toml is no schema. Hint: save one here first.")
    assert "schema.toml is no schema." in tab.read()
    tab.workspace.save(tab.record(study).with_(roles={"target": "hired", "positive": "no"}))
    tab.do(do="schema.loaded", study=study)
    html = tab.read()

    assert "schema.toml is no schema." not in html
    assert '<option value="no" selected="">' in html
    assert Controls(html).by_id["schema-text"]


def test_bands_of_different_widths_are_changed_by_their_edges_or_made_even(tab):
    """A page that shows the first width as that of all bands rebuilds every band at the next change."""
    rows = "sex,pay,hired\n" + "".join(
        f"{'fm'[row % 2]},{1.04**row:.2f},{'yes' if row % 3 else 'no'}\n" for row in range(300)
    )
    study = tab.add_study(rows=rows)
    tab.do(do="data.uploaded", study=study)
    tab.go(study_address(study, "schema"))
    place = place_of(tab, "pay")
    known = Controls(tab.read()).by_id

    assert known[f"edges-{place}"]["value"].count(",") > 2
    assert known[f"width-{place}"]["value"] == ""
    assert f"low-{place}" not in known
    assert "The bands have different widths." in tab.words()
    tab.change(f"edges-{place}", "0, 100, 200000")
    assert columns(tab, study)["pay"] == {"edges": "0, 100, 200000"}
    tab.change(f"width-{place}", "50000")
    known = Controls(tab.read()).by_id
    assert columns(tab, study)["pay"] == {"width": "50000"}
    assert (known[f"width-{place}"]["value"], known[f"edges-{place}"]["value"]) == ("50000", "")
