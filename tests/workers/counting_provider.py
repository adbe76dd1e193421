"""A provider that notes when each call came and went, and can refuse those that are too many."""

import json
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.loopback import Loopback


@dataclass
class CountingProvider:
    """Answers A after `delay_s`; with `room`, says 429 to whoever comes while so many are being answered.

    If it `draws`, the request decides whether it answers A or B.
    """

    delay_s: float = 0.02
    draws: bool = False
    tokens: tuple[int, int] = (90, 10)  # of each prompt and reply
    served: int = 0  # calls
    room: int | None = None
    retry_after: str | None = None  # what a 429 says
    came_s: list[float] = field(default_factory=list)
    most: int = 0
    refused: int = 0
    url: str = ""
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def enter(self) -> bool:
        with self._lock:
            self.came_s.append(time.monotonic())
            if self.room is not None and self._now >= self.room:
                self.refused += 1
                return False
            self._now += 1
            self.most = max(self.most, self._now)
            return True

    def sleep(self) -> None:
        """As long as it takes to answer, unless that is set to nothing meanwhile."""
        until_s = time.monotonic() + self.delay_s
        while self.delay_s and time.monotonic() < until_s:
            time.sleep(min(0.1, max(0.0, until_s - time.monotonic())))

    def exit(self) -> None:
        with self._lock:
            self._now -= 1
            self.served += 1


@contextmanager
def counting(**given: object) -> Iterator[CountingProvider]:
    """A provider that listens."""
    provider = CountingProvider(**given)  # type: ignore[arg-type]  # the fields, by name
    server = Loopback(_handler(provider))
    provider.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield provider
    finally:
        provider.delay_s = 0.0
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(provider: CountingProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"]))
            if provider.enter():
                provider.sleep()
                provider.exit()  # before the reply goes out: its reader may send the next call
                text = "ABA"[zlib.crc32(asked) % 3] if provider.draws else "A"
                message = {"role": "assistant", "content": text}
                usage = dict(zip(("prompt_tokens", "completion_tokens"), provider.tokens, strict=True))
                self._say(200, {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})
            else:
                self._say(429, {"error": {"message": "too many"}}, retry_after=provider.retry_after)

        def _say(self, status: int, body: object, *, retry_after: str | None = None) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            if retry_after is not None:
                self.send_header("Retry-After", retry_after)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            return None

    return Handler
