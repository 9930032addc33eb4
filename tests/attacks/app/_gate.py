"""A workbench that really listens, and requests written byte by byte, as a stranger may send them."""

import http.client
import json
import socket
import threading
from contextlib import contextmanager

from evenhand.app.routes import Start
from evenhand.app.security.hosts import LocalHosts
from evenhand.app.security.middleware import Guard
from evenhand.app.security.token import SessionCookie, StartToken
from evenhand.app.server import Server, bind_port, build_app
from evenhand.app.state.workbench import Workbench

HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


class Counter:
    """Counts what reaches the application behind the guard."""

    def __init__(self, app):
        self.app = app
        self.reached = 0

    async def __call__(self, scope, receive, send):
        self.reached += scope["type"] in {"http", "websocket"}
        await self.app(scope, receive, send)


class Answer:
    """What came back: status, headers by their small names, and the body."""

    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = b"" if response.status == 101 else response.read()

    @property
    def text(self):
        return self.body.decode()

    @property
    def error(self):
        return json.loads(self.body)["error"]


class Gate:
    """A workbench on a free port; without `guarded` it is the twin, `shown` only shows a finished study."""

    def __init__(self, folder, *, guarded=True, shown=False):
        self.workbench = Workbench.show(folder) if shown else Workbench.open(folder)
        self.listening = bind_port()
        self.port = self.listening.getsockname()[1]
        self.token = StartToken()
        self.cookies = SessionCookie(self.workbench.workspace.secret(), self.port)
        self.counter = Counter(build_app(self.workbench, Start(self.token, self.cookies)))
        guard = Guard(self.counter, hosts=LocalHosts(self.port), cookie=self.cookies)
        self._ready = threading.Event()
        self.server = Server(guard if guarded else self.counter, when_ready=self._ready.set)
        self._thread = threading.Thread(target=self.server.run, args=([self.listening],))

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"

    @property
    def cookie(self):
        return f"{self.cookies.name}={self.cookies.issue()}"

    def own_headers(self):
        """Return the headers with which our own page asks for something."""
        own = {"Host": self.host, "Cookie": self.cookie, "Origin": f"http://{self.host}"}
        return {**own, "Sec-Fetch-Site": "same-origin"}

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=120)

    def ask(self, method, target, headers, body=b"", *, length=True):
        """Send a request with exactly these headers, and return the answer."""
        lines = [f"{method} {target} HTTP/1.1"]
        pairs = headers.items() if isinstance(headers, dict) else headers
        lines += [f"{name}: {value}" for name, value in pairs]
        lines += [f"Content-Length: {len(body)}"] * (length and method == "POST")
        with self.connect() as connection:
            head = "\r\n".join((*lines, "", "")).encode("latin-1")
            connection.sendall(head + body)
            response = http.client.HTTPResponse(connection, method=method)
            response.begin()
            return Answer(response)

    def get(self, target, **headers):
        return self.ask("GET", target, {**self.own_headers(), **headers})

    def post(self, target, body=b"", **headers):
        return self.ask("POST", target, {**self.own_headers(), **headers}, body)

    def upload(self, study, label, body):
        """Send a file as our own page does."""
        return self.ask("POST", f"/studies/{study}/data", {**self.own_headers(), "X-File-Name": label}, body)

    def start(self):
        self._thread.start()
        assert self._ready.wait(120)

    def stop(self):
        self.server.should_exit = True
        self._thread.join(30)
        self.workbench.close()
        assert not self._thread.is_alive()


@contextmanager
def open_gate(folder, **options):
    """Serve a workbench until the block ends."""
    gate = Gate(folder, **options)
    gate.start()
    try:
        yield gate
    finally:
        gate.stop()
