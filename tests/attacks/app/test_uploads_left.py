"""G9: of an upload that is broken off, refused or killed nothing is left; one that is kept is private."""

import contextlib
import http.client
import os
import signal
import socket
import stat
import subprocess
import sys
import time

import psutil
import pytest

from attacks.app._gate import open_gate
from evenhand.app import routes
from evenhand.app.security import limits
from evenhand.app.state.jobs import RunState
from evenhand.app.state.workspace import Workspace

pytestmark = pytest.mark.figures  # real processes, which take a while

TABLE = b"age,sex\n1,a\n2,b\n"
MEGABYTE = 1 << 20
PROGRAM = "from evenhand.cli import main; main()"


@pytest.fixture(name="gate")
def _gate(tmp_path):
    with open_gate(tmp_path / "workbench") as gate:
        yield gate


@pytest.fixture(name="study")
def _study(gate):
    return gate.workbench.workspace.create("Uploads").id


def kept(gate, study):
    folder = gate.workbench.workspace.folder(study) / "data"
    return sorted(folder.iterdir()) if folder.exists() else []


def wait_until(holds, seconds=120):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def begin_upload(gate, study, *, length, sent):
    """Send the head of an upload and some of its bytes, and return the connection."""
    headers = {**gate.own_headers(), "X-File-Name": "people.csv", "Content-Length": length}
    lines = [f"POST /studies/{study}/data HTTP/1.1", *(f"{name}: {text}" for name, text in headers.items())]
    connection = gate.connect()
    connection.sendall("\r\n".join((*lines, "", "")).encode() + b"x" * sent)
    return connection


def test_an_upload_belongs_to_its_study_and_only_its_owner_can_read_it(gate, study):
    answer = gate.upload(study, "people.csv", TABLE)
    record = gate.workbench.workspace.load(study)
    (file,) = kept(gate, study)

    assert answer.status == 200
    assert (record.data.source, record.data.label, record.data.file) == ("upload", "people.csv", file.name)
    assert file.read_bytes() == TABLE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_an_upload_takes_the_place_of_the_one_before(gate, study):
    """Otherwise a file that nobody can see any more stays on the disk."""
    gate.upload(study, "people.csv", TABLE)
    gate.upload(study, "others.tsv", b"a\tb\n1\t2\n3\t4\n")
    (file,) = kept(gate, study)

    assert file.name == gate.workbench.workspace.load(study).data.file
    assert file.suffix == ".tsv"


def test_an_upload_that_is_broken_off_leaves_no_byte(gate, study):
    """Half a file of people would lie on the disk, and nobody would know."""
    connection = begin_upload(gate, study, length=8 * MEGABYTE, sent=3 * MEGABYTE)
    assert wait_until(lambda: kept(gate, study))  # it was coming in
    connection.close()

    assert wait_until(lambda: not kept(gate, study))
    assert gate.workbench.workspace.load(study).data is None


def test_an_upload_that_is_still_coming_in_is_private_already(gate, study):
    connection = begin_upload(gate, study, length=8 * MEGABYTE, sent=3 * MEGABYTE)
    assert wait_until(lambda: kept(gate, study))
    (part,) = kept(gate, study)
    mode = stat.S_IMODE(part.stat().st_mode)
    connection.close()
    wait_until(lambda: not kept(gate, study))

    assert mode == 0o600
    assert part.suffix == ".part"


def test_a_length_above_the_limit_is_refused_before_a_byte_is_read(gate, study):
    before = gate.counter.reached
    connection = begin_upload(gate, study, length=limits.UPLOAD_BYTES + 1, sent=0)
    response = http.client.HTTPResponse(connection)
    response.begin()

    assert response.status == 413
    assert b"at most 200 MB" in response.read()
    assert gate.counter.reached == before
    assert kept(gate, study) == []
    connection.close()


@pytest.mark.parametrize("target", ["/studies/{study}/schema", "/studies/{study}/data/", "/nothing"])
def test_any_other_body_is_refused_above_a_megabyte(gate, study, target):
    answer = gate.post(target.format(study=study), b"x" * (MEGABYTE + 1))

    assert answer.status == 413
    assert "at most 1 MB" in answer.error


