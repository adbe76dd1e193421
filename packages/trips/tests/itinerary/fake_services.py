"""Loopback fakes of the services: the shapes they answer in, and every way they misbehave."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.loopback import Loopback

PARIS = {"lat": 48.8606, "lon": 2.3376}
MOODS = ("well", "rate_limit", "broken", "nonsense", "wrong_shape", "slow", "huge")


@dataclass
class Service:
    """One fake: its address, the mood it is in, and what it was asked."""

    url: str = ""
    mood: str = "well"
    asked: list[str] = field(default_factory=list)


def answer(path: str, query: dict[str, list[str]], body: str) -> Any:
    """What a service in a good mood says."""
    louvre = {
        "osm_type": "way",
        "osm_id": 7515426,
        "name": "Louvre",
        "display_name": "Louvre, Paris",
        "type": "museum",
        "lat": str(PARIS["lat"]),
        "lon": str(PARIS["lon"]),
        "address": {"city": "Paris", "state": "Île-de-France", "country_code": "fr"},
        "extratags": {"opening_hours": "We-Mo 09:00-18:00"},
    }
    element = {
        "type": "way",
        "id": 7515426,
        "center": PARIS,
        "tags": {"name": "Louvre", "tourism": "museum", "opening_hours": "We-Mo 09:00-18:00"},
    }
    google = {
        "id": "abc",
        "displayName": {"text": "Louvre"},
        "location": {"latitude": PARIS["lat"], "longitude": PARIS["lon"]},
        "primaryType": "museum",
        "regularOpeningHours": {
            "periods": [
                {"open": {"day": 1, "hour": 9, "minute": 0}, "close": {"day": 1, "hour": 18, "minute": 0}}
            ]
        },
        "addressComponents": [{"types": ["country"], "shortText": "FR", "longText": "France"}],
    }
    cell = {"time": 600, "distance": 0.8}
    grid = {"durations": [[0, 600.0], [600.0, 0]], "distances": [[0, 800.0], [800.0, 0]]}
    is_known = "Nowhere" not in body + "".join(query.get("q", ()))
    sides = "/v1/foot/"
    fixed: dict[str, Any] = {
        "/search": [louvre] if is_known else [],
        "/reverse": louvre,
        "/lookup": [louvre] if query.get("osm_ids") == ["W7515426"] else [],
        "/interpreter": {"elements": [] if "%281%29%3B" in body else [element]},
        "/route": {"trip": {"summary": {"time": 601, "length": 0.8}}},
        "/sources_to_targets": {"sources_to_targets": [[cell, cell], [cell, cell]]},
        f"/route{sides}": {"code": "Ok", "routes": [{"duration": 601.0, "distance": 800.4}]},
        f"/table{sides}": {"code": "Ok", **grid},
        "/v1/places:searchText": {"places": [google]} if is_known else {},
        "/v1/places:searchNearby": {"places": [google]},
        "/v1/places/abc": google,
        "/directions/v2:computeRoutes": {"routes": [{"duration": "601s", "distanceMeters": 800}]},
    }
    head, found, _ = path.partition(sides)
    return fixed.get(head + found if found else path)


REPLIES: dict[str, tuple[int, bytes, dict[str, str]]] = {
    "rate_limit": (429, b"{}", {"Retry-After": "7"}),
    "broken": (503, b"down", {}),
    "nonsense": (200, b"<html>hello</html>", {}),
    "wrong_shape": (200, json.dumps([{"surprise": [1, None]}, 3]).encode(), {}),
    "huge": (200, b"[" + b" " * 11_000_000 + b"]", {}),
}


def _handler(service: Service, stop: threading.Event) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base's name)
            """Say nothing."""

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
            parts = urlsplit(self.path)
            service.asked.append(parts.path)
            if service.mood == "slow":
                stop.wait(5)
                return
            if service.mood in REPLIES:
                status, text, headers = REPLIES[service.mood]
                self._say(status, text, **headers)
                return
            found = answer(parts.path, parse_qs(parts.query), body)
            self._say(404 if found is None else 200, json.dumps(found).encode())

        def _say(self, status: int, body: bytes, **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
            except OSError:
                time.sleep(0)  # the client has had enough

    return Handler


@contextmanager
def fake_service() -> Iterator[Service]:
    """A fake on a port of its own."""
    service, stop = Service(), threading.Event()
    server = Loopback(_handler(service, stop))
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield service
    finally:
        stop.set()
        server.shutdown()
        thread.join()
        server.server_close()
