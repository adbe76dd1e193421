"""Loopback: the HTTP server of every fake, with room for as many callers at once as a test has."""

import sys
from http.server import ThreadingHTTPServer


class Loopback(ThreadingHTTPServer):
    """A server on a free port of 127.0.0.1. Where there is room for five, callers wait for seconds."""

    request_queue_size = 512
    daemon_threads = True

    def __init__(self, handler: type) -> None:
        super().__init__(("127.0.0.1", 0), handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller that hung up is no error of the server's."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]
