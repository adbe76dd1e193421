"""A provider of OpenAI's chat format on loopback, which answers as a test's class decides."""

import json
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any, Self

from tests.loopback import Loopback


class Refusal(Exception):
    """What a provider refuses a request with: status, message and, if there are some, headers."""


class ChatProvider:
    """Keeps the requests that it gets; a class of it says what message each is answered with."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []  # that came with them
        self._server = Loopback(_handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        """The assistant's message."""
        raise NotImplementedError

    def finish_reason(self, request: dict[str, Any]) -> str:
        """Why the message ends there."""
        return "stop"

    def choice(self, request: dict[str, Any]) -> dict[str, Any]:
        """The message, and why it ends."""
        reason, message = self.finish_reason(request), self.reply(request)
        return {"index": 0, "finish_reason": reason, "message": message}

    def body(self, request: dict[str, Any]) -> dict[str, Any]:
        """All of the answer."""
        usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
        known = {"id": "r", "object": "chat.completion", "created": 1, "model": "m", "usage": usage}
        return {**known, "choices": [self.choice(request)]}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(provider: ChatProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            provider.requests.append(request)
            provider.keys.append(self.headers.get("Authorization", "").removeprefix("Bearer "))
            status, headers = 200, {}
            try:
                body = provider.body(request)
            except Refusal as refusal:
                status, message, *more = refusal.args
                headers = more[0] if more else {}
                body = {"error": message if isinstance(message, dict) else {"message": message}}
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            return None

    return Handler
