"""`evenhand serve` as people start it: on this machine alone, quickly, and with a clean end."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time

import psutil
import pytest

from evenhand.app import server
from evenhand.app.server import PORT, bind_port
from evenhand.errors import InvalidParameterError

pytestmark = pytest.mark.figures  # real processes, which take a while

PROGRAM = "from evenhand.cli import main; main()"
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/start\?token=([0-9a-f]{64})")
LONGEST = 120  # seconds, on a machine with much else to do
HEAVY = ("pyarrow", "scipy", "sklearn", "numba", "altair", "pandas", "evenhand.study", "evenhand.table")


class Command:
    """The command in a process of its own."""

    def __init__(self, folder, *options, environment=None):
        words = [sys.executable, "-c", PROGRAM, "serve", "--no-browser", "--folder", str(folder), *options]
        self.begin = time.perf_counter()
        environment = {**os.environ, **(environment or {})}
        self.process = subprocess.Popen(
            words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.line = self.process.stderr.readline()
        found = ADDRESS.search(self.line)
        self.port, self.token = (int(found[1]), found[2]) if found else (0, "")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def ask(self, target, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONGEST)
        connection.request("GET", target, headers=headers)
        response = connection.getresponse()
        response.read()
        connection.close()
        return response

    def end(self, number):
        """Send a signal; return the exit code, the seconds it took and what was said."""
        begin = time.perf_counter()
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=LONGEST)
        return self.process.returncode, time.perf_counter() - begin, said


def test_only_this_machine_can_connect(tmp_path):
    """G1: a colleague on the same network must not see the data."""
    with Command(tmp_path / "workbench") as command:
        connections = psutil.Process(command.process.pid).net_connections()
        listening = [each.laddr for each in connections if each.status == psutil.CONN_LISTEN]
        others = {
            address.address
            for addresses in psutil.net_if_addrs().values()
            for address in addresses
            if address.family == socket.AF_INET and not address.address.startswith("127.")
        }
        reached = []
        for other in [*others, "127.0.0.2"]:
            with socket.socket() as probe:
                probe.settimeout(2)
                reached += [other] if probe.connect_ex((other, command.port)) == 0 else []

    assert [tuple(place) for place in listening] == [("127.0.0.1", command.port)]
    assert reached == []


def test_it_prints_one_address_that_lets_one_browser_in(tmp_path):
    with Command(tmp_path / "workbench", environment={"COLUMNS": "40"}) as command:
        first = command.ask(f"/start?token={command.token}")
        second = command.ask(f"/start?token={command.token}")
        cookie = first.getheader("set-cookie").partition(";")[0]

        assert command.line.startswith("Open ")
        assert (first.status, second.status) == (303, 403)
        assert command.ask("/", Cookie=cookie).status == 200
        assert command.ask("/").status == 401


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_and_a_browser_stays_signed_in_after_a_restart(tmp_path, number):
    """With open connections, too: a browser keeps its WebSocket until the end."""
    folder = tmp_path / "workbench"
    with bind_port(0) as free:  # one that no other workbench of this machine takes meanwhile
        port = str(free.getsockname()[1])
    with Command(folder, "--port", port) as command:
        cookie = command.ask(f"/start?token={command.token}").getheader("set-cookie").partition(";")[0]
        own = f"127.0.0.1:{command.port}"
        with socket.create_connection(("127.0.0.1", command.port)) as connection:
            lines = ["GET /websocket/ HTTP/1.1", f"Host: {own}", f"Origin: http://{own}", f"Cookie: {cookie}",
                     "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", ""]  # fmt: skip
            connection.sendall("\r\n".join(lines).encode())
            assert connection.recv(12) == b"HTTP/1.1 101"
            code, seconds, said = command.end(number)

    assert code == 0
    assert seconds < 8
    assert "finished runs are kept" in said
    assert "Traceback" not in said
    with Command(folder, "--port", port) as again:
        assert again.port == command.port, again.line
        assert again.ask("/alive", Cookie=cookie).status == 204


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no such signal")
def test_closing_the_terminal_ends_it_cleanly(tmp_path, request):
    heeded = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever starts tests with nohup ignores it
    request.addfinalizer(lambda: signal.signal(signal.SIGHUP, heeded))
    folder = tmp_path / "workbench"
    with Command(folder) as command:
        code, _, _ = command.end(signal.SIGHUP)

    assert code == 0
    with Command(folder) as again:  # it has given the folder back
        assert again.port


def test_a_finished_study_and_a_folder_of_studies_are_not_shown_at_once(tmp_path):
    with Command(tmp_path / "workbench", "--report", str(tmp_path)) as command:
        assert command.process.wait(LONGEST) == 2

    assert "--folder and --report contradict each other" in command.line


def test_a_port_that_is_taken_is_refused_when_it_was_asked_for():
    with bind_port(0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            InvalidParameterError, match=rf"must be a free port of this machine. Got {port}, which is in use"
        ):
            bind_port(port)


def test_the_command_says_so_of_its_option(tmp_path):
    with bind_port(0) as taken:
        port = str(taken.getsockname()[1])
        with Command(tmp_path / "workbench", "--port", port) as command:
            said = command.line + command.process.communicate(timeout=LONGEST)[1]

    assert command.process.returncode == 2
    assert said.startswith("Error    --port must be a free port")


def test_without_a_port_the_next_free_one_is_taken(monkeypatch):
    monkeypatch.setattr(server, "PORT", 18_421)
    with bind_port() as first, bind_port() as second:
        ports = [each.getsockname()[1] for each in (first, second)]

    assert PORT == 8421
    assert ports[0] < ports[1] < 18_421 + 100


def test_when_all_of_them_are_taken_any_free_one_is(monkeypatch):
    monkeypatch.setattr(server, "_PORTS_TRIED", 0)
    with bind_port() as listening:
        assert listening.getsockname()[1] > 0


def test_a_port_that_this_account_may_not_have_is_refused_in_one_sentence(monkeypatch):
    def refuse(port):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(server, "_listen", refuse)
    with pytest.raises(InvalidParameterError, match="80, which is not allowed here"):
        bind_port(80)


def test_the_server_loads_nothing_that_takes_long():
    """It starts in under 3 s because what reads rows and draws charts is loaded by other processes."""
    code = "import evenhand.app.server, evenhand.app.state.workbench, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())

    assert sorted(loaded.intersection(HEAVY)) == []


def test_the_server_answers_within_three_seconds_of_processor_time(tmp_path):
    """Measured as work and not as time, since other tests run beside this one."""
    with Command(tmp_path / "workbench") as command:
        spent = psutil.Process(command.process.pid).cpu_times()

        assert command.ask("/start").status == 403
        assert spent.user + spent.system < 3


def test_the_browser_is_opened_unless_it_is_forbidden(monkeypatch):
    opened, said, closed = [], [], []

    class Bench:
        class desk:  # noqa: N801 - it stands for an object
            warm = staticmethod(lambda: None)

        def close(self):
            closed.append(True)

    class Served:
        def __init__(self, app, *, when_ready):
            self.when_ready = when_ready

        def run(self, sockets):
            self.when_ready()
            sockets[0].close()

    monkeypatch.setattr(server, "Server", Served)
    monkeypatch.setattr(server, "build_asgi", lambda *_: None)
    monkeypatch.setattr(server.webbrowser, "open", opened.append)
    for browser in (True, False):
        server.serve(Bench(), browser=browser, say=lambda *words: said.append(words))
    deadline = time.monotonic() + LONGEST
    while not opened and time.monotonic() < deadline:
        time.sleep(0.01)

    assert opened == [said[0][1]]
    assert ADDRESS.fullmatch(opened[0])
    assert closed == [True, True]
