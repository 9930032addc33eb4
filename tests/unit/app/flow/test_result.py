"""The result page without a browser: the report itself, of any setting, and what is taken along."""

import zipfile
from html import unescape
from io import BytesIO

import pytest

from evenhand.app.flow.files import DOWNLOADS, downloads_of, find_downloads, pack_downloads
from evenhand.app.flow.result import read_result
from evenhand.app.state.record import StudyRecord
from evenhand.errors import StudyStoreError, UnknownNameError
from evenhand.study.results.results import Results

pytestmark = pytest.mark.figures  # real processes, which take a while


def test_the_page_is_the_report_of_the_chosen_setting(finished):
    """If this is false, the workbench says something else than the report that people take along."""
    view = read_result(finished)
    other = next(each.key for each in view.settings if each.key != view.chosen)
    changed = read_result(finished, chosen=other)
    report = Results.load(finished / "study").report()

    assert [each.label for each in view.settings] == [
        "GRR, optimal split, ε = 1", "OUE, optimal split, ε = 1", "GRR, combined, ε = 1",
        "OPTIMAL, optimal split, ε = 1", "GRR, optimal split, parity, ε = 1",
    ]  # fmt: skip
    answer = Results.load(finished / "study").view()
    for sentence in (answer.verdict, answer.who.text, answer.how_much.text, answer.what_to_do.text):
        assert sentence in unescape(view.answer_html).replace("\u00a0", " ")
    assert "<h1>" in view.answer_html
    assert "<script" not in view.answer_html + view.findings_html
    first = view.findings_html.split("<h2", 2)[1].split("</h2>")[0]
    assert first in report
    assert changed.chosen == other
    assert changed.answer_html != view.answer_html
    assert (view.done, view.total, view.failed) == (12, 12, 0)
    assert view.commands[0][1].startswith("evenhand privatize people.csv ")
    assert view.commands[-1][1] == "evenhand audit --plan plan.toml"


def test_a_key_that_is_not_of_the_study_is_refused(finished):
    with pytest.raises(UnknownNameError):
        read_result(finished, chosen="x")


def test_the_limits_of_a_person_are_answered(finished):
    """If this is false, somebody states what they accept and is never told what keeps it."""
    kept = (finished / "study.json").read_text()
    record = StudyRecord.from_json(kept)
    limits = {"max_gap": "90", "max_accuracy_loss": "40"}
    changed = record.with_(form={"collect": {**record.form["collect"], **limits}})
    plain = read_result(finished).advice
    try:
        (finished / "study.json").write_text(changed.to_json())
        advice = read_result(finished).advice
    finally:
        (finished / "study.json").write_text(kept)

    assert plain == ""
    assert advice.startswith("**")


def test_a_folder_without_results_says_what_to_do(tmp_path):
    with pytest.raises(StudyStoreError, match="run the study first"):
        read_result(tmp_path)


@pytest.mark.parametrize("kind", ["collect", "release", "decide"])
def test_no_sentence_of_an_answer_names_a_folder_of_this_computer(study, kind):
    """A path says who uses the computer, and a command with it runs nowhere else."""
    made = study(kind)
    made.run()
    view = read_result(made.folder)
    shown = " ".join([view.answer_html, view.findings_html, *(line for _, line in view.commands)])

    assert str(made.folder.parent) not in shown
    assert view.commands[-1][1] == "evenhand audit --plan plan.toml"


def test_a_folder_of_the_command_line_is_shown_too(finished):
    """If this is false, evenhand serve --report shows nothing."""
    assert read_result(finished / "study").settings == read_result(finished).settings


def test_downloads_are_a_fixed_list_of_files_in_the_folder(finished):
    """If this is false, a name from outside may reach any file of the computer."""
    files = find_downloads(finished)

    assert set(downloads_of(finished)) <= set(DOWNLOADS)
    assert files["cells.csv"] == finished / "study" / "cells.csv"
    assert not {"study.json", "data/5f3a.csv", "../study.json"} & set(files)


def test_the_archive_holds_every_other_download_and_no_data(finished):
    packed = pack_downloads(finished)
    names = zipfile.ZipFile(BytesIO(packed)).namelist()

    assert names == [name for name in downloads_of(finished) if name != "all.zip"]
    assert packed == pack_downloads(finished)
    assert not [name for name in names if "5f3a" in name]
