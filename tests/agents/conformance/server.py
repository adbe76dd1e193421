"""A provider on the loopback that is as strict as the real ones: it checks each request against the turns it
has given itself, and refuses what the provider would refuse, in the provider's own words.

A dialect says what a request must hold and what is answered. The exam is the same in all of them: without
tools the answer comes at once; with tools two turns call `list_cameras` (the second one twice), each with
reasoning, and the third answers.
"""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol

from tests.loopback import Loopback

ANSWER = "Paris"
TOOL = "list_cameras"
CALLS = (1, 2)  # how many tools each turn calls; then comes the answer


class Refusal(Exception):
    """The provider refuses the request: status and body as it would send them."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        super().__init__(str(body))
        self.status, self.body = status, body


class Dialect(Protocol):
    """One provider's protocol. It keeps no state: what it said before follows from the number of the turn."""

    name: str
    path: str  # of the endpoint, below the address of the server

    def answer(self, body: dict[str, Any], headers: Mapping[str, str], path: str) -> dict[str, Any]:
        """The answer to a request.

        Raises:
            Refusal: the provider would not take it.
        """
        ...


class ConformanceServer:
    """Serves a dialect and keeps what came and what was refused."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.refusals: list[Refusal] = []
        self.server = Loopback(_handler(self))
        self.root = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.url = self.root + dialect.path

    def handle(self, body: dict[str, Any], headers: dict[str, str], path: str) -> tuple[int, bytes]:
        self.requests.append(body)
        self.headers.append(headers)
        self.paths.append(path)
        try:
            return 200, json.dumps(self.dialect.answer(body, headers, path)).encode()
        except Refusal as refusal:
            self.refusals.append(refusal)
            return refusal.status, json.dumps(refusal.body).encode()


def _handler(server: ConformanceServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, data = server.handle(body, headers, self.path)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            return None

    return Handler


@contextmanager
def conforming(dialect: Dialect) -> Iterator[ConformanceServer]:
    """A server of that dialect that listens."""
    one = ConformanceServer(dialect)
    thread = threading.Thread(target=one.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield one
    finally:
        one.server.shutdown()
        one.server.server_close()
        thread.join()


def require(holds: object, status: int, body: Mapping[str, Any]) -> None:
    """Refuse unless something holds."""
    if not holds:
        raise Refusal(status, body)
