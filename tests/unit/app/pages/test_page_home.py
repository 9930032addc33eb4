"""The first page: past studies are opened, renamed and deleted, and nothing is lost by a slip."""

import pytest

from evenhand.app.pages.address import study_address


def test_an_empty_workbench_offers_the_demo_and_a_file(tab):
    """Somebody who has just started it must see where to begin, and no empty list."""
    words = tab.words()

    assert "No study yet" in words
    assert "Past studies" not in words
    tab.press("new-study")
    (record,) = tab.workspace.studies()
    assert tab.address == study_address(record.id, "data")


def test_the_demo_begins_with_data_and_roles_and_a_second_one_has_another_name(tab):
    """The demo that was tried yesterday must not be written over, nor be taken for the new one."""
    tab.press("demo")
    first = tab.address
    tab.go("#/")
    tab.press("demo")
    names = {record.name: record for record in tab.workspace.studies()}

    assert set(names) == {"Demo", "Demo 2"}
    assert first != tab.address == study_address(names["Demo 2"].id, "data")
    for record in names.values():
        assert record.tutorial
        assert record.data.dataset == "causal"
    assert "Tutorial, 1 of 6" in tab.words()


def test_a_study_is_renamed_and_an_empty_name_changes_nothing(tab):
    study = tab.add_study("Hiring")
    tab.press(f"rename-{study}")
    tab.press(f"rename-now-{study}", text="  Hiring\n2026 ")

    assert tab.record(study).name == "Hiring 2026"
    assert f'id="rename-now-{study}"' not in tab.read()
    tab.press(f"rename-{study}")
    tab.press(f"rename-now-{study}", text=" ")
    assert tab.record(study).name == "Hiring 2026"


def test_a_study_is_deleted_only_after_a_second_press_which_says_what_goes(tab):
    """One slip must not cost hours of runs, and nobody may believe that their own file is deleted."""
    study, other = tab.add_study("Hiring"), tab.add_study("Other")
    tab.press(f"delete-{study}")
    words = tab.words()

    assert tab.record(study).name == "Hiring"
    assert "Deleting “Hiring” deletes this for good" in words
    assert "The original file is not touched" in words
    assert f'id="delete-now-{other}"' not in tab.read()
    tab.press(f"delete-now-{study}")
    assert [record.id for record in tab.workspace.studies()] == [other]


@pytest.mark.parametrize("part", ["rename", "delete"])
def test_what_was_opened_by_mistake_is_closed_again(tab, part):
    study = tab.add_study("Hiring")
    tab.press(f"{part}-{study}")
    tab.press(f"{part}-not-{study}")

    assert f'id="{part}-now-{study}"' not in tab.read()
    assert tab.record(study).name == "Hiring"


@pytest.mark.parametrize("state", ["waiting", "running"])
def test_a_study_that_runs_cannot_be_deleted_and_the_page_says_what_to_do(tab, state):
    """Deleting below a process that writes would leave half a study."""
    study = tab.add_study("Hiring")
    tab.set_run(study, state)
    tab.press(f"delete-{study}")

    assert "Stop it first" in tab.words()
    assert f'id="delete-now-{study}"' not in tab.read()


def test_each_study_says_how_far_it_is_and_opens_where_it_goes_on(tab):
    new, stopped, done = (tab.add_study(name) for name in ("new", "stopped", "done"))
    tab.set_run(stopped, "stopped", done=3, total=12)
    tab.set_run(done, "finished", done=1200, total=1200)
    html, words = tab.read(), tab.words()

    assert f'href="{study_address(new, "schema")}"' in html
    assert f'href="{study_address(stopped, "run")}"' in html
    assert f'href="{study_address(done, "result")}"' in html
    assert "people.csv: not run yet" in words
    assert "stopped at 25%, can go on" in words
    assert "1,200 runs" in words


def test_a_damaged_study_is_told_and_the_others_are_still_there(tab):
    """One bad file must not lock a person out of all studies."""
    good, bad = tab.add_study("good"), tab.add_study("bad")
    (tab.workspace.folder(bad) / "study.json").write_text("{")
    html = tab.read()

    assert "One study cannot be read" in html
    assert f'id="open-{good}"' in html
    assert f'id="open-{bad}"' not in html
    tab.workspace.delete(good)
    assert "One study cannot be read" in tab.read()


def test_a_damaged_study_is_deleted_after_a_second_press_which_says_what_goes(tab):
    """A message that says "delete the study" beside no button leaves a person with a file manager."""
    good, bad = tab.add_study("good"), tab.add_study("bad")
    (tab.workspace.folder(bad) / "study.json").write_text("{")
    words = tab.words()

    assert f"Its folder is called {bad}, and was last changed today." in words
    tab.press(f"delete-{bad}")
    words = tab.words()
    assert "Deleting the study that cannot be read deletes this for good" in words
    assert "The original file is not touched" in words
    tab.press(f"delete-not-{bad}")
    assert f'id="delete-now-{bad}"' not in tab.read()
    tab.press(f"delete-{bad}")
    tab.press(f"delete-now-{bad}")
    assert "cannot be read" not in tab.words()
    assert not (tab.workspace.path / bad).exists()
    assert [record.id for record in tab.workspace.studies()] == [good]


def test_a_damaged_study_that_runs_is_not_deleted(tab):
    """The record may be damaged while the run still writes its results."""
    bad = tab.add_study("bad")
    tab.set_run(bad, "running")
    (tab.workspace.folder(bad) / "study.json").write_text("{")
    tab.press(f"delete-{bad}")

    assert "Delete it when its run has ended" in tab.words()
    assert f'id="delete-now-{bad}"' not in tab.read()


def test_studies_say_which_question_they_ask(tab):
    """Several studies of one file would else look alike."""
    tab.add_study("First", kind="release", described=True)
    tab.add_study("Second", kind="decide", described=True)
    tab.add_study("Third", kind="learn")
    words = tab.words()

    assert "Release, people.csv: not run yet" in words
    assert "Decide, people.csv: not run yet" in words
    assert "Learn, people.csv" not in words  # nobody has chosen a question yet
