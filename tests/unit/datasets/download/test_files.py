"""A file is found in a fixed order and never used unchecked."""

import gzip
import hashlib
import logging
import pathlib
import shutil
import traceback

import pooch
import pytest

from evenhand.datasets.download import files
from evenhand.datasets.download.fetch import InterruptedDownloadError
from evenhand.datasets.download.files import Download, Reader, SourceFile
from evenhand.errors import ChecksumError, DataSetNotFoundError

CONTENT = b"a,b\n1,x\n2,y\n"


class Shelf:
    """Stands for the network: hands out what is on it and counts who asked."""

    def __init__(self, *bodies):
        self.bodies = list(bodies)
        self.asked = []

    def fetch(self, url, *, progress=None):
        self.asked.append(url)
        body = self.bodies[len(self.asked) - 1]
        if isinstance(body, Exception):
            raise body
        return body


def source_file(content=CONTENT, *, urls=("https://example.org/a",), convert=bytes):
    return SourceFile(
        stem="example",
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        source="Example Office",
        licence="CC0",
        page="https://example.org/data",
        download=Download(urls=urls, convert=convert) if urls else None,
    )


def put(folder, content=CONTENT, *, name="example.csv.gz"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def reader(shelf=None, **settings):
    return Reader("example", fetcher=shelf or Shelf(), **settings)


@pytest.mark.parametrize("name", ["example.csv.gz", "example.csv"])
def test_a_file_may_be_packed_or_plain(name, nowhere, tmp_path):
    put(tmp_path / "mine", name=name)

    assert reader(folder=tmp_path / "mine").content(source_file()) == CONTENT


def test_columns_come_from_the_checked_bytes(nowhere, tmp_path):
    put(tmp_path / "mine")
    read = reader(folder=str(tmp_path / "mine"))
    columns = read.columns(source_file(), integers=["a"])

    assert columns["a"].tolist() == [1, 2]
    assert [file.stem for file in read.used] == ["example"]


def test_the_order_is_folder_then_setting_then_cache_then_network(nowhere, tmp_path, monkeypatch):
    """Each copy here is of another record, so that the one taken shows where it came from."""
    places = {"folder": tmp_path / "mine", "setting": tmp_path / "set", "cache": nowhere}
    monkeypatch.setenv("EVENHAND_DATA", str(places["setting"]))
    contents = {place: f"a\n{place}\n".encode() for place in places}
    for place, folder in places.items():
        put(folder, contents[place])

    def taken():
        for place, content in [*contents.items(), ("network", b"a\nnetwork\n")]:
            try:
                reader(Shelf(b"a\nnetwork\n"), folder=places["folder"]).content(source_file(content))
            except ChecksumError:
                continue
            return place
        return None

    order = []
    for place in ("folder", "setting", "cache"):
        order.append(taken())
        (places[place] / "example.csv.gz").unlink()
    order.append(taken())

    assert order == ["folder", "setting", "cache", "network"]


def test_nothing_is_asked_of_the_network_when_the_file_is_here(nowhere, tmp_path):
    put(tmp_path / "mine")
    shelf = Shelf(CONTENT)
    reader(shelf, folder=tmp_path / "mine").content(source_file())

    assert shelf.asked == []


def test_nothing_is_downloaded_when_downloads_are_switched_off(nowhere):
    shelf = Shelf(CONTENT)
    with pytest.raises(DataSetNotFoundError, match=r"switched off \(download=False\)"):
        reader(shelf, download=False).content(source_file())

    assert shelf.asked == []
    assert not nowhere.exists()


@pytest.mark.parametrize("place", range(len(CONTENT)))
@pytest.mark.parametrize("name", ["example.csv.gz", "example.csv"])
def test_a_flipped_byte_is_refused(name, place, nowhere, tmp_path):
    """A figure computed from a damaged file would look like any other figure."""
    flipped = bytearray(CONTENT)
    flipped[place] ^= 1
    put(tmp_path / "mine", bytes(flipped), name=name)
    with pytest.raises(ChecksumError) as caught:
        reader(folder=tmp_path / "mine").content(source_file())

    assert f"The file '{name}' in the folder given is not the one on record" in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_a_damaged_packed_file_is_refused(nowhere, tmp_path):
    path = put(tmp_path / "mine")
    packed = path.read_bytes()
    for cut in range(len(packed)):
        path.write_bytes(packed[:cut])
        with pytest.raises(ChecksumError):
            reader(folder=tmp_path / "mine").content(source_file())
    for place in range(10, len(packed)):
        path.write_bytes(packed[:place] + bytes([packed[place] ^ 255]) + packed[place + 1 :])
        with pytest.raises(ChecksumError):
            reader(folder=tmp_path / "mine").content(source_file())


def test_a_longer_file_is_refused_without_being_unpacked(nowhere, tmp_path, monkeypatch):
    """A few kilobytes can unpack to gigabytes; no more than the size on record is read."""
    put(tmp_path / "mine", CONTENT + bytes(50_000_000))
    read = []
    monkeypatch.setattr(files, "_matches", lambda content, file: read.append(len(content)))
    with pytest.raises(ChecksumError):
        reader(folder=tmp_path / "mine").content(source_file())

    assert read == [len(CONTENT) + 1]


def test_a_wrong_file_does_not_fall_through_to_the_next_place(nowhere, tmp_path):
    """The person put it there on purpose and should know."""
    put(tmp_path / "mine", b"another file")
    put(nowhere)
    with pytest.raises(ChecksumError):
        reader(Shelf(CONTENT), folder=tmp_path / "mine").content(source_file())


def test_a_download_is_checked_and_kept(nowhere):
    shelf = Shelf(CONTENT)
    first = reader(shelf).content(source_file())
    second = reader(shelf).content(source_file())

    assert first == second == CONTENT
    assert len(shelf.asked) == 1
    assert [(path.name, path.read_bytes()) for path in nowhere.iterdir()] == [("example.csv", CONTENT)]


def test_a_download_of_several_files_is_joined(nowhere):
    file = source_file(urls=("https://a.org/1", "https://a.org/2"), convert=lambda one, two: one + two)
    shelf = Shelf(CONTENT[:5], CONTENT[5:])

    assert reader(shelf).content(file) == CONTENT
    assert shelf.asked == ["https://a.org/1", "https://a.org/2"]


def test_a_download_with_a_wrong_checksum_is_refused_and_not_kept(nowhere):
    with pytest.raises(ChecksumError, match="its source has changed"):
        reader(Shelf(b"something else")).content(source_file())

    assert list(nowhere.iterdir()) == []


@pytest.mark.parametrize("error", [ValueError, IndexError, KeyError, TypeError])
def test_a_source_that_no_longer_fits_its_conversion_is_a_wrong_checksum(error, nowhere):
    def convert(_):
        raise error("odd")

    with pytest.raises(ChecksumError, match="its source has changed"):
        reader(Shelf(b"")).content(source_file(convert=convert))


@pytest.mark.parametrize("name", ["example.csv.gz", "example.csv"])
def test_a_damaged_copy_in_the_cache_is_fetched_again_once(name, nowhere):
    put(nowhere, b"rotten", name=name)
    shelf = Shelf(CONTENT)

    assert [reader(shelf).content(source_file()) for _ in range(2)] == [CONTENT] * 2
    assert len(shelf.asked) == 1
    assert (nowhere / "example.csv").read_bytes() == CONTENT


def test_a_damaged_copy_in_the_cache_is_an_error_when_it_cannot_be_fetched(nowhere):
    put(nowhere, b"rotten")
    with pytest.raises(ChecksumError, match=r"in the cache \(the folder named by EVENHAND_CACHE\)"):
        reader(download=False).content(source_file())
    with pytest.raises(ChecksumError):
        reader().content(source_file(urls=()))


NO = DataSetNotFoundError("https://example.org/a could not be downloaded: no connection (gaierror).")


def test_a_damaged_copy_in_the_cache_is_told_when_the_download_fails(nowhere):
    """Else a person who knows that the file is there would look for it in vain."""
    put(nowhere, b"rotten")
    read = reader(Shelf(NO, NO))
    with pytest.raises(DataSetNotFoundError) as caught:
        read.content(source_file())
    (nowhere / "example.csv.gz").unlink()
    with pytest.raises(DataSetNotFoundError) as later:
        read.content(source_file())

    assert (
        "is not in the folder named by EVENHAND_DATA, which is not set. The file 'example.csv.gz' in the "
        "cache (the folder named by EVENHAND_CACHE) is damaged and was not used. https://example.org/a could "
        "not be downloaded: no connection (gaierror)."
    ) in str(caught.value)
    assert "damaged" not in str(later.value)


def test_a_damaged_copy_in_the_cache_is_told_when_the_source_has_changed(nowhere):
    put(nowhere, b"rotten")
    with pytest.raises(ChecksumError, match=r"its source has changed\..*is damaged and was not used"):
        reader(Shelf(b"something else")).content(source_file())


@pytest.mark.parametrize("setting", ["folder", "EVENHAND_DATA"])
def test_a_folder_may_begin_with_a_tilde(setting, nowhere, tmp_path, monkeypatch):
    put(tmp_path / "d")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    given = "~/d" if setting == "folder" else None
    monkeypatch.setenv("EVENHAND_DATA", "" if given else "~/d")

    assert reader(folder=given, download=False).content(source_file()) == CONTENT


def _forbidden(path, *_, **__):
    raise PermissionError(13, "Permission denied", str(path))


@pytest.mark.parametrize("method", ["is_file", "open"])
@pytest.mark.parametrize("setting", ["folder", "EVENHAND_DATA"])
def test_an_unreadable_folder_is_told_without_its_path(setting, method, nowhere, tmp_path, monkeypatch):
    put(tmp_path / "mine", name="example.csv")
    given = tmp_path / "mine" if setting == "folder" else None
    monkeypatch.setenv("EVENHAND_DATA", "" if given else str(tmp_path / "mine"))
    monkeypatch.setattr(pathlib.Path, method, _forbidden)
    with pytest.raises(DataSetNotFoundError) as caught:
        reader(Shelf(CONTENT), folder=given).content(source_file())

    words = "the folder given" if given else "the folder named by EVENHAND_DATA"

    assert f"in {words} cannot be read (PermissionError). Hint: look at the permissions" in str(caught.value)
    assert str(tmp_path) not in "".join(traceback.format_exception_only(caught.value))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_cache_that_cannot_be_read_is_no_failure(nowhere, monkeypatch):
    put(nowhere)
    shelf = Shelf(CONTENT)
    monkeypatch.setattr(pathlib.Path, "is_file", _forbidden)

    assert reader(shelf).content(source_file()) == CONTENT
    assert len(shelf.asked) == 1


def test_without_a_home_folder_nothing_is_kept(homeless, tmp_path, monkeypatch):
    """Else a folder named "~" would turn up in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVENHAND_DATA", raising=False)

    assert reader(Shelf(CONTENT)).content(source_file()) == CONTENT
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataSetNotFoundError) as caught:
        reader(download=False).content(source_file())
    assert "is not in the folder named by EVENHAND_DATA, which is not set. Downloads" in str(caught.value)


def test_a_failed_download_leaves_the_cache_as_it_was(nowhere):
    """What was good yesterday must be good today."""
    other = put(nowhere, CONTENT, name="other.csv.gz")
    before = other.read_bytes()
    with pytest.raises(DataSetNotFoundError):
        reader(Shelf(DataSetNotFoundError("https://a.org could not be downloaded: no."))).content(
            source_file()
        )

    assert [path.name for path in nowhere.iterdir()] == ["other.csv.gz"]
    assert other.read_bytes() == before


def test_a_cache_that_cannot_be_written_is_no_failure(nowhere):
    nowhere.write_text("a file where the folder should be")

    assert reader(Shelf(CONTENT)).content(source_file()) == CONTENT


def test_an_interrupted_write_leaves_nothing_behind(nowhere, monkeypatch):
    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(shutil, "move", full)
    shelf = Shelf(CONTENT)

    assert reader(shelf).content(source_file()) == CONTENT
    assert len(shelf.asked) == 1
    assert list(nowhere.iterdir()) == []


@pytest.mark.parametrize(("failures", "arrives"), [(1, True), (2, False)])
def test_a_broken_connection_is_tried_once_more(failures, arrives, nowhere, monkeypatch):
    waits = []
    monkeypatch.setattr("pooch.core.time.sleep", waits.append)
    broken = InterruptedDownloadError("https://a.org could not be downloaded: no connection (OSError).")
    shelf = Shelf(*[broken] * failures, CONTENT)
    if arrives:
        assert reader(shelf).content(source_file()) == CONTENT
    else:
        with pytest.raises(DataSetNotFoundError, match="no connection"):
            reader(shelf).content(source_file())

    assert len(shelf.asked) == 2
    assert waits == [1]


def test_a_download_prints_no_path_of_this_machine(nowhere, capfd):
    """pooch logs where it puts a file."""
    reader(Shelf(CONTENT)).content(source_file())

    assert capfd.readouterr() == ("", "")
    assert pooch.get_logger().level == logging.NOTSET


def test_others_may_read_what_is_kept(nowhere):
    """A laboratory may share one cache."""
    reader(Shelf(CONTENT)).content(source_file())

    assert (nowhere / "example.csv").stat().st_mode & 0o444 == 0o444


def test_the_error_says_what_is_missing_where_it_was_looked_for_and_where_to_get_it(nowhere, tmp_path):
    with pytest.raises(DataSetNotFoundError) as caught:
        reader(folder=tmp_path).content(source_file(urls=()))

    assert str(caught.value) == (
        "The file 'example.csv' of data set 'example' is not in the folder given, nor in the folder named "
        "by EVENHAND_DATA, which is not set, nor in the cache (the folder named by EVENHAND_CACHE). It "
        "cannot be downloaded by itself. Hint: it comes from https://example.org/data (Example Office); load "
        "it once on a machine that is online and copy it from the cache there, which is the folder named by "
        "EVENHAND_CACHE, or else 'evenhand' in the usual folder for caches. Save it as 'example.csv' or "
        "'example.csv.gz' and name its folder in EVENHAND_DATA."
    )


def test_no_message_holds_a_path_of_this_machine(nowhere, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path / "set"))
    why = DataSetNotFoundError("https://example.org/a could not be downloaded: the server answered 404.")
    with pytest.raises(DataSetNotFoundError) as caught:
        reader(Shelf(why), folder=tmp_path).content(source_file())

    assert str(tmp_path) not in str(caught.value)
    assert "the server answered 404" in str(caught.value)
    assert "nor in the folder named by EVENHAND_DATA, nor in the cache" in str(caught.value)


def test_a_reader_downloads_over_https_only_by_default(nowhere):
    """The address is refused before anything is sent."""
    with pytest.raises(DataSetNotFoundError, match="only https addresses are followed"):
        Reader("example").content(source_file(urls=("http://127.0.0.1:9/a",)))


def test_a_file_on_record_reads_as_one_line():
    assert str(source_file()) == (
        "example.csv (12 bytes, downloaded when missing): Example Office; licence: CC0; https://example.org/data"
    )
    assert "to be fetched by hand" in str(source_file(urls=()))
