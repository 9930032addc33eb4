"""Lists with commas, and what the shell completes."""

import pytest

from evenhand.cli.options import _completed, _data, listed


@pytest.mark.parametrize(
    ("given", "known", "meant"),
    [
        (None, (), ()),
        (["a,b"], (), ("a", "b")),
        (["a", "b , c"], (), ("a", "b", "c")),
        (['"a, b",c'], (), ("a, b", "c")),
        (["a, b"], ("a, b",), ("a, b",)),
        ([",a,,"], (), ("a",)),
        ([""], (), ()),
        (["it's"], (), ("it's",)),
    ],
)
def test_a_list_is_read_as_a_person_means_it(given, known, meant):
    assert listed(given, known) == meant


def test_the_last_of_several_words_is_completed():
    complete = _completed(["grr", "oue", "olh"])

    assert complete("") == ["grr", "oue", "olh"]
    assert complete("grr,o") == ["grr,oue", "grr,olh"]


def test_files_folders_and_data_sets_are_offered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "adults").mkdir()
    (tmp_path / "adults" / "x.parquet").touch()
    (tmp_path / "ad.csv").touch()
    (tmp_path / "ad.txt").touch()

    assert _data("ad") == ["ad.csv", "adults/", "adult"]
    assert _data("adults/") == ["adults/x.parquet"]
    assert _data("nowhere/x") == []
