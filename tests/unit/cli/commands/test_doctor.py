"""evenhand doctor: what is missing is named with its command, and only what is broken ends with an error."""

import json
from importlib import metadata

import pytest

import evenhand
from evenhand.cli import compiled
from evenhand.cli.commands import doctor
from evenhand.privacy.ledger import Ledger


@pytest.fixture(autouse=True)
def _nothing_in_force(monkeypatch):
    for name in ("EVENHAND_LEDGER", "EVENHAND_DATA", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)


def findings(call):
    result = call("doctor", "--json")
    said = json.loads(result.stdout)

    assert result.exit_code == said["exit"]
    return said["exit"], {finding["topic"]: finding for finding in said["findings"]}


def test_every_extra_for_people_who_use_evenhand_is_examined(call):
    """An extra that is left out here is one that nobody hears of."""
    code, found = findings(call)
    extras = {topic.removeprefix("extra ") for topic in found if topic.startswith("extra ")}

    assert code == 0
    assert extras == {"app", "dask", "dp", "excel", "fair", "learn", "report", "spark"}
    assert found["secure source"]["state"] == "Ready"


def test_a_missing_extra_is_named_with_the_command_that_installs_it(call, monkeypatch):
    real = metadata.version

    def without_lightgbm(name):
        if name == "lightgbm":
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(doctor.metadata, "version", without_lightgbm)
    code, found = findings(call)

    assert code == 0
    assert found["extra learn"]["state"] == "Missing"
    assert "pip install 'evenhand[learn]'" in found["extra learn"]["text"]


def test_what_an_extra_brings_by_an_extra_of_a_package_is_looked_for_too(call, monkeypatch):
    """The extra dask was ready without distributed, and a study on a cluster then refused."""
    wanted = {
        "evenhand": [
            "dask[dataframe,distributed]>=1; extra == 'dask'",
            "dask[dataframe,distributed]>=1; extra == 'all'",
        ],
        "dask": [
            'dask[array]; extra == "dataframe"',
            "pandas; extra == 'dataframe'",
            "distributed<3; extra == 'distributed'",
        ],
    }
    monkeypatch.setattr(doctor.metadata, "requires", wanted.get)
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "distributed" else "1.0")
    found = findings(call)[1]["extra dask"]

    assert found["state"] == "Missing"
    assert found["text"] == "Extra dask: distributed. Hint: pip install 'evenhand[dask]'"


def test_spark_without_java_is_said(call, monkeypatch):
    monkeypatch.setattr(doctor, "_version", lambda name: "4.0.0")
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)

    assert findings(call)[1]["java"]["state"] == "Missing"


def test_the_ledger_in_force_is_shown_with_what_is_spent(call, tmp_path):
    Ledger(tmp_path / "evenhand-ledger.db", epsilon=1)
    finding = findings(call)[1]["ledger"]

    assert finding["state"] == "Ready"
    assert "evenhand-ledger.db" in finding["text"]
    assert "of epsilon = 1" in finding["text"]


def test_a_ledger_that_is_refused_is_broken_and_ends_with_an_error(call, tmp_path, monkeypatch):
    """A release would fail later, and somebody might then take the ledger away."""
    monkeypatch.setenv("EVENHAND_LEDGER", str(tmp_path / "gone.db"))
    code, found = findings(call)

    assert code == 1
    assert found["ledger"]["state"] == "Broken"


def test_a_source_that_repeats_itself_is_broken(call, monkeypatch):
    monkeypatch.setattr(doctor.SecureSource, "words", lambda self, number: [7] * number)

    assert findings(call)[0] == 1


@pytest.mark.parametrize(
    ("kept", "writable", "state"), [(True, True, "Ready"), (False, True, "Ready"), (False, False, "None")]
)
def test_the_compile_cache_is_said_with_what_it_means(call, tmp_path, monkeypatch, kept, writable, state):
    cache = tmp_path / "cache"
    cache.mkdir()
    if kept:
        (cache / "loop.nbi").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(cache))
    monkeypatch.setattr(doctor.os, "access", lambda path, mode: writable)

    assert findings(call)[1]["compile cache"]["state"] == state


@pytest.mark.parametrize(("name", "state"), [("there", "Ready"), ("gone", "Missing")])
def test_a_data_folder_that_is_named_and_not_there_is_said(call, tmp_path, monkeypatch, name, state):
    (tmp_path / "there").mkdir()
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path / name))

    assert findings(call)[1]["data"]["state"] == state


def test_without_engines_and_data_sets_nothing_is_wrong(call, tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "_ENGINES", ())
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "none"))
    code, found = findings(call)

    assert code == 0
    assert (found["engines"]["state"], found["data"]["state"]) == ("None", "None")
    assert call("doctor").stdout.startswith("Ready")


def test_a_package_that_evenhand_needs_is_missed_by_name(call, monkeypatch):
    """Whoever asks the doctor got a traceback where it was needed most."""
    real = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "numba" else real(name))
    code, found = findings(call)

    assert code == 1
    assert found["versions"]["state"] == "Broken"
    assert "does not work without numba. Hint: pip install evenhand" in found["versions"]["text"]


def test_a_folder_for_compiled_loops_that_is_not_there_yet_is_made_later(call, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "not" / "yet"))

    assert findings(call)[1]["compile cache"]["state"] == "Ready"


def test_loops_that_are_kept_in_the_cache_of_a_person_are_found(call, tmp_path, monkeypatch):
    """Where evenhand is installed for all, each command said that it would compile."""
    own = str(compiled.Path(evenhand.__file__).parent)
    monkeypatch.setattr(compiled.os, "access", lambda path, mode: str(path) != own)
    monkeypatch.setattr(compiled, "user_cache_path", lambda *_, **__: tmp_path)
    (tmp_path / "kernels_0a1b").mkdir()
    (tmp_path / "kernels_0a1b" / "loop.nbi").touch()

    assert findings(call)[1]["compile cache"]["text"].startswith("1 compiled loop is kept")
