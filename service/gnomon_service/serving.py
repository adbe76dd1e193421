"""Serves the API on a socket until a signal ends it."""

import socket
import sys
import threading
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from gnomon.core.errors import SpecError
from gnomon.spec.endpoints import is_loopback
from gnomon_service.api.app import create_app
from gnomon_service.bounded_http import MAX_CONNECTIONS, BoundedProtocol
from gnomon_service.local_stack import LocalStack
from gnomon_service.notifier import Notifier

GRACE_S = 3  # open event streams have this long to end
SWITCH_S = 0.0005  # a thread that computes, such as a report's, lets the others have their turn this often


def listen(host: str, port: int, *, has_keys: bool) -> socket.socket:
    """A socket that listens on `host`; port 0 picks a free one.

    Raises:
        SpecError: there are no keys and `host` is not loopback, or the address is not available.
    """
    if not has_keys and not is_loopback(host):
        raise SpecError(
            f"{host!r} needs GNOMON_API_KEYS; without keys allowed: 127.0.0.1, ::1, localhost", field="--host"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host.strip("[]"), port), family=family)
    except OSError as error:
        raise SpecError(f"{host}:{port} cannot be listened on: {error.strerror}", field="--port") from None
    # Connections inherit it; asyncio sets it only for sockets made with a protocol's number. Else a small
    # answer waits for the acknowledgement of its own head, which a client that reuses its connection delays.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def serve(here: LocalStack, listener: socket.socket, *, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM, then raise KeyboardInterrupt; `ready` is called with the URL."""
    app = create_app(here.settings, store=here.store, redis=here.redis)
    server = server_of(app)
    ready(url_of(listener))
    sys.setswitchinterval(SWITCH_S)
    threading.Thread(target=_import_reports, name="imports", daemon=True).start()
    stop = threading.Event()
    notifier = threading.Thread(
        target=Notifier(app.state.gnomon).run, args=(stop,), name="notifier", daemon=True
    )
    notifier.start()
    try:
        server.run(sockets=[listener])
    finally:
        stop.set()
        notifier.join(timeout=GRACE_S)
        app.state.gnomon.verdicts.close()
        app.state.gnomon.reports.close()


def _import_reports() -> None:
    import gnomon_service.reports  # noqa: F401 - with SciPy's functions: else the first report waits a second for them


def server_of(app: FastAPI) -> uvicorn.Server:
    """A server whose connections are bounded in number and time."""
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        limit_concurrency=2 * MAX_CONNECTIONS,  # concurrent requests; beyond it 503
        timeout_graceful_shutdown=GRACE_S,
    )
    return uvicorn.Server(config)


def url_of(listener: socket.socket) -> str:
    """The URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