def test_a_body_without_a_length_is_refused_while_it_is_read(gate, study, monkeypatch):
    """A length that is missing or false must not fill the disk."""
    for module in (limits, routes):
        monkeypatch.setattr(module, "UPLOAD_BYTES", 2 * MEGABYTE)
    chunk = b"%x\r\n%s\r\n" % (MEGABYTE // 2, b"x" * (MEGABYTE // 2))
    headers = {**gate.own_headers(), "X-File-Name": "people.csv", "Transfer-Encoding": "chunked"}
    answer = gate.ask("POST", f"/studies/{study}/data", headers, chunk * 5 + b"0\r\n\r\n", length=False)

    assert answer.status == 413
    assert wait_until(lambda: not kept(gate, study))


def test_a_file_of_exactly_the_limit_is_taken(gate, study, monkeypatch):
    for module in (limits, routes):
        monkeypatch.setattr(module, "UPLOAD_BYTES", len(TABLE))

    assert gate.upload(study, "people.csv", TABLE).status == 200
    assert gate.upload(study, "people.csv", TABLE + b"3,a\n").status == 413
    assert len(kept(gate, study)) == 1


@pytest.mark.parametrize(
    ("label", "body"),
    [
        ("people.csv", b""),
        ("people.csv", b"\x00\x01\x02"),
        ("people.parquet", b"PAR1"),
        ("people.xlsx", b"PK\x03\x04x"),
        ("people.exe", TABLE),
        ("", TABLE),
        ("people.csv.gz", b"\x1f\x8b\x08"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_and_the_one_before_stays(gate, study, label, body):
    gate.upload(study, "people.csv", TABLE)
    before = kept(gate, study)

    answer = gate.upload(study, label, body)

    assert answer.status == 422
    assert "Hint:" in answer.error or answer.error.endswith(".")
    assert kept(gate, study) == before


def test_a_full_disk_leaves_nothing(gate, study, monkeypatch):
    def refuse(file, block):
        raise OSError(28, "No space left on device", "/server/path")

    monkeypatch.setattr("evenhand.app.state.uploads._write_all", refuse)
    answer = gate.upload(study, "people.csv", TABLE)

    assert answer.status == 422
    assert "/server/path" not in answer.error
    assert kept(gate, study) == []


def test_no_file_is_taken_while_the_study_runs(gate, study, monkeypatch):
    """The rows of a run must not change under it."""
    monkeypatch.setattr(type(gate.workbench.jobs), "state", lambda self, study: RunState("running"))
    before = gate.counter.reached

    assert gate.upload(study, "people.csv", TABLE).status == 422
    assert kept(gate, study) == []
    assert gate.counter.reached == before + 1


def test_an_upload_to_a_study_that_is_deleted_meanwhile_leaves_nothing(gate, study):
    folder = gate.workbench.workspace.folder(study)
    connection = begin_upload(gate, study, length=4 * MEGABYTE, sent=2 * MEGABYTE)
    assert wait_until(lambda: kept(gate, study))
    gate.workbench.workspace.delete(study)
    connection.sendall(b"x" * (2 * MEGABYTE))
    response = http.client.HTTPResponse(connection)
    response.begin()

    assert response.status in {404, 422}
    assert not folder.exists()
    connection.close()


# --- the server ends ------------------------------------------------------------------------------


def serve(folder, port):
    """Start the command as people do; return the process and the cookie that it gave for its token."""
    command = [
        sys.executable,
        "-c",
        PROGRAM,
        "serve",
        "--no-browser",
        "--port",
        str(port),
        "--folder",
        str(folder),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    token = line.rpartition("token=")[2].strip()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("GET", f"/start?token={token}")
    cookie = connection.getresponse().getheader("set-cookie").partition(";")[0]
    connection.close()
    return process, cookie


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def upload_head(study, port, cookie, length):
    own = f"127.0.0.1:{port}"
    lines = [f"POST /studies/{study}/data HTTP/1.1", f"Host: {own}", f"Origin: http://{own}"]
    lines += [f"Cookie: {cookie}", "X-File-Name: people.csv", f"Content-Length: {length}", "", ""]
    return "\r\n".join(lines).encode()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_that_ends_during_an_upload_leaves_no_byte(tmp_path, number):
    """When it is killed, the next start removes what it could not."""
    folder, port = tmp_path / "workbench", free_port()
    with Workspace(folder) as workspace:
        study = workspace.create("Killed").id
    process, cookie = serve(folder, port)
    try:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(upload_head(study, port, cookie, 8 * MEGABYTE) + b"x" * 3 * MEGABYTE)
            assert wait_until(lambda: list((folder / study / "data").iterdir()))
            process.send_signal(number)
            process.wait(120)
    finally:
        process.kill()
        process.stderr.close()
    if number == signal.SIGKILL:
        with Workspace(folder) as workspace:
            workspace.remove_strays()

    assert list((folder / study / "data").iterdir()) == []


@pytest.fixture(name="peaks", scope="module")
def _peaks(tmp_path_factory):
    """Upload 200 MB; return the answer, and the most memory of the server and of all its processes, in MB."""
    folder, port = tmp_path_factory.mktemp("large") / "workbench", free_port()
    with Workspace(folder) as workspace:
        study = workspace.create("Large").id
    row = b"38,Private,HS-grad,Divorced,Handlers-cleaners,Not-in-family,White,Male,40,United-States,<=50K\n"
    header = b"age,work,school,married,job,family,race,sex,hours,country,income\n"
    block = row * (MEGABYTE // len(row))
    blocks = (limits.UPLOAD_BYTES - len(header)) // len(block)
    process, cookie = serve(folder, port)
    peaks, answer = [], b""
    try:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(upload_head(study, port, cookie, len(header) + blocks * len(block)) + header)
            for _ in range(blocks):
                connection.sendall(block)
                peaks.append(resident(process.pid))
            connection.settimeout(0.05)
            while b"\r\n\r\n" not in answer:
                peaks.append(resident(process.pid))
                with contextlib.suppress(TimeoutError):
                    answer += connection.recv(4096)
        process.send_signal(signal.SIGTERM)
        process.wait(120)
    finally:
        process.kill()
        process.stderr.close()
    server, everything = (max(sizes) // MEGABYTE for sizes in zip(*peaks, strict=True))
    sys.stderr.write(f"At most {server} MB in the server and {everything} MB in all processes.\n")
    return answer, server, everything


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="resident memory as Linux counts it")
def test_the_server_holds_a_small_part_of_a_large_upload(peaks):
    """Ten browsers that send at once must not fill the memory."""
    answer, server, _ = peaks

    assert answer.startswith(b"HTTP/1.1 200")
    assert server < 200


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="resident memory as Linux counts it")
def test_an_upload_of_200_mb_stays_under_600_mb_of_memory(peaks):
    """A laptop must be able to look at a census file."""
    _, _, everything = peaks

    assert everything < 600


def resident(pid):
    """Return the resident bytes of a process, and of it and all that it started."""
    sizes = []
    family = [psutil.Process(pid)]
    family += family[0].children(recursive=True)
    for member in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            sizes.append(member.memory_info().rss)
    return sizes[0], sum(sizes)
