"""A real server on the loopback, and callers that send slowly, or nothing at all."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from redis import Redis

from gnomon_service import bounded_http
from gnomon_service.api import middleware
from gnomon_service.api.app import create_app
from gnomon_service.api.state import MAX_STREAMS
from gnomon_service.serving import server_of
from gnomon_service.settings import read_settings
from gnomon_workers.store.store import Store
from tests.service.play import SPEC

HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def address(store: Store, redis: Redis, tmp_path: Path) -> Iterator[tuple[str, int]]:
    app = create_app(read_settings({}, data_dir=tmp_path), store=store, redis=redis)
    server = server_of(app)
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listener.getsockname()
        server.should_exit = True
        thread.join()


def sent(address: tuple[str, int], data: bytes = b"") -> socket.socket:
    line = socket.create_connection(address, timeout=20)
    line.sendall(data)
    return line


def is_closed(line: socket.socket) -> bool:
    """Whether the other side has closed it; waits for that, and passes over what it said before."""
    try:
        while line.recv(65_536):
            pass
    except ConnectionError:
        pass
    except TimeoutError:
        return False
    return True


def is_answered(line: socket.socket) -> bool:
    """Whether a request over the line has a whole answer."""
    line.sendall(HEAD + b"\r\n")
    said = b""
    while not said.endswith(b"}") and (part := line.recv(65_536)):
        said += part
    return b"200 OK" in said


@pytest.mark.parametrize("data", [b"", HEAD], ids=["nothing", "half a head"])
def test_who_sends_no_request_in_time_is_hung_up_on(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    monkeypatch.setattr(bounded_http, "HEAD_S", 0.3)
    with closing(sent(address, data)) as line:
        assert is_closed(line)


def test_a_head_sent_byte_by_byte_has_no_more_time(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_http, "HEAD_S", 0.5)

    def drip(line: socket.socket) -> None:
        for _ in range(3_000):
            line.sendall(b"G")
            time.sleep(0.05)

    with closing(sent(address)) as line, pytest.raises(ConnectionError):
        drip(line)


def test_the_next_request_of_a_kept_connection_has_the_same_deadline(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_http, "HEAD_S", 0.5)
    with closing(sent(address, HEAD + b"\r\n")) as line:
        assert b"200 OK" in line.recv(65_536)
        line.sendall(HEAD)
        assert is_closed(line)


def test_a_body_that_does_not_come_is_408_and_the_line_is_closed(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware, "BODY_S", 0.5)
    head = b"POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    with closing(sent(address, head + b"Content-Length: 100\r\n\r\n{")) as line:
        said = b""
        with suppress(ConnectionError):
            while part := line.recv(65_536):
                said += part
    head, _, body = said.partition(b"\r\n\r\n")
    assert b"408" in head.splitlines()[0]
    assert json.loads(body)["field"] == "body"


def test_a_body_that_nobody_reads_does_not_hold_the_line(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_http, "HEAD_S", 0.5)
    with closing(sent(address, HEAD + b"Content-Length: 900000\r\n\r\n")) as line:
        assert is_closed(line)


def test_callers_get_in_while_somebody_holds_every_connection(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_http, "MAX_CONNECTIONS", 20)
    with ExitStack() as stack:
        held = [stack.enter_context(closing(sent(address, HEAD))) for _ in range(60)]
        for _ in range(3):
            assert httpx.get(f"http://{address[0]}:{address[1]}/healthz", timeout=10).status_code == 200
        held[-1].sendall(b"\r\n")  # the youngest were not hung up on
        assert b"200 OK" in held[-1].recv(65_536)
        assert all(is_closed(line) for line in held[:30])


def test_who_has_been_silent_for_longest_makes_room_and_who_goes_on_asking_stays(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_http, "MAX_CONNECTIONS", 2)
    with closing(sent(address)) as active, closing(sent(address)) as silent:
        for line in (active, silent, active):
            assert is_answered(line)
        with closing(sent(address)):
            assert is_closed(silent)
        assert is_answered(active)


def test_a_caller_holds_so_many_event_streams_and_no_more(address: tuple[str, int], store: Store) -> None:
    base = f"http://{address[0]}:{address[1]}"
    job = httpx.post(f"{base}/v1/jobs", json=SPEC, timeout=30).json()["id"]
    events = f"{base}/v1/jobs/{job}/events"
    with ExitStack() as stack:
        for _ in range(MAX_STREAMS):
            assert stack.enter_context(_streaming(events)).status_code == 200
        refused = httpx.get(events)
        assert (refused.status_code, refused.headers["content-type"]) == (429, "application/problem+json")
        assert refused.headers["retry-after"]
        assert httpx.get(f"{base}/v1/jobs/{job}").status_code == 200
    for _ in range(100):  # the places of those that left are free again
        with _streaming(events) as stream:
            if stream.status_code == 200:
                return
        time.sleep(0.1)
    raise AssertionError("no place became free")


@contextmanager
def _streaming(url: str) -> Iterator[httpx.Response]:
    with httpx.Client() as client, client.stream("GET", url) as response:
        yield response
