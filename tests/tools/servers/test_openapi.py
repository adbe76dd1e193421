"""Interfaces that an OpenAPI document describes: operations as tools, requests, answers, what is refused."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tools.core.outage import ServerFault
from tools.core.tool import EMPTY_SCENE, ToolContext
from tools.core.toolbox import Toolbox
from tools.servers.connections import close_all, connections
from tools.servers.definition import OpenApiServer, ServerLimits, ToolServer
from tools.servers.openapi_document import DocumentError, parse_document, read_listing
from tools.servers.tool import server_tool

PLACE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "next": {"$ref": "#/components/schemas/P"}},
}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Ways", "version": "2"},
    "paths": {
        "/way/{to}": {
            "parameters": [{"name": "to", "in": "path", "required": True, "schema": {"type": "string"}}],
            "get": {
                "operationId": "way",
                "summary": "The way to a place.",
                "parameters": [
                    {"name": "by", "in": "query", "schema": {"enum": ["foot", "bus"]}},
                    {"name": "Authorization", "in": "header", "schema": {"type": "string"}},
                ],
            },
            "delete": {"operationId": "forget"},
        },
        "/places": {
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/P"}}},
                }
            }
        },
    },
    "components": {"schemas": {"P": PLACE}},
}


class _Ways(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path.startswith("/slow"):
            threading.Event().wait(5)
        status, body = (200, {"asked": self.path}) if "nowhere" not in self.path else (404, {"no": "way"})
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return None


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ToolServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Ways) as http:
        http.daemon_threads = True
        http.block_on_close = False
        threading.Thread(target=http.serve_forever, daemon=True).start()
        document = tmp_path / "ways.json"
        document.write_text(json.dumps(DOCUMENT))
        url = f"http://127.0.0.1:{http.server_port}"
        yield ToolServer(
            openapi=OpenApiServer(document=str(document), url=url), limits=ServerLimits(call_seconds=10)
        )
        close_all()
        http.shutdown()


def test_an_operation_is_a_tool_and_its_answer_a_result(server: ToolServer) -> None:
    listing = connections().list_tools("ways", server)
    assert [tool.shown for tool in listing.tools] == ["ways__way"]
    frozen = server.model_copy(update={"listing": listing})
    box = Toolbox([server_tool("ways", frozen, listing.tools[0])], ToolContext(scene=EMPTY_SCENE))
    parameters = box.schemas[0]["function"]["parameters"]
    assert (sorted(parameters["properties"]), parameters["required"]) == (["by", "to"], ["to"])
    found = box.call("ways__way", '{"to": "the square/2", "by": "foot"}')
    assert json.loads(found.content) == {"asked": "/way/the%20square%2F2?by=foot"}
    assert box.call("ways__way", '{"to": "x", "by": "car"}').error == "bad_arguments"
    lost = box.call("ways__way", '{"to": "nowhere"}')
    assert (lost.error, "HTTP 404" in lost.content) == ("tool_error", True)


def test_a_host_that_does_not_answer_is_no_fault_of_the_model(server: ToolServer) -> None:
    listing = connections().list_tools("ways", server)
    away = server.model_copy(
        update={"openapi": server.openapi.model_copy(update={"url": "http://127.0.0.1:9"}), "listing": None}
    )
    box = Toolbox([server_tool("ways", away, listing.tools[0])], ToolContext(scene=EMPTY_SCENE))
    with pytest.raises(ServerFault) as fault:
        box.call("ways__way", '{"to": "x"}')
    assert fault.value.stop_reason == "server:died"


def test_what_writes_is_offered_only_where_that_is_wanted_and_references_may_go_round() -> None:
    listing = read_listing("w", DOCUMENT, url="http://h", source="f.json", writes=True)
    assert [tool.shown for tool in listing.tools] == ["w__forget", "w__post_places", "w__way"]
    body = listing.tools[1].parameters["properties"]["body"]
    assert body["properties"]["name"] == {"type": "string"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"{", "is neither JSON nor YAML"),
        (b'{"swagger": "2.0"}', "is no OpenAPI 3 document"),
        (b"a: &x [1]\nb: *x", "has aliases"),
    ],
)
def test_what_is_no_document_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(DocumentError, match=words):
        parse_document(data)


def test_a_document_without_an_address_needs_a_url() -> None:
    with pytest.raises(DocumentError, match="write it as `url`"):
        read_listing("w", DOCUMENT, url=None, source="f.json", writes=False)
