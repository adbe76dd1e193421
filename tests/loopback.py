"""Loopback: the HTTP server of every fake, with room for as many callers at once as a test has."""

from http.server import ThreadingHTTPServer


class Loopback(ThreadingHTTPServer):
    """A server on a free port of 127.0.0.1. Where there is room for five, callers wait for seconds."""

    request_queue_size = 512
    daemon_threads = True

    def __init__(self, handler: type) -> None:
        super().__init__(("127.0.0.1", 0), handler)
