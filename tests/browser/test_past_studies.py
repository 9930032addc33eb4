"""Past studies on the first page: one that is damaged is told apart, and can be deleted."""

from browser._files import people, write_csv
from browser._harness import settle
from browser._steps import open_file, start_study


def test_a_damaged_study_is_deleted_by_its_own_button(visit, serving, tmp_path):
    """A person who is told to delete a study must be able to, without looking for its folder."""
    page = visit.open()
    kept = start_study(page)
    visit.open()
    damaged = start_study(page)
    open_file(page, write_csv(tmp_path / "people.csv", people(200)))
    (serving.folder / damaged / "study.json").write_text("{")
    visit.open("#/")
    page.reload()
    settle(page)
    note = page.locator("[data-testid=damaged]").filter(has_text=damaged)
    note.wait_for()
    said = note.inner_text()
    page.click(f"#delete-{damaged}")
    page.wait_for_selector(f"#delete-now-{damaged}")
    asked = note.inner_text()
    page.click(f"#delete-now-{damaged}")
    note.wait_for(state="detached")
    settle(page)

    assert "One study cannot be read" in said
    assert "The copy of the file that was uploaded. The original file is not touched." in asked
    assert not (serving.folder / damaged).exists()
    assert page.locator(f"#open-{kept}").count() == 1
    assert (tmp_path / "people.csv").exists()


def test_a_study_is_renamed_by_the_enter_key(visit):
    """Whoever writes a name presses Enter after it, and must not have to look for the button."""
    page = visit.open()
    study = start_study(page)
    visit.open()
    page.click(f"#rename-{study}")
    page.fill(f"#name-{study}", "Plebiscite <b>1988</b>")
    page.press(f"#name-{study}", "Enter")
    page.wait_for_selector(f"#name-{study}", state="detached")
    settle(page)

    assert page.inner_text(f"#open-{study}") == "Plebiscite <b>1988</b>"
